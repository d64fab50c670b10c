"""The rules: discs that fall, four in a row, and who meets whom. Nothing here knows of messages or peers.

The board is two integers, a bit a disc. Each column takes seven bits, lowest cell first; the
seventh is always empty, so that no line runs over from one column's top into the next's bottom:

    bit of (row, column) = column × 7 + row          row 0 is the bottom
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from nodes.core import Json

COLUMNS = 7
ROWS = 6
CELLS = COLUMNS * ROWS
STRIDE = ROWS + 1

Color = Literal["R", "Y"]
Status = Literal["WinR", "WinY", "Tie", "PlayR", "PlayY"]
Battle = Literal["Ok", "Timeout", "Disconnected"]

OTHER: dict[Color, Color] = {"R": "Y", "Y": "R"}
WIN: dict[Color, Status] = {"R": "WinR", "Y": "WinY"}
PLAY: dict[Color, Status] = {"R": "PlayR", "Y": "PlayY"}

COLUMN_MASK = tuple(((1 << ROWS) - 1) << STRIDE * column for column in range(COLUMNS))
BOTTOM = tuple(1 << STRIDE * column for column in range(COLUMNS))
TOP = tuple(1 << STRIDE * column + ROWS - 1 for column in range(COLUMNS))
BOTTOM_ROW = sum(BOTTOM)
ALL_CELLS = sum(COLUMN_MASK)

_LETTERS = frozenset(".RY")
# "ligne 0, ligne 1, etc": the text goes row by row, the bits column by column.
_BIT_OF_CELL = tuple(1 << column * STRIDE + row for row in range(ROWS) for column in range(COLUMNS))


def has_four(discs: int) -> bool:
    """Whether one colour's discs hold four in a row: up, along, or on either diagonal."""
    for step in (1, STRIDE, STRIDE - 1, STRIDE + 1):
        pairs = discs & discs >> step
        if pairs & pairs >> 2 * step:
            return True
    return False


class BadBoard(ValueError):
    """No game leads to this board."""


@dataclass(frozen=True, slots=True)
class Board:
    """One position. Red moves first, so the discs themselves say whose move it is."""

    red: int = 0
    yellow: int = 0
    # Kept beside the bits: a server shows every board, and one cell is quicker changed than 42 written.
    _cells: str = field(default="." * CELLS, compare=False, repr=False)

    @classmethod
    def from_text(cls, text: str) -> Board:
        """The 42 cells of a message. Raises BadBoard where no legal game could have led."""
        if len(text) != CELLS or not _LETTERS.issuperset(text):
            raise BadBoard(f"a board is {CELLS} cells of '.', 'R' and 'Y'")
        red = sum(bit for bit, cell in zip(_BIT_OF_CELL, text, strict=True) if cell == "R")
        yellow = sum(bit for bit, cell in zip(_BIT_OF_CELL, text, strict=True) if cell == "Y")
        board = cls(red, yellow, text)
        taken = red | yellow
        # Adding the bottom row carries past each column's discs only if they lie without a gap.
        if (taken + BOTTOM_ROW) & taken:
            raise BadBoard("a disc hangs in the air")
        if red.bit_count() - yellow.bit_count() not in (0, 1):
            raise BadBoard(f"{red.bit_count()} red and {yellow.bit_count()} yellow discs: red moves first")
        if has_four(yellow if board.to_move == "Y" else red):
            raise BadBoard("play went on after a four in a row")
        return board

    def text(self) -> str:
        """The 42 cells, row 0 (the bottom) first, column 0 (the left) first."""
        return self._cells

    @property
    def plies(self) -> int:
        return (self.red | self.yellow).bit_count()

    @property
    def to_move(self) -> Color:
        return "Y" if self.plies & 1 else "R"

    def legal(self) -> tuple[int, ...]:
        """The columns a disc may be dropped in; none once the game is over."""
        if self.status()[:4] != "Play":
            return ()
        taken = self.red | self.yellow
        return tuple(column for column in range(COLUMNS) if not taken & TOP[column])

    def has_room(self, column: int) -> bool:
        return not (self.red | self.yellow) & TOP[column]

    def play(self, column: int) -> Board:
        """Drop a disc of the side to move. The caller knows the column has room."""
        taken = self.red | self.yellow
        disc = (taken + BOTTOM[column]) & COLUMN_MASK[column]
        cell = (taken & COLUMN_MASK[column]).bit_count() * COLUMNS + column
        before, after = self._cells[:cell], self._cells[cell + 1 :]
        if taken.bit_count() & 1:
            return Board(self.red, self.yellow | disc, f"{before}Y{after}")
        return Board(self.red | disc, self.yellow, f"{before}R{after}")

    def status(self) -> Status:
        """Who has won, or who is to move. Only the last to move can have made four."""
        plies = self.plies
        if plies & 1:
            if has_four(self.red):
                return "WinR"
            return "PlayY"
        if has_four(self.yellow):
            return "WinY"
        return "Tie" if plies == CELLS else "PlayR"

    def ply_to(self, after: Board) -> int | None:
        """The column that leads from here to there in one ply, or None."""
        return next((column for column in self.legal() if self.play(column) == after), None)


def outcome(red: str, yellow: str, status: Status, battle: Battle) -> dict[str, Json]:
    """One finished game, as every side reports it."""
    red_score: float = {"WinR": 1, "WinY": 0}.get(status, 0.5)
    return {
        "winner": {"WinR": red, "WinY": yellow}.get(status),
        "scores": {red: red_score, yellow: 1 - red_score},
        "status": status,
        "battle": battle,
        "red": red,
        "yellow": yellow,
    }


@dataclass(frozen=True, slots=True)
class View:
    """All that the side to move may know."""

    board: Board
    color: Color
    opponent: str
    time_s: float  # what is left on one's own clock for the rest of the game
    legal: tuple[int, ...]


NOBODY = ""
DEPARTED_MAX = 1024  # players who left and whose games are still remembered


class Tournament:
    """Who meets whom: the fewest games together first, each pair in both colours in turn.

    "Le serveur gère les parties en essayant de faire jouer tous les clients entre eux."

    eager: two meet as soon as both are free. A game's end costs one look at those who are free.
    rounds: all meet at once, one round after the other by the circle method over the sorted
    names, so that neither arrival nor speed decides anything.
    """

    def __init__(self, players: int, games: int, pairing: Literal["eager", "rounds"]) -> None:
        self._players = players
        self._games = games  # for each pair; 0: without end
        self._rounds = pairing == "rounds"
        self._wanted = players
        self._complete = False  # whether all were here at once
        self._met: dict[str, dict[str, int]] = {}  # name → name → games together, both ways
        self._present: dict[str, None] = {}
        self._departed: deque[str] = deque()
        self._idle: dict[str, None] = {}
        self._fresh: list[str] = []  # became idle since the last look
        self._rematch: tuple[str, str] | None = None
        self._running = 0
        self._open_pairs = 0  # pairs of those present with games still to play
        self._round = 0

    @property
    def full(self) -> bool:
        return self._games > 0 and len(self._present) >= self._players

    @property
    def over(self) -> bool:
        """Every pair has played all its games."""
        return (
            self._games > 0
            and self._running == 0
            and self._open_pairs == 0
            and len(self._present) >= self._wanted
        )

    @property
    def waiting(self) -> bool:
        """All were here, somebody left, and nothing goes on without them."""
        return self._complete and self._running == 0 and len(self._present) < self._wanted

    def shrink(self) -> None:
        """Wait no longer for those who left."""
        self._wanted = len(self._present)

    def join(self, name: str) -> None:
        self._present[name] = None
        if name in self._met:
            self._departed.remove(name)
        self._met.setdefault(name, {})
        self._open_pairs += self._open_with(name)
        self._complete = self._complete or len(self._present) >= self._wanted
        self._free(name)

    def leave(self, name: str) -> None:
        """Whoever leaves has no game running: it was ended before."""
        self._open_pairs -= self._open_with(name)
        del self._present[name]
        del self._idle[name]
        self._departed.append(name)
        if len(self._departed) > DEPARTED_MAX:
            forgotten = self._departed.popleft()
            for other in self._met.pop(forgotten):
                del self._met[other][forgotten]

    def ended(self, red: str, yellow: str) -> None:
        """A game between the two is over, however it ended."""
        self._running -= 1
        games = self._met[red].get(yellow, 0) + 1
        self._met[red][yellow] = self._met[yellow][red] = games
        if games == self._games:
            self._open_pairs -= 1
        self._rematch = (red, yellow)
        self._free(red)
        self._free(yellow)

    def pairs(self) -> list[tuple[str, str]]:
        """The games to begin now, red first."""
        found = self._next_round() if self._rounds else self._meet()
        self._running += len(found)
        for pair in found:
            for name in pair:
                del self._idle[name]
        return [self._colours(*pair) for pair in found]

    def _free(self, name: str) -> None:
        self._idle[name] = None
        self._fresh.append(name)

    def _together(self, name: str, other: str) -> int:
        return self._met[name].get(other, 0)

    def _playable(self, games: int) -> bool:
        return self._games == 0 or games < self._games

    def _open_with(self, name: str) -> int:
        met = self._met[name]
        return sum(self._playable(met.get(other, 0)) for other in self._present if other != name)

    def _colours(self, first: str, second: str) -> tuple[str, str]:
        return (second, first) if self._together(first, second) % 2 else (first, second)

    def _meet(self) -> list[tuple[str, str]]:
        """Only whoever has just become free can make a new pair: the others found none before.

        Each of them looks at the free twice at most, so that all games ending at once is no worse
        than one after the other. Among equals whoever has been free longest is taken.
        """
        fresh, self._fresh = self._fresh, []
        free = dict(self._idle)
        found: list[tuple[str, str]] = []
        first_look = [(best[0], name) for name in fresh if (best := self._best(name, free))]
        for _, name in sorted(first_look, key=lambda look: look[0]):
            if best := self._best(name, free):
                other = best[1]
                found.append((min(name, other), max(name, other)))
                del free[name], free[other]
        if self._games == 0 and self._rematch is not None:
            self._fresh = [name for name in self._rematch if name in free]
        self._rematch = None
        return found

    def _best(self, name: str, free: dict[str, None]) -> tuple[int, str] | None:
        """With whom this player has played least, of those who are free."""
        if name not in free:
            return None
        met = self._met[name]
        best: tuple[int, str] | None = None
        for other in free:
            games = met.get(other, 0)
            if other == name or not self._playable(games) or (best and games >= best[0]):
                continue
            if games and self._waits(name, other):
                continue
            best = (games, other)
            if games == 0:
                break
        return best

    def _waits(self, name: str, other: str) -> bool:
        """Without a limit, two who have just played let another game end first, or they would
        play each other for ever while others do the same beside them."""
        return self._games == 0 and self._running > 0 and self._rematch in ((name, other), (other, name))

    def _next_round(self) -> list[tuple[str, str]]:
        self._fresh = []
        if len(self._present) < self._wanted or self._running or not self._open_pairs:
            return []
        names = sorted(self._present)
        if len(names) % 2:
            names.append(NOBODY)
        while True:
            found = [
                (min(pair), max(pair))
                for pair in circle(names, self._round)
                if NOBODY not in pair and self._playable(self._together(*pair))
            ]
            self._round += 1
            if found:  # within len(names) − 1 rounds every pair comes up, and one of them is open
                return sorted(found)


def circle(names: list[str], turn: int) -> list[tuple[str, str]]:
    """One round of a round robin for an even number: one stays, the others turn around it."""
    last = len(names) - 1
    return [(names[last], names[turn % last])] + [
        (names[(turn + step) % last], names[(turn - step) % last]) for step in range(1, len(names) // 2)
    ]
