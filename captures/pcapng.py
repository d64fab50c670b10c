"""The pcapng writer: streams whole blocks, so a file cut at any moment reads up to there.

Scapy's writer lacks comments on sections, descriptions, nanoseconds, names and statistics (and imports in
100 ms); python-pcapng has them, but is untyped, writes 47k packets/s and leaks struct.error from bad files.

A file is a row of blocks, each `type, length, body, length` in units of four bytes, in the byte
order that its Section Header chose. `captures.reader` reads them back.
"""

from __future__ import annotations

import struct
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
    IF_TSRESOL,
    INTERFACE,
    INTERFACES_MAX,
    ISB_DROPPED,
    ISB_END,
    ISB_RECEIVED,
    ISB_START,
    MAGIC,
    NAMES,
    NANOSECONDS,
    OPTION_MAX,
    OS,
    PACKET,
    SECTION,
    SHORTEST_BLOCK,
    STATISTICS,
    TICKS_MAX,
    UNDERSTOOD,
    Block,
    ByteOrder,
    Direction,
    Interface,
    Names,
    Other,
    Packet,
    Section,
    Statistics,
    packed_address,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

FLUSH_BYTES = 65_536


class Writer:
    """Writes blocks to a stream, whole ones only, so a file cut at any moment reads up to there.

    Blocks wait in memory until flush(), close() or until FLUSH_BYTES have gathered; the recorder
    flushes whenever it has nothing else to do. Impossible values (an unknown interface, a time
    before 1970) raise ValueError and write nothing.
    """

    def __init__(self, stream: BinaryIO, section: Section, order: ByteOrder = "<") -> None:
        self._stream = stream
        self._order: ByteOrder = order
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._snaplens: list[int] = []
        self._packet_head = struct.Struct(f"{order}7I")
        self._u32 = struct.Struct(f"{order}I")
        # Most frames have no comment: their options are one of three constants.
        self._flags = {way: self._packet_options(way, ()) for way in Direction}
        options = [
            *_texts(COMMENT, section.comments),
            *_text(HARDWARE, section.hardware),
            *_text(OS, section.os),
            *_text(APPLICATION, section.application),
        ]
        # Section length -1: "not specified", as befits a stream.
        self._put(SECTION, struct.pack(f"{order}IHHq", MAGIC, 1, 0, -1) + self._options(options))

    def interface(self, interface: Interface) -> int:
        """Declare an interface; the number returned is what packets name it by."""
        if len(self._snaplens) >= INTERFACES_MAX:
            raise ValueError(f"a section holds at most {INTERFACES_MAX} interfaces")
        options = [
            *_texts(COMMENT, interface.comments),
            *_text(IF_NAME, interface.name),
            *_text(IF_DESCRIPTION, interface.description),
            (IF_TSRESOL, bytes([NANOSECONDS])),
        ]
        head = self._pack("HHI", interface.link_type, 0, interface.snaplen)
        self._put(INTERFACE, head + self._options(options))
        self._snaplens.append(interface.snaplen)
        return len(self._snaplens) - 1

    def packet(
        self,
        interface: int,
        time_ns: int,
        data: bytes,
        direction: Direction = Direction.UNKNOWN,
        comments: tuple[str, ...] = (),
        original_length: int | None = None,
    ) -> None:
        """Write one frame, cut to its interface's snap length."""
        self._check(interface, time_ns)
        if original_length is None:
            original_length = len(data)
        snaplen = self._snaplens[interface]
        if 0 < snaplen < len(data):
            data = data[:snaplen]
        size = len(data)
        options = self._packet_options(direction, comments) if comments else self._flags[direction]
        padding = -size % 4
        length = 32 + size + padding + len(options)
        if length > BLOCK_MAX:
            raise ValueError(f"a frame of {size} bytes does not fit into a block of {BLOCK_MAX} bytes")
        try:
            head = self._packet_head.pack(
                PACKET, length, interface, time_ns >> 32, time_ns & 0xFFFFFFFF, size, original_length
            )
        except struct.error:
            raise ValueError(f"an original length of {original_length} does not fit into 32 bits") from None
        block = b"".join((head, data, bytes(padding), options, self._u32.pack(length)))
        self._queue(block)

    def names(self, names: Mapping[str, str]) -> None:
        """Write which node answers to which address: {"127.0.71.1": "m0"}."""
        self.write(Names(tuple((address, (name,)) for address, name in names.items())))

    def write(self, block: Block) -> None:
        """Write any block but a Section, which only starts a file."""
        match block:
            case Interface():
                self.interface(block)
            case Packet():
                self.packet(
                    block.interface,
                    block.time_ns,
                    block.data,
                    block.direction,
                    block.comments,
                    block.original_length,
                )
            case Names():
                records = b"".join(self._record(address, names) for address, names in block.records)
                end = self._pack("HH", END, 0)
                self._put(NAMES, records + end + self._options(_texts(COMMENT, block.comments)))
            case Statistics():
                self._statistics(block)
            case Other(kind, body):
                if kind in UNDERSTOOD or len(body) % 4:
                    raise ValueError(f"block type {kind} with {len(body)} bytes is not for Other")
                self._put(kind, body)
            case Section():
                raise ValueError("a Section starts a file: make a new Writer for it")

    def flush(self) -> None:
        """Hand everything written so far to the operating system."""
        if self._waiting:
            waiting = b"".join(self._waiting)
            self._waiting.clear()
            self._waiting_bytes = 0
            self._stream.write(waiting)
        self._stream.flush()

    def close(self) -> None:
        self.flush()
        self._stream.close()

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _statistics(self, block: Statistics) -> None:
        self._check(block.interface, block.time_ns)
        options = _texts(COMMENT, block.comments)
        for code, time_ns in ((ISB_START, block.start_ns), (ISB_END, block.end_ns)):
            if time_ns is not None:
                self._check(block.interface, time_ns)
                options.append((code, self._pack("II", time_ns >> 32, time_ns & 0xFFFFFFFF)))
        for code, count in ((ISB_RECEIVED, block.received), (ISB_DROPPED, block.dropped)):
            if count is not None:
                options.append((code, self._pack("Q", count)))
        head = self._pack("III", block.interface, block.time_ns >> 32, block.time_ns & 0xFFFFFFFF)
        self._put(STATISTICS, head + self._options(options))

    def _check(self, interface: int, time_ns: int) -> None:
        if not 0 <= interface < len(self._snaplens):
            raise ValueError(f"interface {interface} was not declared; there are {len(self._snaplens)}")
        if not 0 <= time_ns <= TICKS_MAX:
            raise ValueError(f"time {time_ns} ns is outside of what a capture can hold")

    def _packet_options(self, direction: Direction, comments: tuple[str, ...]) -> bytes:
        options = _texts(COMMENT, comments)
        if direction:
            options.append((EPB_FLAGS, self._pack("I", direction)))
        return self._options(options)

    def _options(self, options: list[tuple[int, bytes]]) -> bytes:
        if not options:
            return b""
        parts = []
        for code, value in options:
            if len(value) > OPTION_MAX:
                raise ValueError(f"a text of {len(value)} bytes is too long: {OPTION_MAX} at most")
            parts += [self._pack("HH", code, len(value)), value, bytes(-len(value) % 4)]
        return b"".join([*parts, self._pack("HH", END, 0)])

    def _record(self, address: str, names: tuple[str, ...]) -> bytes:
        try:
            raw = packed_address(address)
        except ValueError:
            raise ValueError(f"{address!r} is not an IP address: only those have names here") from None
        if not names or any(not name or "\0" in name for name in names):
            raise ValueError(f"{address} needs names, none of them empty or with a zero byte: {names}")
        value = raw + b"".join(_encode(name) + b"\0" for name in names)
        if len(value) > OPTION_MAX:
            raise ValueError(f"the names of {address} take {len(value)} bytes; {OPTION_MAX} at most")
        kind = 1 if len(raw) == 4 else 2
        return self._pack("HH", kind, len(value)) + value + bytes(-len(value) % 4)

    def _pack(self, layout: str, *values: int) -> bytes:
        try:
            return struct.pack(self._order + layout, *values)
        except struct.error as error:
            raise ValueError(f"a number does not fit into its field: {values} ({error})") from None

    def _put(self, kind: int, body: bytes) -> None:
        length = SHORTEST_BLOCK + len(body)
        if length > BLOCK_MAX:
            raise ValueError(f"a block of {length} bytes is too long: {BLOCK_MAX} at most")
        self._queue(self._pack("II", kind, length) + body + self._pack("I", length))

    def _queue(self, block: bytes) -> None:
        self._waiting.append(block)
        self._waiting_bytes += len(block)
        if self._waiting_bytes >= FLUSH_BYTES:
            self.flush()


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _text(code: int, text: str) -> list[tuple[int, bytes]]:
    return [(code, _encode(text))] if text else []


def _texts(code: int, texts: tuple[str, ...]) -> list[tuple[int, bytes]]:
    return [(code, _encode(text)) for text in texts]
