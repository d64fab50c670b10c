"""A person at a terminal, on either side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape

from nodes.core import Happened, Player, Refused
from nodes.terminal import Leave
from nodes.tictactoe.messages import RESIGN
from nodes.tictactoe.rules import BLANK, CELLS, at

if TYPE_CHECKING:
    from nodes.core import Event
    from nodes.terminal import Terminal
    from nodes.tictactoe.roles import View
    from nodes.tictactoe.rules import Board, Cell

_STYLES = {"O": "bold cyan", "X": "bold red"}


class Person(Player):
    """Shows the board with its free cells numbered, and asks until the answer is possible."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def choose(self, view: View) -> str:
        self._terminal.show(f"\n{draw(view.board)}\n")
        while True:
            answer = self._terminal.ask(f"You are {view.mark} against {view.opponent}. Which cell?").lower()
            if answer == "quit":
                raise Leave
            if answer in view.legal:
                return answer
            self.complain(_why(view.board, answer))

    def tell(self, event: Event) -> None:
        if isinstance(event, Happened):
            if event.kind == "game":  # no question follows that would show the last board
                self._terminal.show(f"\n{draw(str(event.fields['board']))}\n")
            self._terminal.show(escape(event.text))
        elif isinstance(event, Refused):
            self._terminal.show(f"[yellow]{escape(event.text)} ({event.check})[/]")

    def complain(self, text: str) -> None:
        self._terminal.show(f"[yellow]{escape(text)}[/]")


def draw(board: Board) -> str:
    """The board as three lines of markup; a free cell shows its number."""
    cells = [_cell(board, cell) for cell in CELLS]
    rows = [" " + " │ ".join(cells[i : i + 3]) for i in (0, 3, 6)]
    return "\n───┼───┼───\n".join(rows)


def _cell(board: Board, cell: Cell) -> str:
    mark = at(board, cell)
    return f"[dim]{cell}[/]" if mark == BLANK else f"[{_STYLES[mark]}]{mark}[/]"


def _why(board: Board, answer: str) -> str:
    if answer in tuple(CELLS):
        return f"{answer} is taken by {at(board, answer)}: choose a cell that shows its number."
    return f"Type the number of a free cell, {RESIGN} to give up, or quit to leave."
