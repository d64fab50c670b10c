"""Whatever lies between the link and the application, the payload is found, and no more than it."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from captures import frames
from captures.blocks import Interface, Section
from captures.layers import Packet, Unread, dissect
from captures.links import parse_end
from captures.pcapng import Writer
from tests.captures.shark import fields

if TYPE_CHECKING:
    from pathlib import Path

A4, B4 = parse_end("192.0.2.1:40000"), parse_end("192.0.2.2:47123")
A6, B6 = parse_end("[2001:db8::1]:40000"), parse_end("[2001:db8::2]:47123")
SAID = b"hello"

UDP4 = frames.udp(A4, B4, SAID, 1)
UDP6 = frames.udp(A6, B6, SAID, 1)
TCP4 = frames.tcp(A4, B4, 7, 9, 0x18, SAID, None, 1)
TCP6 = frames.tcp(A6, B6, 7, 9, 0x18, SAID, None, 1)
IP4, IP6 = UDP4[14:], UDP6[14:]

WANT4 = Packet("192.0.2.1", "192.0.2.2", "udp", 40000, 47123, SAID)
WANT6 = Packet("2001:db8::1", "2001:db8::2", "udp", 40000, 47123, SAID)


def tagged(frame: bytes, *tags: int) -> bytes:
    between = b"".join(struct.pack("!HH", tag, 42) for tag in tags)
    return frame[:12] + between + frame[12:]


def extended(*headers: tuple[int, bytes]) -> bytes:
    """IPv6 with these extension headers before UDP: (their number, what follows the next-header byte)."""
    body = IP6[40:]
    protocol = 17
    for number, rest in reversed(headers):
        body = bytes((protocol,)) + rest + body
        protocol = number
    return IP6[:4] + struct.pack("!HB", len(body), protocol) + IP6[7:40] + body


def with_options(options: bytes) -> bytes:
    total = len(IP4) + len(options)
    return (
        bytes((0x45 + len(options) // 4,))
        + IP4[1:2]
        + struct.pack("!H", total)
        + IP4[4:20]
        + options
        + IP4[20:]
    )


HOP_BY_HOP = (0, b"\0" + bytes(6))
ROUTING = (43, b"\1" + bytes(14))
DESTINATION = (60, b"\0" + bytes(6))
AUTHENTICATION = (51, b"\4" + bytes(22))
ATOMIC = (44, b"\0" + bytes(6))  # a fragment header on what is no fragment

LINKS = [
    (1, UDP4, WANT4),
    (1, UDP6, WANT6),
    (1, tagged(UDP4, 0x8100), WANT4),
    (1, tagged(UDP6, 0x88A8, 0x8100), WANT6),
    (1, tagged(UDP4, 0x9100, 0x8100, 0x8100), WANT4),
    (1, bytes(12) + struct.pack("!H", 8 + len(IP4)) + b"\xaa\xaa\x03\0\0\0\x08\0" + IP4, WANT4),
    (113, bytes(14) + b"\x08\0" + IP4, WANT4),
    (113, bytes(14) + b"\x86\xdd" + IP6, WANT6),
    (113, bytes(14) + b"\x81\0\0\x2a\x08\0" + IP4, WANT4),
    (276, b"\x08\0" + bytes(18) + IP4, WANT4),
    (276, b"\x86\xdd" + bytes(18) + IP6, WANT6),
    *((raw, IP4, WANT4) for raw in (12, 14, 101, 228)),
    *((raw, IP6, WANT6) for raw in (12, 14, 101, 229)),
    *((null, struct.pack(order, 2) + IP4, WANT4) for null in (0, 108) for order in ("<I", ">I")),
    *((0, struct.pack(order, af) + IP6, WANT6) for af in (10, 24, 28, 30) for order in ("<I", ">I")),
    (101, with_options(bytes((1, 1, 1, 0))), WANT4),
    (101, with_options(bytes(40)), WANT4),
    (101, extended(HOP_BY_HOP), WANT6),
    (101, extended(HOP_BY_HOP, ROUTING, DESTINATION), WANT6),
    (101, extended(AUTHENTICATION, ATOMIC), WANT6),
    (1, TCP4, WANT4._replace(proto="tcp", seq=7, ack=9, flags=0x18)),
    (1, TCP6, WANT6._replace(proto="tcp", seq=7, ack=9, flags=0x18)),
    (1, frames.tcp(A4, B4, 7, 0, 2, b"", 1460, 1), WANT4._replace(proto="tcp", payload=b"", seq=7, flags=2)),
]

IDS = [f"{case[0]}-{number}" for number, case in enumerate(LINKS)]


@pytest.mark.parametrize(("link_type", "data", "packet"), LINKS, ids=IDS)
def test_every_way_down_leads_to_the_payload(link_type: int, data: bytes, packet: Packet) -> None:
    assert dissect(link_type, data) == packet


@pytest.mark.parametrize(("link_type", "data", "packet"), LINKS, ids=IDS)
def test_trailing_padding_is_no_payload(link_type: int, data: bytes, packet: Packet) -> None:
    assert dissect(link_type, data + bytes(18)) == packet


@pytest.mark.parametrize(("link_type", "data", "packet"), LINKS, ids=IDS)
def test_a_frame_cut_by_the_snap_length_says_how_much_is_missing(
    link_type: int, data: bytes, packet: Packet
) -> None:
    for size in range(len(data)):
        found = dissect(link_type, data[:size])
        if isinstance(found, Packet):
            missing = len(data) - size
            assert found == packet._replace(payload=packet.payload[: len(SAID) - missing], missing=missing)
        else:
            assert found is Unread.CUT or (found is Unread.FOREIGN and link_type in (12, 14, 101, 228, 229))


def changed(data: bytes, at: int, new: bytes) -> bytes:
    return data[:at] + new + data[at + len(new) :]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (changed(IP4, 6, b"\x20\x00"), Unread.FRAGMENT),  # more to come
        (changed(IP4, 6, b"\x00\x07"), Unread.FRAGMENT),  # not the first
        (extended((44, b"\0\0\x08" + bytes(4))), Unread.FRAGMENT),
        (extended((44, b"\0\0\x01" + bytes(4))), Unread.FRAGMENT),
        (changed(IP4, 9, b"\x01"), Unread.FOREIGN),  # ICMP
        (extended((50, b"\0" + bytes(6))), Unread.FOREIGN),  # ESP hides the rest
        (b"\x55" + IP4[1:], Unread.FOREIGN),  # IP version 5
        (b"", Unread.FOREIGN),
        (extended(*[HOP_BY_HOP] * 20), Unread.FOREIGN),
        (changed(IP4, 0, b"\x44"), Unread.LENGTH),  # a header of 16 bytes
        (changed(IP4, 2, b"\x00\x13"), Unread.LENGTH),  # shorter than its header
        (changed(IP4, 2, b"\x00\x18"), Unread.LENGTH),  # shorter than UDP's
        (changed(IP4, 24, b"\x00\x07"), Unread.LENGTH),  # UDP shorter than its header
        (changed(IP4, 24, b"\x00\x0e"), Unread.LENGTH),  # UDP longer than IP
        (changed(TCP4[14:], 32, b"\x40"), Unread.LENGTH),
        (changed(TCP4[14:], 32, b"\xf0"), Unread.LENGTH),
        (changed(TCP4[14:], 2, b"\x00\x20"), Unread.LENGTH),
    ],
)
def test_what_gives_no_packet_says_why(data: bytes, why: Unread) -> None:
    assert dissect(101, data) is why


def test_lengths_left_to_the_network_card_mean_all_there_is() -> None:
    assert dissect(101, changed(changed(IP4, 2, b"\0\0"), 24, b"\0\0")) == WANT4
    assert dissect(101, changed(changed(IP6, 4, b"\0\0"), 44, b"\0\0")) == WANT6


def test_other_links_and_endless_tags_are_not_read() -> None:
    assert dissect(127, UDP4) is Unread.LINK
    assert dissect(1, tagged(UDP4, *[0x8100] * 9)) is Unread.FOREIGN
    assert dissect(1, UDP4[:12] + b"\x08\x06" + UDP4[14:]) is Unread.FOREIGN  # ARP
    assert dissect(0, struct.pack("<I", 7) + IP4) is Unread.FOREIGN


@settings(deadline=None, max_examples=300)
@given(st.sampled_from([0, 1, 12, 101, 108, 113, 276, 99]), st.binary(max_size=120))
def test_any_bytes_give_a_packet_or_a_reason(link_type: int, data: bytes) -> None:
    assert isinstance(dissect(link_type, data), Packet | Unread)


@settings(deadline=None, max_examples=300)
@given(st.sampled_from(LINKS), st.data())
def test_flipped_bits_give_a_packet_or_a_reason(link: tuple[int, bytes, Packet], data: st.DataObject) -> None:
    link_type, frame, _ = link
    spoilt = bytearray(frame)
    for _ in range(data.draw(st.integers(1, 8))):
        spoilt[data.draw(st.integers(0, len(frame) - 1))] = data.draw(st.integers(0, 255))
    found = dissect(link_type, bytes(spoilt))
    assert isinstance(found, Unread) or len(found.payload) <= len(frame)


def test_wireshark_finds_the_same_addresses_ports_and_payload(tmp_path: Path) -> None:
    # tshark has no name for the raw types 12 and 14 in a file, does not know Linux's own AF_INET6, and
    # takes a loopback's byte order as the text has it.
    chosen = [
        (kind, data, packet)
        for kind, data, packet in LINKS
        if kind not in (12, 14)
        and not (kind == 108 and data[0] == 2)
        and not (kind == 0 and 10 in (data[0], data[3]))
    ]
    path = tmp_path / "links.pcapng"
    with path.open("wb") as stream, Writer(stream, Section()) as writer:
        numbers = {
            kind: writer.interface(Interface(f"link{kind}", link_type=kind))
            for kind in {c[0] for c in chosen}
        }
        for link_type, data, _ in chosen:
            writer.packet(numbers[link_type], 0, data)
    rows = fields(
        path,
        "ip.src",
        "ipv6.src",
        "ip.dst",
        "ipv6.dst",
        "udp.dstport",
        "tcp.dstport",
        "udp.payload",
        "tcp.payload",
    )
    for row, (link_type, _, packet) in zip(rows, chosen, strict=True):
        src4, src6, dst4, dst6, udp, tcp, udp_payload, tcp_payload = row
        assert (src4 or src6, dst4 or dst6, udp or tcp, udp_payload or tcp_payload) == (
            packet.src,
            packet.dst,
            str(packet.dport),
            packet.payload.hex(),
        ), link_type
