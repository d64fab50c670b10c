"""Every state and move has a sentence; a cell is a place, not a number."""

from __future__ import annotations

import re

import pytest

from nodes.tictactoe.meaning import PLACES, meaning, place
from nodes.tictactoe.messages import Move, State
from nodes.tictactoe.rules import CELLS, EMPTY
from tests.stories import told

SENTENCES = [
    (Move("5"), "client marks the centre"),
    (Move("1"), "client marks the top left corner"),
    (Move("8"), "client marks the bottom edge"),
    (Move("d"), "client gives up"),
    (Move("D"), "client gives up"),
    (State("1", " ", 0, EMPTY), "client: a new game, server begins"),
    (State("1", " ", 2, "O   X    "), "client: server is to move: O·· ·X· ···"),
    (State("0", " ", 2, "O   X    "), "client rejects the move; server is still to move: O·· ·X· ···"),
    (State("1", "X", 5, "XO XO X  "), "client has won: XO· XO· X··"),
    (State("1", "O", 5, "OOOXX    "), "server has won: OOO XX· ···"),
    (State("1", "E", 9, "OXOOXXXOO"), "client: a tie: OXO OXX XOO"),
    (State("d", "O", 2, "O   X    "), "client gives up: O·· ·X· ···"),
]


@pytest.mark.parametrize(("message", "sentence"), SENTENCES)
def test_a_message_says(message: State | Move, sentence: str) -> None:
    assert meaning(message, "client", "server") == sentence


def test_every_cell_has_a_place_of_its_own() -> None:
    assert sorted(map(place, CELLS)) == sorted(set(PLACES))


@pytest.mark.parametrize("seed", range(5))
def test_a_whole_game_is_told_without_numbers(seed: int) -> None:
    sentences = told("tictactoe", seed)
    assert sentences
    assert not any(re.search(r"\b\d", sentence) for sentence in sentences)
