"""A person at a terminal."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from nodes.core import Happened, Received, Refused
from nodes.holdem.human import Person, spoken
from nodes.holdem.messages import Played, PlayerState, Ready
from nodes.holdem.roles import View
from nodes.terminal import Leave


class Paper:
    """A terminal whose answers are known beforehand."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.shown: list[str] = []

    def show(self, markup: str) -> None:
        console = Console(file=StringIO(), width=200, no_color=True)
        with console.capture() as capture:
            console.print(markup, highlight=False)
        self.shown.append(capture.get())

    def ask(self, prompt: str) -> str:
        assert "action" in prompt
        return self.answers.pop(0)

    @property
    def text(self) -> str:
        return "".join(self.shown)


VIEW = View(
    "me",
    1,
    ("Qs", "Th"),
    ("2c", "3d", "4h"),
    ("fold", "call", "raise"),
    (300, 19800),
    (
        PlayerState(0, 19700, 20000, "[b]ad[/]"),
        PlayerState(1, 19900, 20000, "me"),
        PlayerState(2, 19950, 20000, "gone"),
    ),
    ((Played(2, "fold", ""),), ()),
)


@pytest.mark.parametrize(
    ("typed", "action"),
    [
        ("call", "call"),
        ("FOLD", "fold"),
        ("f", "f"),
        ("r300", "r300"),
        ("raise 300", "r300"),
        ("r 400", "r400"),
    ],
)
def test_a_legal_answer_is_taken(typed: str, action: str) -> None:
    assert Person(Paper(typed)).choose(VIEW) == action


def test_the_table_is_drawn_with_cards_stacks_pot_and_choices() -> None:
    paper = Paper("call")
    Person(paper).choose(VIEW)
    for part in (
        "2♣ 3♦ 4♥",
        "pot 450",
        "Q♠ 10♥",
        "[b]ad[/]",
        "19700 left",
        "▶ 1 me",
        "call (pay 200)",
        "r300 … r19800",
    ):
        assert part in paper.text


def test_before_the_flop_the_board_is_said_to_be_empty() -> None:
    paper = Paper("check")
    view = View("me", 1, ("Qs", "Th"), (), ("fold", "check"), (), VIEW.players, ((),))
    Person(paper).choose(view)
    assert "no cards yet" in paper.text
    assert "check (stay for free)" in paper.text
    assert "raise" not in paper.text


def test_an_illegal_answer_is_explained_and_asked_again() -> None:
    paper = Paper("check", "raise", "r1", "raise lots", "", "[red]", "call")
    assert Person(paper).choose(VIEW) == "call"
    assert "'check' is not legal here; legal are fold, call, raise" in paper.text
    assert "r1 is out of range; raise to 300 … 19800" in paper.text
    assert "'[red]' is not legal" in paper.text
    assert paper.answers == []


def test_quit_leaves() -> None:
    with pytest.raises(Leave):
        Person(Paper("quit")).choose(VIEW)


def test_what_others_did_is_told() -> None:
    paper = Paper()
    person = Person(paper)
    person.tell(Happened("action", "[b]ad[/]: r300"))
    cards = {"[b]ad[/]": ["As", "Kd"], "you": []}
    person.tell(Happened("result", "hand 1", {"player_card": cards}))  # type: ignore[dict-item]
    person.tell(Refused("server", "holdem/order", "what?"))
    person.tell(Received("server", Ready()))
    assert paper.shown[0] == "[b]ad[/]: r300\n"
    assert "A♠ K♦" in paper.shown[1]
    assert "you" not in paper.shown[1]
    assert paper.shown[2] == "what? (holdem/order)\n"
    assert len(paper.shown) == 3


def test_what_a_person_types_becomes_an_action_of_the_text() -> None:
    assert spoken("raise 5") == "r5"
    assert spoken("fold now") == "fold now"
