"""Every word of Briscola has a sentence that a person understands without knowing a number."""

from __future__ import annotations

import re

import pytest

from nodes.briscola.meaning import meaning
from nodes.briscola.messages import (
    NOBODY,
    Ack,
    Code,
    EndGame,
    EnemyCard,
    Error,
    GiveCard,
    Init,
    Op,
    Search,
    UseCard,
    Word,
)
from nodes.briscola.rules import DECK, Card
from tests.stories import told

SENTENCES = [
    (Ack(5), "p1 acknowledges word 5"),
    (Ack(), "p1 acknowledges the last word"),
    (Init(2, 3, False, 2), "p1: the briscola is 3♥ (tre di coppe), p2 leads against server"),
    (Init(2, 0, True, 2), "p1: the briscola is coppe, server leads against p2"),
    (GiveCard(Card(0, 5)), "p1 gives server 5♦"),
    (EnemyCard(Card(0, 3)), "p1 tells server that the other plays 3♦ — 10 points to whoever takes it"),
    (EnemyCard(Card(0, 2)), "p1 tells server that the other plays 2♦"),
    (UseCard(Card(1, 1)), "p1 plays A♠ — 11 points to whoever takes it"),
    (EndGame(2), "p1: the game is over, p2 has won"),
    (EndGame(NOBODY), "p1: the game is over, a draw"),
    (Search(1), "p1 looks for a game"),
    (Search(9), "p1 looks for a game as p9"),
    (Error(Code.NOT_YOUR_TURN), "p1 refuses: not your turn"),
    (Error(77), "p1 refuses: code 77, which is not known"),
]


@pytest.mark.parametrize(("word", "sentence"), SENTENCES)
def test_a_word_says(word: Word, sentence: str) -> None:
    assert meaning(word, "p1", "server") == sentence


def test_every_operation_has_a_sentence() -> None:
    assert {word.op for word, _ in SENTENCES} == set(Op)
    with pytest.raises(TypeError):
        meaning(None)  # type: ignore[arg-type] # what is no word has none


def test_every_card_and_every_code_has_a_name() -> None:
    assert all(str(card) in meaning(UseCard(card)) for card in DECK)
    assert not any(re.search(r"\d", meaning(Error(code))) for code in Code)


def test_a_whole_game_is_told_in_names() -> None:
    sentences = told("briscola")
    assert len(sentences) > 100
    for sentence in sentences:
        plain = re.sub(r"\bp\d+\b|\d+ points|[2-7AFCR][♦♣♥♠]", "", sentence)
        assert not re.search(r"\d", plain), sentence
