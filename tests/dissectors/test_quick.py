"""A packet that is made quickly is the packet Scapy would have made."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from scapy.layers.inet import UDP
from scapy.packet import Packet, Raw

from dissectors import Hearts, PlayCard, Unread, check
from dissectors.hearts import PORT, Message
from tests.dissectors.test_hearts import valid

SET_BY_THE_CLOCK = {"time"}
# Packets are not equal by their attributes, so these are looked at by themselves.
LINKS = {"payload", "underlayer"}


def made_as_scapy_does(data: bytes) -> Packet:
    """By way of each attribute, then of each field."""
    packet = Hearts.__new__(Hearts)
    Packet.__init__(packet, data)
    return packet


def attributes(packet: Any) -> dict[str, Any]:
    names = packet.__all_slots__ - SET_BY_THE_CLOCK - LINKS
    return {name: getattr(packet, name, "absent") for name in names}


def test_every_attribute_is_what_scapy_sets() -> None:
    Hearts(b"12345")  # the first one of a class fills Scapy's tables
    rng = Random(7)
    for _ in range(300):
        data = valid(rng)
        quick, slow = Hearts(data), made_as_scapy_does(data)
        assert attributes(quick) == attributes(slow)
        message = type(quick.payload).__new__(type(quick.payload))
        Packet.__init__(message, data[5:], _internal=1, _underlayer=quick)
        assert attributes(quick.payload) == attributes(message)
        assert quick.payload.underlayer is quick
        assert quick.time > 0


def test_the_header_is_read_as_its_fields_say() -> None:
    data = valid(Random(7))
    packet: Any = Hearts()
    rest = Packet.do_dissect(packet, data)
    assert (packet.fields, rest) == (Hearts(data).fields, data[5:])


@pytest.mark.parametrize("data", [bytearray(b"\x06\x01\xff\x11\x01\x3c"), b"\x06\x01\xff\x11\x01\x3c"])
def test_bytes_of_either_sort_and_fields_besides_make_the_same(data: bytes) -> None:
    assert Hearts(data).card == 0x3C
    assert Hearts(data, seq=5).seq == 5


def test_scapys_own_ways_go_on_working() -> None:
    packet = Hearts(bytes(Hearts(seq=3) / PlayCard(card="Q♠")))
    assert bytes(packet.copy()) == bytes(packet)
    packet.seq = 4
    assert bytes(packet)[3] == 4
    assert isinstance(packet[PlayCard], Message)
    below = UDP(bytes(UDP() / packet), stop_dissection_after=UDP)
    assert type(below.payload) is Raw
    assert PlayCard in Hearts(bytes(packet), stop_dissection_after=UDP)


def test_a_packet_without_a_layer_of_ours_cannot_be_judged() -> None:
    with pytest.raises(ValueError, match="has no layer of ours"):
        check(UDP(sport=PORT + 1) / Raw(b"x"))
    with pytest.raises(ValueError, match="has no layer of ours"):
        check(Unread())
