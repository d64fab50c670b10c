"""A person, with a scripted terminal."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from nodes.core import Finished, Happened, Refused
from nodes.terminal import Leave
from nodes.tictactoe.human import Person, draw
from nodes.tictactoe.roles import View


class Script:
    """A terminal that types these lines and keeps what it was shown, as plain text."""

    def __init__(self, *lines: str) -> None:
        self.lines = list(lines)
        self.screen = io.StringIO()
        self._console = Console(file=self.screen, width=100, highlight=False)

    def show(self, markup: str) -> None:
        self._console.print(markup)

    def ask(self, prompt: str) -> str:
        self._console.print(prompt)
        return self.lines.pop(0)

    @property
    def text(self) -> str:
        return self.screen.getvalue()


CLIENT = View("X   O    ", "O", "server", "server")
SERVER = View("    O    ", "X", "client 3", "127.0.0.9:50123")


def test_the_board_shows_marks_and_the_numbers_of_free_cells() -> None:
    terminal = Script()
    terminal.show(draw("X   O   O"))
    assert terminal.text == " X │ 2 │ 3\n───┼───┼───\n 4 │ O │ 6\n───┼───┼───\n 7 │ 8 │ O\n"


@pytest.mark.parametrize(("view", "who"), [(CLIENT, "O against server"), (SERVER, "X against client 3")])
def test_a_person_can_play_either_side(view: View, who: str) -> None:
    terminal = Script("2")
    assert Person(terminal).choose(view) == "2"
    assert who in terminal.text


def test_an_impossible_choice_is_explained_and_asked_again() -> None:
    terminal = Script("5", "0", "", "45", "hello", "D")
    assert Person(terminal).choose(CLIENT) == "d"
    assert "5 is taken by O" in terminal.text
    assert terminal.text.count("Type the number of a free cell, d to give up, or quit to leave.") == 4


def test_quit_leaves() -> None:
    with pytest.raises(Leave):
        Person(Script("Quit")).choose(CLIENT)


def test_a_person_is_told_what_happened_and_sees_the_last_board() -> None:
    terminal = Script()
    person = Person(terminal)
    person.tell(Happened("move", "p1 marks 5", {"board": "    O    "}))
    assert "│" not in terminal.text
    person.tell(Happened("game", "game 1: O (p1) wins", {"board": "OOOXX    "}))
    assert " O │ O │ O" in terminal.text
    assert terminal.text.endswith("game 1: O (p1) wins\n")


def test_text_from_the_wire_is_shown_as_it_is() -> None:
    terminal = Script()
    person = Person(terminal)
    person.tell(Refused("server", "tictactoe/state.3", "cells '[/red]' are wrong"))
    person.tell(Happened("left", "p1 leaves the server: '[bold]'"))
    person.complain("'[/]' is not possible")
    assert terminal.text == (
        "cells '[/red]' are wrong (tictactoe/state.3)\n"
        "p1 leaves the server: '[bold]'\n"
        "'[/]' is not possible\n"
    )


def test_other_events_are_not_for_the_screen() -> None:
    terminal = Script()
    Person(terminal).tell(Finished({"games": []}))
    assert terminal.text == ""
