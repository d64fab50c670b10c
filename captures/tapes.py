"""Tapes: what the shells say they sent, made into a capture where the kernel is not to be had.

Each node writes one tape, a line of JSON for each thing it did on the wire, its times never going back:

    {"t": 1600000000.123456, "kind": "data", "proto": "udp", "src": "127.0.71.1:47123",
     "dst": "127.0.71.2:47123", "data": "<hex>"}

    kind   open    tcp; written by the side that connects, once the connection stands
           data    what was sent: a datagram, or a chunk of a stream
           close   tcp; written by whichever side closes

merge() puts the tapes of a run in order of time and gives each line honest headers: true addresses,
ports and bytes, right lengths and checksums, and for TCP the handshake, numbers and FIN that such a
conversation has. The capture says that they were made here and not seen by the kernel.
"""

from __future__ import annotations

import heapq
import json
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from captures import frames
from captures.blocks import Direction, Interface, Statistics
from captures.conversation import Conversation, Segment
from captures.links import End, Link, LinkTable, describe, parse_end, section
from captures.pcapng import Writer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

SYNTHESISED = (
    "The headers of this capture were synthesised from what the shells recorded of their own sending. "
    "Addresses, ports, payloads and times of sending are true; link, IP, UDP and TCP headers, "
    "handshakes and acknowledgements were not seen by the kernel."
)
HOW = "headers synthesised from the shells' own recording, not seen by the kernel"
OTHER = "other"  # the interface for what belongs to no link

LINE_MAX = 4 * 1024 * 1024
# A server may write before its client's shell has noted that the connection stands.
OPEN_LATE_NS = 2_000_000_000


class Line(NamedTuple):
    """One line of a tape."""

    time_ns: int
    kind: str
    proto: str
    src: End
    dst: End
    data: bytes


@dataclass(frozen=True, slots=True)
class Merged:
    """What became of the tapes. A torn last line is no fault; `skipped` counts lines that made no sense."""

    frames: int
    skipped: int


def merge(
    tapes: Sequence[Path], out: Path, links: Sequence[Link], names: Mapping[str, str], *comments: str
) -> Merged:
    """Write one pcapng of all tapes: an interface a link in their order, `names` by address.

    A tape that is not there is an empty one: its node never spoke.
    """
    table = LinkTable(links)
    opens = _opens(tapes)
    readers = [Tape(path) for path in tapes]
    with out.open("wb") as stream, Writer(stream, section(SYNTHESISED, *comments)) as writer:
        describe(writer, links, HOW, names)
        wire = _Wire(writer, table, len(links), opens)
        for line in _in_order(readers):
            wire.line(line)
        wire.finish()
    return Merged(sum(wire.counts), sum(reader.skipped for reader in readers))


class Tape:
    """Reads one tape, line by line, in bounded memory."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.skipped = 0

    def __iter__(self) -> Iterator[Line]:
        now_ns = 0
        try:
            stream = self._path.open("rb")
        except FileNotFoundError:
            return
        with stream:
            while raw := stream.readline(LINE_MAX):
                whole = raw.endswith(b"\n")
                line = parse_line(raw)
                if line is None:
                    # Only the last line can lack its end without being too long: it was torn by a kill.
                    self.skipped += whole or len(raw) == LINE_MAX
                    continue
                now_ns = max(now_ns, line.time_ns)
                yield line._replace(time_ns=now_ns)


def parse_line(raw: bytes) -> Line | None:
    """Read one line of a tape; None if it makes no sense."""
    try:
        entry = json.loads(raw)
        kind, proto = entry["kind"], entry["proto"]
        src, dst = parse_end(entry["src"]), parse_end(entry["dst"])
        # float() first: a text times a number is a long text.
        time_ns = round(float(entry["t"]) * 1_000_000_000)
        data = bytes.fromhex(entry["data"]) if kind == "data" else b""
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return None
    sound = (
        src.port is not None
        and dst.port is not None
        and len(src.address) == len(dst.address)
        and src != dst
        and 0 <= time_ns < 1 << 63
        and (
            (proto == "udp" and kind == "data" and len(data) <= frames.UDP_DATA_MAX)
            or (proto == "tcp" and kind in ("open", "data", "close"))
        )
    )
    return Line(time_ns, kind, proto, src, dst, data) if sound else None


# The two ends of a connection, the same for both directions.
Pair = frozenset[End]


def _opens(tapes: Sequence[Path]) -> dict[Pair, deque[Line]]:
    """Return when each pair of ends was connected, and by whom, in order."""
    opens: dict[Pair, deque[Line]] = {}
    for line in _in_order([Tape(path) for path in tapes]):
        if line.kind == "open":
            opens.setdefault(frozenset((line.src, line.dst)), deque()).append(line)
    return opens


def _in_order(tapes: Sequence[Tape]) -> Iterator[Line]:
    return heapq.merge(*tapes, key=lambda line: line.time_ns)


class _Wire:
    """Turns lines into frames, and keeps the state of every connection that is not yet closed."""

    def __init__(self, writer: Writer, table: LinkTable, links: int, opens: dict[Pair, deque[Line]]) -> None:
        self._writer = writer
        self._table = table
        self._opens = opens  # those not yet met
        self._conversations: dict[Pair, Conversation] = {}
        self._ahead: set[Pair] = set()  # conversations that began before their open line
        self._begun = 0
        self._sent = 0
        self._other: int | None = None
        self._start_ns: int | None = None
        self._now_ns = 0
        self.counts = [0] * links

    def line(self, line: Line) -> None:
        """Write the frames of one line."""
        self._now_ns = line.time_ns
        if line.proto == "udp":
            self._emit(line.src, line.dst, frames.udp(line.src, line.dst, line.data, self._sent))
        else:
            for segment in self._segments(line):
                self._emit(segment.src, segment.dst, frames.tcp(*segment, self._sent))

    def finish(self) -> None:
        """Write what each link carried. What the shells lost, nobody knows: no figure is given."""
        start_ns = self._now_ns if self._start_ns is None else self._start_ns
        for link, count in enumerate(self.counts):
            self._writer.write(Statistics(link, self._now_ns, start_ns, self._now_ns, count))

    def _segments(self, line: Line) -> Iterator[Segment]:
        pair = frozenset((line.src, line.dst))
        if line.kind == "open":
            self._opens[pair].popleft()
            if pair in self._ahead:
                self._ahead.remove(pair)
            else:
                yield from self._begin(pair, line.src, line.dst)
            return
        conversation = self._conversations.get(pair)
        if conversation is None or conversation.closed_by(line.src):
            if line.kind == "close":
                return  # a second close says nothing new
            client, server = self._client_first(pair, line)
            yield from self._begin(pair, client, server)
            conversation = self._conversations[pair]
        if line.kind == "data":
            yield from conversation.say(line.src, line.data)
            return
        yield from conversation.close(line.src)
        if conversation.over:
            del self._conversations[pair]

    def _begin(self, pair: Pair, client: End, server: End) -> Iterator[Segment]:
        self._begun += 1
        self._conversations[pair] = conversation = Conversation(client, server, self._begun)
        return conversation.open()

    def _client_first(self, pair: Pair, line: Line) -> tuple[End, End]:
        """Tell who connected, for words that no open line precedes."""
        coming = self._opens.get(pair)
        if coming and coming[0].time_ns - line.time_ns <= OPEN_LATE_NS:
            self._ahead.add(pair)
            return coming[0].src, coming[0].dst
        # The tape that had the open line is lost. A client's port is one of the high ones.
        return (line.src, line.dst) if _port(line.src) > _port(line.dst) else (line.dst, line.src)

    def _emit(self, src: End, dst: End, frame: bytes) -> None:
        place = self._table.find(src.address, dst.address, src.port, dst.port)
        link, direction = place or (self._other_link(), Direction.UNKNOWN)
        self._writer.packet(link, self._now_ns, frame, direction)
        self.counts[link] += 1
        self._sent += 1
        if self._start_ns is None:
            self._start_ns = self._now_ns

    def _other_link(self) -> int:
        if self._other is None:
            self._other = self._writer.interface(Interface(OTHER, f"between no link's ends; {HOW}"))
            self.counts.append(0)
        return self._other


def _port(end: End) -> int:
    assert end.port is not None  # parse_line lets no other end through
    return end.port
