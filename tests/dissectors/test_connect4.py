"""Connect Four in Scapy agrees with the nodes' codec: what is taken, what is refused, every field."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scapy.packet import fuzz

from dissectors import (
    Connect,
    Connect4,
    Connected,
    EndGame,
    GenMove,
    Malformed,
    NewGame,
    NotConnected,
    PlayMove,
    WebSocket,
    check,
)
from dissectors.connect4 import MESSAGES
from nodes.connect4.fields import FIELDS
from nodes.connect4.messages import AnyMessage, decode
from nodes.core import RemoteProtocolError
from tests.connect4.test_messages import EMPTY, messages, near_lines
from tests.tools import how_many

BOARD = "RYR...." + "Y......" + "." * 28


def decoded(data: bytes) -> tuple[AnyMessage | None, str | None]:
    try:
        return decode(data), None
    except RemoteProtocolError as error:
        return None, error.check


def agrees(data: bytes) -> bool:
    """Both take it and read the same fields, or both refuse it for the same reason."""
    packet = Connect4(data)
    assert bytes(packet) == data
    message, refused = decoded(data)
    assert packet.check == check(packet) == refused
    if message is None:
        return False
    assert {name: value for name, value in packet.fields.items() if name != "end"} == message.fields()
    return True


@given(messages)
def test_what_a_node_encodes_has_the_same_fields_here(message: AnyMessage) -> None:
    assert agrees(message.encode())
    below = WebSocket(bytes(WebSocket(mask=1, key=7) / Connect4(message.encode())))
    assert type(below.payload) is MESSAGES[message.kind]
    assert agrees(bytes(below.payload))


@given(messages)
def test_what_is_built_from_fields_is_what_a_node_encodes(message: AnyMessage) -> None:
    fields: dict[str, Any] = {name: value for name, value in message.fields().items() if name != "type"}
    packet = MESSAGES[message.kind](**fields)
    assert decode(bytes(packet)) == message
    assert bytes(packet) == message.encode()


@settings(max_examples=400, deadline=None)
@given(st.one_of(near_lines, st.binary(min_size=1, max_size=140)).filter(bool))
@example(b"connected ")
@example(b"connected  \n")
@example(b"genmove " + EMPTY.encode() + b" R .5")
@example(b"genmove " + EMPTY.encode() + b" R PlayR 007.5 \n")
@example(b"playmove 3 \r\n")
@example(b"playmove 03")
@example(b"playmove \xff")
@example(b" ")
@example(b"\n")
@example(b"\r\n")
def test_any_text_is_taken_or_refused_as_a_node_does(data: bytes) -> None:
    agrees(data)
    Connect4(data).summary()
    Connect4(data).show(dump=True)
    for layer in MESSAGES.values():  # asked for by name, a layer takes anything too
        assert bytes(layer(data)) == data
        assert layer(data).check == Connect4(data).check


def test_mutated_lines_are_taken_or_refused_as_a_node_does() -> None:
    seeded = random.Random(7)
    lines = [
        b"connect p1\r\n", b"connected welcome p1\r\n", b"not-connected taken\r\n", b"newgame p1 p2\r\n",
        b"genmove " + BOARD.encode() + b" Y PlayY 41.3\r\n", b"playmove 3\r\n",
        b"endgame " + BOARD.encode() + b" R WinR Timeout\r\n",
    ]  # fmt: skip
    taken = 0
    for _ in range(how_many(4_000, 100_000)):
        line = bytearray(seeded.choice(lines))
        for _ in range(seeded.choice((0, 1, 1, 2))):
            at = seeded.randrange(len(line))
            match seeded.randrange(3):
                case 0:
                    line[at] ^= 1 << seeded.randrange(8)
                case 1:
                    del line[at : at + seeded.randrange(1, 4)]
                case _:
                    line[at:at] = seeded.choice((b" ", b"0", b"R", b".", b"\r\n", b"p"))
            if not line:
                line = bytearray(b"\n")
        taken += agrees(bytes(line))
    assert taken > 500


@pytest.mark.parametrize("layer", MESSAGES.values())
def test_fields_are_named_as_in_the_one_vocabulary(layer: type[Connect4]) -> None:
    names = [field.name for field in layer.fields_desc]
    assert names[-1] == "end"  # how the line ends is the wire's, not the message's
    assert set(names[:-1]) <= set(FIELDS)


def test_a_layer_left_alone_is_a_message_a_node_takes() -> None:
    for kind, layer in MESSAGES.items():
        assert decode(bytes(layer())).kind == kind
        assert layer().check is None


def test_a_wrong_word_stands_as_it_came_and_a_wrong_count_is_malformed() -> None:
    wrong = Connect4(b"playmove 9\r\n")
    assert (type(wrong), wrong.move, wrong.check) == (PlayMove, 9, "connect4/move")
    assert Connect4(b"playmove x").move == "x"
    many = Connect4(b"playmove 3 4\r\n")
    assert isinstance(many, Malformed)
    assert (many.check, many.load) == ("connect4/playmove", b"playmove 3 4\r\n")
    assert Connect4(b"hello").check == "connect4/message"


def test_a_field_that_is_set_changes_the_line_and_nothing_else() -> None:
    packet = Connect4(b"genmove " + EMPTY.encode() + b" R .5\n")
    assert (packet.time, packet.status) == (0.5, None)
    packet.time = 12.34
    assert bytes(packet) == b"genmove " + EMPTY.encode() + b" R 12.3\n"
    assert packet.copy().time == 12.34
    assert bytes(Connect4(b"genmove " + EMPTY.encode() + b" R .5\n").copy()).endswith(b" .5\n")
    packet.setfieldval("time", "soon")
    packet.status, packet.end = "PlayR", b""
    assert bytes(packet) == b"genmove " + EMPTY.encode() + b" R PlayR soon"


def test_show_draws_the_board_with_its_bottom_row_below() -> None:
    shown = str(GenMove(board=BOARD).show(dump=True))
    rows = [line.strip() for line in shown.splitlines() if line.strip().count(" ") == 6 and "=" not in line]
    assert rows == [". . . . . . ."] * 4 + ["Y . . . . . .", "R Y R . . . ."]
    assert BOARD in repr(GenMove(board=BOARD))


def test_a_summary_is_what_a_person_would_say() -> None:
    assert PlayMove(move=3).summary() == "the client plays column 3"
    assert Connect(user="p1").summary() == "p1 asks to play"
    assert Connected(info="hello").summary() == "the client is let in: hello"
    assert NotConnected(info="taken").summary() == "the client is turned away: taken"
    assert NewGame(red="a", yellow="b").summary() == "a (R) meets b (Y)"
    assert GenMove(time=41.3).summary() == "the client is to move, 41.3 s left"
    ended = EndGame(status="WinR", battlestatus="Timeout")
    assert ended.summary() == "the game of the client is over: WinR, Timeout"
    assert PlayMove(move=7).summary() == "the client plays column 7 (refused: connect4/move)"
    assert Connect4(b"connect {who}").summary() == "{who} asks to play (refused: connect4/user)"


def test_an_answer_knows_its_question() -> None:
    assert PlayMove().answers(GenMove())
    assert GenMove().answers(PlayMove())
    assert EndGame().answers(PlayMove())
    assert Connected().answers(Connect())
    assert NotConnected().answers(Connect())
    assert not PlayMove().answers(Connect())
    masked, plain = WebSocket(mask=1) / PlayMove(), WebSocket() / GenMove()
    assert masked.answers(plain)
    assert masked.hashret() == plain.hashret()


def test_any_message_is_found_by_the_games_name() -> None:
    assert (WebSocket() / PlayMove(move=2))[Connect4].move == 2


def test_fuzzed_messages_can_be_built_and_read() -> None:
    for layer in MESSAGES.values():
        for _ in range(30):
            data = bytes(fuzz(layer()))
            if data:
                agrees(data)
