"""Frames made from what was said: Ethernet with zero addresses, as the loopback has it, IP, UDP, TCP.

Lengths and checksums are right; nothing here knows about connections.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from captures.links import End

UDP, TCP = 17, 6
FIN, SYN, PSH, ACK = 0x01, 0x02, 0x08, 0x10
TTL = 64
WINDOW = 65_535
# What fits into one IPv4 datagram, its two headers taken off.
UDP_DATA_MAX = 65_507

_DONT_FRAGMENT = 0x4000
_IP4_TYPE, _IP6_TYPE = b"\x08\x00", b"\x86\xdd"


def checksum(data: bytes) -> int:
    """Return the Internet checksum of RFC 1071."""
    if len(data) % 2:
        data += b"\0"
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def udp(src: End, dst: End, data: bytes, identification: int) -> bytes:
    """Return the frame of one datagram."""
    length = 8 + len(data)
    head = struct.pack("!HHH", src.port, dst.port, length)
    # RFC 768: a computed zero is sent as all ones, for zero means "no checksum".
    value = checksum(_pseudo_header(src, dst, UDP, length) + head + b"\0\0" + data) or 0xFFFF
    return _ip(src, dst, UDP, head + struct.pack("!H", value) + data, identification)


def tcp(
    src: End,
    dst: End,
    seq: int,
    ack: int,
    flags: int,
    data: bytes,
    mss: int | None,
    identification: int,
) -> bytes:
    """Return the frame of one segment; `mss` adds that option, as a SYN has it."""
    options = b"" if mss is None else struct.pack("!BBH", 2, 4, mss)
    offset = (20 + len(options)) // 4 << 4
    head = struct.pack("!HHIIBBH", src.port, dst.port, seq, ack, offset, flags, WINDOW)
    tail = b"\0\0" + options + data
    segment = head + b"\0\0" + tail
    value = checksum(_pseudo_header(src, dst, TCP, len(segment)) + segment)
    return _ip(src, dst, TCP, head + struct.pack("!H", value) + tail, identification)


def _pseudo_header(src: End, dst: End, protocol: int, length: int) -> bytes:
    # IPv6's has a four-byte length and protocol; the sum is the same for the lengths there are here.
    return src.address + dst.address + struct.pack("!HH", protocol, length)


def _ip(src: End, dst: End, protocol: int, payload: bytes, identification: int) -> bytes:
    macs = bytes(12)
    if len(src.address) == 16:
        head = struct.pack("!IHBB", 6 << 28, len(payload), protocol, TTL)
        return b"".join((macs, _IP6_TYPE, head, src.address, dst.address, payload))
    start = struct.pack(
        "!BBHHHBB", 0x45, 0, 20 + len(payload), identification & 0xFFFF, _DONT_FRAGMENT, TTL, protocol
    )
    ends = src.address + dst.address
    return b"".join((macs, _IP4_TYPE, start, struct.pack("!H", checksum(start + ends)), ends, payload))
