"""What a state or a move says, in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodes.tictactoe.messages import GIVES_UP, REJECTED, Move, State
from nodes.tictactoe.rules import BLANK, CELLS, EMPTY

if TYPE_CHECKING:
    from nodes.tictactoe.rules import Board, Cell

# In the order of CELLS.
PLACES = (
    "the top left corner", "the top edge", "the top right corner",
    "the left edge", "the centre", "the right edge",
    "the bottom left corner", "the bottom edge", "the bottom right corner",
)  # fmt: skip


def place(cell: Cell) -> str:
    """Where a cell is."""
    return PLACES[CELLS.index(cell)]


def meaning(message: State | Move, src: str = "the sender", dst: str = "the receiver") -> str:
    """One line for a person: "p1 marks the centre"."""
    if isinstance(message, Move):
        return f"{src} gives up" if message.resigns else f"{src} marks {place(message.choice)}"
    board = drawn(message.board)
    if message.status == GIVES_UP:
        return f"{src} gives up: {board}"
    # The server is X, who gets the state is O.
    if message.winner == "E":
        return f"{src}: a tie: {board}"
    if message.winner != BLANK:
        return f"{src if message.winner == 'X' else dst} has won: {board}"
    if message.status == REJECTED:
        return f"{src} rejects the move; {dst} is still to move: {board}"
    if message.board == EMPTY:
        return f"{src}: a new game, {dst} begins"
    return f"{src}: {dst} is to move: {board}"


def drawn(board: Board) -> str:
    """Three rows in one line: O·X ·O· ··X."""
    cells = board.replace(BLANK, "·")
    return " ".join(cells[row : row + 3] for row in (0, 3, 6))
