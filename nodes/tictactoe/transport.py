"""How messages travel: one after another on a TCP stream, told apart only by their length."""

from __future__ import annotations

from nodes.core import RemoteProtocolError
from nodes.tictactoe.messages import MESSAGE_BYTES


class Chunks:
    """Cuts one direction of a stream into messages. It never holds as much as a whole one."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        """Take a piece of the stream, of any size; give the messages that are now complete."""
        data = self._rest + data
        whole = len(data) - len(data) % MESSAGE_BYTES
        self._rest = data[whole:]
        return [data[i : i + MESSAGE_BYTES] for i in range(0, whole, MESSAGE_BYTES)]

    def close(self) -> None:
        """The stream has ended. Only now is a short message an error."""
        if self._rest:
            raise RemoteProtocolError(
                "tictactoe/start.2",
                f"the connection ended after {len(self._rest)} of {MESSAGE_BYTES} bytes",
            )
