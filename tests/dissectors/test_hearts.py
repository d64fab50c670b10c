"""Hearts in Scapy: built and dissected on real bytes, and never at odds with the node's codec."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scapy.layers.inet import IP, UDP
from scapy.packet import NoPayload, Packet, Padding, Raw, fuzz

from dissectors import hearts
from dissectors.hearts import (
    MESSAGES,
    Card,
    DealHand,
    GameOver,
    GameStart,
    HandSummary,
    Hearts,
    PassCards,
    PlayCard,
    ShortHearts,
    ShortPayload,
    StartPhase,
    TokenPass,
    TrickSummary,
)
from dissectors.malformed import Malformed, check
from nodes.game import load
from nodes.hearts import messages as codec
from nodes.hearts.fields import FIELDS
from nodes.hearts.rules import DECK, LABELS
from tests.dissectors.agreement import disagreement, frames, mutated
from tests.hearts.test_messages import frames as messages
from tests.tools import how_many

if TYPE_CHECKING:
    from nodes.hearts.messages import Frame


def valid(rng: Random) -> bytes:
    """Any frame a node takes."""

    def some(count: int) -> bytes:
        return bytes(rng.sample(list(DECK), count))

    def four() -> tuple[int, ...]:
        return tuple(rng.randbytes(4))

    byte = rng.randrange(256)
    frame: Frame = rng.choice(
        (
            codec.TokenPass(byte),
            codec.GameStart(),
            codec.DealHand(some(13)),
            codec.StartPhase(0, byte),
            codec.StartPhase(1),
            codec.PassCards(some(3)),
            codec.PlayCard(some(1)[0]),
            codec.TrickSummary(byte, tuple(zip(four(), some(4), strict=True)), byte),
            codec.HandSummary(four(), four(), byte),
            codec.GameOver(byte, four()),
        )
    )
    frame.origin, frame.seq = rng.randrange(4), rng.randrange(256)
    frame.dest = rng.choice((0, 1, 2, 3, codec.BROADCAST))
    return frame.encode()


# The bytes of each message, the layer that builds them, and its summary.
FRAMES: list[tuple[str, Packet, str]] = [
    ("0101ff070102", Hearts(origin=1, seq=7) / TokenPass(owner="m2"), "Hearts m1→all #7 / TOKEN_PASS to m2"),
    ("0200ff0000", Hearts() / GameStart(), "Hearts m0→all #0 / GAME_START"),
    (
        "030002020d0102030405060708090a0b0c3c",
        Hearts(dest=2, seq=2) / DealHand(cards="A♦ 2♦ 3♦ 4♦ 5♦ 6♦ 7♦ 8♦ 9♦ 10♦ J♦ Q♦ Q♠"),
        "Hearts m0→m2 #2 / DEAL_HAND A♦ 2♦ 3♦ 4♦ 5♦ 6♦ 7♦ 8♦ 9♦ 10♦ J♦ Q♦ Q♠",
    ),
    (
        "0400ff05020002",
        Hearts(seq=5) / StartPhase(phase="passing", direction="across"),
        "Hearts m0→all #5 / START_PHASE passing across",
    ),
    ("0400ff090101", Hearts(seq=9) / StartPhase(), "Hearts m0→all #9 / START_PHASE tricks"),
    (
        "0501020003123c2d",
        Hearts(origin=1, dest="m2") / PassCards(cards=["2♣", 0x3C, "KH"]),
        "Hearts m1→m2 #0 / PASS_CARDS 2♣ Q♠ K♥",
    ),
    ("0601ff11013c", Hearts(origin=1, seq=17) / PlayCard(card="Q♠"), "Hearts m1→all #17 / PLAY_CARD Q♠"),
    (
        "0700ff0b0a01011202130314003c0d",
        Hearts(seq=11) / TrickSummary(winner=1, players=[1, 2, 3, 0], cards="2♣ 3♣ 4♣ Q♠", points=13),
        "Hearts m0→all #11 / TRICK_SUMMARY 2♣ 3♣ 4♣ Q♠ to m1, 13 points",
    ),
    (
        "0800ff0c09001a1a1a001a1a1a00",
        Hearts(seq=12) / HandSummary(points=[0, 26, 26, 26], totals=[0, 26, 26, 26], moon="m0"),
        "Hearts m0→all #12 / HAND_SUMMARY points 0 26 26 26 totals 0 26 26 26 moon m0",
    ),
    (
        "0900ff0d050302650407",
        Hearts(seq=13) / GameOver(winner=3, totals=[2, 101, 4, 7]),
        "Hearts m0→all #13 / GAME_OVER winner m3 totals 2 101 4 7",
    ),
]


@pytest.mark.parametrize(("hexadecimal", "packet", "summary"), FRAMES)
def test_a_frame_is_built_and_dissected(hexadecimal: str, packet: Packet, summary: str) -> None:
    data = bytes.fromhex(hexadecimal)
    assert bytes(packet) == data
    dissected = Hearts(data)
    assert [type(layer) for layer in dissected.iterpayloads()] == [Hearts, type(packet.payload)]
    assert dissected.summary() == summary
    assert dissected.check is None
    assert check(packet) is None, "a packet that is yet to be sent can be asked too"
    assert bytes(dissected) == data
    assert dissected.len == len(data) - 5


def test_every_type_has_a_layer_with_the_fields_of_the_vocabulary() -> None:
    assert set(MESSAGES) == set(codec.NAMES)
    layers: list[type[Packet]] = [Hearts, *MESSAGES.values()]
    named = {field.name for layer in layers for field in layer.fields_desc}
    assert named == set(FIELDS)


@pytest.mark.parametrize("layer", MESSAGES.values())
def test_every_message_is_well_formed_by_default(layer: type[Packet]) -> None:
    frame = Hearts() / layer()
    assert frame.check is None
    assert codec.decode(bytes(frame)).encode() == bytes(frame)
    assert type(Hearts(bytes(frame)).payload) is layer


def test_it_is_bound_to_the_games_port_in_both_directions() -> None:
    assert load("hearts").port == hearts.PORT
    data = bytes(UDP() / Hearts() / PlayCard())
    assert (UDP(data).sport, UDP(data).dport) == (hearts.PORT, hearts.PORT)
    for sport, dport in ((hearts.PORT, 9), (9, hearts.PORT)):
        assert PlayCard in UDP(bytes(UDP(sport=sport, dport=dport) / Raw(bytes(Hearts() / PlayCard()))))


@pytest.mark.parametrize("written", ["Q♠", "QS", "qs", "q♠", 0x3C, b"\x3c"])
def test_a_card_may_be_written_as_people_do(written: Any) -> None:
    assert PlayCard(card=written).card == 0x3C
    assert PassCards(cards=[written]).cards == [0x3C]
    assert PlayCard(card=written).sprintf("%PlayCard.card%") == "Q♠"


def test_every_card_is_known_by_its_label_and_shown_by_it() -> None:
    for card in DECK:
        assert bytes(PlayCard(card=LABELS[card])) == bytes((card,))
        assert LABELS[card] in PlayCard(bytes((card,))).summary()


@pytest.mark.parametrize("written", ["Q", "", "1♠", "Q♠♠", b"", b"12"])
def test_what_is_no_card_is_refused_with_an_example(written: Any) -> None:
    with pytest.raises(ValueError, match="is no card; write A♠"):
        PlayCard(card=written)


def test_a_byte_that_is_no_card_can_be_built_and_shows() -> None:
    packet = Hearts(bytes(Hearts() / PlayCard(card=0x7F)))
    assert packet.card == 0x7F
    assert packet.summary() == "Hearts m0→all #0 (refused: hearts/5.card) / PLAY_CARD 0x7f (no card)"


def test_a_card_has_two_zero_bits_a_suit_and_a_value() -> None:
    card = Card(b"\x3c")
    assert (card.zeros, card.suit, card.value, card.summary()) == (0, 3, 12, "Q♠")
    assert bytes(Card(suit="clubs", value=2)) == b"\x12"
    assert [bytes(Card(suit=card >> 4, value=card & 15))[0] for card in DECK] == list(DECK)


def test_several_cards_make_a_set_of_packets_as_in_all_of_scapy() -> None:
    packets = list(Hearts() / PlayCard(card=["2♣", "Q♠"]))
    assert [bytes(packet)[-1] for packet in packets] == [0x12, 0x3C]


def test_a_name_that_no_value_has_is_refused() -> None:
    with pytest.raises(ValueError, match="players has no value 'm9'"):
        TrickSummary(players=["m0", "m1", "m2", "m9"])
    assert TrickSummary(players=["m0", "m1", "m2", "m3"]).players == [0, 1, 2, 3]


def test_the_direction_is_the_texts_and_not_scapys() -> None:
    phase = Hearts(bytes.fromhex("0400ff05020002"))[StartPhase]
    assert phase.direction == 2
    assert phase.copy().direction == 2
    phase.direction = "left"
    assert bytes(phase) == b"\0\0"
    assert StartPhase().direction is None


def test_a_list_that_is_changed_is_built_anew() -> None:
    packet = Hearts(bytes.fromhex("0501020003123c2d"))
    packet.cards[0] = 0x13
    assert bytes(packet).hex() == "0501020003133c2d"
    trick = Hearts(bytes.fromhex("0700ff0b0a01011202130314003c0d"))
    trick[TrickSummary].cards[3] = 0x1D
    assert bytes(trick).hex() == "0700ff0b0a01011202130314001d0d"


# What no node takes, and what is to be seen of it.
MALFORMED: list[tuple[str, str, list[type[Packet]]]] = [
    ("06", "hearts/3.header", [ShortHearts]),
    ("0601ff11", "hearts/3.header", [ShortHearts]),
    ("0601ff11023c", "hearts/3.len", [Hearts, PlayCard]),
    ("0601ff11013cff", "hearts/3.len", [Hearts, PlayCard, Padding]),
    ("0601ff11003c", "hearts/3.len", [Hearts, Malformed, Padding]),
    ("0001ff1100", "hearts/4.type", [Hearts, Malformed]),
    ("0a01ff11013c", "hearts/4.type", [Hearts, Malformed]),
    ("0604ff11013c", "hearts/3.origin", [Hearts, PlayCard]),
    ("06010411013c", "hearts/3.dest", [Hearts, PlayCard]),
    ("0601ff1100", "hearts/4.payload", [Hearts, Malformed]),
    ("0601ff11023c12", "hearts/4.payload", [Hearts, Malformed]),
    ("0201ff110100", "hearts/4.payload", [Hearts, Malformed]),
    ("0400ff050100", "hearts/4.payload", [Hearts, StartPhase]),
    ("0400ff05020100", "hearts/4.payload", [Hearts, StartPhase]),
    ("0601ff11017c", "hearts/5.card", [Hearts, PlayCard]),
    ("0601ff11013e", "hearts/5.card", [Hearts, PlayCard]),
    ("0501020003123c10", "hearts/5.card", [Hearts, PassCards]),
    ("0501020003123c12", "hearts/5.twice", [Hearts, PassCards]),
    ("0700ff0b0a01011202120314003c0d", "hearts/5.twice", [Hearts, TrickSummary]),
]


@pytest.mark.parametrize(("hexadecimal", "refused", "layers"), MALFORMED)
def test_what_is_malformed_shows_and_names_its_check(
    hexadecimal: str, refused: str, layers: list[type[Packet]]
) -> None:
    data = bytes.fromhex(hexadecimal)
    packet = Hearts(data)
    assert [type(layer) for layer in packet.iterpayloads()] == layers
    assert packet.check == check(packet) == refused
    assert refused in packet.summary()
    assert bytes(packet) == data
    for layer in packet.iterpayloads():
        if isinstance(layer, Malformed):
            assert layer.check == refused
            assert f"check     = {refused}" in str(packet.show(dump=True))
    below = UDP(bytes(UDP(sport=hearts.PORT, dport=hearts.PORT) / Raw(data)))
    assert [type(layer) for layer in below.iterpayloads()] == [UDP, *layers]
    assert check(below) == refused


def test_a_packet_of_no_bytes_is_one_to_be_built() -> None:
    assert type(Hearts(b"")) is Hearts
    assert isinstance(UDP(bytes(UDP(dport=hearts.PORT))).payload, NoPayload)


@pytest.mark.parametrize("layer", MESSAGES.values())
def test_a_message_without_its_header_shows_what_it_lacks_or_has_too_much(layer: Any) -> None:
    whole = bytes(layer())
    for data in (whole[:cut] for cut in range(1, min(layer.SIZES))):
        assert isinstance(layer(data), ShortPayload)
        assert bytes(layer(data)) == data
    assert bytes(layer(whole + b"more")) == whole + b"more"
    assert layer(whole + b"more")[Padding].load.endswith(b"ore")


def test_a_frame_of_other_parts_is_judged_by_its_bytes() -> None:
    assert (Hearts(type="PLAY_CARD") / Raw(b"\x3c")).check is None
    assert (Hearts(type="PLAY_CARD") / TokenPass(owner=0x7C)).check == "hearts/5.card"
    assert Hearts().check == "hearts/4.type"
    assert (Hearts() / PassCards(cards="Q♠")).check == "hearts/4.payload"
    assert (Hearts(len=9) / PlayCard()).check == "hearts/3.len"


def test_fewer_players_than_cards_still_build() -> None:
    frame = Hearts() / TrickSummary(players=[1], cards="2♣ Q♠")
    assert bytes(frame)[5:].hex() == "000112003c00"
    assert frame.check == "hearts/4.payload"


def test_a_frame_that_comes_back_answers_itself() -> None:
    sent = Hearts(origin=0, seq=3) / PlayCard(card="Q♠")
    back = Hearts(bytes(sent))
    assert back.answers(sent)
    assert back.hashret() == sent.hashret()
    for other in (Hearts(origin=1, seq=3) / PlayCard(), Hearts(seq=4) / PlayCard()):
        assert not back.answers(other)
        assert back.hashret() != other.hashret()
    assert not back.answers(Hearts(seq=3) / TokenPass())
    assert not back.answers(Raw(b"x"))


def test_through_ip_the_answer_is_found_by_its_ports() -> None:
    sent: Any = IP(src="127.0.0.1", dst="127.0.0.2") / UDP(sport=5, dport=47123) / Hearts(seq=3) / PlayCard()
    back: Any = IP(src="127.0.0.2", dst="127.0.0.1") / UDP(sport=47123, dport=5) / Hearts(seq=3) / PlayCard()
    assert back.answers(sent)
    assert back.hashret() == sent.hashret()


def test_fuzzed_packets_build_and_dissect() -> None:
    for layer in MESSAGES.values():
        for _ in range(20):
            data = bytes(fuzz(Hearts() / layer()))
            assert bytes(Hearts(data)) == data


def test_the_command_of_a_packet_makes_it_again() -> None:
    for hexadecimal, _, _ in FRAMES:
        packet = Hearts(bytes.fromhex(hexadecimal))
        assert bytes(eval(packet.command(), vars(hearts))) == bytes(packet)


@settings(deadline=None)
@given(messages())
def test_what_the_codec_encodes_the_layer_reads_alike(frame: Frame) -> None:
    assert disagreement(frame.encode(), codec.decode, Hearts(frame.encode())) is None


@settings(deadline=None)
@given(messages())
def test_what_the_layer_builds_the_codec_reads_alike(frame: Frame) -> None:
    content: dict[str, Any] = frame.content()
    built = Hearts(origin=frame.origin, dest=frame.dest, seq=frame.seq) / MESSAGES[frame.TYPE](**content)
    assert bytes(built) == frame.encode()
    assert codec.decode(bytes(built)) == frame


@settings(deadline=None)
@given(messages(), messages(), st.randoms(use_true_random=False))
def test_a_frame_gone_wrong_is_judged_alike(frame: Frame, other: Frame, rng: Random) -> None:
    data = mutated(frame.encode(), other.encode(), rng)
    if data:
        assert disagreement(data, codec.decode, Hearts(data)) is None


@settings(deadline=None)
@given(st.binary(min_size=1, max_size=300))
def test_no_bytes_raise(data: bytes) -> None:
    packet = Hearts(data)
    assert disagreement(data, codec.decode, packet) is None
    packet.summary()
    packet.show(dump=True)
    repr(packet)
    packet.copy().show2(dump=True)
    for layer in MESSAGES.values():
        assert bytes(layer(data)) == data
        layer(data).summary()


def test_codec_and_layer_agree_on_many_frames() -> None:
    judged: dict[str | None, int] = {}
    for data in frames(valid, Random(7), how_many(15_000, 100_000)):
        packet = Hearts(data)
        assert disagreement(data, codec.decode, packet) is None
        judged[packet.check] = judged.get(packet.check, 0) + 1
    kinds = ("3.header", "3.len", "3.origin", "3.dest", "4.type", "4.payload", "5.card", "5.twice")
    assert judged.keys() == {None, *(f"hearts/{kind}" for kind in kinds)}
