"""The rules, over every position there is."""

from __future__ import annotations

from functools import cache

import pytest

from nodes.tictactoe.rules import BLANK, CELLS, EMPTY, Board, at, free, outcome, play, to_move


@cache
def positions() -> tuple[Board, ...]:
    """Every board that can be reached, in order of discovery."""
    found = {EMPTY: None}
    queue = [EMPTY]
    for board in queue:
        for cell in free(board) if outcome(board) is None else ():
            after = play(board, cell)
            if after not in found:
                found[after] = None
                queue.append(after)
    return tuple(found)


@cache
def games(board: Board) -> dict[str, int]:
    """How many games go on from here, by outcome."""
    won = outcome(board)
    if won:
        return {won: 1}
    totals = {"O": 0, "X": 0, "E": 0}
    for cell in free(board):
        for end, count in games(play(board, cell)).items():
            totals[end] += count
    return totals


def test_there_are_5478_positions() -> None:
    assert len(positions()) == 5478


def test_there_are_255168_games_and_each_ends() -> None:
    assert games(EMPTY) == {"O": 131_184, "X": 77_904, "E": 46_080}
    assert sum(games(EMPTY).values()) == 255_168


def test_958_positions_end_the_game() -> None:
    ends = [outcome(board) for board in positions()]
    assert {end: ends.count(end) for end in ("O", "X", "E")} == {"O": 626, "X": 316, "E": 16}


def test_o_begins_and_the_two_alternate() -> None:
    for board in positions():
        assert board.count("O") - board.count("X") == (0 if to_move(board) == "O" else 1)


def test_a_move_marks_one_free_cell_and_nothing_else() -> None:
    for board in positions():
        for cell in free(board):
            after = play(board, cell)
            assert at(board, cell) == BLANK
            assert at(after, cell) == to_move(board)
            assert [at(after, c) for c in CELLS if c != cell] == [at(board, c) for c in CELLS if c != cell]


@pytest.mark.parametrize(
    ("board", "expected"),
    [
        (EMPTY, None),
        ("OOOXX    ", "O"),
        ("OO XXXO  ", "X"),
        ("XX OOOX  ", "O"),
        ("O XO XO  ", "O"),
        ("OX OX  XO", "X"),
        ("XXO XOX O", "O"),
        ("O X XOX O", "X"),
        ("OX XO   O", "O"),
        ("OXOXXOOOX", "E"),
        ("OXOXXOO X", None),
        ("OXOOXXXOO", "E"),
        ("OXXXOOOXO", "O"),  # the last cell completes a line: not a tie
    ],
)
def test_three_in_a_line_win_and_a_full_board_without_is_a_tie(board: Board, expected: str | None) -> None:
    assert outcome(board) == expected
