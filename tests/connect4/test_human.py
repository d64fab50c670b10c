"""A person sees the board the right way up, and is asked again after a choice that cannot be."""

from __future__ import annotations

import pytest
from rich.text import Text

from nodes.connect4.human import Person, draw
from nodes.connect4.rules import Board, View
from nodes.core import Finished, Happened, Refused, Turn
from nodes.terminal import Leave


class Script:
    """A terminal with the answers written down beforehand."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.shown: list[str] = []
        self.prompts: list[str] = []

    def show(self, markup: str) -> None:
        self.shown.append(Text.from_markup(markup).plain)

    def ask(self, prompt: str) -> str:
        self.prompts.append(prompt)
        return self.answers.pop(0)


def after(*columns: int) -> Board:
    board = Board()
    for column in columns:
        board = board.play(column)
    return board


def view(board: Board) -> View:
    return View(board, board.to_move, "p2", 41.97, board.legal())


def test_row_0_is_drawn_at_the_bottom_above_the_column_numbers() -> None:
    lines = Text.from_markup(draw(after(1, 1, 6))).plain.splitlines()
    assert lines[4:] == ["│ · ○ · · · · · │", "│ · ● · · · · ● │", "└───────────────┘", "  0 1 2 3 4 5 6"]
    assert len(lines) == 8


def test_a_person_sees_colour_opponent_and_time_and_chooses() -> None:
    terminal = Script("4")
    assert Person(terminal).choose(view(after(3))) == 4
    assert any("○ yellow against p2. 42.0 s left" in line or "41.9" in line for line in terminal.shown)


def test_what_cannot_be_played_is_explained_and_asked_again() -> None:
    terminal = Script("", "x", "9", "-1", "²", "2", "3")
    assert Person(terminal).choose(view(after(2, 2, 2, 2, 2, 2))) == 3
    assert terminal.shown[-1] == "Column 2 is full. There is room in: 0, 1, 3, 4, 5, 6."
    assert terminal.shown.count("A column is a number from 0 to 6.") == 5
    assert len(terminal.prompts) == 7


@pytest.mark.parametrize("word", ["quit", "QUIT", "exit"])
def test_a_person_may_leave(word: str) -> None:
    with pytest.raises(Leave):
        Person(Script(word)).choose(view(Board()))


def test_a_person_hears_what_happens() -> None:
    terminal = Script()
    person = Person(terminal)
    person.tell(Happened("move", "p2 (Y) plays column 3", {}))
    person.tell(Happened("end", "p2 wins p1 (R) – p2 (Y)", {"board": after(3, 3).text()}))
    person.tell(Refused("server", "connect4/message", "no message begins with '[bold]'"))
    person.tell(Finished({"games": [{}, {}]}))
    person.tell(Turn("p1", None))
    assert terminal.shown[0] == "p2 (Y) plays column 3"
    assert "│ · · · ○ · · · │" in terminal.shown[2]
    assert terminal.shown[3:] == [
        "p2 wins p1 (R) – p2 (Y)",
        "server broke a rule: no message begins with '[bold]' (connect4/message)",
        "Played 2 games.",
    ]
