"""Every frame of Hearts has a sentence that a person understands without knowing a number."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.hearts.meaning import meaning
from nodes.hearts.messages import (
    TYPES,
    DealHand,
    Frame,
    GameOver,
    GameStart,
    HandSummary,
    PassCards,
    PlayCard,
    StartPhase,
    TokenPass,
    TrickSummary,
)
from nodes.hearts.rules import LABELS
from tests.stories import told

CARD = {label: card for card, label in enumerate(LABELS) if label}
HAND = bytes(CARD[name] for name in ("Q♠", "2♣", "5♣", "A♦", "10♥", *(f"{n}♦" for n in range(3, 10)), "J♦"))
PLAYS = ((3, CARD["2♣"]), (0, CARD["K♣"]), (1, CARD["A♣"]), (2, CARD["Q♠"]))

SENTENCES = [
    (TokenPass(2, origin=0), "M0 gives the token (bastão) to M2"),
    (TokenPass(1, origin=1), "M1 keeps the token (bastão)"),
    (TokenPass(0xFF, origin=1), "M1 gives the token (bastão) to machine 255"),
    (GameStart(), "M0 starts a game"),
    (DealHand(HAND, dest=3), "M0 deals M3 A♦ 3♦ 4♦ 5♦ 6♦ 7♦ 8♦ 9♦ J♦ 2♣ 5♣ 10♥ Q♠"),
    (DealHand(HAND), "M0 deals all A♦ 3♦ 4♦ 5♦ 6♦ 7♦ 8♦ 9♦ J♦ 2♣ 5♣ 10♥ Q♠"),
    (StartPhase(0, 0), "M0 opens the passing: 3 cards to the left"),
    (StartPhase(0, 1), "M0 opens the passing: 3 cards to the right"),
    (StartPhase(0, 2), "M0 opens the passing: 3 cards across"),
    (StartPhase(0, 3), "M0 announces that no cards are passed in this hand (hold)"),
    (StartPhase(0, 9), "M0 opens the passing: 3 cards in direction 9, which the text does not have"),
    (StartPhase(1), "M0 opens the tricks"),
    (StartPhase(7), "M0 opens phase 7, which the text does not have"),
    (PassCards(bytes((CARD["Q♠"], CARD["A♥"], CARD["2♦"])), origin=1, dest=2), "M1 passes M2 Q♠ A♥ 2♦"),
    (PlayCard(CARD["Q♠"], origin=1), "M1 plays Q♠ — 13 points to whoever takes it"),
    (PlayCard(CARD["2♥"], origin=3), "M3 plays 2♥ — 1 point to whoever takes it"),
    (PlayCard(CARD["2♣"], origin=2), "M2 plays 2♣"),
    (TrickSummary(1, PLAYS, 13), "M1 takes the trick and 13 points: M3 2♣, M0 K♣, M1 A♣, M2 Q♠"),
    (TrickSummary(1, PLAYS, 0), "M1 takes the trick and no points: M3 2♣, M0 K♣, M1 A♣, M2 Q♠"),
    (
        HandSummary((0, 26, 26, 26), (5, 40, 41, 42), 0),
        "the hand is over: M0 shot the moon; M0 0, M1 26, M2 26, M3 26; totals M0 5, M1 40, M2 41, M3 42",
    ),
    (
        HandSummary((1, 2, 3, 20), (1, 2, 3, 20), 0xFF),
        "the hand is over: M0 1, M1 2, M2 3, M3 20; totals M0 1, M1 2, M2 3, M3 20",
    ),
    (GameOver(2, (50, 60, 4, 101)), "M2 wins the game: M0 50, M1 60, M2 4, M3 101"),
]


@pytest.mark.parametrize(("frame", "sentence"), SENTENCES)
def test_a_frame_says(frame: Frame, sentence: str) -> None:
    assert meaning(frame, "m0", "m1") == meaning(frame) == sentence


def test_every_type_has_a_sentence() -> None:
    assert {type(frame) for frame, _ in SENTENCES} == set(TYPES)
    with pytest.raises(TypeError):
        meaning(Frame())


def test_a_whole_game_is_told_in_names() -> None:
    sentences = told("hearts")
    assert len(sentences) > 100
    for sentence in sentences:
        # What is left without names and scores has no number in it, but for how many cards are passed.
        plain = re.sub(r"M[0-3]( \d+)?|\d+ points?|[\dJQKA]+[♦♣♥♠]|: 3 cards", "", sentence)
        assert not re.search(r"\d", plain), sentence


@given(st.integers(0, 255), st.integers(0, 255), st.integers(0, 255))
def test_no_number_has_no_sentence(winner: int, moon: int, phase: int) -> None:
    for frame in (
        GameOver(winner, (1, 2, 3, 4)),
        HandSummary((0,) * 4, (0,) * 4, moon),
        StartPhase(phase, moon),
        TrickSummary(winner, ((moon, CARD["2♣"]),) * 4, phase),
        TokenPass(winner),
    ):
        assert meaning(frame)
