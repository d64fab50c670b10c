"""The players: `random`, and `search`, which looks ahead as far as its clock allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodes.connect4.rules import ALL_CELLS, BOTTOM, BOTTOM_ROW, CELLS, COLUMN_MASK, COLUMNS, STRIDE, has_four
from nodes.core import Player

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from random import Random

    from nodes.connect4.rules import View

# Positions, not seconds: the same view gives the same move on any machine. The slowest machine
# we think of still looks at this many a second, so the clock is safe everywhere.
NODES_PER_S = 10_000
CLOCK_SHARE = 0.5  # of the time that is left, spread over the moves that are left
NODES_MAX = 6_000
TABLE_MAX = 20_000

_WIN = 1_000  # minus the ply at which it comes, so that a nearer win is worth more


class RandomBot(Player):
    """Any legal column."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def choose(self, view: View) -> int:
        return self._rng.choice(view.legal)


class SearchBot(Player):
    """Alpha-beta on bit boards, deepened step by step until its nodes are spent."""

    def __init__(self, rng: Random) -> None:
        # Which of two equal columns comes first is drawn once, so that seeds differ and views do not.
        self._order = sorted(range(COLUMNS), key=lambda column: (abs(column - COLUMNS // 2), rng.random()))

    def choose(self, view: View) -> int:
        mine, theirs = view.board.red, view.board.yellow
        if view.color == "Y":
            mine, theirs = theirs, mine
        moves_left = (CELLS - view.board.plies + 1) // 2
        nodes = min(NODES_MAX, int(NODES_PER_S * CLOCK_SHARE * view.time_s / moves_left))
        return _Search(self._order, nodes).best(mine, theirs)


class _Spent(Exception):
    """No nodes are left."""


class _Search:
    def __init__(self, order: list[int], nodes: int) -> None:
        self._columns = [(column, BOTTOM[column], COLUMN_MASK[column]) for column in order]
        self._nodes = nodes
        # position → depth searched, value, kind of bound (-1 at most, 0 exact, 1 at least), best disc
        self._table: dict[int, tuple[int, int, int, int]] = {}

    def best(self, mine: int, theirs: int) -> int:
        """The column to play. A win at once is taken and a loss at once is met, whatever is left to spend."""
        taken = mine | theirs
        discs = [(disc, column) for column, low, mask in self._columns if (disc := (taken + low) & mask)]
        for disc, column in discs:
            if has_four(mine | disc):
                return column
        for disc, column in discs:
            if has_four(theirs | disc):
                return column
        sound = [(disc, column) for disc, column in discs if not _loses(mine | disc, theirs)]
        discs = sound or discs
        ply = taken.bit_count()
        for depth in range(1, CELLS - ply + 1):
            try:
                values = self._values(discs, mine, theirs, depth)
            except _Spent:
                break
            # Python's sort is stable: equal moves keep the order of the last round.
            discs = [discs[i] for i in sorted(range(len(discs)), key=lambda i: -values[i])]
            if max(values) > _WIN // 2 or len(discs) == 1:
                break
        return discs[0][1]

    def _values(self, discs: list[tuple[int, int]], mine: int, theirs: int, depth: int) -> list[int]:
        alpha = -_WIN
        values = []
        for disc, _ in discs:
            value = -self._negamax(theirs, mine | disc, depth - 1, -_WIN, -alpha)
            values.append(value)
            alpha = max(alpha, value)
        return values

    def _negamax(self, mine: int, theirs: int, depth: int, alpha: int, beta: int) -> int:
        """What the position is worth to the side to move; the last disc made no four."""
        self._nodes -= 1
        if self._nodes < 0:
            raise _Spent
        taken = mine | theirs
        ply = taken.bit_count()
        open_cells = (taken + BOTTOM_ROW) & ALL_CELLS
        if not open_cells:
            return 0
        wins = _completing(mine) & ~taken
        if wins & open_cells:
            return _WIN - ply
        threats = _completing(theirs) & ~taken
        forced = threats & open_cells
        if forced:
            if forced & forced - 1:
                return ply + 1 - _WIN  # two holes, one disc
            open_cells = forced
        elif depth <= 0:
            return wins.bit_count() - threats.bit_count()
        key = taken + BOTTOM_ROW << COLUMNS * STRIDE | mine
        known = self._table.get(key)
        first = 0
        if known is not None:
            known_depth, value, bound, first = known
            if known_depth >= depth and (
                bound == 0 or (bound > 0 and value >= beta) or (bound < 0 and value <= alpha)
            ):
                return value
        discs = [disc for _, _, mask in self._columns if (disc := open_cells & mask)]
        if first:
            discs.sort(key=lambda disc: disc != first)
        best, best_disc, floor = -_WIN, 0, alpha
        for disc in discs:
            value = -self._negamax(theirs, mine | disc, depth - 1, -beta, -max(alpha, best))
            if value > best:
                best, best_disc = value, disc
                if best >= beta:
                    break
        if len(self._table) < TABLE_MAX:
            self._table[key] = (depth, best, 1 if best >= beta else -1 if best <= floor else 0, best_disc)
        return best


def _loses(mine: int, theirs: int) -> bool:
    """Whether the other side wins at once."""
    taken = mine | theirs
    return bool(_completing(theirs) & (taken + BOTTOM_ROW) & ALL_CELLS & ~taken)


def _completing(discs: int) -> int:
    """Every cell that would make four of these discs, taken or not, reachable or not."""
    cells = discs << 1 & discs << 2 & discs << 3
    for step in (STRIDE, STRIDE - 1, STRIDE + 1):
        pairs = discs << step & discs << 2 * step
        cells |= pairs & discs << 3 * step  # three, then the hole
        cells |= pairs & discs >> step  # two, the hole, one
        pairs = discs >> step & discs >> 2 * step
        cells |= pairs & discs >> 3 * step
        cells |= pairs & discs << step
    return cells & ALL_CELLS


BOTS: Mapping[str, Callable[[Random], Player]] = {"random": RandomBot, "search": SearchBot}
