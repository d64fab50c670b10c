"""A capture by the batch: where each frame lies, when and on which link it was seen, as numpy columns.

    with Walker(path) as walker:
        for batch in walker.batches(): …       about BATCH_BYTES of the file each

The file is read piece by piece into one buffer, so memory does not grow with it, and a pipe or a compressed
file is read as a plain one is. Finding the records is a loop of Python, for each begins where the last ends;
all else is done for a whole batch at once. What is refused, and in which words, is as `Source` has it.

Of the time that columns take, the loop is half, and filling the buffer a fiftieth: so a memory map could save
no more than that, would not do for a pipe, and the kernel would count the whole file as ours.
"""

from __future__ import annotations

import io
import struct
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from captures.blocks import (
    BLOCK_MAX,
    END,
    EPB_FLAGS,
    MAGIC,
    NANOSECONDS,
    PACKET,
    SECTION,
    SHORTEST_BLOCK,
    SIMPLE_PACKET,
    TSRESOL_BINARY,
    Block,
    CaptureError,
    Damaged,
    Interface,
    Names,
    Packet,
    Section,
    Statistics,
    Truncated,
)
from captures.reader import read_block
from captures.source import FRAME_MAX, PCAP_HEAD, RECORD_HEAD, Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from captures.reader import SectionReader
    from captures.source import Classic

Bytes = np.ndarray[tuple[int, ...], np.dtype[np.uint8]]
Integers = np.ndarray[tuple[int, ...], np.dtype[np.int64]]
Array = np.ndarray[Any, Any]

BATCH_BYTES = 4 << 20
# One may look this far beyond the end of any record without leaving the buffer.
SLACK_BYTES = 256
STATISTICS_MAX = 65_536
TIME_MAX_NS = (1 << 63) - 1  # of the year 2262; a clock beyond it is taken to stand there

_PACKET_HEAD = 28  # of an enhanced packet block, up to its frame
_SIMPLE_HEAD = 12
_SHORTEST_PACKET = 32
_SECTION_BYTES = struct.pack("<I", SECTION)
_BIG_ENDIAN = struct.pack(">I", MAGIC)


@dataclass(slots=True)
class Batch:
    """Some consecutive frames. The buffer is used again for the next batch."""

    buffer: Bytes
    first: int  # the number of the first frame
    at: Integers  # where each frame begins in the buffer
    size: Integers  # how much of it was captured
    time_ns: Integers
    link: Integers  # which of the walker's links
    link_type: Integers


def gather(buffer: Bytes, at: Integers, dtype: np.dtype[Any]) -> Array:
    """What lies at each of these places, read as `dtype`."""
    size = dtype.itemsize
    # Every place of the buffer seen as the start of one: a view, so only what is taken is copied.
    everywhere = as_strided(buffer[:size].view(f"V{size}"), (len(buffer) - size + 1,), (1,))
    return everywhere[at].view(dtype)


class Walker(Source):
    """Opens a capture as Source does, and hands it out by the batch."""

    def __init__(self, where: Any, *, batch_bytes: int = BATCH_BYTES) -> None:
        super().__init__(where)
        self.links: list[Interface] = []  # of all sections, one after another
        self.statistics: list[Statistics] = []  # `interface` counts as in `links`
        self._buffer: Bytes = np.zeros(batch_bytes + SLACK_BYTES, np.uint8)
        self._have = 0  # bytes of the buffer that are filled
        self._used = 0  # of these, what has been handed out
        self._before = 0  # bytes of the file before the buffer
        self._section: SectionReader | None = None
        self._link_types: Integers = np.zeros(0, np.int64)
        self._section_link = 0  # the number of the section's first link

    def batches(self) -> Iterator[Batch]:
        """All batches, up to the end or to where the capture stops making sense: then `problem` says so."""
        return self._told(self._pcap_batches(self._classic) if self._classic else self._pcapng_batches())

    def _told(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        try:
            for batch in batches:
                self.records += len(batch.at)
                yield batch
        except CaptureError as error:
            self.problem = self._sentence(str(error))
        except OSError as error:
            self.problem = self._sentence(f"it cannot be read on: {error.strerror or error}")
        else:
            if self._zipped is not None and self._zipped.problem:
                self.problem = self._sentence("")

    def _fill(self, need: int = 0) -> bool:
        """Move what is left to the front and read on; whether there is more now, and `need` bytes."""
        buffer, left = self._buffer, self._have - self._used
        room = max(need, len(buffer) - SLACK_BYTES)
        if room > len(buffer) - SLACK_BYTES:
            buffer = np.zeros(room + SLACK_BYTES, np.uint8)
        buffer[:left] = self._buffer[self._used : self._have].copy()
        self._buffer, self._before = buffer, self._before + self._used
        self._have, self._used = left, 0
        view = memoryview(buffer)  # type: ignore[arg-type]  # an array is a buffer, which its stub omits
        while self._have < room:
            count = self._stream.readinto(view[self._have : room])  # type: ignore[union-attr]  # as all streams have
            if not count:
                break
            self._have += count
        return self._have > left and self._have >= need

    def _pcap_batches(self, classic: Classic) -> Iterator[Batch]:
        order, unit_ns = classic
        self.links.append(Interface(link_type=self._pcap_head(order)))
        self._before = PCAP_HEAD
        head = np.dtype([("s", f"{order}u4"), ("fraction", f"{order}u4"), ("size", f"{order}u4")])
        need = RECORD_HEAD
        while self._fill(need):
            at, need, wrong = self._walk_pcap(order)
            if at:
                places = np.array(at, np.int64)
                heads = gather(self._buffer, places, head)
                seconds, fraction = heads["s"].astype(np.int64), heads["fraction"].astype(np.int64)
                time_ns = seconds * 1_000_000_000 + fraction * unit_ns
                link = np.zeros(len(at), np.int64)
                yield self._batch(places + RECORD_HEAD, heads["size"].astype(np.int64), time_ns, link)
            if wrong is not None:
                raise wrong
        if self._have:
            raise Truncated(
                f"the file ends inside the record that starts at byte {self._before}", self._before
            )

    def _walk_pcap(self, order: str) -> tuple[list[int], int, CaptureError | None]:
        """Where the whole records of the buffer begin, how long the next one is, and what is wrong there."""
        unpack = struct.Struct(f"{order}I").unpack_from
        view = memoryview(self._buffer)  # type: ignore[arg-type]  # as above
        have, at = self._have, 0
        last_head = have - RECORD_HEAD
        found: list[int] = []
        add = found.append
        need, wrong = RECORD_HEAD, None
        while at <= last_head:
            (size,) = unpack(view, at + 8)
            after = at + RECORD_HEAD + size
            if size > FRAME_MAX:
                place = self._before + at
                wrong = Damaged(f"the record at byte {place} says it holds {size} bytes", place)
                break
            if after > have:
                need = after - at
                break
            add(at)
            at = after
        self._used = at
        return found, need, wrong

    def _pcapng_batches(self) -> Iterator[Batch]:
        need = 1
        while self._fill(need):
            need = 0
            odd: list[tuple[int, int, int, int]] = []  # place, size, time and link of other packet blocks
            try:
                while not need:
                    if at := self._walk_pcapng():
                        yield from self._odd(odd)
                        yield from self._enhanced(np.array(at, np.int64))
                    need = self._missing()
                    if not need:
                        start = self._used
                        block = self._block()
                        if isinstance(block, Packet):
                            simple = self._buffer[start : start + 4].max() == SIMPLE_PACKET
                            start += _SIMPLE_HEAD if simple else _PACKET_HEAD
                            time_ns = min(max(block.time_ns, -TIME_MAX_NS), TIME_MAX_NS)
                            odd.append(
                                (start, len(block.data), time_ns, self._section_link + block.interface)
                            )
            except CaptureError:
                yield from self._odd(odd)
                raise
            yield from self._odd(odd)
        if self._have:
            self._block()  # which finds it cut

    def _announced(self) -> int:
        """How long the next block says it is, if it says so."""
        head = self._buffer[self._used : min(self._have, self._used + SHORTEST_BLOCK)].tobytes()
        if len(head) < SHORTEST_BLOCK:
            return 0
        order = self._section.order if self._section is not None else "<"
        if head[:4] == _SECTION_BYTES:
            order = ">" if head[8:] == _BIG_ENDIAN else "<"
        (length,) = struct.unpack(f"{order}I", head[4:8])
        return int(length)

    def _missing(self) -> int:
        """How many bytes the buffer must hold for its next block to be whole; 0 if it is, or is damaged."""
        left = self._have - self._used
        if left < SHORTEST_BLOCK:
            return left + 1
        length = self._announced()
        return length if left < length <= BLOCK_MAX else 0

    def _block(self) -> Block:
        """Read the next block, of whatever sort; take note of what it says."""
        start = self._used
        end = min(self._have, start + max(self._announced(), SHORTEST_BLOCK))
        stream = io.BytesIO(self._buffer[start:end].tobytes())
        found = read_block(stream, self._section, self._before + start)
        assert found is not None  # there is at least a byte
        section, block, length = found
        self._used += length
        if isinstance(block, Section):
            self._section, self._section_link = section, len(self.links)
        elif isinstance(block, Interface):
            self.links.append(block)
        elif isinstance(block, Names):
            self._learn(block)
        elif isinstance(block, Statistics) and len(self.statistics) < STATISTICS_MAX:
            self.statistics.append(replace(block, interface=self._section_link + block.interface))
        return block

    def _odd(self, packets: list[tuple[int, int, int, int]]) -> Iterator[Batch]:
        if packets:
            at, size, time_ns, link = np.array(packets, np.int64).T
            packets.clear()
            yield self._batch(at, size, time_ns, link)

    def _batch(self, at: Integers, size: Integers, time_ns: Integers, link: Integers) -> Batch:
        if len(self._link_types) != len(self.links):
            self._link_types = np.array([known.link_type for known in self.links], np.int64)
        return Batch(self._buffer, self.records + 1, at, size, time_ns, link, self._link_types[link])

    def _walk_pcapng(self) -> list[int]:
        """Where the whole enhanced packet blocks that come next begin."""
        found: list[int] = []
        if self._section is None:
            return found
        unpack = struct.Struct(f"{self._section.order}II").unpack_from
        view = memoryview(self._buffer)  # type: ignore[arg-type]  # as above
        have, at = self._have, self._used
        last_head = have - SHORTEST_BLOCK
        add = found.append
        while at <= last_head:
            kind, length = unpack(view, at)
            after = at + length
            if (
                kind != PACKET
                or length < _SHORTEST_PACKET
                or length & 3
                or after > have
                or length > BLOCK_MAX
            ):
                break
            add(at)
            at = after
        return found

    def _enhanced(self, at: Integers) -> Iterator[Batch]:
        """A batch of enhanced packet blocks, checked as SectionReader does, but all at once."""
        section = self._section
        assert section is not None
        order = section.order
        u4 = np.dtype(f"{order}u4")
        names = ("kind", "length", "interface", "high", "low", "size")
        heads = gather(self._buffer, at, np.dtype([(name, u4) for name in names]))
        length, size = heads["length"].astype(np.int64), heads["size"].astype(np.int64)
        interface = heads["interface"].astype(np.int64)
        end = at + length - 4
        options = length - _PACKET_HEAD - 4 - (size + 3 & ~3)
        # No options, or only the direction as we write it. Any other block is looked at by itself.
        plain = options == 0
        if not plain.all():
            tail = gather(self._buffer, end - 12, np.dtype([("code", u4), ("value", u4), ("end", u4)]))
            code = struct.unpack(f"{order}I", struct.pack(f"{order}HH", EPB_FLAGS, 4))[0]
            plain |= (options == 12) & (tail["code"] == code) & (tail["end"] == END)
        plain &= interface < len(section.clocks)
        plain &= gather(self._buffer, end, u4) == length
        whole, wrong = len(at), None
        for row in np.flatnonzero(~plain).tolist():
            self._used = int(at[row])
            try:
                self._block()
            except CaptureError as error:
                whole, wrong = row, error
                break
        if whole:
            self._used = int(end[whole - 1]) + 4
            interface, high, low = interface[:whole], heads["high"][:whole], heads["low"][:whole]
            time_ns = _times(section, interface, high.astype(np.uint64) << np.uint64(32) | low)
            yield self._batch(
                at[:whole] + _PACKET_HEAD, size[:whole], time_ns, interface + self._section_link
            )
        if wrong is not None:
            raise wrong


def _times(section: SectionReader, interface: Integers, ticks: Array) -> Integers:
    """Nanoseconds since 1970, by each interface's own clock."""
    time_ns = np.empty(len(ticks), np.int64)
    for number in np.unique(interface).tolist() if len(section.clocks) > 1 else [0]:
        resolution, offset_s = section.clocks[number]
        rows = interface == number
        if resolution & TSRESOL_BINARY or resolution > NANOSECONDS or offset_s:
            exact = [section.time_ns(number, t >> 32, t & 0xFFFF_FFFF) for t in ticks[rows].tolist()]
            time_ns[rows] = [min(max(one, -TIME_MAX_NS), TIME_MAX_NS) for one in exact]
        else:
            factor = 10 ** (NANOSECONDS - resolution)
            here = ticks[rows]
            late = here > TIME_MAX_NS // factor
            time_ns[rows] = np.where(late, TIME_MAX_NS, here * np.uint64(factor))
    return time_ns
