"""The bots: always legal, and `sensible` takes fewer points."""

from __future__ import annotations

from random import Random

import pytest

from nodes.hearts.bots import RandomPlayer, SensiblePlayer
from nodes.hearts.rules import HOLD, Ace, Match, View
from tests.hearts.helpers import card, cards, play_hand
from tests.hearts.test_rules import table


@pytest.mark.parametrize("ace", ["high", "low"])
def test_sensible_clearly_beats_random(ace: Ace) -> None:
    """Two of each at a table, seats taking turns, 400 hands: random takes at least twice the points."""
    rng = Random(f"duel/{ace}")
    taken = {"sensible": 0, "random": 0}
    match = Match(ace)
    for number in range(400):
        sensible, other = SensiblePlayer(Random(number)), RandomPlayer(Random(number))
        seats = [sensible, other, sensible, other] if number % 2 else [other, sensible, other, sensible]
        match.totals = [0, 0, 0, 0]
        for seat, points in enumerate(play_hand(match, seats, rng)):
            taken["sensible" if seats[seat] is sensible else "random"] += points
    assert taken["random"] > 2 * taken["sensible"], taken


def test_the_same_seed_gives_the_same_choices() -> None:
    for bot in (RandomPlayer, SensiblePlayer):
        scores = [play_hand(Match(), [bot(Random(seat)) for seat in range(4)], Random(5)) for _ in range(2)]
        assert scores[0] == scores[1]


def view(held: str, plays: str = "", broken: bool = False, tricks: int = 1) -> View:
    match = Match()
    words = plays.split()
    match.hand = table(held, plays=plays, leader=(4 - len(words)) % 4, broken=broken, tricks=tricks)
    return match.view(0)


@pytest.mark.parametrize(
    ("held", "plays", "choice"),
    [
        ("QS AH 2D", "5C", "QS"),  # cannot follow: the queen goes first
        ("KS AH 2D", "5C", "KS"),  # the queen is still out: rid of what would catch her
        ("3S AH 2D", "5C", "AH"),
        ("2D 9D KD", "10D", "9D"),  # duck, as high as possible
        ("QS 2S", "KS", "QS"),  # the king takes her
        ("QS 2S", "JS", "2S"),  # but a lower winner would not
        ("QS AS", "JS", "AS"),
        ("JD KD", "5D 6D 7D", "KD"),  # last, ours anyway
        ("2D KD", "5D 6D 7D", "KD"),  # last, and nothing in it
        ("2D KD", "5D 6D AH", "2D"),  # last, but there are points
        ("JD KD", "5D", "JD"),
        ("KS 2D", "", "2D"),
        ("QS KS", "9S", "KS"),
    ],
)
def test_sensible_plays(held: str, plays: str, choice: str) -> None:
    assert SensiblePlayer(Random(1)).choose(view(held, plays)) == card(choice)


def test_sensible_spends_a_high_club_in_the_first_trick() -> None:
    assert SensiblePlayer(Random(1)).choose(view("3C KC QS", "2C", tricks=0)) == card("KC")


def test_sensible_passes_the_high_spades_when_few_small_ones_guard_them() -> None:
    match = Match()
    match.start()
    match.hand.deal(0, cards("QS KS AS 2S 2D 3D 4D 2C 3C 4C 2H 3H 4H"))
    for seat in range(1, 4):
        match.hand.deal(seat, None)
    assert match.hand.direction != HOLD
    match.hand.start_passing()
    assert set(cards("QS KS AS")) == set(_chosen(match))
    match.hand.holds[0] = None
    match.hand.deal(0, cards("QS 2S 3S 4S 5S KD AH KH 2C 3C 4C 5C 6C"))
    match.hand.start_passing()
    assert set(_chosen(match)) == set(cards("KD AH KH"))


def _chosen(match: Match) -> tuple[int, ...]:
    chosen = SensiblePlayer(Random(1)).choose(match.view(0))
    assert isinstance(chosen, tuple)
    return chosen
