"""A person at a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape

from nodes.connect4.rules import COLUMNS, ROWS, Board
from nodes.core import Finished, Happened, Player, Refused
from nodes.terminal import Leave

if TYPE_CHECKING:
    from nodes.connect4.rules import Color, View
    from nodes.core import Event
    from nodes.terminal import Terminal

COLOR_NAME: dict[Color, str] = {"R": "red", "Y": "yellow"}
_CELL = {"R": "[bold red]●[/]", "Y": "[bold yellow]○[/]", ".": "[dim]·[/]"}
_QUIT = ("quit", "exit")


def draw(board: Board) -> str:
    """The board as it stands, row 0 at the bottom, the columns' numbers below."""
    text = board.text()
    rows = [text[row * COLUMNS : (row + 1) * COLUMNS] for row in reversed(range(ROWS))]
    lines = [f"│ {' '.join(_CELL[cell] for cell in row)} │" for row in rows]
    feet = "─" * (2 * COLUMNS + 1)
    numbers = " ".join(map(str, range(COLUMNS)))
    return "\n".join([*lines, f"└{feet}┘", f"  [bold]{numbers}[/]"])


class Person(Player):
    """Shows the board, asks for a column, explains why one cannot be played."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def choose(self, view: View) -> int:
        disc, color = _CELL[view.color], COLOR_NAME[view.color]
        self._terminal.show("")
        self._terminal.show(draw(view.board))
        self._terminal.show(
            f"You are {disc} {color} against {view.opponent}. {view.time_s:.1f} s left for the whole game."
        )
        while True:
            answer = self._terminal.ask(f"Column (0–{COLUMNS - 1}, or quit)?").strip().lower()
            if answer in _QUIT:
                raise Leave
            if not answer.isdecimal() or int(answer) >= COLUMNS:
                self._terminal.show(f"A column is a number from 0 to {COLUMNS - 1}.")
            elif int(answer) not in view.legal:
                room = ", ".join(map(str, view.legal))
                self._terminal.show(f"Column {int(answer)} is full. There is room in: {room}.")
            else:
                return int(answer)

    def tell(self, event: Event) -> None:
        match event:
            case Happened("end", text, fields):
                self._terminal.show("")
                self._terminal.show(draw(Board.from_text(str(fields["board"]))))
                self._terminal.show(f"[bold]{text}[/]")
            case Happened(_, text, _):
                self._terminal.show(text)
            case Refused(peer, check, text, _):
                self._terminal.show(f"[dim]{peer} broke a rule: {escape(text)} ({check})[/]")
            case Finished(result):
                games = result["games"]
                assert isinstance(games, list)
                self._terminal.show(f"Played {len(games)} games.")
