"""A TCP conversation as it must have gone: the segments that carry what each side is known to have said."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from captures.frames import ACK, FIN, PSH, SYN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from captures.links import End

MSS = 1460
# The receiver acknowledges when this much is under way, so that no window is ever full.
ACK_EVERY_BYTES = 16 * 1024


class Segment(NamedTuple):
    src: End
    dst: End
    seq: int
    ack: int
    flags: int
    data: bytes = b""
    mss: int | None = None


@dataclass(slots=True)
class _Side:
    """One end: the next number it sends, how much of it is not yet acknowledged, whether it has closed."""

    end: End
    seq: int
    unacknowledged: int = 0
    closed: bool = False


class Conversation:
    """One connection, from its handshake to both FINs. Sequence numbers follow from its ends and `nonce`."""

    def __init__(self, client: End, server: End, nonce: int) -> None:
        self._client = _Side(client, zlib.crc32(f"{client}>{server}#{nonce}".encode()))
        self._server = _Side(server, zlib.crc32(f"{server}>{client}#{nonce}".encode()))

    @property
    def over(self) -> bool:
        return self._client.closed and self._server.closed

    def closed_by(self, end: End) -> bool:
        return self._sides(end)[0].closed

    def open(self) -> Iterator[Segment]:
        """Yield SYN, SYN+ACK, ACK."""
        client, server = self._client, self._server
        yield Segment(client.end, server.end, client.seq, 0, SYN, mss=MSS)
        client.seq = _after(client.seq, 1)
        yield Segment(server.end, client.end, server.seq, client.seq, SYN | ACK, mss=MSS)
        server.seq = _after(server.seq, 1)
        yield self._segment(client, server, ACK)

    def say(self, end: End, data: bytes) -> Iterator[Segment]:
        """Yield what this end sends, in segments, and the other's acknowledgements of a long text."""
        mine, theirs = self._sides(end)
        for at in range(0, len(data), MSS):
            chunk = data[at : at + MSS]
            last = at + MSS >= len(data)
            yield self._segment(mine, theirs, PSH | ACK if last else ACK, chunk)
            if mine.unacknowledged >= ACK_EVERY_BYTES:
                yield self._segment(theirs, mine, ACK)

    def close(self, end: End) -> Iterator[Segment]:
        """Yield this end's FIN and the other's acknowledgement."""
        mine, theirs = self._sides(end)
        yield self._segment(mine, theirs, FIN | ACK)
        mine.closed = True
        yield self._segment(theirs, mine, ACK)

    def _segment(self, mine: _Side, theirs: _Side, flags: int, data: bytes = b"") -> Segment:
        segment = Segment(mine.end, theirs.end, mine.seq, theirs.seq, flags, data)
        length = len(data) + bool(flags & FIN)  # a FIN takes one number
        mine.seq = _after(mine.seq, length)
        mine.unacknowledged += length
        theirs.unacknowledged = 0
        return segment

    def _sides(self, end: End) -> tuple[_Side, _Side]:
        """Return this end's side and the other's."""
        if end == self._client.end:
            return self._client, self._server
        return self._server, self._client


def _after(seq: int, length: int) -> int:
    return (seq + length) & 0xFFFFFFFF
