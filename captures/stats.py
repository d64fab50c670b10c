"""What went on in a capture, in numbers: who said what, how long it took, what was repeated or refused.

    summary = summarise("capture.pcapng")
    summary.as_json()

It is made from columns, a piece of the capture at a time, so memory does not grow with the file. Times go
into buckets that are a quarter of a percent wide; counts and maxima are exact.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from captures.batches import Chunks
from captures.columns import address_text
from nodes.briscola.messages import Op
from nodes.hearts.messages import SEQ_COUNT, TokenPass
from nodes.hearts.rules import SEAT_NAMES, SEATS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import BinaryIO

    from captures.columns import Columns
    from captures.walk import Array
    from nodes.core import Json

ENDS_MAX = 4096  # beyond it, ends are not told apart
CARRIED_MAX = 65_536  # rows that wait for the next piece; beyond it, the oldest are let go
OTHERS = "others"

_PERCENTILES = (50, 90, 99)
_BUCKETS_AN_OCTAVE = 256
_OCTAVES = 63


@dataclass
class Times:
    """How long something took, many times."""

    count: int = 0
    max_ns: int = 0
    _buckets: Array = field(default_factory=lambda: np.zeros(_OCTAVES * _BUCKETS_AN_OCTAVE, np.int64))

    def add(self, times_ns: Array) -> None:
        if len(times_ns):
            self.count += len(times_ns)
            self.max_ns = max(self.max_ns, int(times_ns.max()))
            bucket = (np.log2(np.maximum(times_ns, 1)) * _BUCKETS_AN_OCTAVE).astype(np.int64)
            last = len(self._buckets) - 1  # the logarithm of the longest time rounds up to one more
            self._buckets += np.bincount(np.minimum(bucket, last), minlength=last + 1)

    def percentile_ns(self, percent: float) -> float:
        """What so many percent do not exceed; 0 if there is nothing."""
        if not self.count:
            return 0.0
        rank = np.searchsorted(np.cumsum(self._buckets), self.count * percent / 100)
        return min(float(2 ** ((rank + 0.5) / _BUCKETS_AN_OCTAVE)), float(self.max_ns))

    def as_json(self) -> dict[str, Json]:
        """In microseconds."""
        found: dict[str, Json] = {"count": self.count}
        found |= {f"p{percent}_us": round(self.percentile_ns(percent) / 1000, 3) for percent in _PERCENTILES}
        return found | {"max_us": self.max_ns / 1000}


@dataclass
class GameSummary:
    """One game of a capture."""

    seen: int = 0  # on all links: a ring's message once a hop, and each of its repeats
    kinds: Counter[tuple[str, str]] = field(default_factory=Counter)  # messages by kind and who made them
    refused: Counter[str] = field(default_factory=Counter)  # check
    repeats: Counter[str] = field(default_factory=Counter)  # sender; identical and on the same link
    times: dict[str, dict[str, Times]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(Times))
    )

    def as_json(self) -> dict[str, Json]:
        kinds: dict[str, dict[str, int]] = {}
        for (kind, node), count in sorted(self.kinds.items()):
            kinds.setdefault(kind, {})[node] = count
        return {
            "seen": self.seen,
            "kinds": {kind: dict(nodes) for kind, nodes in kinds.items()},
            "refused": dict(sorted(self.refused.items())),
            "repeats": dict(sorted(self.repeats.items())),
            "times": {
                what: {node: times.as_json() for node, times in sorted(nodes.items())}
                for what, nodes in self.times.items()
            },
        }


@dataclass
class Summary:
    """A capture in numbers."""

    games: dict[str, GameSummary]
    frames: int = 0
    first_ns: int | None = None
    last_ns: int | None = None
    lost: dict[str, int | None] = field(
        default_factory=dict
    )  # by link, as the recorder noted; None: not known
    unread: dict[str, int] = field(default_factory=dict)  # frames without a packet, by why
    foreign: int = 0  # packets of no game
    cut: int = 0  # messages of which the capture holds only a part
    gaps: int = 0  # pieces of streams that were never captured
    problem: str | None = None

    @property
    def span_s(self) -> float:
        return 0.0 if self.first_ns is None or self.last_ns is None else (self.last_ns - self.first_ns) / 1e9

    def as_json(self) -> dict[str, Json]:
        """The names of its keys stay."""
        return {
            "frames": self.frames,
            "first_ns": self.first_ns,
            "last_ns": self.last_ns,
            "span_s": self.span_s,
            "frames_per_s": self.frames / self.span_s if self.span_s else None,
            "lost": dict(self.lost),
            "unread": dict(self.unread),
            "foreign": self.foreign,
            "cut": self.cut,
            "gaps": self.gaps,
            "problem": self.problem,
            "games": {name: game.as_json() for name, game in self.games.items() if game.seen},
        }


def summarise(where: Path | str | BinaryIO, *, ports: Mapping[str, int] | None = None) -> Summary:
    """Read a capture and count. Raises CaptureError where there is no capture at all."""
    chunks = Chunks(where, ports=ports)
    ends = _Ends(chunks)
    games: dict[str, GameSummary] = defaultdict(GameSummary)
    ring, words = _Ring(games["hearts"], ends), _Words(games["briscola"], ends)
    for part in chunks:
        for name, columns in part.items():
            if columns.rows:
                _count(games[name], columns)
                if name != "hearts":  # where one message is seen several times
                    _count_kinds(games[name], ends, columns)
        ring.add(part["hearts"])
        words.add(part["briscola"])
    ring.finish()
    for (name, kind, sender, check), count in chunks.others.items():
        games[name].seen += count
        if check is None:
            games[name].kinds[kind, ends.name_of(sender)] += count
        else:
            games[name].refused[check] += count
    links = chunks.links
    return Summary(
        dict(games),
        chunks.frames,
        chunks.first_ns,
        chunks.last_ns,
        {links[one.interface]: one.dropped for one in chunks.statistics},
        {why.value: count for why, count in chunks.unread.items()},
        chunks.foreign,
        chunks.cut,
        chunks.gaps,
        chunks.problem,
    )


def _count(game: GameSummary, columns: Columns) -> None:
    check = columns["check"]
    game.seen += columns.rows
    for number in np.unique(check[check != 0]).tolist():
        game.refused[columns.checks[number]] += int(np.count_nonzero(check == number))


def _count_kinds(game: GameSummary, ends: _Ends, columns: Columns) -> None:
    good = columns["check"] == 0
    sender = ends.number(columns, "src", "sport")[good]
    _add_kinds(game.kinds, columns["kind"][good], columns.kinds, sender, ends.names)


def _add_kinds(
    counter: Counter[tuple[str, str]], kind: Array, kinds: Sequence[str], node: Array, nodes: Sequence[str]
) -> None:
    counts = np.bincount(node.astype(np.int64) * len(kinds) + kind)
    for place in np.flatnonzero(counts).tolist():
        end, number = divmod(place, len(kinds))
        counter[kinds[number], nodes[end]] += int(counts[place])


class _Ends:
    """Addresses with their ports as small numbers. 0 is whoever came after ENDS_MAX others."""

    def __init__(self, chunks: Chunks) -> None:
        self.names = [OTHERS]
        self._chunks = chunks
        self._known: dict[int, int] = {}
        # Most are found in this table, by 16 bits of their key; where two share a place, the later is not.
        self._keys = np.zeros(1 << 16, np.uint64)
        self._numbers = np.zeros(1 << 16, np.int16)

    def number(self, columns: Columns, address: str, port: str) -> Array:
        """The number of each row's end."""
        halves = columns[address].view(np.uint64).reshape(-1, 2)
        # Odd constants with mixed bits: 2⁶⁴ by the golden ratio, and two primes of xxHash.
        keys = halves[:, 0] * np.uint64(0xC2B2AE3D27D4EB4F) ^ halves[:, 1] * np.uint64(0x9E3779B97F4A7C15)
        keys = (keys ^ columns[port]) * np.uint64(0x165667B19E3779F9)
        places = (keys >> np.uint64(48)).astype(np.int64)
        numbers = self._numbers[places]
        missed = np.flatnonzero(self._keys[places] != keys)
        if len(missed):
            several, first, inverse = np.unique(keys[missed], return_index=True, return_inverse=True)
            found = []
            for key, row in zip(several.tolist(), missed[first].tolist(), strict=True):
                found.append(self._learn(key, address_text(columns[address][row]), int(columns[port][row])))
            numbers[missed] = np.array(found, np.int16)[inverse]
        return numbers

    def _learn(self, key: int, address: str, port: int) -> int:
        if key not in self._known:
            if len(self.names) > ENDS_MAX:
                return 0
            self._known[key] = len(self.names)
            self.names.append(self._chunks.directory.name(address, port))
            if not self._keys[key >> 48]:
                self._keys[key >> 48], self._numbers[key >> 48] = key, self._known[key]
        return self._known[key]

    def name_of(self, sender: str) -> str:
        """The node by "address port"."""
        address, _, port = sender.partition(" ")
        return self._chunks.directory.name(address, int(port)) if port else OTHERS


_Rows = dict[str, Any]  # columns of equal length


def _joined(before: _Rows, rows: _Rows) -> _Rows:
    return {name: np.concatenate([before[name], rows[name]]) for name in rows} if before else rows


def _taken(rows: _Rows, places: Array) -> _Rows:
    return {name: column[places] for name, column in rows.items()}


class _Ring:
    """Hearts. The same frame on successive links gives hops; back at its origin, a lap."""

    def __init__(self, game: GameSummary, ends: _Ends) -> None:
        self._game = game
        self._ends = ends
        self._home = np.full(SEATS, -1, np.int64)  # seat → end
        self._open: _Rows = {}  # frames that are still on their way
        self._last: _Rows = {}  # of each origin on each link
        self._kinds: list[str] = []
        self._token = [-1] * SEATS  # since when each seat has it

    def add(self, columns: Columns) -> None:
        columns = columns.where(columns["check"] == 0)
        if not columns.rows:
            return
        rows: _Rows = {
            "time_ns": columns["time_ns"],
            "src": self._ends.number(columns, "src", "sport"),
            "dst": self._ends.number(columns, "dst", "dport"),
            "origin": columns["origin"],
            "seq": columns["seq"],
            "kind": columns["kind"],
            "raw": columns.raw.view(f"V{columns.raw.shape[1]}")[:, 0],
        }
        self._find_homes(rows)
        self._kinds = columns.kinds
        again = rows["again"] = self._repeats(rows)
        self._tokens(_taken(rows | {"owner": columns["owner"]}, ~again))
        self._laps(_joined(self._open, rows), last=False)

    def finish(self) -> None:
        """The capture is over."""
        if self._open and len(self._open["src"]):
            self._laps(self._open, last=True)

    def _find_homes(self, rows: _Rows) -> None:
        """Where each seat sends from: by its name; else one by its first frame, the next by its link."""
        for seat, name in enumerate(SEAT_NAMES):
            if self._home[seat] < 0 and name in self._ends.names:
                self._home[seat] = self._ends.names.index(name)
        while len(unknown := np.flatnonzero(self._home < 0)):
            behind = [seat for seat in unknown.tolist() if self._home[seat - 1] >= 0]
            found = [(seat, np.flatnonzero(rows["src"] == self._home[seat - 1]), "dst") for seat in behind]
            if len(unknown) == SEATS:
                found = [(int(rows["origin"][0]), np.zeros(1, np.int64), "src")]
            found = [one for one in found if len(one[1])]
            for seat, places, end in found:
                self._home[seat] = rows[end][places[0]]
            if not found:
                break

    def _repeats(self, rows: _Rows) -> Array:
        """Whether each frame equals the one before it of the same origin on the same link."""
        wanted = {name: rows[name] for name in ("src", "dst", "origin", "raw")}
        everything = _joined(self._last, wanted)
        before = len(everything["src"]) - len(rows["src"])
        link = (everything["src"].astype(np.int64) * (ENDS_MAX + 1) + everything["dst"]) * SEATS
        link += everything["origin"]
        order = np.argsort(link, kind="stable")
        link, raw = link[order], everything["raw"][order]
        same = link[1:] == link[:-1]
        again = np.zeros(len(order), bool)
        again[order[1:]] = same & (raw[1:] == raw[:-1])
        self._last = _taken(everything, order[np.append(~same, True)][:CARRIED_MAX])
        again = again[before:]
        for end, count in enumerate(np.bincount(rows["src"][again]).tolist()):
            if count:
                self._game.repeats[self._ends.names[end]] += count
        return again

    def _laps(self, rows: _Rows, *, last: bool) -> None:
        key = rows["origin"].astype(np.int64) * SEQ_COUNT + rows["seq"]
        order = np.argsort(key.astype(np.uint16), kind="stable")
        key, sorted_rows = key[order], _taken(rows, order)
        time_ns, src, dst, raw = (sorted_rows[name] for name in ("time_ns", "src", "dst", "raw"))
        home = self._home[sorted_rows["origin"]]
        # A frame goes on where it came in, with the same bytes, until it is back at its origin.
        same = key[1:] == key[:-1]
        same[same] = raw[1:][same] == raw[:-1][same]
        on = same & (src[1:] == dst[:-1]) & (src[1:] != home[1:])
        begins = np.append(True, ~on)
        waits = np.zeros(len(order), bool)
        if not last:
            # The last way of each number, if it is not at its end, may go on in the next piece.
            way = np.cumsum(begins)
            ends = np.append(key[1:] != key[:-1], True) & (dst != home)
            waits = np.isin(way, way[ends])
            if np.count_nonzero(waits) > CARRIED_MAX:
                waits[:] = False
        self._open = _taken(rows, np.sort(order[waits]))
        hops = on & ~waits[1:]
        took, by = (time_ns[1:] - time_ns[:-1])[hops], src[1:][hops]
        for end in np.unique(by).tolist():
            self._game.times["hop"][self._ends.names[end]].add(took[by == end])
        # What is seen of a message after a loss is no new one; its number and bytes are the same.
        new = (np.append(True, ~same) | (src == home)) & ~sorted_rows["again"]
        made = np.flatnonzero(new & ~waits)
        _add_kinds(
            self._game.kinds,
            sorted_rows["kind"][made],
            self._kinds,
            sorted_rows["origin"][made],
            SEAT_NAMES,
        )
        starts = np.flatnonzero(begins & ~waits)
        stops = np.append(np.flatnonzero(begins)[1:] - 1, len(order) - 1)[~waits[begins]]
        round_trip = (src[starts] == home[starts]) & (dst[stops] == home[starts])
        laps, origin = (
            (time_ns[stops] - time_ns[starts])[round_trip],
            sorted_rows["origin"][starts][round_trip],
        )
        for seat in np.unique(origin).tolist():
            self._game.times["lap"][SEAT_NAMES[seat]].add(laps[origin == seat])

    def _tokens(self, rows: _Rows) -> None:
        """From when a TOKEN_PASS reaches its new owner until that seat's own next one leaves."""
        passes = _taken(rows, rows["kind"] == TokenPass.TYPE)
        seats = np.arange(SEATS)
        for seat, home in zip(seats.tolist(), self._home.tolist(), strict=True):
            if home < 0:
                continue
            comes = (passes["owner"] == seat) & (passes["dst"] == home)
            leaves = (passes["origin"] == seat) & (passes["src"] == home)
            here = np.flatnonzero(comes | leaves)
            time_ns, leaving = passes["time_ns"][here], leaves[here]
            if self._token[seat] >= 0:
                time_ns, leaving = np.append(self._token[seat], time_ns), np.append(False, leaving)
            held = leaving[1:] & ~leaving[:-1]
            self._game.times["token"][SEAT_NAMES[seat]].add((time_ns[1:] - time_ns[:-1])[held])
            self._token[seat] = int(time_ns[-1]) if len(leaving) and not leaving[-1] else -1


class _Words:
    """Briscola. A word is answered by the next ACK the other way; the same word again is a repeat."""

    def __init__(self, game: GameSummary, ends: _Ends) -> None:
        self._game = game
        self._ends = ends
        self._open: _Rows = {}

    def add(self, columns: Columns) -> None:
        columns = columns.where((columns["check"] == 0) & (columns["op"] != Op.ERR))
        if not columns.rows:
            return
        src, dst = self._ends.number(columns, "src", "sport"), self._ends.number(columns, "dst", "dport")
        ack = columns["op"] == Op.ACK
        # An ACK belongs to the words of the other direction.
        sender, other = np.where(ack, dst, src).astype(np.int64), np.where(ack, src, dst)
        rows = _joined(
            self._open,
            {
                "time_ns": columns["time_ns"],
                "channel": sender * (ENDS_MAX + 1) + other,
                "ack": ack,
                "word": columns.raw.view(np.uint16)[:, 0],
                "again": np.zeros(len(ack), bool),
            },
        )
        order = np.argsort(rows["channel"], kind="stable")
        rows = _taken(rows, order)
        channel, ack, word, time_ns = (rows[name] for name in ("channel", "ack", "word", "time_ns"))
        same = channel[1:] == channel[:-1]
        again = same & ~ack[1:] & ~ack[:-1] & (word[1:] == word[:-1])
        for place in np.flatnonzero(again).tolist():
            self._game.repeats[self._ends.names[int(channel[place]) // (ENDS_MAX + 1)]] += 1
        copies = rows["again"]
        copies[1:] |= again
        # An ACK does not say which copy it answers, so only words sent once tell a round trip.
        answered = same & ack[1:] & ~ack[:-1] & ~copies[:-1]
        took, by = (time_ns[1:] - time_ns[:-1])[answered], channel[:-1][answered] // (ENDS_MAX + 1)
        for end in np.unique(by).tolist():
            self._game.times["ack"][self._ends.names[end]].add(took[by == end])
        waits = np.append(~same, True) & ~ack
        self._open = _taken(rows, np.flatnonzero(waits)[:CARRIED_MAX])
