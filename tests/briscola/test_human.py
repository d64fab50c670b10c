"""A person at the table."""

from __future__ import annotations

import pytest

from nodes.briscola.game import GAME
from nodes.briscola.human import Person, colour, find_card
from nodes.briscola.rules import Card
from nodes.core import Happened, Refused
from nodes.memory import network
from nodes.terminal import Leave
from tests.briscola.test_bots import view

SPADE, COPPE = 1, 2
HAND = [Card(0, 10), Card(SPADE, 1), Card(COPPE, 8)]


class Script:
    """A terminal that types what it was told."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.shown: list[str] = []

    def show(self, markup: str) -> None:
        self.shown.append(markup)

    def ask(self, prompt: str) -> str:
        self.shown.append(prompt)
        if not self.answers:
            raise Leave
        return self.answers.pop(0)


@pytest.mark.parametrize(
    "answer", ["2", "asso di spade", "Asso Spade", "A♠", "a♠", "a spade", "1 spade", "1♠", "1 di ♠"]
)
def test_a_card_is_named_by_its_place_or_by_its_name(answer: str) -> None:
    assert Person(Script(answer)).choose(view(HAND)) == Card(SPADE, 1)


@pytest.mark.parametrize(
    "answer", ["0", "4", "99", "", "due di spade", "asso", "x", "asso di spade mio", "²"]
)
def test_what_is_not_in_the_hand_is_explained_and_asked_again(answer: str) -> None:
    terminal = Script(answer, "3")
    assert Person(terminal).choose(view(HAND)) == Card(COPPE, 8)
    explained = terminal.shown[2]
    assert "Not in your hand" in explained
    assert "1 re di denari, 2 asso di spade, 3 fante di coppe" in explained


@pytest.mark.parametrize("word", ["quit", "QUIT", "exit", "basta"])
def test_the_word_quit_leaves(word: str) -> None:
    with pytest.raises(Leave):
        Person(Script(word)).choose(view(HAND))


def test_the_table_shows_hand_briscola_points_and_what_was_led() -> None:
    terminal = Script("1", "1", "1")
    person = Person(terminal)
    person.choose(view(HAND))
    shown = terminal.shown[0]
    for part in ("Trick 5", "coppe", "7♥", "stock 20", "You lead", "re di denari, 4", "asso di spade, 11"):
        assert part in shown.replace("[red]", "").replace("[/]", "")
    person.choose(view(HAND, Card(3, 2)))
    assert "p2 leads [green]2♣[/] due di bastoni" in terminal.shown[2]
    person.choose(view(HAND, stock=0))
    assert "lies under" not in terminal.shown[4]


def test_a_person_hears_what_others_did() -> None:
    terminal = Script()
    person = Person(terminal)
    person.tell(Happened("play", "p2 plays A♠"))
    person.tell(Happened("game", "p1 wins 70–50"))
    person.tell(Happened("card", "p1 draws 3♠"))
    person.tell(Refused("server", "briscola/size", "odd"))
    assert terminal.shown == ["[dim]p2 plays [cyan]A♠[/][/]", "[bold]p1 wins 70–50[/]"]


def test_suits_are_coloured() -> None:
    assert colour("A♠ 7♦") == "[cyan]A♠[/] [yellow]7♦[/]"


def test_no_card_is_found_in_an_empty_hand() -> None:
    assert find_card("A♠", ()) is None


def test_a_person_who_always_plays_the_first_card_finishes_a_game() -> None:
    net = network(GAME, 4)
    terminal = Script(*["1"] * 20)
    net.players["p1"] = Person(terminal)
    results = net.run()
    assert results["p1"] == results["server"]
    assert terminal.answers == []
