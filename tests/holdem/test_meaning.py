"""Every message of hold'em has a sentence: players by name, cards by suit."""

from __future__ import annotations

import re

import pytest

from nodes.holdem.meaning import meaning
from nodes.holdem.messages import (
    Action,
    AnyMessage,
    Connect,
    Error,
    PlayerResult,
    PlayerState,
    Ready,
    Result,
    State,
    Success,
)
from tests.stories import told

PLAYERS = (PlayerState(0, 19950, 20000, "p1"), PlayerState(1, 19900, 20000, "p2"))
RESULTS = (
    PlayerResult(0, 50.5, 0, 0, "p1"),
    PlayerResult(1, -50.5, 0, 0, "p2"),
    PlayerResult(2, 0, 0, 0, "p3"),
)

SENTENCES = [
    (Connect("p1", 3, 10), "p1 asks for a seat: 3 players, 10 hands"),
    (Connect("ada", 2, 1, "blue"), "p1 asks for a seat as ada: 2 players, 1 hand, room blue"),
    (Ready(), "p1 is ready for the next hand"),
    (Ready("exit"), "p1 leaves the match"),
    (Action("r300"), "p1 raises to 300"),
    (Action("call"), "p1 calls"),
    (Action("check"), "p1 checks"),
    (Action("f"), "p1 folds"),
    (Action("dance"), "p1 says 'dance', which is no action"),
    (
        State(0, 1, ("fold", "call", "raise"), (200, 20000), ("Qs", "Th"), (), PLAYERS, ()),
        "p2 is to act (fold, call, raise to 200–20000); server holds Q♠ 10♥",
    ),
    (
        State(0, -1, (), (), (), ("2c", "3d", "4h"), PLAYERS, ()),
        "nobody is to act any more; server holds no cards; on the table 2♣ 3♦ 4♥",
    ),
    (
        Result((("Qs", "Th"), (), ("2c", "2d")), (), (), RESULTS),
        "the hand is over: p1 wins 50.5, p2 loses 50.5, p3 is even; shown: p1 Q♠ 10♥, p3 2♣ 2♦",
    ),
    (Result((), (), (), RESULTS), "the hand is over: p1 wins 50.5, p2 loses 50.5, p3 is even"),
    (Error("not your turn"), "p1 refuses: not your turn"),
    (Success("bye"), "p1: the match is over: bye"),
]


@pytest.mark.parametrize(("message", "sentence"), SENTENCES)
def test_a_message_says(message: AnyMessage, sentence: str) -> None:
    assert meaning(message, "p1", "server") == sentence


def test_every_kind_has_a_sentence() -> None:
    assert {type(message) for message, _ in SENTENCES} == set(AnyMessage.__args__)
    with pytest.raises(TypeError):
        meaning(None)  # type: ignore[arg-type] # what is no message has none


def test_a_whole_match_is_told_in_names() -> None:
    sentences = told("holdem")
    assert len(sentences) > 50
    for sentence in sentences:
        assert "seat 0" not in sentence
        assert not re.search(r"\b[2-9TJQKA][cdsh]\b", sentence), sentence
