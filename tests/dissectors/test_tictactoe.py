"""Tic-tac-toe in Scapy: states and moves, told apart, cut out of streams."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scapy.layers.inet import IP, TCP
from scapy.packet import Packet, Padding, Raw, fuzz
from scapy.plist import PacketList
from scapy.sendrecv import sniff
from scapy.sessions import TCPSession

import dissectors
from dissectors import tictactoe
from dissectors.malformed import Malformed, check
from dissectors.tictactoe import ShortTicTacToe, TicTacToe, TicTacToeMove, TicTacToeState
from nodes.game import load
from nodes.tictactoe.fields import FIELDS
from nodes.tictactoe.messages import MESSAGE_BYTES, Move, State
from tests.dissectors.agreement import disagreement, mutated
from tests.tools import how_many

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nodes.core import Message

states = st.builds(
    State,
    st.sampled_from("10d"),
    st.sampled_from("XOE "),
    st.integers(0, 9),
    st.text("XO ", min_size=9, max_size=9),
)
moves = st.builds(Move, st.sampled_from("123456789dD"))


def said(data: bytes, from_client: bool) -> Any:
    """The layer over TCP, as a capture has it."""
    sport, dport = (50_000, tictactoe.PORT) if from_client else (tictactoe.PORT, 50_000)
    return TCP(bytes(TCP(sport=sport, dport=dport) / Raw(data))).payload


@pytest.mark.parametrize(
    ("data", "packet", "summary"),
    [
        (b"1 0         ", TicTacToeState(), "state ···/···/··· ply 0"),
        (
            b"0 2    O   X",
            TicTacToeState(status="rejected", count=2, board="    O   X"),
            "state ···/·O·/··X ply 2, rejected",
        ),
        (
            b"1X5XO XO X  ",
            TicTacToeState(winner="server", count=5, board="XO XO X"),
            "state XO·/XO·/X·· ply 5, winner: server",
        ),
        (b"   5        ", TicTacToeMove(choice=5), "move 5"),
        (b"   d        ", TicTacToeMove(choice="d"), "move resign"),
    ],
)
def test_a_message_is_built_and_dissected(data: bytes, packet: Packet, summary: str) -> None:
    assert bytes(packet) == data
    dissected: Any = TicTacToe(data)
    assert type(dissected) is type(packet)
    assert dissected.summary() == f"TicTacToe {summary}"
    assert dissected.check is None
    assert bytes(dissected) == data


def test_the_fields_are_those_of_the_vocabulary_and_the_blanks() -> None:
    layers: list[type[Packet]] = [TicTacToeState, TicTacToeMove]
    named = {field.name for layer in layers for field in layer.fields_desc}
    assert named == {*FIELDS, "before", "after"}
    assert bytes(TicTacToe(text="any 12 chars")) == b"any 12 chars"


def test_a_state_and_a_move_are_told_apart_by_content_where_nothing_else_tells() -> None:
    assert isinstance(TicTacToe(b"   5        "), TicTacToeMove)
    assert isinstance(TicTacToe(b" " * 12), TicTacToeMove)
    assert isinstance(TicTacToe(b"1 0         "), TicTacToeState)
    assert isinstance(TicTacToe(b"?" * 12), TicTacToeState)


def test_over_tcp_the_ports_tell_who_speaks() -> None:
    assert load("tictactoe").port == tictactoe.PORT
    assert isinstance(said(b"   5        ", from_client=True), TicTacToeMove)
    assert isinstance(said(b"1 0         ", from_client=False), TicTacToeState)
    blank = said(b"   5        ", from_client=False)
    assert isinstance(blank, TicTacToeState)
    assert blank.check == "tictactoe/state.0"
    nonsense = said(b"hello, world", from_client=True)
    assert isinstance(nonsense, TicTacToeMove)
    assert nonsense.check == "tictactoe/move.1"


def test_a_client_that_gives_the_last_state_back_shows_as_that_state() -> None:
    state = said(b"1X5XO XO X  ", from_client=True)
    assert isinstance(state, TicTacToeState)
    assert state.check == "tictactoe/move.1", "as the node's codec has it: it is no move"


def test_another_port_can_speak_it() -> None:
    data = bytes(TCP(sport=7, dport=61_666) / Raw(b"hello, world"))
    assert TicTacToe not in TCP(data)
    dissectors.listen("tictactoe", 61_666)
    assert TicTacToeMove in TCP(data)
    with pytest.raises(ValueError, match="no game is called 'chess'; games are: hearts, "):
        dissectors.listen("chess", 61_667)


@pytest.mark.parametrize(
    ("data", "refused"),
    [
        (b"1 0", "tictactoe/start.2"),
        (b"x 0         ", "tictactoe/state.0"),
        (b"1?0         ", "tictactoe/state.1"),
        ("1 ²         ".encode("latin-1"), "tictactoe/state.2"),
        (b"1 0  o      ", "tictactoe/state.3"),
        (b"   0        ", "tictactoe/move.3"),
    ],
)
def test_what_is_malformed_shows_and_names_its_check(data: bytes, refused: str) -> None:
    packet: Any = TicTacToe(data)
    assert packet.check == check(packet) == refused
    assert refused in packet.summary()
    assert bytes(packet) == data
    assert (Malformed in packet) == (len(data) < MESSAGE_BYTES)


def test_each_answers_the_other() -> None:
    assert TicTacToeState().answers(TicTacToeMove())
    assert TicTacToeMove().answers(TicTacToeState())
    assert not TicTacToeMove().answers(TicTacToeMove())
    assert not TicTacToeMove().answers(Raw(b"x"))


def test_values_are_what_the_codec_has_them_as() -> None:
    state: Any = TicTacToe(b"0X9XOXOXOXOX")
    assert (state.status, state.winner, state.count, state.board) == ("0", "X", 9, "XOXOXOXOX")
    assert "status    = '0' (rejected)" in state.show(dump=True)
    state = TicTacToe(b"0XA         ")
    assert state.count == "A", "what is no digit stays what it is"


def segments(pieces: Sequence[tuple[bool, bytes]], *, end: bool = False) -> PacketList:
    """Each piece a segment, in order, with the sequence numbers it would have."""
    seq = {True: 1000, False: 5000}
    packets: list[Packet] = []
    for from_client, data in pieces:
        sport, dport = (50_000, tictactoe.PORT) if from_client else (tictactoe.PORT, 50_000)
        tcp = TCP(sport=sport, dport=dport, flags="PA", seq=seq[from_client], ack=seq[not from_client])
        packets.append(IP(bytes(IP(src="127.0.0.1", dst="127.0.0.1") / tcp / Raw(data))))
        seq[from_client] += len(data)
    if end:
        fin = TCP(sport=50_000, dport=tictactoe.PORT, flags="FA", seq=seq[True])
        packets.append(IP(bytes(IP(src="127.0.0.1", dst="127.0.0.1") / fin)))
    return PacketList(packets)


def messages_of(packets: PacketList) -> list[Packet]:
    """What Scapy's own TCPSession makes of them."""
    found = sniff(offline=packets, session=TCPSession, quiet=True)
    layers = [layer for packet in found for layer in packet.iterpayloads()]
    return [layer for layer in layers if isinstance(layer, TicTacToe | Malformed)]


def test_a_session_gives_each_message_of_split_and_coalesced_segments() -> None:
    one, two, three = b"   5        ", b"   6        ", b"   7        "
    found = messages_of(segments([(True, one[:1]), (True, one[1:] + two + three[:5]), (True, three[5:])]))
    assert [message.choice for message in found] == ["5", "6", "7"]


def test_both_directions_are_cut_apart() -> None:
    state, move = b"1 0         ", b"   5        "
    found = messages_of(segments([(False, state), (True, move[:4]), (False, state[:7]), (True, move[4:])]))
    assert [type(message) for message in found] == [TicTacToeState, TicTacToeMove]
    assert [message.check for message in found] == [None, None]


def test_a_message_broken_off_by_the_end_shows() -> None:
    found = messages_of(segments([(True, b"   5        "), (True, b"   6")], end=True))
    assert [type(message) for message in found] == [TicTacToeMove, ShortTicTacToe]
    assert bytes(found[1]) == b"   6"


@settings(deadline=None, max_examples=50)
@given(st.lists(moves, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_however_a_stream_is_cut_its_messages_are_the_same(said: list[Move], rng: Random) -> None:
    data = b"".join(move.encode() for move in said)
    cuts = sorted(rng.sample(range(1, len(data)), rng.randint(0, min(8, len(data) - 1))))
    pieces = [data[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    found = messages_of(segments([(True, piece) for piece in pieces]))
    assert [message.choice for message in found] == [move.choice for move in said]


@settings(deadline=None)
@given(states | moves)
def test_what_the_codec_encodes_the_layer_reads_alike(message: Message) -> None:
    data = message.encode()
    assert disagreement(data, type(message).decode, TicTacToe(data)) is None  # type: ignore[attr-defined]


@settings(deadline=None)
@given(states | moves)
def test_what_the_layer_builds_the_codec_reads_alike(message: Message) -> None:
    layer: Any = TicTacToeState if isinstance(message, State) else TicTacToeMove
    built = layer(**message.fields())
    assert bytes(built) == message.encode()
    assert type(message).decode(bytes(built)) == message  # type: ignore[attr-defined]


@settings(deadline=None)
@given(st.binary(min_size=1, max_size=40))
def test_no_bytes_raise(data: bytes) -> None:
    for layer in (TicTacToe, TicTacToeState, TicTacToeMove):
        packet: Any = layer(data)
        assert bytes(packet) == data
        packet.summary()
        packet.show(dump=True)
        repr(packet)
        packet.copy().show2(dump=True)
    assert (Padding in TicTacToe(data)) == (len(data) > MESSAGE_BYTES)


def test_codec_and_layer_agree_on_many_messages() -> None:
    """By direction, as a capture has it. Mutants are cut to a message: what is longer is the next one."""
    rng = Random(7)
    judged: set[str | None] = set()
    for number in range(how_many(8_000, 100_000)):
        state = State(
            rng.choice("10d"), rng.choice("XOE "), rng.randrange(10), "".join(rng.choices("XO ", k=9))
        )
        data = state.encode() if rng.random() < 0.5 else Move(rng.choice("123456789dD")).encode()
        if number % 2:
            data = mutated(data, state.encode(), rng)[:MESSAGE_BYTES] or b"?"
        from_client = rng.random() < 0.5
        packet = said(data, from_client)
        assert disagreement(data, Move.decode if from_client else State.decode, packet) is None
        judged.add(packet.check)
    kinds = ("start.2", "state.0", "state.1", "state.2", "state.3", "move.1", "move.3")
    assert judged == {None, *(f"tictactoe/{kind}" for kind in kinds)}


def test_fuzzed_messages_build_and_dissect() -> None:
    for layer in (TicTacToe, TicTacToeState, TicTacToeMove):
        for _ in range(20):
            data = bytes(fuzz(layer()))
            assert len(data) == MESSAGE_BYTES
            assert bytes(TicTacToe(data)) == data
