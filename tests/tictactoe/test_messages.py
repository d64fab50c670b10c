"""The 12 bytes, both ways."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.core import RemoteProtocolError
from nodes.dialect import DialectError, knobs, parse
from nodes.tictactoe.checks import CHECKS
from nodes.tictactoe.dialect import Dialect
from nodes.tictactoe.messages import MESSAGE_BYTES, Move, State

ALL = Dialect()
ORIGINAL = Dialect(plies="server")

boards = st.text("XO ", min_size=9, max_size=9)
states = st.builds(State, st.sampled_from("10d"), st.sampled_from("XOE "), st.integers(0, 9), boards)
moves = st.builds(Move, st.sampled_from("123456789dD"))
# Bytes near a message find more than bytes far from one.
wire = st.one_of(
    st.binary(max_size=30),
    st.binary(min_size=12, max_size=12),
    st.text("10dXOE 5", min_size=12, max_size=12).map(str.encode),
    st.characters(max_codepoint=255).map(lambda c: f"   {c}        ".encode("latin-1")),
)


@given(states)
@settings(deadline=None)
def test_a_state_is_12_bytes_and_reads_back(state: State) -> None:
    assert len(state.encode()) == MESSAGE_BYTES
    assert State.decode(state.encode()) == state


@given(moves)
@settings(deadline=None)
def test_a_move_is_12_bytes_and_reads_back(move: Move) -> None:
    assert len(move.encode()) == MESSAGE_BYTES
    assert Move.decode(move.encode()) == move


@given(wire)
@settings(deadline=None, max_examples=200)
def test_any_bytes_are_a_message_or_break_a_known_clause(data: bytes) -> None:
    for kind in (State, Move):
        try:
            again = kind.decode(data).encode()
        except RemoteProtocolError as error:
            broken = error.check
            assert broken in CHECKS
        else:
            assert again == data


@pytest.mark.parametrize(
    ("state", "data"),
    [
        (State.of(" " * 9, ALL), b"1 0         "),
        (State.of(" " * 9, ORIGINAL), b"1 1         "),
        (State.of("X   O    ", ALL), b"1 2X   O    "),
        (State.of("X   O    ", ORIGINAL), b"1 2X   O    "),
        (State.of("XO  O  X ", ALL), b"1 4XO  O  X "),
        (State.of("XO  O  X ", ORIGINAL), b"1 3XO  O  X "),
        (State.of("XO  O  X ", ALL, status="0"), b"0 4XO  O  X "),
        (State.of("X   O   O", ALL, status="d", winner="O"), b"dO3X   O   O"),
        (State.of("X   O    ", ALL, winner="X"), b"1X2X   O    "),
        (State.of("XXXOO   O", ALL), b"1X6XXXOO   O"),
        (State.of("OXOXXOOOX", ALL), b"1E9OXOXXOOOX"),
        (Move("5"), b"   5        "),
        (Move("d"), b"   d        "),
        (Move("D"), b"   D        "),
    ],
)
def test_the_bytes_are_those_of_the_text(state: State | Move, data: bytes) -> None:
    assert state.encode() == data


@pytest.mark.parametrize(
    ("data", "check"),
    [
        (b"", "tictactoe/start.2"),
        (b"1 0        ", "tictactoe/start.2"),
        (b"1 0          ", "tictactoe/start.2"),
        (b"2 0         ", "tictactoe/state.0"),
        (b"D 0         ", "tictactoe/state.0"),
        (b"1x0         ", "tictactoe/state.1"),
        (b"1 a         ", "tictactoe/state.2"),
        (b"1 \xb2         ", "tictactoe/state.2"),  # superscript two: a digit to some, not to the text
        (b"1 0 x       ", "tictactoe/state.3"),
        (b"1 0\x00        ", "tictactoe/state.3"),
        (b"\xff" * 12, "tictactoe/state.0"),
    ],
)
def test_a_state_that_breaks_a_clause_is_refused_by_its_number(data: bytes, check: str) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        State.decode(data)
    assert caught.value.check == check


@pytest.mark.parametrize(
    ("data", "check"),
    [
        (b"   5", "tictactoe/start.2"),
        (b"5           ", "tictactoe/move.1"),
        (b"   5       x", "tictactoe/move.1"),
        (b"   55       ", "tictactoe/move.1"),
        (b"\t  5        ", "tictactoe/move.1"),
        (b"   0        ", "tictactoe/move.3"),
        (b"            ", "tictactoe/move.3"),
        (b"   x        ", "tictactoe/move.3"),
        (b"   \xb9        ", "tictactoe/move.3"),
        (b"1X6XXXOO   O", "tictactoe/move.1"),
    ],
)
def test_a_move_that_breaks_a_clause_is_refused_by_its_number(data: bytes, check: str) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        Move.decode(data)
    assert caught.value.check == check


def test_fields_have_the_names_of_the_one_vocabulary() -> None:
    assert State.of(" " * 9, ALL).fields() == {"status": "1", "winner": " ", "count": 0, "board": " " * 9}
    assert Move("d").fields() == {"choice": "d"}


def test_the_dialect_has_one_knob() -> None:
    assert knobs(Dialect) == {"plies": ("all | server", "all")}
    assert parse(Dialect, ["plies=server"]) == ORIGINAL
    with pytest.raises(DialectError, match=r"it takes all \| server"):
        parse(Dialect, ["plies=none"])


def test_every_check_quotes_a_clause_and_says_what_we_make_of_it() -> None:
    for name, check in CHECKS.items():
        assert name.startswith("tictactoe/")
        assert check.clause
        assert check.means.endswith(".")
