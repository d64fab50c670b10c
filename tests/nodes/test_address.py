"""HOST:PORT as people write it."""

from __future__ import annotations

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.address import Address, AddressError, family, parse, resolve


@pytest.mark.parametrize(
    ("text", "default", "address"),
    [
        ("127.0.0.1:47123", None, Address("127.0.0.1", 47123)),
        ("m1:47123", None, Address("m1", 47123)),
        ("[::1]:47123", None, Address("::1", 47123)),
        ("m1", 3000, Address("m1", 3000)),
        ("m1:80", 3000, Address("m1", 80)),
        ("::1", 3000, Address("::1", 3000)),
        ("[::1]", 3000, Address("::1", 3000)),
        ("[fe80::1]:0", None, Address("fe80::1", 0)),
        ("0.0.0.0:65535", None, Address("0.0.0.0", 65535)),
    ],
)
def test_an_address_is_read_as_it_is_meant(text: str, default: int | None, address: Address) -> None:
    assert parse(text, default) == address


@pytest.mark.parametrize(
    "text", ["", ":", "m1", "m1:", "m1:x", "m1:-1", "m1:65536", "m1:٣", ":47123", "::1", "m1:4 7", "m1:1e3"]
)
def test_what_is_no_address_is_explained(text: str) -> None:
    with pytest.raises(AddressError, match=r"is not HOST:PORT \(for example 127\.0\.0\.1:47123\)"):
        parse(text)


@pytest.mark.parametrize("text", ["", ":", "[]", ":3000"])
def test_a_default_port_needs_a_host_all_the_same(text: str) -> None:
    with pytest.raises(AddressError):
        parse(text, 3000)


@given(st.ip_addresses(), st.integers(0, 65535))
def test_what_is_written_is_read_back(host: object, port: int) -> None:
    address = Address(str(host), port)
    assert parse(str(address)) == address
    assert (family(address) is socket.AF_INET6) == (":" in str(host))


@given(st.text(max_size=30), st.one_of(st.none(), st.integers(0, 65535)))
def test_any_text_is_an_address_or_an_address_error(text: str, default: int | None) -> None:
    try:
        address = parse(text, default)
    except AddressError:
        return
    assert address.host
    assert 0 <= address.port <= 65535


def test_a_name_becomes_a_number_and_a_number_stays() -> None:
    assert resolve(Address("localhost", 9)).host in {"127.0.0.1", "::1"}
    assert resolve(Address("127.0.70.3", 9)) == Address("127.0.70.3", 9)


@pytest.mark.parametrize("host", ["no-such-host.invalid", "a" * 70, "."])
def test_a_host_that_nobody_knows_is_told_once_patience_ends(host: str) -> None:
    with pytest.raises(AddressError, match="nobody knows the host"):
        resolve(Address(host, 9), patience_s=0.0)
