"""Sections 3 to 5: the bytes."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.core import RemoteProtocolError
from nodes.hearts.checks import CHECKS
from nodes.hearts.messages import (
    BROADCAST,
    NO_MOON,
    TYPES,
    DealHand,
    Frame,
    GameOver,
    GameStart,
    HandSummary,
    PassCards,
    PlayCard,
    StartPhase,
    TokenPass,
    TrickSummary,
    decode,
)
from nodes.hearts.rules import DECK
from tests.hearts.helpers import card, cards

TRICK = ((1, 0x12), (2, 0x1D), (3, 0x13), (0, 0x14))

byte = st.integers(0, 255)
four = st.tuples(byte, byte, byte, byte)
deck = st.sampled_from(list(DECK))


def some(count: int) -> st.SearchStrategy[bytes]:
    return st.lists(deck, min_size=count, max_size=count, unique=True).map(bytes)


plays = st.builds(lambda who, what: tuple(zip(who, what, strict=True)), four, some(4))
contents: st.SearchStrategy[Frame] = st.one_of(
    st.builds(TokenPass, byte),
    st.builds(GameStart),
    st.builds(DealHand, some(13)),
    st.builds(StartPhase, st.just(0), byte),
    st.builds(StartPhase, st.just(1)),
    st.builds(StartPhase, st.integers(2, 255), st.none() | byte),
    st.builds(PassCards, some(3)),
    st.builds(PlayCard, deck),
    st.builds(TrickSummary, byte, plays, byte),
    st.builds(HandSummary, four, four, byte),
    st.builds(GameOver, byte, four),
)


@st.composite
def frames(draw: st.DrawFn) -> Frame:
    frame = draw(contents)
    frame.dest = draw(st.sampled_from([0, 1, 2, 3, BROADCAST]))
    frame.origin = draw(st.integers(0, 3))
    frame.seq = draw(byte)
    return frame


@settings(deadline=None)
@given(frames())
def test_what_is_encoded_decodes_to_itself(frame: Frame) -> None:
    data = frame.encode()
    assert decode(data) == frame
    assert decode(data).encode() == data


@settings(deadline=None)
@given(frames(), st.binary(min_size=1, max_size=40))
def test_trailing_bytes_and_any_truncation_are_refused(frame: Frame, more: bytes) -> None:
    data = frame.encode()
    for wrong in (data + more, *(data[:cut] for cut in range(len(data)))):
        with pytest.raises(RemoteProtocolError) as caught:
            decode(wrong)
        assert caught.value.check in {"hearts/3.header", "hearts/3.len"}


@settings(deadline=None, max_examples=200)
@given(
    st.binary(max_size=40)
    | st.builds(
        lambda head, rest: bytes((*head, len(rest))) + rest,
        st.tuples(st.integers(0, 10), st.integers(0, 4), st.sampled_from([0, 3, 4, 255]), byte),
        st.binary(max_size=14),
    )
)
def test_any_bytes_are_a_message_or_a_documented_error(data: bytes) -> None:
    message_or_error(data)


@settings(deadline=None)
@given(frames(), st.data())
def test_one_altered_byte_is_a_message_or_a_documented_error(frame: Frame, data: st.DataObject) -> None:
    altered = bytearray(frame.encode())
    altered[data.draw(st.integers(0, len(altered) - 1))] = data.draw(byte)
    message_or_error(bytes(altered))


def message_or_error(data: bytes) -> None:
    check = None
    try:
        assert decode(data).encode() == data
    except RemoteProtocolError as error:
        check = error.check
    assert check is None or check in CHECKS


@pytest.mark.parametrize(
    ("frame", "octets"),
    [
        (TokenPass(2, origin=1, seq=7), "0101ff070102"),
        (GameStart(), "0200ff0000"),
        (DealHand(bytes(range(0x31, 0x3E)), dest=3, seq=1), "030003010d3132333435363738393a3b3c3d"),
        (StartPhase(0, 3), "0400ff00020003"),
        (StartPhase(1), "0400ff000101"),
        (PassCards(bytes(cards("QS KS 10H")), dest=1), "05000100033c3d2a"),
        (PlayCard(card("QS"), origin=3, seq=255), "0603ffff013c"),
        (TrickSummary(2, TRICK, 0), "0700ff000a020112021d0313001400"),
        (HandSummary((0, 26, 26, 26), (1, 30, 40, 50), 0), "0800ff0009001a1a1a011e283200"),
        (HandSummary((5, 8, 13, 0), (5, 8, 13, 0), NO_MOON), "0800ff000905080d0005080d00ff"),
        (GameOver(1, (100, 3, 50, 60)), "0900ff0005016403323c"),
    ],
    ids=lambda value: value.NAME if isinstance(value, Frame) else "",
)  # fmt: skip
def test_every_type_has_the_bytes_of_section_4(frame: Frame, octets: str) -> None:
    assert frame.encode().hex() == octets
    assert decode(bytes.fromhex(octets)) == frame
    kind, origin, dest, seq, size = frame.encode()[:5]
    header = {"type": kind, "origin": origin, "dest": dest, "seq": seq, "len": size}
    assert frame.fields() == header | frame.content()


def test_the_queen_of_spades_is_3c() -> None:
    assert card("QS") == 0x3C


@pytest.mark.parametrize(
    ("octets", "check"),
    [
        ("", "hearts/3.header"),
        ("0200ff00", "hearts/3.header"),
        ("0200ff0001", "hearts/3.len"),
        ("0200ff000000", "hearts/3.len"),
        ("0000ff0000", "hearts/4.type"),
        ("0a00ff0000", "hearts/4.type"),
        ("0204ff0000", "hearts/3.origin"),
        ("0200040000", "hearts/3.dest"),
        ("0200fe0000", "hearts/3.dest"),
        ("0200ff000100", "hearts/4.payload"),
        ("0100ff0000", "hearts/4.payload"),
        ("0400ff000100", "hearts/4.payload"),  # passing needs its direction
        ("0400ff00020100", "hearts/4.payload"),  # tricks have none
        ("0400ff0003000000", "hearts/4.payload"),
        ("0600ff00017c", "hearts/5.card"),  # bit 6
        ("0600ff0001bc", "hearts/5.card"),  # bit 7
        ("0600ff000100", "hearts/5.card"),
        ("0600ff00012e", "hearts/5.card"),
        ("0600ff00012f", "hearts/5.card"),
        ("05000100033c3d00", "hearts/5.card"),
        ("05000100033c3d3c", "hearts/5.twice"),
        ("0700ff000a02011202120313001400", "hearts/5.twice"),
        ("0700ff000a02011202000313001400", "hearts/5.card"),
    ],
)
def test_a_malformed_frame_names_its_clause(octets: str, check: str) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        decode(bytes.fromhex(octets))
    assert caught.value.check == check
    assert check in CHECKS


def test_fields_carry_the_header_and_every_payload_field() -> None:
    trick = TrickSummary(2, TRICK, 0, seq=9)
    assert trick.fields() == {
        "type": 7, "origin": 0, "dest": 255, "seq": 9, "len": 10,
        "winner": 2, "players": [1, 2, 3, 0], "cards": [0x12, 0x1D, 0x13, 0x14], "points": 0,
    }  # fmt: skip
    assert StartPhase(1).fields().keys() == {"type", "origin", "dest", "seq", "len", "phase"}


@settings(deadline=None)
@given(frames())
def test_fields_are_named_as_the_class_names_them(frame: Frame) -> None:
    names = {field.name for field in dataclasses.fields(frame)} | {"type", "len", "players", "cards"}
    assert set(frame.fields()) <= names
    assert frame.fields()["len"] == len(frame.payload())


def test_types_are_numbered_from_one_to_nine() -> None:
    assert [cls.TYPE for cls in TYPES] == list(range(1, 10))
