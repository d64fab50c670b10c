"""Any capture, one record after another: pcap and pcapng, gzip of either, a file or standard input.

    with Source(Path("game.pcapng.gz")) as source:
        for record in source: …
        source.problem    # None, or a sentence that says why not all could be read

A file that is no capture at all raises ForeignFile at once, an empty one Truncated. Where a capture is cut
or damaged further on, iteration ends there and `problem` says so: what came before has been handed out.
"""

from __future__ import annotations

import gzip
import io
import struct
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from captures.blocks import CaptureError, Damaged, ForeignFile, Interface, Names, Packet, Section, Truncated
from captures.reader import read_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from typing_extensions import Buffer

BUFFER_BYTES = 256 * 1024
FRAME_MAX = 262_144  # as tcpdump and Wireshark have it; a classic record that says more is damaged
NAMES_MAX = 65_536

PCAP_HEAD = 24
RECORD_HEAD = 16
_GZIP = b"\x1f\x8b"
_PCAPNG = b"\x0a\x0d\x0d\x0a"
# What else people hold for a capture, by its first bytes.
_FOREIGN = {
    b"\x28\xb5\x2f\xfd": "it is compressed by zstd: unzstd it first",
    b"\xfd7zX": "it is compressed by xz: unxz it first",
    b"BZh": "it is compressed by bzip2: bunzip2 it first",
    b"\x04\x22\x4d\x18": "it is compressed by lz4: unlz4 it first",
    b"PK\x03\x04": "it is a zip archive: unzip it first",
    b"snoop\0\0\0": "it is a snoop file: editcap -F pcapng OLD NEW makes it one",
    b"\x34\xcd\xb2\xa1": "it is a pcap file with Kuznetzov's headers: editcap -F pcapng OLD NEW mends it",
    b"\xa1\xb2\xcd\x34": "it is a pcap file with Kuznetzov's headers: editcap -F pcapng OLD NEW mends it",
}


@dataclass(slots=True)
class Record:
    """One frame as it was captured. `length` is what it was on the wire; a shorter `data` was cut."""

    number: int  # from 1, as Wireshark counts
    time_ns: int
    link: str  # the interface's name, "" if it has none
    link_type: int
    data: bytes
    length: int
    comments: tuple[str, ...] = ()


class Classic(NamedTuple):
    """A classic pcap file's byte order, and how many nanoseconds its fractions count."""

    order: str
    unit_ns: int


_MAGICS = {
    b"\xd4\xc3\xb2\xa1": Classic("<", 1000),
    b"\xa1\xb2\xc3\xd4": Classic(">", 1000),
    b"\x4d\x3c\xb2\xa1": Classic("<", 1),
    b"\xa1\xb2\x3c\x4d": Classic(">", 1),
}


class Source:
    """Opens a capture and hands out its records, once."""

    def __init__(self, where: Path | str | BinaryIO) -> None:
        """`where` is a path, `-` for standard input, or a stream of bytes."""
        self.names: dict[str, str] = {}  # address → node, as far as read
        self.problem: str | None = None
        self.records = 0
        self._zipped: _Unzipped | None = None
        self._file: BinaryIO | None = None  # what is ours to close
        self._classic: Classic | None = None
        if where == "-":
            self._stream = sys.stdin.buffer
        elif isinstance(where, str | Path):
            try:
                self._stream = self._file = Path(where).open("rb", BUFFER_BYTES)  # noqa: SIM115 - see close
            except OSError as error:
                raise CaptureError(f"it cannot be opened: {error.strerror}", 0) from None
        else:
            self._stream = where
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Source:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def __iter__(self) -> Iterator[Record]:
        records = self._pcapng() if self._classic is None else self._pcap(self._classic)
        try:
            for record in records:
                self.records = record.number
                yield record
        except CaptureError as error:
            self.problem = self._sentence(str(error))
        except OSError as error:
            self.problem = self._sentence(f"it cannot be read on: {error.strerror or error}")
        else:
            if self._zipped is not None and self._zipped.problem:
                self.problem = self._sentence("")
        finally:
            self.close()

    def _start(self) -> None:
        try:
            head = self._look()
            if head.startswith(_GZIP):
                self._zipped = _Unzipped(self._stream)
                self._stream = io.BufferedReader(self._zipped, BUFFER_BYTES)
                head = self._look()
        except OSError as error:
            raise CaptureError(f"it cannot be read: {error.strerror or error}", 0) from None
        if not head:
            why = self._zipped.problem if self._zipped is not None else None
            raise Truncated(why or "the file is empty", 0)
        self._classic = _MAGICS.get(head[:4])
        if self._classic is not None or head.startswith(_PCAPNG[: len(head)]):
            return
        for magic, text in _FOREIGN.items():
            if head.startswith(magic):
                raise ForeignFile(f"this is no pcap or pcapng file: {text}", 0)
        raise ForeignFile(
            "this is neither a pcap nor a pcapng file: it does not start as one; "
            "a capture is what `wiretable run`, tcpdump -w or Wireshark leave",
            0,
        )

    def _look(self) -> bytes:
        """The first bytes, which stay to be read. peek() would not wait for a slow pipe."""
        head = self._stream.read(8)
        self._stream = io.BufferedReader(_Again(head, self._stream), BUFFER_BYTES)
        return head

    def _sentence(self, text: str) -> str:
        if self._zipped is not None and self._zipped.problem:
            text = self._zipped.problem
        return f"{text}; {_frames(self.records)} before it"

    def _learn(self, block: Names) -> None:
        for address, names in block.records:
            if names and len(self.names) < NAMES_MAX:
                self.names.setdefault(address, names[0])

    def _pcap_head(self, order: str) -> int:
        """Read the head of a classic file; return its link type."""
        head = self._stream.read(PCAP_HEAD)
        if len(head) < PCAP_HEAD:
            raise Truncated("the file ends inside its header", 0)
        major, _minor, _zone, _accuracy, _snaplen, link = struct.unpack(f"{order}4xHHiIII", head)
        if major != 2:
            raise Damaged(f"this is a pcap file of version {major}; only version 2 is known", 0)
        return int(link & 0xFFFF)  # above it, how long a frame check sequence is

    def _pcap(self, classic: Classic) -> Iterator[Record]:
        order, unit_ns = classic
        link_type = self._pcap_head(order)
        unpack = struct.Struct(f"{order}IIII").unpack
        offset = PCAP_HEAD
        number = 0
        while raw := self._stream.read(RECORD_HEAD):
            if len(raw) < RECORD_HEAD:
                raise Truncated(f"the file ends inside the record that starts at byte {offset}", offset)
            seconds, fraction, size, length = unpack(raw)
            if size > FRAME_MAX:
                raise Damaged(f"the record at byte {offset} says it holds {size} bytes", offset)
            data = self._stream.read(size)
            if len(data) < size:
                raise Truncated(f"the file ends inside the record that starts at byte {offset}", offset)
            number += 1
            offset += RECORD_HEAD + size
            time_ns = seconds * 1_000_000_000 + fraction * unit_ns
            yield Record(number, time_ns, "", link_type, data, max(length, size))

    def _pcapng(self) -> Iterator[Record]:
        interfaces: list[Interface] = []
        number = 0
        for block in read_blocks(self._stream):
            if isinstance(block, Packet):
                number += 1
                interface = interfaces[block.interface]
                yield Record(
                    number,
                    block.time_ns,
                    interface.name,
                    interface.link_type,
                    block.data,
                    max(block.original_length, len(block.data)),
                    block.comments,
                )
            elif isinstance(block, Interface):
                interfaces.append(block)
            elif isinstance(block, Names):
                self._learn(block)
            elif isinstance(block, Section):
                interfaces = []


class _Raw(io.RawIOBase):
    """Bytes for a BufferedReader to hold; closing is left to whoever opened."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        view = memoryview(buffer)
        data = self.some(len(view))
        view[: len(data)] = data
        return len(data)

    def some(self, size: int) -> bytes:
        """At most so many bytes; none at the end."""
        raise NotImplementedError


class _Again(_Raw):
    """A stream whose first bytes have been looked at."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head = head
        self._rest = rest

    def some(self, size: int) -> bytes:
        if self._head:
            data, self._head = self._head[:size], self._head[size:]
            return data
        return self._rest.read1(size) if isinstance(self._rest, io.BufferedIOBase) else self._rest.read(size)


class _Unzipped(_Raw):
    """What a gzip stream holds. Where it is broken, it ends, and `problem` says why."""

    def __init__(self, stream: BinaryIO) -> None:
        self._zip = gzip.GzipFile(fileobj=stream, mode="rb")
        self.problem: str | None = None

    def some(self, size: int) -> bytes:
        if self.problem:
            return b""
        try:
            return self._zip.read1(size)
        except EOFError:
            self.problem = "the compressed file ends too early: its recording or copying was stopped"
        except (gzip.BadGzipFile, zlib.error) as error:
            self.problem = f"the compressed file is damaged: {error}"
        return b""


def _frames(count: int) -> str:
    return {0: "there is no frame", 1: "there is 1 frame"}.get(count, f"there are {count} frames")
