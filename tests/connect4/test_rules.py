"""Gravity, four in a row, and who meets whom."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from random import Random
from typing import TYPE_CHECKING, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.connect4.rules import (
    CELLS,
    COLUMNS,
    DEPARTED_MAX,
    ROWS,
    BadBoard,
    Board,
    Tournament,
    circle,
    has_four,
    outcome,
)

if TYPE_CHECKING:
    from nodes.connect4.rules import Status

LINES = [
    [(row + i * up, column + i * along) for i in range(4)]
    for row in range(ROWS)
    for column in range(COLUMNS)
    for up, along in ((0, 1), (1, 0), (1, 1), (1, -1))
    if 0 <= row + 3 * up < ROWS and 0 <= column + 3 * along < COLUMNS
]


def naive_winner(text: str) -> str | None:
    """Four in a row, looked for cell by cell."""
    for line in LINES:
        cells = {text[row * COLUMNS + column] for row, column in line}
        if cells in ({"R"}, {"Y"}):
            return cells.pop()
    return None


def bits(cells: list[tuple[int, int]]) -> int:
    return sum(1 << column * 7 + row for row, column in cells)


def after(*columns: int) -> Board:
    board = Board()
    for column in columns:
        board = board.play(column)
    return board


def test_there_are_69_lines_and_each_wins() -> None:
    assert len(LINES) == 69
    for line in LINES:
        assert has_four(bits(line))
        for cell in line:
            assert not has_four(bits([other for other in line if other != cell]))


@given(st.sets(st.tuples(st.integers(0, ROWS - 1), st.integers(0, COLUMNS - 1))))
def test_four_in_a_row_is_what_a_cell_by_cell_search_finds(cells: set[tuple[int, int]]) -> None:
    text = "".join("R" if divmod(i, COLUMNS) in cells else "." for i in range(CELLS))
    assert has_four(bits(sorted(cells))) == (naive_winner(text) == "R")


@pytest.mark.parametrize(
    "cells",
    [
        [(5, 0), (0, 1), (1, 1), (2, 1)],  # up and over into the next column
        [(3, 0), (4, 0), (5, 0), (0, 1)],
        [(0, 4), (0, 5), (0, 6), (1, 0)],  # along and over into the next row
        [(4, 0), (5, 1), (0, 3), (1, 4)],  # a diagonal through the top
        [(1, 0), (0, 1), (5, 1), (4, 2)],
    ],
)
def test_no_line_wraps_around_an_edge(cells: list[tuple[int, int]]) -> None:
    assert not has_four(bits(cells))


def test_random_games_end_within_42_plies_and_respect_gravity() -> None:
    endings: Counter[str] = Counter()
    for seed in range(1500):
        rng = Random(seed)
        board, heights = Board(), [0] * COLUMNS
        while legal := board.legal():
            assert legal == tuple(column for column in range(COLUMNS) if heights[column] < ROWS)
            assert naive_winner(board.text()) is None
            column = rng.choice(legal)
            mover = board.to_move
            assert board.status() == f"Play{mover}"
            assert mover == "RY"[board.plies % 2]
            board = board.play(column)
            assert board.text()[heights[column] * COLUMNS + column] == mover
            heights[column] += 1
            assert sum(heights) == board.plies
        assert Board.from_text(board.text()) == board
        assert board.plies <= CELLS
        winner = naive_winner(board.text())
        assert board.status() == (f"Win{winner}" if winner else "Tie")
        endings[board.status()] += 1
    assert set(endings) == {"WinR", "WinY", "Tie"}


def test_the_text_of_a_board_goes_from_the_bottom_left() -> None:
    assert Board().text() == "." * 42
    assert after(1).text() == ".R" + "." * 40
    assert after(1, 1, 6).text() == ".R....R.Y" + "." * 33


def test_a_column_takes_six_discs() -> None:
    board = after(2, 2, 2, 2, 2)
    assert board.has_room(2)
    board = board.play(2)
    assert not board.has_room(2)
    assert board.legal() == (0, 1, 3, 4, 5, 6)


def test_nothing_is_legal_after_a_four() -> None:
    assert after(0, 1, 0, 1, 0, 1, 0).legal() == ()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("." * 41, "42 cells"),
        ("." * 43, "42 cells"),
        ("..x" + "." * 39, "42 cells"),
        ("." * 7 + "R" + "." * 34, "hangs"),
        ("R" + "." * 13 + "Y" + "." * 27, "hangs"),
        ("RR" + "." * 40, "2 red and 0 yellow"),
        ("Y" + "." * 41, "0 red and 1 yellow"),
        ("RRRRY..YYY...." + "." * 28, "after a four"),
        ("YYYYRRRR.R...." + "." * 28, "after a four"),
    ],
)
def test_a_board_no_game_leads_to_is_refused(text: str, why: str) -> None:
    with pytest.raises(BadBoard, match=why):
        Board.from_text(text)


def test_ply_to_finds_the_one_column_between_two_boards() -> None:
    assert after(3, 3).ply_to(after(3, 3, 4)) == 4
    assert after(3, 3).ply_to(after(3, 3)) is None
    assert after(3, 3).ply_to(after(3, 4, 3)) is None


@pytest.mark.parametrize(
    ("status", "winner", "red", "yellow"), [("WinR", "a", 1, 0), ("WinY", "b", 0, 1), ("Tie", None, 0.5, 0.5)]
)
def test_a_win_counts_one_and_a_tie_half(status: Status, winner: str, red: float, yellow: float) -> None:
    result = outcome("a", "b", status, "Ok")
    assert result["winner"] == winner
    assert result["scores"] == {"a": red, "b": yellow}


def play_out(tournament: Tournament, names: list[str], rng: Random) -> list[tuple[str, str]]:
    """Everybody joins, games end in any order; the games in the order they began."""
    running: list[tuple[str, str]] = []
    began: list[tuple[str, str]] = []

    def begin() -> None:
        for pair in tournament.pairs():
            assert not any(name in other for other in running for name in pair), "one game at a time"
            running.append(pair)
            began.append(pair)

    for name in names:
        tournament.join(name)
        begin()
    while running:
        tournament.ended(*running.pop(rng.randrange(len(running))))
        begin()
    return began


@pytest.mark.parametrize("pairing", ["eager", "rounds"])
@pytest.mark.parametrize("players", [2, 3, 4, 7, 12])
@pytest.mark.parametrize("games", [1, 2, 3])
def test_every_pair_plays_all_its_games_in_both_colours(
    pairing: Literal["eager", "rounds"], players: int, games: int
) -> None:
    names = [f"p{i}" for i in range(players)]
    tournament = Tournament(players, games, pairing)
    began = play_out(tournament, names, Random(players * games))
    assert tournament.over
    for pair in combinations(names, 2):
        reds = [red for red, yellow in began if {red, yellow} == set(pair)]
        assert len(reds) == games
        assert all(reds[i] != reds[i + 1] for i in range(games - 1))


def test_rounds_depend_neither_on_arrival_nor_on_speed() -> None:
    names = [f"p{i}" for i in range(7)]
    seen = {
        tuple(play_out(Tournament(7, 2, "rounds"), Random(seed).sample(names, 7), Random(seed)))
        for seed in range(5)
    }
    assert len(seen) == 1


def test_a_round_waits_for_all_and_for_the_last_game_of_the_one_before() -> None:
    tournament = Tournament(4, 1, "rounds")
    for name in "abc":
        tournament.join(name)
        assert tournament.pairs() == []
    tournament.join("d")
    first, second = tournament.pairs()
    tournament.ended(*first)
    assert tournament.pairs() == []
    tournament.ended(*second)
    assert len(tournament.pairs()) == 2


@pytest.mark.parametrize("size", [2, 4, 8, 10])
def test_a_circle_meets_every_pair_once(size: int) -> None:
    names = [str(i) for i in range(size)]
    pairs = [frozenset(pair) for turn in range(size - 1) for pair in circle(names, turn)]
    assert len(pairs) == len(set(pairs)) == size * (size - 1) // 2


def test_the_fewest_games_together_come_first() -> None:
    tournament = Tournament(3, 2, "eager")
    tournament.join("a")
    tournament.join("b")
    assert tournament.pairs() == [("a", "b")]
    tournament.join("c")
    assert tournament.pairs() == []
    tournament.ended("a", "b")
    assert tournament.pairs() == [("a", "c")]
    tournament.ended("a", "c")
    assert tournament.pairs() == [("b", "c")]
    tournament.ended("b", "c")
    assert tournament.pairs() == [("b", "a")]


def test_without_a_limit_two_who_just_played_let_another_game_end_first() -> None:
    tournament = Tournament(4, 0, "eager")
    for name in "abcd":
        tournament.join(name)
    assert tournament.pairs() == [("a", "b"), ("c", "d")]
    tournament.ended("a", "b")
    assert tournament.pairs() == []
    tournament.ended("c", "d")
    assert tournament.pairs() == [("a", "c"), ("b", "d")]
    tournament.ended("a", "c")
    assert tournament.pairs() == []
    tournament.ended("b", "d")
    assert tournament.pairs() == [("a", "d"), ("b", "c")]
    assert not tournament.full
    assert not tournament.over


def test_without_a_limit_those_who_waited_play_again_when_the_others_leave() -> None:
    tournament = Tournament(4, 0, "eager")
    for name in "abcd":
        tournament.join(name)
    tournament.pairs()
    tournament.ended("a", "b")
    assert tournament.pairs() == []
    tournament.ended("c", "d")
    tournament.leave("c")
    tournament.leave("d")
    assert tournament.pairs() == [("b", "a")]
    tournament.ended("b", "a")
    assert tournament.pairs() == [("a", "b")]


def test_without_a_limit_everybody_meets_everybody() -> None:
    tournament = Tournament(6, 0, "eager")
    names = list("abcdef")
    rng = Random(5)
    running: list[tuple[str, str]] = []
    for name in names:
        tournament.join(name)
        running += tournament.pairs()
    seen = set()
    for _ in range(60):
        pair = running.pop(rng.randrange(len(running)))
        seen.add(frozenset(pair))
        tournament.ended(*pair)
        running += tournament.pairs()
        assert running
    assert len(seen) == 15


def test_a_tournament_waits_for_whoever_left_until_it_shrinks() -> None:
    tournament = Tournament(3, 1, "rounds")
    for name in "abc":
        tournament.join(name)
    assert tournament.full
    (first,) = tournament.pairs()
    tournament.ended(*first)
    tournament.leave("a")
    assert tournament.pairs() == []
    assert tournament.waiting
    assert not tournament.over
    tournament.shrink()
    assert not tournament.waiting
    rest = tournament.pairs()
    for pair in rest:
        tournament.ended(*pair)
    assert tournament.pairs() == []
    assert tournament.over


@pytest.mark.parametrize("gone", list("abcde"))
@pytest.mark.parametrize("rounds", [1, 2, 3, 4])
def test_rounds_that_are_played_already_are_passed_over(gone: str, rounds: int) -> None:
    tournament = Tournament(5, 1, "rounds")
    played = []
    for name in "abcde":
        tournament.join(name)
    for number in range(12):
        if number == rounds:
            tournament.leave(gone)
            tournament.shrink()
        for pair in tournament.pairs():
            played.append(frozenset(pair))
            tournament.ended(*pair)
    assert tournament.over
    assert len(played) == len(set(played))
    stayed = set("abcde") - {gone}
    assert sum(pair <= stayed for pair in played) == 6


def test_whoever_comes_back_keeps_its_games() -> None:
    tournament = Tournament(2, 1, "eager")
    tournament.join("a")
    tournament.join("b")
    assert tournament.pairs() == [("a", "b")]
    tournament.ended("a", "b")
    tournament.leave("b")
    tournament.join("b")
    assert tournament.pairs() == []
    assert tournament.over


def test_only_so_many_departed_players_are_remembered() -> None:
    tournament = Tournament(2, 1, "eager")
    tournament.join("stayer")
    for i in range(DEPARTED_MAX + 1):
        tournament.join(f"guest{i}")
        ((red, yellow),) = tournament.pairs()
        tournament.ended(red, yellow)
        tournament.leave(f"guest{i}")
        tournament.pairs()
    tournament.join("guest1")
    assert tournament.pairs() == []
    tournament.leave("guest1")
    tournament.join("guest0")
    assert tournament.pairs() == [("guest0", "stayer")]
