"""Links: how they are written, and which frame belongs to which."""

from __future__ import annotations

import pytest

from captures import Direction, End, Link, parse_link
from captures.links import LINKS_MAX, LinkTable, parse_end, parse_node, section

M0, M1 = End(b"\x7f\x00\x47\x01"), End(b"\x7f\x00\x47\x02")


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("m0→m1=127.0.71.1>127.0.71.2", Link("m0→m1", M0, M1)),
        ("p1↔server=127.0.71.1<>127.0.71.2", Link("p1↔server", M0, M1, both_ways=True)),
        ("a=b=127.0.71.1>127.0.71.2", Link("a=b", M0, M1)),
        ("x=127.0.71.1:7<>127.0.71.2", Link("x", End(M0.address, 7), M1, both_ways=True)),
        ("x=::1>[::1]:47123", Link("x", End(bytes(15) + b"\1"), End(bytes(15) + b"\1", 47123))),
    ],
)
def test_a_link_is_read_and_written_alike(text: str, link: Link) -> None:
    assert parse_link(text) == link
    assert str(link) == text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("127.0.71.1>127.0.71.2", "not NAME=A>B"),
        ("m0=127.0.71.1", "not NAME=A>B"),
        ("=127.0.71.1>127.0.71.2", "not NAME=A>B"),
        ("m0=nowhere>127.0.71.2", "'nowhere' is not an IP address"),
        ("m0=127.0.71.1>127.0.71.2:", "no port number"),
        ("m0=127.0.71.1>127.0.71.2:http", "no port number"),
        ("m0=127.0.71.1>127.0.71.2:0", "outside of 1–65535"),
        ("m0=127.0.71.1>127.0.71.2:65536", "outside of 1–65535"),
        ("m0=127.0.71.1>::1", "IPv4 and an IPv6"),
        ("m0=127.0.71.1>127.0.71\0.2", "not an IP address"),
        ("m0=[::1>::1", "not an IP address"),
    ],
)
def test_a_link_that_makes_no_sense_is_explained(text: str, says: str) -> None:
    with pytest.raises(ValueError, match="link") as caught:
        parse_link(text)
    assert says in str(caught.value)


def test_a_node_is_an_address_with_a_name() -> None:
    assert parse_node("m0=127.0.71.1") == ("127.0.71.1", "m0")
    assert parse_node("m0=0:0::1") == ("::1", "m0")
    for text in ("m0", "=127.0.71.1", "m0=elsewhere", "m\0=127.0.0.1"):
        with pytest.raises(ValueError, match="NAME=ADDRESS"):
            parse_node(text)


def test_a_one_way_link_takes_frames_of_its_direction_only() -> None:
    table = LinkTable([Link("m0→m1", M0, M1)])
    assert table.find(M0.address, M1.address, 5, 6) == (0, Direction.OUTBOUND)
    assert table.find(M1.address, M0.address, 6, 5) is None


def test_a_two_way_link_takes_both_and_tells_them_apart() -> None:
    table = LinkTable([Link("p1↔server", M0, M1, both_ways=True)])
    assert table.find(M0.address, M1.address, 5, 6) == (0, Direction.OUTBOUND)
    assert table.find(M1.address, M0.address, 6, 5) == (0, Direction.INBOUND)


def test_ports_tell_links_of_one_address_apart() -> None:
    here = "127.0.0.1"
    table = LinkTable(
        [parse_link(f"m0→m1={here}:1>{here}:2"), parse_link(f"m1→m0={here}:2>{here}:1")],
    )
    address = parse_end(here).address
    assert table.pairs == [(address, address)]
    assert table.find(address, address, 1, 2) == (0, Direction.OUTBOUND)
    assert table.find(address, address, 2, 1) == (1, Direction.OUTBOUND)
    assert table.find(address, address, 3, 1) is None
    # A fragment has no ports: it goes by its addresses.
    assert table.find(address, address, None, None) == (0, Direction.OUTBOUND)


def test_links_are_limited() -> None:
    with pytest.raises(ValueError, match="too many"):
        LinkTable([Link("m0→m1", M0, M1)] * (LINKS_MAX + 1))


def test_captures_name_the_program_and_its_version() -> None:
    name, version = section().application.split()
    assert name == "Wiretable"
    assert version[0].isdigit()
