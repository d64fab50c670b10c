"""How messages travel: four bytes of length, little-endian and signed, then that many bytes of JSON.

┌────────────────────┬──────────────────────┐
│ length  4, LE, int │ JSON  `length` bytes │
└────────────────────┴──────────────────────┘

"在数据包发送时，首先发送长度为4的数据包长度，再发送数据包。"
"""

from __future__ import annotations

from nodes.core import RemoteProtocolError

PREFIX = 4
LENGTH_MIN = 2  # the shortest JSON object is {}
LENGTH_MAX = 1 << 20


def frame(body: bytes) -> bytes:
    """A body with its length in front."""
    return len(body).to_bytes(PREFIX, "little", signed=True) + body


class Frames:
    """One direction of a stream, cut into bodies. It holds what has not been taken yet."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._start = 0  # bodies before this are taken; moving it is cheaper than moving the bytes

    def __len__(self) -> int:
        return len(self._buffer) - self._start

    def feed(self, data: bytes) -> None:
        """Add any piece of the stream; take all that is whole before feeding more."""
        del self._buffer[: self._start]
        self._start = 0
        self._buffer += data

    def take(self) -> bytes | None:
        """The next whole body, or None. A bad length raises; nothing can be read after that."""
        begin = self._start + PREFIX
        if len(self._buffer) < begin:
            return None
        length = int.from_bytes(self._buffer[self._start : begin], "little", signed=True)
        if not LENGTH_MIN <= length <= LENGTH_MAX:
            raise RemoteProtocolError(
                "holdem/frame.len",
                f"a packet length of {length} is not between {LENGTH_MIN} and {LENGTH_MAX}",
            )
        if len(self._buffer) < begin + length:
            return None
        self._start = begin + length
        return bytes(self._buffer[begin : self._start])
