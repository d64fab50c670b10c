"""What the nodes' codecs accept, learnt from the codecs themselves and kept as arrays.

No rule and no layout is written here a second time. Each codec is asked once about every case that matters,
and a million messages are then judged by looking up: a byte of a Hearts header by its value, a card by its
place in the frame, a word of Briscola by its 16 bits, a byte of tic-tac-toe by its place.

A verdict is a small number: 0 accepted, else the place of the check's id in the game's CHECKS, from 1.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nodes.briscola import messages as briscola
from nodes.briscola.checks import CHECKS as BRISCOLA_CHECKS
from nodes.briscola.fields import FIELDS as BRISCOLA_FIELDS
from nodes.core import RemoteProtocolError
from nodes.hearts import messages as hearts
from nodes.hearts.checks import CHECKS as HEARTS_CHECKS
from nodes.hearts.fields import FIELDS as HEARTS_FIELDS
from nodes.hearts.rules import DECK
from nodes.tictactoe import messages as tictactoe
from nodes.tictactoe.checks import CHECKS as TICTACTOE_CHECKS
from nodes.tictactoe.fields import FIELDS as TICTACTOE_FIELDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from captures.walk import Array, Bytes, Integers
    from nodes.core import Check, Json, Message
    from nodes.vocabulary import Field

ABSENT = -1  # in a column of numbers: this message has no such field

_EVERY = range(256)


class Codec:
    """One game's fixed format. `raw` has a row of `width` bytes a message, `length` its true length."""

    width: int

    def __init__(self, checks: Mapping[str, Check], fields: Mapping[str, Field]) -> None:
        self.checks = ("", *checks)  # by verdict
        self.fields = fields
        self._verdicts = {check: number for number, check in enumerate(checks, 1)}

    def judge(self, raw: Bytes, length: Integers) -> Bytes:
        """The verdict on each."""
        raise NotImplementedError

    def column(self, name: str, raw: Bytes, check: Bytes) -> Array:
        """One field of each: numbers (ABSENT where there is none), or text (empty)."""
        raise NotImplementedError

    def kinds(self, raw: Bytes, check: Bytes) -> tuple[Array, list[str]]:
        """What sort of message each is: a number, and what the numbers are called. Refused ones are -1."""
        raise NotImplementedError

    def message(self, raw: bytes) -> Message:
        """One row as the codec itself reads it."""
        raise NotImplementedError

    def value(self, name: str, cell: Any, raw: Bytes) -> Json:  # noqa: ARG002 - a frame's type may matter
        """What the codec has for a cell of a column."""
        if self.fields[name].sort == "flag":
            return bool(cell)
        return bytes(cell).decode("ascii") if isinstance(cell, bytes) else int(cell)

    def ask(self, decode: Callable[[bytes], Any], data: Iterable[int]) -> int:
        """The codec's verdict."""
        try:
            decode(bytes(data))
        except RemoteProtocolError as error:
            return self._verdicts[error.check]
        return 0


class _Shape(NamedTuple):
    """The payload of one type and size."""

    refused: dict[int, Bytes]  # place in the frame → verdict by the byte that stands there
    unequal: list[int]  # places whose bytes must all differ …
    twice: int  # … and the verdict where they do not
    fields: dict[str, int | list[int]]  # name → place or places in the frame


class Hearts(Codec):
    """Header and payload, by type and size."""

    def __init__(self) -> None:
        super().__init__(HEARTS_CHECKS, HEARTS_FIELDS)
        head = hearts.HEADER_SIZE
        # Any card but an ace, which would be a FASE: so each payload is right if its size is.
        self._filler = bytes(card for card in DECK if card & 15 > 1) * 8
        self._short = self._ask(b"")
        self._length = self._ask((1, 0, 0, 0, 1))
        kinds = [one.TYPE for one in hearts.TYPES]
        accepted = [
            (kind, size) for kind in kinds for size in _EVERY if not self._ask(self._frame(kind, size))
        ]
        sizes = sorted({size for _, size in accepted})
        self.width = head + max(sizes)
        self._header: list[str] = []  # the names of its five bytes
        # Bytes that are treated alike stand for one another: a wrong type, origin, dest or size has class 0.
        kind, size = accepted[0]
        self._classes = [
            _classes({kind: place for place, kind in enumerate(kinds, 1)}),
            _classes({one: 1 for one in _EVERY if not self._ask(self._frame(kind, size, origin=one))}),
            _classes({one: 1 for one in _EVERY if not self._ask(self._frame(kind, size, dest=one))}),
            _classes({size: place for place, size in enumerate(sizes, 1)}),
        ]
        some = [[int((one == number).argmax()) for number in range(one.max() + 1)] for one in self._classes]
        self._head = np.array(
            [
                [
                    [[self._ask(self._frame(k, s, origin=o, dest=d)) for s in some[3]] for d in some[2]]
                    for o in some[1]
                ]
                for k in some[0]
            ],
            np.uint8,
        )
        self._shapes = {(kind, size): self._shape(kind, size) for kind, size in accepted}

    def _ask(self, data: Iterable[int]) -> int:
        return self.ask(hearts.decode, data)

    def _frame(self, kind: int, size: int, *, origin: int = 0, dest: int = hearts.BROADCAST) -> bytes:
        return bytes((kind, origin, dest, 0, size)) + self._filler[:size]

    def _shape(self, kind: int, size: int) -> _Shape:
        frame = self._frame(kind, size)
        # The same with other cards, for bytes that the first has already: nothing is in a frame twice.
        other = frame[: hearts.HEADER_SIZE] + self._filler[size : 2 * size]
        refused = {}
        for place in range(hearts.HEADER_SIZE, len(frame)):
            frames = [
                _with(other if byte in frame[hearts.HEADER_SIZE :] else frame, place, byte) for byte in _EVERY
            ]
            if any(self._ask(frames[byte]) for byte in (0, 1, 255)):
                refused[place] = np.array([self._ask(one) for one in frames], np.uint8)
        twice = {
            (a, b): verdict
            for a, b in combinations(refused, 2)
            if (verdict := self._ask(_with(frame, b, frame[a])))
        }
        unequal = sorted({place for pair in twice for place in pair})
        content: list[tuple[str, Any]] = list(hearts.decode(frame).fields().items())
        self._header = [name for name, _ in content[: hearts.HEADER_SIZE]]
        found: dict[str, int | list[int]] = {name: place for place, name in enumerate(self._header)}
        for name, value in content[hearts.HEADER_SIZE :]:
            if isinstance(value, list):
                found[name] = [frame.index(one, hearts.HEADER_SIZE) for one in value]
            else:
                found[name] = frame.index(value, hearts.HEADER_SIZE)
        return _Shape(refused, unequal, next(iter(twice.values()), 0), found)

    def judge(self, raw: Bytes, length: Integers) -> Bytes:
        kind, size = raw[:, 0], raw[:, 4]
        head = np.zeros(len(raw), np.int64)
        for place, classes, stride in zip((0, 1, 2, 4), self._classes, self._head.strides, strict=True):
            head += (classes * stride)[raw[:, place]]
        verdict = self._head.ravel()[head]
        for (one, wanted), shape in self._shapes.items():
            if shape.refused:
                rows = np.flatnonzero((kind == one) & (size == wanted) & (verdict == 0))
                if len(rows):
                    verdict[rows] = _judge_payload(raw[rows], shape)
        verdict[length != size.astype(np.int64) + hearts.HEADER_SIZE] = self._length
        verdict[length < hearts.HEADER_SIZE] = self._short
        return verdict

    def column(self, name: str, raw: Bytes, check: Bytes) -> Array:
        uses = {key: shape.fields[name] for key, shape in self._shapes.items() if name in shape.fields}
        if name in self._header:
            return np.where(check == 0, raw[:, self._header.index(name)], np.int16(ABSENT))
        lists = [len(use) for use in uses.values() if isinstance(use, list)]
        column = np.full((len(raw), max(lists, default=1)), ABSENT, np.int16)
        for (kind, size), use in uses.items():
            rows = np.flatnonzero((raw[:, 0] == kind) & (raw[:, 4] == size) & (check == 0))
            places = use if isinstance(use, list) else [use]
            column[rows, : len(places)] = raw[rows][:, places]
        return column if lists else column[:, 0]

    def kinds(self, raw: Bytes, check: Bytes) -> tuple[Array, list[str]]:
        names = [hearts.NAMES.get(kind, "") for kind in range(max(hearts.NAMES) + 1)]
        return self.column("type", raw, check), names

    def value(self, name: str, cell: Any, raw: Bytes) -> Json:
        use = self._shapes[int(raw[0]), int(raw[4])].fields[name]
        if isinstance(use, list):
            return [int(one) for one in cell[: len(use)]]
        return int(np.atleast_1d(cell)[0])

    def message(self, raw: bytes) -> Message:
        return hearts.decode(raw[: hearts.HEADER_SIZE + raw[4]])


class Briscola(Codec):
    """A word has 16 bits, so the codec is asked about each that occurs, once."""

    width = briscola.WORD_SIZE

    def __init__(self) -> None:
        super().__init__(BRISCOLA_CHECKS, BRISCOLA_FIELDS)
        self._size = self.ask(briscola.decode, b"")
        words = 1 << 8 * self.width
        self._known = np.zeros(words, bool)
        self._verdicts_by_word = np.zeros(words, np.uint8)
        self._fields_by_word = {name: np.full(words, ABSENT, np.int16) for name in self.fields}

    def _learn(self, words: Array) -> None:
        for word in np.unique(words[~self._known[words]]).tolist():
            self._known[word] = True
            data = word.to_bytes(self.width, "big")
            self._verdicts_by_word[word] = verdict = self.ask(briscola.decode, data)
            if not verdict:
                fields: dict[str, Any] = briscola.decode(data).fields()
                for name, value in fields.items():
                    self._fields_by_word[name][word] = value

    def judge(self, raw: Bytes, length: Integers) -> Bytes:
        words = _words(raw)
        right = length == self.width
        self._learn(words[right])
        return np.where(right, self._verdicts_by_word[words], np.uint8(self._size))

    def column(self, name: str, raw: Bytes, check: Bytes) -> Array:
        return np.where(check == 0, self._fields_by_word[name][_words(raw)], np.int16(ABSENT))

    def kinds(self, raw: Bytes, check: Bytes) -> tuple[Array, list[str]]:
        return self.column("op", raw, check), [op.name for op in briscola.Op]

    def message(self, raw: bytes) -> Message:
        return briscola.decode(raw)


class TicTacToe(Codec):
    """Each byte is right or wrong by itself. A row has one byte more: 1 if the client spoke."""

    width = tictactoe.MESSAGE_BYTES + 1
    # Where a field stands, as the text counts.
    _PLACES: Mapping[str, slice] = {
        "status": slice(0, 1),
        "winner": slice(1, 2),
        "count": slice(2, 3),
        "board": slice(3, 12),
        "choice": slice(tictactoe.CHOICE_AT, tictactoe.CHOICE_AT + 1),
    }

    def __init__(self) -> None:
        super().__init__(TICTACTOE_CHECKS, TICTACTOE_FIELDS)
        state = tictactoe.State(tictactoe.VALID, " ", 0, " " * 9).encode()
        self._states = self._learn(tictactoe.State.decode, state)
        self._moves = self._learn(tictactoe.Move.decode, tictactoe.Move("1").encode())

    def _learn(self, decode: Callable[[bytes], Any], right: bytes) -> tuple[Array, Bytes]:
        """For each place and byte a rank, 0 if it is right; for each rank its verdict. The highest counts."""
        places = range(len(right))
        table = np.array([[self.ask(decode, _with(right, i, b)) for b in _EVERY] for i in places], np.uint8)
        wrong = {
            int(verdict): divmod(int(np.argmax(table == verdict)), 256)
            for verdict in np.unique(table[table > 0])
        }
        ranked: list[int] = []
        for verdict, (place, byte) in wrong.items():
            # Where two bytes are wrong, the codec names one of them: that one ranks higher.
            below = [
                other
                for other in ranked
                if self.ask(decode, _with(_with(right, *_elsewhere(table, other, place)), place, byte))
                == verdict
            ]
            ranked.insert(len(below), verdict)
        verdicts = np.array([0, *ranked], np.uint8)
        return np.argsort(verdicts)[np.searchsorted(np.sort(verdicts), table)], verdicts

    def judge(self, raw: Bytes, length: Integers) -> Bytes:
        verdict = np.zeros(len(raw), np.uint8)
        for moves, (table, verdicts) in enumerate((self._states, self._moves)):
            rows = np.flatnonzero(raw[:, -1] == moves)
            worst = np.zeros(len(rows), table.dtype)
            for place, ranks in enumerate(table):
                np.maximum(worst, ranks[raw[rows, place]], out=worst)
            verdict[rows] = verdicts[worst]
        del length  # a stream is cut into messages of the right length
        return verdict

    def column(self, name: str, raw: Bytes, check: Bytes) -> Array:
        place = self._PLACES[name]
        here = (check == 0) & (raw[:, -1] == (name == "choice"))
        part = np.ascontiguousarray(raw[:, place])
        if self.fields[name].sort == "integer":
            return np.where(here, part[:, 0].astype(np.int16) - ord("0"), np.int16(ABSENT))
        text = part.view(f"S{part.shape[1]}")[:, 0]
        return np.where(here, text, b"")

    def kinds(self, raw: Bytes, check: Bytes) -> tuple[Array, list[str]]:
        return np.where(check == 0, raw[:, -1].astype(np.int16), np.int16(ABSENT)), ["state", "move"]

    def message(self, raw: bytes) -> Message:
        data = raw[: tictactoe.MESSAGE_BYTES]
        return tictactoe.Move.decode(data) if raw[-1] else tictactoe.State.decode(data)


@cache
def codecs() -> Mapping[str, Codec]:
    """The games whose messages have a fixed format. Asking the codecs takes some 30 ms, once."""
    return {"hearts": Hearts(), "briscola": Briscola(), "tictactoe": TicTacToe()}


def _with(data: bytes | bytearray, place: int, byte: int) -> bytes:
    changed = bytearray(data)
    changed[place] = byte
    return bytes(changed)


def _elsewhere(table: Bytes, verdict: int, place: int) -> tuple[int, int]:
    """A place, another one if possible, and a byte there that gets this verdict."""
    found = np.argwhere(table == verdict)
    others = found[found[:, 0] != place]
    row = others[0] if len(others) else found[0]
    return int(row[0]), int(row[1])


def _classes(numbers: Mapping[int, int]) -> Array:
    table = np.zeros(256, np.int64)
    for byte, number in numbers.items():
        table[byte] = number
    return table


def _judge_payload(raw: Bytes, shape: _Shape) -> Bytes:
    verdict = np.zeros(len(raw), np.uint8)
    for place, verdicts in shape.refused.items():
        found = verdicts[raw[:, place]]
        verdict = np.where(verdict == 0, found, verdict)
    if shape.unequal:
        cards = np.sort(raw[:, shape.unequal], axis=1)
        twice = (cards[:, 1:] == cards[:, :-1]).any(axis=1)
        verdict[twice & (verdict == 0)] = shape.twice
    return verdict


def _words(raw: Bytes) -> Array:
    return raw[:, 0].astype(np.int64) << 8 | raw[:, 1]
