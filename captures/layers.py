"""From a link's frame to what an application said: addresses, ports and payload, through the layers between.

    Ethernet (also 802.2 SNAP) ─┐
    Linux cooked v1, v2 ────────┼─ VLAN tags ─┬─ IPv4, options ────────────┬─ UDP
    null, loopback ─────────────┤             └─ IPv6, extension headers ──┴─ TCP
    raw IP ─────────────────────┘

Lengths in the headers decide where a payload ends, so trailing padding is none of it; where a frame was cut
to the snap length, `missing` says by how much. Any bytes give a Packet or the reason why there is none.
"""

from __future__ import annotations

import socket
import struct
from enum import Enum
from functools import lru_cache
from typing import Literal, NamedTuple

LINK_NULL, LINK_ETHERNET, LINK_LOOP = 0, 1, 108
LINK_SLL, LINK_SLL2 = 113, 276
# DLT_RAW is 12 on most systems, 14 on some; in files it is 101. 228 and 229 are IPv4 and IPv6 by name.
LINKS_RAW = frozenset((12, 14, 101, 228, 229))

ADDRESSES_CACHED_MAX = 4096
EXTENSIONS_MAX = 16
TAGS_MAX = 8

_ETH_IP4, _ETH_IP6 = 0x0800, 0x86DD
_VLANS = frozenset((0x8100, 0x88A8, 0x9100, 0x9200))
_ETH_TYPES_FROM = 0x0600  # below it, the field is a length (802.3)
_SNAP = b"\xaa\xaa\x03\x00\x00\x00"
# AF_INET is 2 everywhere; AF_INET6 is not.
_FAMILIES = {2: _ETH_IP4, 10: _ETH_IP6, 24: _ETH_IP6, 28: _ETH_IP6, 30: _ETH_IP6}
_TCP, _UDP = 6, 17
# Hop-by-hop, routing, destination options, mobility, host identity, shim6: length in units of 8 bytes.
_EXTENSIONS = frozenset((0, 43, 60, 135, 139, 140))
_FRAGMENT, _AUTHENTICATION = 44, 51

_U16 = struct.Struct("!H")
_IP4 = struct.Struct("!BxHxxHxB")  # version and header length, total length, flags and offset, protocol
_IP6 = struct.Struct("!4xHB")
_UDP_HEAD = struct.Struct("!HHH")
_TCP_HEAD = struct.Struct("!HHIIBB")


class Packet(NamedTuple):
    """One datagram or segment. `missing` counts payload bytes that the capture does not hold."""

    src: str
    dst: str
    proto: Literal["udp", "tcp"]
    sport: int
    dport: int
    payload: bytes
    missing: int = 0
    seq: int = 0  # the rest is TCP's
    ack: int = 0
    flags: int = 0


class Unread(Enum):
    """Why a frame gives no packet. The value completes "42 frames …"."""

    LINK = "are of a link type that is not known here"
    CUT = "were cut by the snap length before their payload"
    FOREIGN = "are neither UDP nor TCP over IP"
    FRAGMENT = "are fragments of larger IP packets, which are not put together"
    LENGTH = "have lengths in their headers that contradict each other"


def dissect(link_type: int, data: bytes) -> Packet | Unread:
    """What a frame carries. Never raises."""
    if link_type == LINK_ETHERNET:
        at = 14
        if len(data) < at:
            return Unread.CUT
        (kind,) = _U16.unpack_from(data, 12)
        if kind < _ETH_TYPES_FROM:
            if len(data) < 22:
                return Unread.CUT
            if data[14:20] == _SNAP:
                (kind,) = _U16.unpack_from(data, 20)
                at = 22
    elif link_type in LINKS_RAW:
        at = 0
        kind = {4: _ETH_IP4, 6: _ETH_IP6}.get(data[0] >> 4, 0) if data else 0
    elif link_type == LINK_SLL:
        at = 16
        if len(data) < at:
            return Unread.CUT
        (kind,) = _U16.unpack_from(data, 14)
    elif link_type == LINK_SLL2:
        at = 20
        if len(data) < at:
            return Unread.CUT
        (kind,) = _U16.unpack_from(data)
    elif link_type in (LINK_NULL, LINK_LOOP):
        at = 4
        if len(data) < at:
            return Unread.CUT
        # The family is in the recording machine's byte order; its high half is zero in the right one.
        family = int.from_bytes(data[:4], "big")
        if family > 0xFFFF:
            family = int.from_bytes(data[:4], "little")
        kind = _FAMILIES.get(family, 0)
    else:
        return Unread.LINK
    tags = 0
    while kind in _VLANS:
        tags += 1
        if tags > TAGS_MAX:
            return Unread.FOREIGN
        if len(data) < at + 4:
            return Unread.CUT
        (kind,) = _U16.unpack_from(data, at + 2)
        at += 4
    if kind == _ETH_IP4:
        return _ip4(data, at)
    if kind == _ETH_IP6:
        return _ip6(data, at)
    return Unread.FOREIGN


def _ip4(data: bytes, at: int) -> Packet | Unread:
    if len(data) < at + 20:
        return Unread.CUT
    first, total, fragment, protocol = _IP4.unpack_from(data, at)
    size = 4 * (first & 15)
    if first >> 4 != 4:
        return Unread.FOREIGN
    if size < 20:
        return Unread.LENGTH
    # A length of zero is left to be filled in by the network card: all that is there belongs to it.
    end = at + total if total else len(data)
    if total and total < size:
        return Unread.LENGTH
    if fragment & 0x3FFF:  # more fragments, or an offset
        return Unread.FRAGMENT
    src, dst = _address(data[at + 12 : at + 16]), _address(data[at + 16 : at + 20])
    return _transport(data, at + size, end, protocol, src, dst)


def _ip6(data: bytes, at: int) -> Packet | Unread:
    if len(data) < at + 40:
        return Unread.CUT
    if data[at] >> 4 != 6:
        return Unread.FOREIGN
    length, protocol = _IP6.unpack_from(data, at)
    src, dst = _address(data[at + 8 : at + 24]), _address(data[at + 24 : at + 40])
    at += 40
    end = at + length if length else len(data)
    for _ in range(EXTENSIONS_MAX):
        if protocol not in _EXTENSIONS and protocol not in (_FRAGMENT, _AUTHENTICATION):
            return _transport(data, at, end, protocol, src, dst)
        if len(data) < at + 8:
            return Unread.CUT
        if protocol == _FRAGMENT:
            if _U16.unpack_from(data, at + 2)[0] & 0xFFF9:  # an offset, or more to come
                return Unread.FRAGMENT
            size = 8
        elif protocol == _AUTHENTICATION:
            size = 4 * (data[at + 1] + 2)
        else:
            size = 8 * (data[at + 1] + 1)
        protocol = data[at]
        at += size
    return Unread.FOREIGN


def _transport(data: bytes, at: int, end: int, protocol: int, src: str, dst: str) -> Packet | Unread:
    """`end` is where IP says the packet ends, which may lie beyond what was captured."""
    if protocol == _UDP:
        if end < at + 8:
            return Unread.LENGTH
        if len(data) < at + 8:
            return Unread.CUT
        sport, dport, length = _UDP_HEAD.unpack_from(data, at)
        if length:  # zero: a jumbogram, or left to the network card
            if length < 8 or at + length > end:
                return Unread.LENGTH
            end = at + length
        missing = end - len(data)
        return Packet(src, dst, "udp", sport, dport, data[at + 8 : end], missing if missing > 0 else 0)
    if protocol == _TCP:
        if end < at + 20:
            return Unread.LENGTH
        if len(data) < at + 20:
            return Unread.CUT
        sport, dport, seq, ack, offset, flags = _TCP_HEAD.unpack_from(data, at)
        size = 4 * (offset >> 4)
        if size < 20 or at + size > end:
            return Unread.LENGTH
        if len(data) < at + size:
            return Unread.CUT
        missing = end - len(data)
        return Packet(
            src,
            dst,
            "tcp",
            sport,
            dport,
            data[at + size : end],
            missing if missing > 0 else 0,
            seq,
            ack,
            flags,
        )
    return Unread.FOREIGN


@lru_cache(ADDRESSES_CACHED_MAX)
def _address(raw: bytes) -> str:
    return socket.inet_ntop(socket.AF_INET if len(raw) == 4 else socket.AF_INET6, raw)
