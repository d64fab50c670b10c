"""The pcapng reader: blocks as they come, in bounded memory, and a clear error where a file makes no sense.

Any bytes give blocks, then either the end or one CaptureError (ForeignFile, Truncated, Damaged);
nothing else is raised. What was read before the error has been handed out already.
"""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from captures.blocks import (
    APPLICATION,
    BLOCK_MAX,
    COMMENT,
    END,
    EPB_FLAGS,
    HARDWARE,
    IF_DESCRIPTION,
    IF_NAME,
    IF_TSOFFSET,
    IF_TSRESOL,
    INTERFACE,
    INTERFACES_MAX,
    ISB_DROPPED,
    ISB_END,
    ISB_RECEIVED,
    ISB_START,
    MAGIC,
    MICROSECONDS,
    NAMES,
    OBSOLETE_PACKET,
    OS,
    PACKET,
    SECTION,
    SIMPLE_PACKET,
    STATISTICS,
    TSRESOL_BINARY,
    Block,
    ByteOrder,
    CaptureError,
    Damaged,
    Direction,
    ForeignFile,
    Interface,
    Names,
    Other,
    Packet,
    Section,
    Statistics,
    Truncated,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

Options = dict[int, list[bytes]]

_SECTION_BYTES = struct.pack("<I", SECTION)  # the same in both byte orders
_CLASSIC = {bytes.fromhex(magic) for magic in ("d4c3b2a1", "a1b2c3d4", "4d3cb2a1", "a1b23c4d")}
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Capture:
    """A whole file in memory, for small ones. `problem` says why reading stopped early, if it did."""

    blocks: list[Block]
    problem: CaptureError | None

    @property
    def packets(self) -> list[Packet]:
        return [block for block in self.blocks if isinstance(block, Packet)]

    @property
    def interfaces(self) -> list[Interface]:
        return [block for block in self.blocks if isinstance(block, Interface)]


def load(path: Path) -> Capture:
    """Read all that can be read of a file."""
    blocks: list[Block] = []
    with path.open("rb") as stream:
        try:
            for block in read_blocks(stream):
                blocks.append(block)
        except CaptureError as problem:
            return Capture(blocks, problem)
    return Capture(blocks, None)


def read_blocks(stream: BinaryIO) -> Iterator[Block]:
    """Yield the blocks of a stream, one at a time; raise CaptureError where it stops making sense."""
    offset = 0
    section: SectionReader | None = None
    while found := read_block(stream, section, offset):
        section, block, length = found
        yield block
        offset += length
    if section is None:
        raise Truncated("the file is empty", 0)


def read_block(
    stream: BinaryIO, section: SectionReader | None, offset: int
) -> tuple[SectionReader, Block, int] | None:
    """The next block with its section and its length; None at the end. It stands at byte `offset`."""
    head = _read(stream, 8)
    if not head:
        return None
    if section is None:
        _refuse_foreign(head)
    if len(head) < 8:
        raise _cut(offset)
    if head[:4] == _SECTION_BYTES:
        magic = _read(stream, 4)
        if len(magic) < 4:
            raise _cut(offset)
        section = SectionReader(_order(magic, offset), offset)
        done = head + magic
    else:
        assert section is not None  # _refuse_foreign saw to it
        done = head
    section.offset = offset
    kind, length = section.unpack("II", head)
    if length % 4 or not len(done) + 4 <= length <= BLOCK_MAX:
        raise Damaged(f"the block at byte {offset} says it is {length} bytes long", offset)
    rest = _read(stream, length - len(done))
    if len(rest) < length - len(done):
        raise _cut(offset)
    if section.unpack("I", rest[-4:])[0] != length:
        raise Damaged(f"the block at byte {offset} gives two different lengths", offset)
    return section, section.block(kind, rest[:-4]), length


class SectionReader:
    """Decodes the bodies of one section: its byte order and its interfaces' clocks."""

    def __init__(self, order: ByteOrder, offset: int) -> None:
        self.order = order
        self.offset = offset
        self.clocks: list[tuple[int, int]] = []  # if_tsresol and if_tsoffset of each interface
        self.snaplen = 0  # the first interface's: a Simple Packet Block names neither

    def unpack(self, layout: str, data: bytes) -> tuple[int, ...]:
        """Read numbers from the start of `data`."""
        layout = self.order + layout
        if len(data) < struct.calcsize(layout):
            raise self.damaged("is too short for its type")
        return struct.unpack_from(layout, data)

    def damaged(self, what: str) -> Damaged:
        return Damaged(f"the block at byte {self.offset} {what}", self.offset)

    def block(self, kind: int, body: bytes) -> Block:
        read = _BODIES.get(kind)
        return Other(kind, body) if read is None else read(self, body)

    def section(self, body: bytes) -> Section:
        major, _minor, _length = self.unpack("HHq", body)
        if major != 1:
            raise self.damaged(f"is of pcapng version {major}; only version 1 is known")
        options = self.options(body[12:])
        return Section(
            _text(options, HARDWARE), _text(options, OS), _text(options, APPLICATION), _comments(options)
        )

    def interface(self, body: bytes) -> Interface:
        if len(self.clocks) >= INTERFACES_MAX:
            raise self.damaged(f"is one interface too many: {INTERFACES_MAX} at most")
        link_type, _reserved, snaplen = self.unpack("HHI", body)
        if not self.clocks:
            self.snaplen = snaplen
        options = self.options(body[8:])
        resolution = self.number(options, IF_TSRESOL, "B")
        shift = self.number(options, IF_TSOFFSET, "q")
        self.clocks.append((MICROSECONDS if resolution is None else resolution, shift or 0))
        return Interface(
            _text(options, IF_NAME),
            _text(options, IF_DESCRIPTION),
            link_type,
            snaplen,
            _comments(options),
        )

    def packet(self, body: bytes) -> Packet:
        return self.enhanced(body, *self.unpack("5I", body))

    def obsolete_packet(self, body: bytes) -> Packet:
        """As of old: 16 bits for the interface, then 16 for how many frames were dropped."""
        interface, _dropped, high, low, size, original_length = self.unpack("HH4I", body)
        return self.enhanced(body, interface, high, low, size, original_length)

    def simple_packet(self, body: bytes) -> Packet:
        """A frame of the first interface and nothing else, not even when."""
        (original_length,) = self.unpack("I", body)
        if not self.clocks:
            raise self.damaged("belongs to interface 0, which was never described")
        size = min(original_length, self.snaplen or original_length)
        if 4 + size > len(body):
            raise self.damaged("holds less than the frame it announces")
        return Packet(0, 0, body[4 : 4 + size], original_length)

    def enhanced(
        self, body: bytes, interface: int, high: int, low: int, size: int, original_length: int
    ) -> Packet:
        if 20 + size > len(body):
            raise self.damaged("holds less than the frame it announces")
        options = self.options(body[20 + size + -size % 4 :])
        flags = self.number(options, EPB_FLAGS, "I") or 0
        return Packet(
            interface,
            self.time_ns(interface, high, low),
            body[20 : 20 + size],
            original_length,
            Direction(flags & 3) if flags & 3 in (1, 2) else Direction.UNKNOWN,
            _comments(options),
        )

    def names(self, body: bytes) -> Names:
        records = []
        at = 0
        while True:
            kind, value, at = self.item(body, at)
            if kind == END:
                break
            size = {1: 4, 2: 16}.get(kind)
            if size is None:
                continue
            if len(value) < size:
                raise self.damaged("holds half an address")
            family = socket.AF_INET if size == 4 else socket.AF_INET6
            names = tuple(_decode(name) for name in value[size:].split(b"\0") if name)
            records.append((socket.inet_ntop(family, value[:size]), names))
        return Names(tuple(records), _comments(self.options(body[at:])))

    def statistics(self, body: bytes) -> Statistics:
        interface, high, low = self.unpack("III", body)
        options = self.options(body[12:])
        return Statistics(
            interface,
            self.time_ns(interface, high, low),
            self.moment(options, ISB_START, interface),
            self.moment(options, ISB_END, interface),
            self.number(options, ISB_RECEIVED, "Q"),
            self.number(options, ISB_DROPPED, "Q"),
            _comments(options),
        )

    def options(self, data: bytes) -> Options:
        found: Options = {}
        at = 0
        while at < len(data):
            code, value, at = self.item(data, at)
            if code == END:
                break
            found.setdefault(code, []).append(value)
        return found

    def item(self, data: bytes, at: int) -> tuple[int, bytes, int]:
        """Read one option or name record: its code, its value, and where the next one starts."""
        code, size = self.unpack("HH", data[at : at + 4])
        start = at + 4
        if start + size > len(data):
            raise self.damaged("has an option that is longer than the block")
        return code, data[start : start + size], start + size + -size % 4

    def number(self, options: Options, code: int, layout: str) -> int | None:
        values = options.get(code)
        return self.unpack(layout, values[0])[0] if values else None

    def moment(self, options: Options, code: int, interface: int) -> int | None:
        values = options.get(code)
        if not values:
            return None
        high, low = self.unpack("II", values[0])
        return self.time_ns(interface, high, low)

    def time_ns(self, interface: int, high: int, low: int) -> int:
        if interface >= len(self.clocks):
            raise self.damaged(f"belongs to interface {interface}, which was never described")
        resolution, offset_s = self.clocks[interface]
        ticks = high << 32 | low
        if resolution & TSRESOL_BINARY:
            time_ns = ticks * 1_000_000_000 >> (resolution & ~TSRESOL_BINARY)
        else:
            time_ns = ticks * 1_000_000_000 // 10**resolution
        return time_ns + offset_s * 1_000_000_000


_BODIES: dict[int, Callable[[SectionReader, bytes], Block]] = {
    SECTION: SectionReader.section,
    INTERFACE: SectionReader.interface,
    NAMES: SectionReader.names,
    STATISTICS: SectionReader.statistics,
    PACKET: SectionReader.packet,
    OBSOLETE_PACKET: SectionReader.obsolete_packet,
    SIMPLE_PACKET: SectionReader.simple_packet,
}


def _read(stream: BinaryIO, size: int) -> bytes:
    """Read `size` bytes, fewer only at the end: a pipe may hand them over in pieces."""
    data = stream.read(size)
    while 0 < len(data) < size:
        more = stream.read(size - len(data))
        if not more:
            break
        data += more
    return data


def _refuse_foreign(head: bytes) -> None:
    if head[:4] == _SECTION_BYTES[: len(head)]:
        return
    if head[:4] in _CLASSIC:
        raise ForeignFile(
            "this is a classic pcap file, not pcapng; turn it into one: editcap -F pcapng OLD NEW", 0
        )
    if head.startswith(_GZIP):
        raise ForeignFile("this file is compressed: gunzip it first", 0)
    raise ForeignFile("this is not a pcapng file: it does not start with a section header", 0)


def _order(magic: bytes, offset: int) -> ByteOrder:
    if magic == struct.pack("<I", MAGIC):
        return "<"
    if magic == struct.pack(">I", MAGIC):
        return ">"
    raise Damaged(f"the section at byte {offset} has no byte order: its magic is {magic.hex()}", offset)


def _cut(offset: int) -> Truncated:
    return Truncated(f"the file ends inside the block that starts at byte {offset}", offset)


def _decode(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _text(options: Options, code: int) -> str:
    return _decode(options[code][0]) if code in options else ""


def _comments(options: Options) -> tuple[str, ...]:
    return tuple(_decode(raw) for raw in options.get(COMMENT, ()))
