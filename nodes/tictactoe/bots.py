"""Players. Each serves both sides: the view says which mark it plays."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import TYPE_CHECKING

from nodes.core import Player
from nodes.tictactoe.rules import BLANK, free, outcome, play

if TYPE_CHECKING:
    from nodes.tictactoe.roles import View
    from nodes.tictactoe.rules import Board, Cell


class RandomBot(Player):
    """Marks any free cell.

    It draws anew for each board rather than from one stream: a server plays many games at once, and
    who came first must not change what is played in the others. The same seed, game and board give
    the same cell.
    """

    def __init__(self, rng: Random) -> None:
        self._salt = rng.getrandbits(64)

    def choose(self, view: View) -> Cell:
        return Random(f"{self._salt}/{view.game}/{view.board}").choice(self.cells(view.board))

    def cells(self, board: Board) -> tuple[Cell, ...]:
        """The cells it would mark; which of them is left to chance."""
        return free(board)


class PerfectBot(RandomBot):
    """Never loses, and wins as soon as it can."""

    def cells(self, board: Board) -> tuple[Cell, ...]:
        worth = {cell: -value(play(board, cell)) for cell in free(board)}
        return tuple(cell for cell in worth if worth[cell] == max(worth.values()))


@cache  # there are only 5,478 boards
def value(board: Board) -> int:
    """What a board is worth to whoever is to move: above 0 a win, more if sooner; 0 a tie."""
    won = outcome(board)
    if won == "E":
        return 0
    if won:
        return -1 - board.count(BLANK)  # the other side has just completed a line
    return max(-value(play(board, cell)) for cell in free(board))


BOTS = {"random": RandomBot, "perfect": PerfectBot}
