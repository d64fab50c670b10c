"""Bots, against everything that can be played."""

from __future__ import annotations

from random import Random

import pytest

from nodes.tictactoe.bots import BOTS, PerfectBot, RandomBot, value
from nodes.tictactoe.roles import View
from nodes.tictactoe.rules import EMPTY, Board, Mark, free, outcome, play, to_move


def view(board: Board, game: int = 0) -> View:
    return View(board, to_move(board), "opponent", "peer", game)


def worst_for(bot: PerfectBot, mark: Mark, board: Board = EMPTY) -> set[str]:
    """Every outcome that any opponent can reach, whichever of its good cells the bot takes."""
    won = outcome(board)
    if won:
        return {won}
    cells = bot.cells(board) if to_move(board) == mark else free(board)
    return {end for cell in cells for end in worst_for(bot, mark, play(board, cell))}


def test_perfect_never_loses_as_o_who_begins() -> None:
    assert worst_for(PerfectBot(Random(1)), "O") == {"O", "E"}


def test_perfect_never_loses_as_x_who_is_second() -> None:
    assert worst_for(PerfectBot(Random(1)), "X") == {"X", "E"}


def test_the_empty_board_is_a_tie() -> None:
    assert value(EMPTY) == 0


@pytest.mark.parametrize(("board", "cell"), [("OO XX    ", "3"), ("OO XX   O", "6"), ("OO  X    ", "3")])
def test_perfect_takes_a_win_or_else_stops_one(board: Board, cell: str) -> None:
    assert PerfectBot(Random(5)).cells(board) == (cell,)


@pytest.mark.parametrize("name", BOTS)
def test_a_bot_marks_free_cells_and_does_not_give_up(name: str) -> None:
    bot = BOTS[name](Random(3))
    for board in (EMPTY, "O        ", "OX  O   X", "OXOXXOO X"):
        assert bot.choose(view(board)) in free(board)


@pytest.mark.parametrize("name", BOTS)
def test_the_same_seed_plays_the_same_whatever_was_played_in_between(name: str) -> None:
    one, other = BOTS[name](Random(3)), BOTS[name](Random(3))
    other.choose(view("O        "))
    assert [one.choose(view(EMPTY, game)) for game in range(20)] == [
        other.choose(view(EMPTY, game)) for game in range(20)
    ]


def test_random_varies_from_game_to_game_and_from_seed_to_seed() -> None:
    assert {RandomBot(Random(3)).choose(view(EMPTY, game)) for game in range(200)} == set(free(EMPTY))
    assert len({RandomBot(Random(seed)).choose(view(EMPTY)) for seed in range(50)}) > 1
