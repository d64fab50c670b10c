"""Every message of Connect Four has a sentence."""

from __future__ import annotations

import pytest

from nodes.connect4.meaning import meaning
from nodes.connect4.messages import (
    AnyMessage,
    Connect,
    Connected,
    EndGame,
    GenMove,
    NewGame,
    NotConnected,
    PlayMove,
)
from tests.stories import told

BOARD = "." * 42

SENTENCES = [
    (Connect("p1"), "p1 asks to play"),
    (Connect("ada"), "p1 asks to play as ada"),
    (Connected(), "p1 lets server in"),
    (Connected("hello"), "p1 lets server in: hello"),
    (NotConnected(), "p1 turns server away"),
    (NotConnected("bad name"), "p1 turns server away: bad name"),
    (NewGame("ada", "bob"), "a new game: ada (R) meets bob (Y), ada begins"),
    (GenMove(BOARD, "R", "PlayR", 419), "server (R) is to move, 41.9 s left"),
    (GenMove(BOARD, "Y", None, 0), "server (Y) is to move, 0.0 s left"),
    (GenMove(BOARD, "Y", "WinR", 5), "server (Y) is to move, 0.5 s left (though the status says WinR)"),
    (PlayMove(3), "p1 drops a disc into column 3"),
    (EndGame(BOARD, "R", "WinR", "Ok"), "server (R) has won"),
    (EndGame(BOARD, "R", "WinY", "Timeout"), "server (R) has lost to yellow, on time"),
    (EndGame(BOARD, "Y", "WinY", "Disconnected"), "server (Y) has won, by a connection lost"),
    (EndGame(BOARD, "Y", "Tie", "Ok"), "server (Y) has a tie"),
    (EndGame(BOARD, "Y", "PlayR", "Ok"), "server (Y) stops before the end"),
]


@pytest.mark.parametrize(("message", "sentence"), SENTENCES)
def test_a_message_says(message: AnyMessage, sentence: str) -> None:
    assert meaning(message, "p1", "server") == sentence


def test_every_kind_has_a_sentence() -> None:
    assert {type(message) for message, _ in SENTENCES} == set(AnyMessage.__args__)
    with pytest.raises(TypeError):
        meaning(None)  # type: ignore[arg-type] # what is no message has none


def test_a_whole_game_is_told_without_boards() -> None:
    sentences = told("connect4")
    assert len(sentences) > 20
    assert not any("..." in sentence for sentence in sentences)
