"""Briscola in Scapy: every word, and what its bits mean for each operation."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scapy.layers.inet import UDP
from scapy.packet import NoPayload, Packet, Padding, Raw, fuzz

from dissectors import briscola
from dissectors.briscola import (
    WORDS,
    Briscola,
    BriscolaAck,
    BriscolaEnd,
    BriscolaEnemy,
    BriscolaError,
    BriscolaGive,
    BriscolaInit,
    BriscolaSearch,
    BriscolaUse,
    ShortBriscola,
)
from dissectors.malformed import Malformed, check
from nodes.briscola import messages as codec
from nodes.briscola.fields import FIELDS
from nodes.briscola.messages import Op, Word, card_id, pack
from nodes.briscola.rules import DECK
from nodes.game import load
from tests.briscola.test_messages import all_words
from tests.dissectors.agreement import disagreement, frames
from tests.tools import how_many

WORDS_SHOWN: list[tuple[str, Packet, str]] = [
    ("0000", BriscolaAck(), "ACK count 0"),
    ("002a", BriscolaAck(count=42), "ACK count 42"),
    (
        "28c5",
        BriscolaInit(suit="spade", number="asso", first=1, player=5),
        "INIT briscola A♠, against player 5, you lead",
    ),
    ("3800", BriscolaInit(suit=3, number=0), "INIT briscola bastoni, against player 0, second"),
    ("4500", BriscolaGive(card="R♦"), "GIV_C R♦"),
    ("7b80", BriscolaEnemy(suit="bastoni", number="sette"), "ENM_C 7♣"),
    ("8005", BriscolaEnd(player=5), "END_G player 5"),
    ("807f", BriscolaEnd(), "END_G player nobody"),
    ("a005", BriscolaSearch(player=5), "SEARCH player 5"),
    ("c880", BriscolaUse(card="A♠"), "USE_C A♠"),
    ("e003", BriscolaError(code="ID_IN_USE"), "ERR code ID_IN_USE"),
]


@pytest.mark.parametrize(("hexadecimal", "packet", "summary"), WORDS_SHOWN)
def test_a_word_is_built_and_dissected(hexadecimal: str, packet: Packet, summary: str) -> None:
    assert bytes(packet).hex() == hexadecimal
    dissected = Briscola(bytes.fromhex(hexadecimal))
    assert type(dissected) is type(packet)
    assert dissected.summary() == f"Briscola {summary}"
    assert dissected.check is None
    bits = int(hexadecimal, 16)
    assert (dissected.op, dissected.card, dissected.info) == (bits >> 13, bits >> 7 & 0x3F, bits & 0x7F)


def test_every_operation_has_a_layer_with_the_fields_of_the_vocabulary() -> None:
    assert set(WORDS) == set(Op)
    layers: list[type[Packet]] = [Briscola, *WORDS.values()]
    assert {field.name for layer in layers for field in layer.fields_desc} == set(FIELDS)


def test_it_is_bound_to_the_games_port_in_both_directions() -> None:
    assert load("briscola").port == briscola.PORT
    for sport, dport in ((briscola.PORT, 9), (9, briscola.PORT)):
        packet = UDP(bytes(UDP(sport=sport, dport=dport) / Raw(b"\xa0\x05")))
        assert packet[BriscolaSearch].player == 5
        assert Briscola in packet
        assert BriscolaUse not in packet
    assert UDP(bytes(UDP() / BriscolaSearch(player=5))).dport == briscola.PORT


def test_every_card_is_known_by_its_symbol() -> None:
    for card in DECK:
        word: Any = BriscolaUse(card=str(card))
        assert (word.suit, word.number, word.card) == (card.suit, card.number, card_id(card))
        assert f"USE_C {card}" in word.summary()
    with pytest.raises(ValueError, match="'K♠' is no card; write A♠"):
        BriscolaUse(card="K♠")


def test_card_and_info_may_be_set_as_bits_whatever_they_mean() -> None:
    word: Any = BriscolaInit(card=0x3F, info=0x45)
    assert (word.suit, word.number, word.first, word.player) == (3, 15, 1, 5)
    word.info = 3
    word.card = "A♦"
    assert bytes(word) == pack(1, 1, 3)
    search: Any = BriscolaSearch(info=7)
    search.card = 9
    assert bytes(search) == pack(5, 9, 7)
    assert bytes(Briscola(op="USE_C", card="A♠", info=1)) == pack(6, 17, 1)


@pytest.mark.parametrize(
    ("data", "refused"),
    [
        (pack(2, 0, 0), "briscola/card.number"),
        (pack(6, 0x3F, 0), "briscola/card.number"),
        (pack(1, 0x0C, 0), "briscola/card.number"),
        (pack(0, 1, 5), "briscola/card.unused"),
        (pack(5, 0, 64), "briscola/search.id"),
        (pack(4, 0, 126), "briscola/end.player"),
        (b"\xa0", "briscola/size"),
        (b"\xa0\x05\x00", "briscola/size"),
    ],
)
def test_what_is_malformed_shows_and_names_its_check(data: bytes, refused: str) -> None:
    packet: Any = Briscola(data)
    below = UDP(bytes(UDP(dport=briscola.PORT) / Raw(data)))
    assert packet.check == check(packet) == check(below) == refused
    assert refused in packet.summary()
    assert bytes(packet) == data
    assert (Malformed in below) == (len(data) < 2)
    assert (Padding in below) == (len(data) > 2)


def test_a_card_that_is_none_shows_its_bits() -> None:
    shown = "Briscola USE_C no card (111111) (refused: briscola/card.number)"
    assert Briscola(pack(6, 0x3F, 0)).summary() == shown
    assert "card 111111 info 0" in Briscola(op=6, card=0x3F).summary()


def test_any_layer_dissects_to_the_one_of_the_operation() -> None:
    assert isinstance(BriscolaUse(b"\xa0\x05"), BriscolaSearch)
    assert isinstance(BriscolaUse(b"\xa0"), ShortBriscola)
    assert isinstance(UDP(bytes(UDP(dport=briscola.PORT))).payload, NoPayload)


def test_an_ack_answers_the_word_before_it_and_so_does_an_err() -> None:
    search = BriscolaSearch(player=5)
    assert BriscolaAck(count=1).answers(search)
    assert BriscolaError(code=3).answers(search)
    assert not BriscolaInit().answers(search)
    assert not BriscolaAck().answers(BriscolaAck())
    assert not BriscolaAck().answers(Raw(b"x"))


def test_fuzzed_words_build_and_dissect() -> None:
    layers: list[Any] = [Briscola, *WORDS.values()]
    for layer in layers:
        for _ in range(20):
            data = bytes(fuzz(layer()))
            assert bytes(Briscola(data)) == data


@settings(deadline=None)
@given(all_words)
def test_what_the_codec_encodes_the_layer_reads_alike(word: Word) -> None:
    assert disagreement(word.encode(), codec.decode, Briscola(word.encode())) is None


@settings(deadline=None)
@given(all_words)
def test_what_the_layer_builds_the_codec_reads_alike(word: Word) -> None:
    fields: dict[str, Any] = word.fields()
    assert bytes(Briscola(op=fields["op"], card=fields["card"], info=fields["info"])) == word.encode()
    layer: Any = WORDS[word.op]
    own = {field.name for field in layer.fields_desc}
    built = layer(**{name: value for name, value in fields.items() if name in own})
    assert codec.decode(bytes(built)) == word


@settings(deadline=None)
@given(st.binary(min_size=1, max_size=40))
def test_no_bytes_raise(data: bytes) -> None:
    packet: Any = Briscola(data)
    assert disagreement(data, codec.decode, packet) is None
    packet.summary()
    packet.show(dump=True)
    repr(packet)
    packet.copy().show2(dump=True)


def test_codec_and_layer_agree_on_every_word() -> None:
    """All of them in the full run; else every fifth, which still has every operation and card."""
    for value in range(0, 1 << 16, how_many(5, 1)):
        data = value.to_bytes(2, "big")
        assert disagreement(data, codec.decode, Briscola(data)) is None


def test_codec_and_layer_agree_on_many_datagrams() -> None:
    def valid(rng: Random) -> bytes:
        return rng.randbytes(2)

    for data in frames(valid, Random(7), how_many(2_000, 100_000)):
        assert disagreement(data, codec.decode, Briscola(data)) is None
