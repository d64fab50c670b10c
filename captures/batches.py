"""How a capture becomes columns: whole batches at once where frames are plain, one by one where not."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from captures.columns import COMMON, Columns, address, join, mapped
from captures.directory import Directory, run_beside
from captures.layers import (
    LINK_ETHERNET,
    LINK_LOOP,
    LINK_NULL,
    LINK_SLL,
    LINK_SLL2,
    LINKS_RAW,
    Packet,
    Unread,
    dissect,
)
from captures.learnt import ABSENT, Codec, codecs
from captures.messages import Streams
from captures.seen import CUT, GAP
from captures.source import Record
from captures.walk import BATCH_BYTES, Walker, gather

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from captures.blocks import Statistics
    from captures.dialogues import Dialogue
    from captures.seen import Reading, Seen
    from captures.walk import Array, Batch, Bytes, Integers

OTHERS_MAX = 65_536  # beyond it, senders are not told apart

# Where IPv4's header begins on each plain link, where its type stands, and which types say so.
_NETWORK = {
    LINK_ETHERNET: (14, ">u2", 12, (0x0800,)),
    LINK_SLL: (16, ">u2", 14, (0x0800,)),
    LINK_SLL2: (20, ">u2", 0, (0x0800,)),
    LINK_NULL: (4, ">u4", 0, (2, 2 << 24)),
    LINK_LOOP: (4, ">u4", 0, (2, 2 << 24)),
    **dict.fromkeys(LINKS_RAW, (0, "u1", 0, (0x45,))),
}
_IP4 = 20
_UDP = 8
_HEADERS = np.dtype(
    {
        "names": ["version", "total", "fragment", "protocol", "src", "dst", "sport", "dport", "length"],
        "formats": ["u1", ">u2", ">u2", "u1", "V4", "V4", ">u2", ">u2", ">u2"],
        "offsets": [0, 2, 6, 9, 12, 16, 20, 22, 24],
        "itemsize": _IP4 + _UDP,
    }
)
_PLAIN_IP4 = 0x45  # version 4, no options
_FRAGMENTED = 0x3FFF
_UDP_PROTOCOL = 17


@dataclass
class Table:
    """A whole capture, or a part of one."""

    games: dict[str, Columns]
    links: list[str]
    names: dict[str, str]  # address → node
    frames: int = 0
    problem: str | None = None
    unread: Counter[Unread] = field(default_factory=Counter)
    foreign: int = 0  # packets of no game
    cut: int = 0  # messages of which the capture holds only a part
    gaps: int = 0  # pieces of streams that were never captured

    def __getitem__(self, game: str) -> Columns:
        return self.games[game]


def table(where: Path | str | BinaryIO, *, ports: Mapping[str, int] | None = None) -> Table:
    """All columns of a capture at once: about 100 bytes a message. Use Chunks where that is too much."""
    chunks = Chunks(where, ports=ports)
    parts: dict[str, list[Columns]] = {game: [] for game in chunks.codecs}
    for part in chunks:
        for game, columns in part.items():
            if columns.rows:
                parts[game].append(columns)
    return Table(
        {game: join(codec, parts[game]) for game, codec in chunks.codecs.items()},
        chunks.links,
        chunks.names,
        chunks.frames,
        chunks.problem,
        chunks.unread,
        chunks.foreign,
        chunks.cut,
        chunks.gaps,
    )


class Chunks:
    """The columns of a capture, some frames at a time. What is counted is complete at the end."""

    def __init__(
        self,
        where: Path | str | BinaryIO,
        *,
        ports: Mapping[str, int] | None = None,
        batch_bytes: int = BATCH_BYTES,
    ) -> None:
        run = run_beside(Path(where)) if isinstance(where, str | Path) and where != "-" else {}
        self._walker = Walker(where, batch_bytes=batch_bytes)
        self.codecs = codecs()
        self.directory = Directory(self._walker.names, ports, run)
        self.unread: Counter[Unread] = Counter()
        self.foreign = self.cut = self.gaps = 0
        # Messages of the games that have no fixed format: by game, kind, sender ("address port") and check.
        self.others: Counter[tuple[str, str, str, str | None]] = Counter()
        self.first_ns: int | None = None
        self.last_ns: int | None = None
        self._games = list(self.codecs)
        self._ports, self._by_ports = _port_tables(self.directory, self._games)
        self._masks = {game: _masks(codec.width) for game, codec in self.codecs.items()}
        self._slow = _Slow(self, _Ends(self._walker.names, ports, run))

    @property
    def links(self) -> list[str]:
        return [link.name for link in self._walker.links]

    @property
    def names(self) -> dict[str, str]:
        return self._walker.names

    @property
    def statistics(self) -> list[Statistics]:
        return self._walker.statistics

    @property
    def frames(self) -> int:
        return self._walker.records

    @property
    def problem(self) -> str | None:
        return self._walker.problem

    def __iter__(self) -> Iterator[dict[str, Columns]]:
        with self._walker:
            for batch in self._walker.batches():
                first, last = int(batch.time_ns.min()), int(batch.time_ns.max())
                self.first_ns = first if self.first_ns is None else min(self.first_ns, first)
                self.last_ns = last if self.last_ns is None else max(self.last_ns, last)
                yield self._decode(batch)
        self._slow.finish()
        yield {game: join(self.codecs[game], parts) for game, parts in self._slow.take().items()}

    def _decode(self, batch: Batch) -> dict[str, Columns]:
        game, network, headers = self._plain(batch)
        found: dict[str, list[Columns]] = {one: [] for one in self._games}
        for number, name in enumerate(self._games):
            rows = np.flatnonzero(game == number)
            if len(rows):
                found[name].append(self._columns(name, batch, rows, network[rows], headers[rows]))
        for name, parts in self._slow.take().items():
            found[name] += parts
        return {name: self._in_order(self.codecs[name], parts) for name, parts in found.items()}

    def _in_order(self, codec: Codec, parts: list[Columns]) -> Columns:
        columns = join(codec, parts)
        return columns.where(np.argsort(columns["frame"], kind="stable")) if len(parts) > 1 else columns

    def _plain(self, batch: Batch) -> tuple[Array, Integers, Array]:
        """Which game each plain UDP datagram is of, ABSENT for others; where its IP header is; its headers.

        Frames that are not plain are handed to the slow path.
        """
        network, known = _network(batch)
        # Where a frame is too short for these headers, they are read from what lies behind it, and not used.
        headers = gather(batch.buffer, network, _HEADERS)
        total = headers["total"].astype(np.int64)
        whole = network + total <= batch.at + batch.size
        known &= (headers["version"] == _PLAIN_IP4) & (headers["fragment"] & _FRAGMENTED == 0) & whole
        udp = known & (headers["protocol"] == _UDP_PROTOCOL) & (headers["length"] == total - _IP4)
        udp &= total >= _IP4 + _UDP
        game = self._by_ports[self._ports[headers["dport"]], self._ports[headers["sport"]]]
        slow = np.flatnonzero(~udp)
        if len(slow):
            self._slow.add(batch, slow)
        game[~udp] = ABSENT
        self.foreign += int(np.count_nonzero(udp)) - int(np.count_nonzero(game != ABSENT))
        return game, network, headers

    def _columns(self, game: str, batch: Batch, rows: Integers, network: Integers, headers: Array) -> Columns:
        at, length = network + (_IP4 + _UDP), headers["length"].astype(np.int64) - _UDP
        codec = self.codecs[game]
        raw = gather(batch.buffer, at, np.dtype(f"V{codec.width}")).view(np.uint8).reshape(-1, codec.width)
        raw &= self._masks[game][np.minimum(length, codec.width)]
        common: dict[str, Array] = {
            "frame": batch.first + rows,
            "time_ns": batch.time_ns[rows],
            "link": batch.link[rows].astype(np.int32),
            "src": mapped(headers["src"]),
            "dst": mapped(headers["dst"]),
            "sport": headers["sport"].astype(np.uint16),
            "dport": headers["dport"].astype(np.uint16),
            "check": codec.judge(raw, length),
        }
        return Columns(codec, common, raw)


class _Slow:
    """Frames one by one: those that are not plain, and streams."""

    def __init__(self, chunks: Chunks, directory: Directory) -> None:
        self._chunks = chunks
        self._directory = directory
        self._streams: Streams | None = None
        self._found: dict[str, list[tuple[Any, ...]]] = {game: [] for game in chunks.codecs}

    def add(self, batch: Batch, rows: Integers) -> None:
        """Take these frames, in order."""
        chunks = self._chunks
        for row in rows.tolist():
            at = int(batch.at[row])
            data = batch.buffer[at : at + int(batch.size[row])].tobytes()
            packet = dissect(int(batch.link_type[row]), data)
            if not isinstance(packet, Packet):
                chunks.unread[packet] += 1
                continue
            game = self._directory.game(packet.proto, packet.sport, packet.dport)
            if game is None:
                chunks.foreign += 1
                continue
            frame, time_ns, link = batch.first + row, int(batch.time_ns[row]), int(batch.link[row])
            if packet.proto == "tcp":
                self._segment(Record(frame, time_ns, str(link), 0, b"", 0), packet)
            elif packet.missing:
                chunks.cut += 1
            else:
                ends = (packet.src, packet.dst, packet.sport, packet.dport)
                self._found[game].append((frame, time_ns, link, *ends, packet.payload, len(packet.payload)))

    def finish(self) -> None:
        """The capture is over: what streams still hold."""
        if self._streams is not None:
            self._keep(self._streams.finish())

    def take(self) -> dict[str, list[Columns]]:
        """What was found since the last time."""
        taken = {}
        for game, found in self._found.items():
            taken[game] = [self._columns(game, found)] if found else []
            self._found[game] = []
        return taken

    def _segment(self, record: Record, packet: Packet) -> None:
        if self._streams is None:
            self._streams = Streams(self._directory, _dialogues())
        self._keep(self._streams.take(record, packet))

    def _keep(self, messages: Iterable[Seen]) -> None:
        for seen in messages:
            if seen.kind == GAP:
                self._chunks.gaps += 1
            elif seen.kind == CUT:
                self._chunks.cut += 1
            elif seen.game not in self._found:
                others = self._chunks.others
                src = seen.src if len(others) < OTHERS_MAX else ""
                others[seen.game, seen.kind, src, seen.check] += 1
            else:
                (src, sport), (dst, dport) = seen.src.split(), seen.dst.split()
                ends = (src, dst, int(sport), int(dport))
                self._found[seen.game].append(
                    # What comes to light only at the end of the file came by no link we know of.
                    (seen.frame, seen.time_ns, int(seen.link or -1), *ends, seen.data, len(seen.data))
                )

    def _columns(self, game: str, found: list[tuple[Any, ...]]) -> Columns:
        codec = self._chunks.codecs[game]
        *common, payloads, lengths = zip(*found, strict=True)
        columns: dict[str, Sequence[Any]] = dict(zip(COMMON, common, strict=False))
        for end in ("src", "dst"):
            columns[end] = [address(text) for text in columns[end]]
        typed: dict[str, Array] = {name: np.array(column, COMMON[name]) for name, column in columns.items()}
        raw = np.frombuffer(
            b"".join(payload[: codec.width].ljust(codec.width, b"\0") for payload in payloads), np.uint8
        ).reshape(-1, codec.width)
        typed["check"] = codec.judge(raw, np.array(lengths, np.int64))
        return Columns(codec, typed, raw)


class _Ends(Directory):
    """Knows games, and calls everybody by address and port."""

    def name(self, address: str, port: int) -> str:
        return f"{address} {port}"


def _dialogues() -> dict[str, Callable[[str, str], Dialogue]]:
    """All dialogues; tic-tac-toe's with who spoke behind each message. Imported late: they bring Scapy."""
    from captures.dialogues import DIALOGUES, TicTacToe

    class Told(TicTacToe):
        def _read_state(self, data: bytes) -> Reading:
            reading = super()._read_state(data)
            reading.data += b"\0"
            return reading

        def _read_move(self, data: bytes) -> Reading:
            reading = super()._read_move(data)
            reading.data += b"\0" if reading.kind == "state" else b"\1"  # a client may send a state back
            return reading

    return {**DIALOGUES, "tictactoe": Told}


def _network(batch: Batch) -> tuple[Integers, Array]:
    """Where each frame's IP header begins, and whether the link says that it is one of IPv4."""
    network = batch.at.copy()
    known = np.zeros(len(network), bool)
    for link_type in np.unique(batch.link_type).tolist():
        if link_type in _NETWORK:
            size, sort, place, wanted = _NETWORK[link_type]
            rows = batch.link_type == link_type
            known[rows] = np.isin(gather(batch.buffer, batch.at[rows] + place, np.dtype(sort)), wanted)
            network[rows] += size
    return network, known


def _port_tables(directory: Directory, games: list[str]) -> tuple[Array, Array]:
    """Each port's number among those of games, 0 for any other; and by two such numbers the game, or -1."""
    ports = directory.ports("udp")
    numbers = np.zeros(1 << 16, np.uint8)
    numbers[ports] = np.arange(1, len(ports) + 1)
    free = next(port for port in range(1, 1 << 16) if port not in ports)
    known = [free, *ports]
    found = [[directory.game("udp", sport, dport) for sport in known] for dport in known]
    codes = [[ABSENT if game is None else games.index(game) for game in row] for row in found]
    return numbers, np.array(codes, np.int8)


def _masks(width: int) -> Bytes:
    """By length, a row that keeps as many bytes."""
    return np.tri(width + 1, width, -1, dtype=np.uint8) * np.uint8(255)
