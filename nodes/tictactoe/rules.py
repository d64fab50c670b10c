"""The rules of tic-tac-toe. They know boards and marks; nothing of messages or of who plays.

A board is a string of nine characters, `O`, `X` or blank. Its cells are called 1 to 9:

    1 | 2 | 3
    4 | 5 | 6
    7 | 8 | 9
"""

from __future__ import annotations

from typing import Literal

Board = str
Cell = str  # "1" … "9"
Mark = Literal["O", "X"]
Outcome = Literal["O", "X", "E"]  # who has a line, or a tie ("empate")

BLANK = " "
EMPTY: Board = BLANK * 9
CELLS = "123456789"
LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
MARKS: tuple[Mark, Mark] = ("O", "X")


def at(board: Board, cell: Cell) -> str:
    """What stands on a cell."""
    return board[CELLS.index(cell)]


def free(board: Board) -> tuple[Cell, ...]:
    """The cells nobody has marked."""
    return tuple(cell for cell, mark in zip(CELLS, board, strict=True) if mark == BLANK)


def to_move(board: Board) -> Mark:
    """Whose turn it is: O begins, and they alternate."""
    return "O" if board.count("O") == board.count("X") else "X"


def play(board: Board, cell: Cell) -> Board:
    """The board after whoever is to move marks a free cell."""
    i = CELLS.index(cell)
    return board[:i] + to_move(board) + board[i + 1 :]


def outcome(board: Board) -> Outcome | None:
    """Who has three in a line; a tie if the board is full without one; None while the game goes on."""
    for mark in MARKS:
        if any(board[a] == board[b] == board[c] == mark for a, b, c in LINES):
            return mark
    return None if BLANK in board else "E"
