"""A person's seat: what is shown, what may be typed, what is explained."""

from __future__ import annotations

from random import Random

import pytest
from rich.text import Text

from nodes.core import Happened, Refused, Sent
from nodes.hearts.human import Person, draw, paint, parse
from nodes.hearts.messages import GameStart
from nodes.hearts.rules import Match
from nodes.terminal import Leave
from tests.hearts.helpers import SUITED, card, cards, shuffled
from tests.hearts.test_rules import table


class Typist:
    """A terminal with its answers written beforehand."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.shown: list[str] = []
        self.asked: list[str] = []

    def show(self, markup: str) -> None:
        self.shown.append(Text.from_markup(markup).plain)

    def ask(self, prompt: str) -> str:
        self.asked.append(prompt)
        return self.answers.pop(0)


def passing() -> Match:
    match = Match()
    match.start()
    for seat, dealt in enumerate(SUITED):
        match.hand.deal(seat, dealt)
    match.hand.start_passing()
    return match


def playing(held: str, plays: str = "", broken: bool = False) -> Match:
    match = Match()
    match.hand = table(held, plays=plays, leader=3 if plays else 0, broken=broken)
    return match


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("QS", "QS"), ("qs", "QS"), ("q♠", "QS"), ("Q♠", "QS"), ("10h", "10H"), ("TH", "10H"), ("10♥", "10H"),
        ("ac", "AC"), ("2D", "2D"), ("1", "AC"), ("3", "QS"),
    ],
)  # fmt: skip
def test_a_card_is_typed_by_name_or_by_number(word: str, meant: str) -> None:
    assert parse(word, cards("AC 10H QS")) == card(meant)


@pytest.mark.parametrize("word", ["0", "4", "99", "x", "QX", "11H", "S", "♠", "Q", "-1", "²"])
def test_other_words_are_no_card(word: str) -> None:
    assert parse(word, cards("AC 10H QS")) is None


def test_three_cards_are_chosen_for_a_named_neighbour() -> None:
    typist = Typist("AD 2d, 3")
    assert Person(typist).choose(passing().view(0)) == cards("AD 2D 3D")
    assert typist.asked == ["Three cards for m1 (left)?"]


def test_a_wrong_pass_is_explained_and_asked_again() -> None:
    typist = Typist("AD 2D", "AD AD 2D", "", "AD 2D KS", "AD 2D zz", "AD 2D KD")
    assert Person(typist).choose(passing().view(0)) == cards("AD 2D KD")
    told = "\n".join(typist.shown)
    assert told.count("Exactly three different cards") == 3
    assert "You do not hold K♠." in told
    assert "'zz' is no card" in told


def test_an_illegal_play_is_explained_and_asked_again() -> None:
    typist = Typist("AH", "5D 9D", "KS", "", "9d")
    assert Person(typist).choose(playing("5D 9D AH", "2D").view(0)) == card("9D")
    told = "\n".join(typist.shown)
    assert "♦ was led and must be followed; m0 can play 5♦ 9♦." in told
    assert "m0 does not hold K♠." in told
    assert told.count("One card, please.") == 2


def test_quit_leaves() -> None:
    with pytest.raises(Leave):
        Person(Typist("quit")).choose(playing("5D 9D").view(0))


def test_the_hand_is_drawn_by_suit_with_numbers() -> None:
    text = Text.from_markup(draw(playing("5D 9D AH QS", "2D").view(0))).plain
    assert "1:5♦  2:9♦\n" in text
    assert "3:A♥\n" in text
    assert "4:Q♠\n" in text
    assert "♣" not in text
    assert "On the table: m3 2♦" in text


@pytest.mark.parametrize(
    ("broken", "said"), [(True, "hearts are broken."), (False, "hearts are not broken.")]
)
def test_the_leader_is_told_whether_hearts_are_broken(broken: bool, said: str) -> None:
    assert said in draw(playing("5D 9D", broken=broken).view(0))


def test_suit_symbols_are_coloured_and_brackets_are_harmless() -> None:
    assert Text.from_markup(paint("m1 plays Q♠ [red]")).plain == "m1 plays Q♠ [red]"
    assert "[bold red]♥[/]" in paint("2♥")


def test_what_happens_is_told_and_messages_are_not() -> None:
    typist = Typist()
    person = Person(typist)
    person.tell(Happened("play", "m2 plays Q♠"))
    person.tell(Refused("prev", "hearts/8.turn", "it is m1's turn"))
    person.tell(Sent("next", GameStart()))
    assert typist.shown == ["m2 plays Q♠", "it is m1's turn (hearts/8.turn)"]


def test_a_person_who_types_numbers_can_play_any_hand() -> None:
    rng = Random(3)
    for dealt in shuffled(rng):
        match = Match()
        match.start()
        for seat in range(4):
            match.hand.deal(seat, dealt if seat == 0 else None)
        match.hand.start_passing()
        chosen = Person(Typist("1 7 13")).choose(match.view(0))
        assert chosen == (dealt[0], dealt[6], dealt[12])
