"""What a pcapng file is made of: blocks as dataclasses, the numbers they are written with, the errors.

    Section     who recorded, with what          Interface   one link of the run
    Packet      one frame of an interface        Names       address → node name
    Statistics  what an interface saw and lost   Other       kept as bytes, not understood

Times are nanoseconds since 1970. Interface numbers count within their section.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

ByteOrder = Literal["<", ">"]

LINKTYPE_ETHERNET = 1
SNAPLEN = 262_144  # what tcpdump and Wireshark use; no frame of a loopback is longer

# Wireshark refuses a longer block too.
BLOCK_MAX = 16 * 1024 * 1024
# An option's length field has 16 bits.
OPTION_MAX = 0xFFFF
INTERFACES_MAX = 65_536

SECTION, INTERFACE, NAMES, STATISTICS, PACKET = 0x0A0D0D0A, 1, 4, 5, 6
OBSOLETE_PACKET, SIMPLE_PACKET = 2, 3  # read, never written
UNDERSTOOD = frozenset({SECTION, INTERFACE, NAMES, STATISTICS, PACKET, OBSOLETE_PACKET, SIMPLE_PACKET})
MAGIC = 0x1A2B3C4D
SHORTEST_BLOCK = 12

END, COMMENT = 0, 1
# Option codes; their meaning depends on the block.
HARDWARE, OS, APPLICATION = 2, 3, 4
IF_NAME, IF_DESCRIPTION, IF_TSRESOL, IF_TSOFFSET = 2, 3, 9, 14
EPB_FLAGS = 2
ISB_START, ISB_END, ISB_RECEIVED, ISB_DROPPED = 2, 3, 4, 5
NANOSECONDS, MICROSECONDS = 9, 6  # if_tsresol: what we write, and the default where it is absent
TSRESOL_BINARY = 0x80  # this bit of if_tsresol: a power of two, not of ten
TICKS_MAX = 0xFFFF_FFFF_FFFF_FFFF


class CaptureError(ValueError):
    """A capture file that cannot be read on. `offset` is where in the file its last good block ends."""

    def __init__(self, text: str, offset: int) -> None:
        super().__init__(text)
        self.offset = offset


class ForeignFile(CaptureError):
    """Not a pcapng file at all."""


class Truncated(CaptureError):
    """The file ends inside a block: a recorder was stopped hard, or a copy is incomplete."""


class Damaged(CaptureError):
    """Lengths or numbers in the file contradict each other."""


class Direction(IntEnum):
    """Which way a frame went on its interface; outbound is the link's first end speaking."""

    UNKNOWN = 0
    INBOUND = 1
    OUTBOUND = 2


@dataclass(frozen=True, slots=True)
class Section:
    """Who recorded what follows, and with what."""

    hardware: str = ""
    os: str = ""
    application: str = ""
    comments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Interface:
    """Where frames were seen: here a link of the run, `m0→m1`."""

    name: str = ""
    description: str = ""
    link_type: int = LINKTYPE_ETHERNET
    snaplen: int = SNAPLEN
    comments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Packet:
    """One frame. `original_length` exceeds len(data) where the frame was cut to the snap length."""

    interface: int
    time_ns: int
    data: bytes
    original_length: int
    direction: Direction = Direction.UNKNOWN
    comments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Names:
    """Pairs of an address and the names it goes by."""

    records: tuple[tuple[str, tuple[str, ...]], ...]
    comments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Statistics:
    """What an interface saw from `start_ns` to `end_ns`, and what was lost; None is "not known"."""

    interface: int
    time_ns: int
    start_ns: int | None = None
    end_ns: int | None = None
    received: int | None = None
    dropped: int | None = None
    comments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Other:
    """A block of a type that is not read here, with its body as it stands."""

    type: int
    body: bytes


Block = Section | Interface | Packet | Names | Statistics | Other


def packed_address(address: str) -> bytes:
    """Return the 4 or 16 bytes of an IP address written in text; ValueError if it is none."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        return socket.inet_pton(family, address)
    except (OSError, ValueError):  # ValueError: a zero byte or a lone surrogate inside
        raise ValueError(f"{address!r} is not an IP address") from None
