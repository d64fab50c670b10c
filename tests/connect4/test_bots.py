"""Bots play legal columns, and `search` plays them well within its clock."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from nodes.connect4 import bots
from nodes.connect4.bots import BOTS, RandomBot, SearchBot
from nodes.connect4.rules import Board, View, has_four

if TYPE_CHECKING:
    from nodes.core import Player


def view(board: Board, time_s: float = 42.0) -> View:
    return View(board, board.to_move, "you", time_s, board.legal())


def after(*columns: int) -> Board:
    board = Board()
    for column in columns:
        board = board.play(column)
    return board


def play(red: Player, yellow: Player, time_s: float = 42.0) -> Board:
    board = Board()
    while board.legal():
        mover = red if board.to_move == "R" else yellow
        column = mover.choose(view(board, time_s))
        assert column in board.legal()
        board = board.play(column)
    return board


def quiet_boards(count: int) -> list[Board]:
    """Boards of random games on which play goes on."""
    found = []
    for seed in range(count):
        rng, board = Random(seed), Board()
        for _ in range(rng.randrange(4, 36)):
            if board.legal():
                last, board = board, board.play(rng.choice(board.legal()))
        found.append(board if board.legal() else last)
    return found


@pytest.mark.parametrize("time_s", [42.0, 0.3, 0.0])
def test_search_takes_every_win_and_meets_every_threat(time_s: float) -> None:
    wins = blocks = 0
    for seed, board in enumerate(quiet_boards(150)):
        winning = [column for column in board.legal() if board.play(column).status()[:3] == "Win"]
        # The columns in which the other side would win, were it to move here.
        theirs = board.yellow if board.to_move == "R" else board.red
        threats = []
        for column in board.legal():
            disc = board.play(column)
            added = (disc.red | disc.yellow) & ~(board.red | board.yellow)
            if has_four(theirs | added):
                threats.append(column)
        chosen = SearchBot(Random(seed)).choose(view(board, time_s))
        assert chosen in board.legal()
        if winning:
            assert chosen in winning
            wins += 1
        elif threats:
            assert chosen in threats
            blocks += 1
    assert wins > 10
    assert blocks > 10


def test_search_hands_nobody_a_win_even_with_no_time_left() -> None:
    def hands_a_win(board: Board, column: int) -> bool:
        after_it = board.play(column)
        return any(after_it.play(reply).status()[:3] == "Win" for reply in after_it.legal())

    traps = 0
    for seed, board in enumerate(quiet_boards(150)):
        safe = [column for column in board.legal() if not hands_a_win(board, column)]
        if safe and len(safe) < len(board.legal()):
            traps += 1
            assert SearchBot(Random(seed)).choose(view(board, 0.0)) in safe
    assert traps > 10


def test_search_sees_a_win_two_moves_ahead() -> None:
    # Red holds 2 and 3 on the open bottom row: a third in 1 or 4 cannot be met on both sides.
    board = after(2, 2, 3, 3)
    assert SearchBot(Random(1)).choose(view(board)) in (1, 4)


def test_search_meets_a_win_two_moves_ahead() -> None:
    board = after(2, 2, 3)
    assert SearchBot(Random(1)).choose(view(board)) in (1, 4)


def test_search_beats_random() -> None:
    won = 0
    for seed in range(12):
        search, chance = SearchBot(Random(seed)), RandomBot(Random(seed))
        if seed % 2:
            won += play(chance, search).status() == "WinY"
        else:
            won += play(search, chance).status() == "WinR"
    assert won >= 11


def test_search_plays_to_the_end_whatever_its_clock() -> None:
    for time_s in (42.0, 0.1, 0.0):
        assert play(SearchBot(Random(1)), SearchBot(Random(2)), time_s).legal() == ()


def test_the_same_view_gives_the_same_move_whatever_was_asked_before() -> None:
    seen = quiet_boards(12)
    forward = SearchBot(Random(9))
    chosen = [forward.choose(view(board)) for board in seen]
    backward = SearchBot(Random(9))
    assert [backward.choose(view(board)) for board in reversed(seen)] == chosen[::-1]


def test_search_spends_nodes_in_proportion_to_its_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    spent: list[int] = []
    real = bots._Search

    class Counting(real):  # type: ignore[misc, valid-type]
        def __init__(self, order: list[int], nodes: int) -> None:
            spent.append(nodes)
            super().__init__(order, nodes)

    monkeypatch.setattr(bots, "_Search", Counting)
    bot = SearchBot(Random(1))
    for time_s in (42.0, 1.0, 0.1, 0.0):
        bot.choose(view(Board(), time_s))
    assert spent[0] == bots.NODES_MAX
    assert spent[0] > spent[1] > spent[2] > spent[3] == 0
    assert all(
        nodes <= bots.NODES_PER_S * time_s for nodes, time_s in zip(spent[1:], (1.0, 0.1, 0.0), strict=True)
    )


def test_a_lost_or_forced_board_is_played_on() -> None:
    # Yellow has two open ends; whatever red does is legal and that is all one can ask.
    board = after(0, 2, 0, 3, 6, 4)
    assert SearchBot(Random(1)).choose(view(board)) in (1, 5)


def test_the_last_column_is_played() -> None:
    board = after(*map(int, "335046336516410156115515306344400064"))
    while board.legal():
        assert board.legal() == (2,)
        board = board.play(SearchBot(Random(1)).choose(view(board)))


def test_the_table_of_positions_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bots, "TABLE_MAX", 10)
    search = bots._Search([3, 2, 4, 1, 5, 0, 6], 2000)
    search.best(0, 0)
    assert len(search._table) == 10


def test_the_bots_are_listed_by_name() -> None:
    assert set(BOTS) == {"random", "search"}
    for make in BOTS.values():
        assert make(Random(1)).choose(view(Board())) in range(7)
