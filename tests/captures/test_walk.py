"""The walker finds what Source finds, in any piece size, and in memory that does not grow."""

from __future__ import annotations

import gzip
import io
import os
import struct
import tracemalloc
from random import Random
from typing import Any

import pytest

from captures import Direction, Interface, Names, Section, Statistics, Writer
from captures.batches import Chunks
from captures.blocks import CaptureError
from captures.source import Source
from captures.walk import TIME_MAX_NS, Walker
from tests.captures import wire

FULL = os.environ.get("WIRETABLE_FULL") == "1"
MANY = 20_000 if FULL else 700


def by_source(data: bytes) -> Any:
    try:
        source = Source(io.BytesIO(data))
    except CaptureError as error:
        return type(error), str(error)
    rows = [
        (one.number, max(min(one.time_ns, TIME_MAX_NS), -TIME_MAX_NS), one.link, one.link_type, one.data)
        for one in source
    ]
    return rows, source.problem, source.names


def by_walker(data: bytes, batch_bytes: int) -> Any:
    try:
        walker = Walker(io.BytesIO(data), batch_bytes=batch_bytes)
    except CaptureError as error:
        return type(error), str(error)
    rows = []
    for batch in walker.batches():
        for row in range(len(batch.at)):
            at, link = int(batch.at[row]), walker.links[batch.link[row]]
            frame = batch.buffer[at : at + int(batch.size[row])].tobytes()
            assert batch.link_type[row] == link.link_type
            rows.append((batch.first + row, int(batch.time_ns[row]), link.name, link.link_type, frame))
    return rows, walker.problem, walker.names


def section(order: Any, rng: Random) -> bytes:
    """A section with all that may be in one."""
    stream = io.BytesIO()
    writer = Writer(stream, Section("machine", comments=("a",)), order)
    for name in ("m0→m1", "m1→m2", ""):
        writer.interface(Interface(name, link_type=rng.choice((1, 101, 113)), snaplen=rng.choice((0, 50))))
    writer.names({"127.0.0.1": "m0", "::1": "m1"})
    for number in range(20):
        comments = rng.choice(((), (), ("a comment",)))
        way = rng.choice(list(Direction))
        time_ns = 1_700_000_000_000_000_000 + number
        writer.packet(rng.randrange(3), time_ns, rng.randbytes(rng.randrange(70)), way, comments)
        if number == 10:
            writer.interface(Interface("late"))
    writer.write(Names((("10.0.0.1", ("x", "y")),)))
    writer.write(Statistics(0, 5, received=20, dropped=3))
    writer.flush()
    data = stream.getvalue()
    word = struct.Struct(f"{order}I").pack
    frame = rng.randbytes(10)
    simple = word(3) + word(28) + word(10) + frame + bytes(2) + word(28)
    obsolete = struct.pack(f"{order}IIHHIIII", 2, 44, 1, 7, 0, 99, 10, 10) + frame + bytes(2) + word(44)
    clock = {"<": b"\x09\0\x01\0\x8a\0\0\0\0\0\0\0", ">": b"\0\x09\0\x01\x8a\0\0\0\0\0\0\0"}[order]
    binary = word(1) + word(32) + word(1 if order == "<" else 0x10000) + word(0) + clock + word(32)
    ticks = struct.pack(f"{order}7I", 6, 36, 4, 5, 6, 4, 4) + b"abcd" + word(36)
    return data + simple + obsolete + binary + ticks


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("batch_bytes", [64, 300, 1 << 20])
def test_pcapng_of_either_order_in_any_piece_size(order: Any, batch_bytes: int) -> None:
    data = section(order, Random(1)) + section("<", Random(2)) + section(">", Random(3))
    found = by_source(data)
    assert found[1] is None
    assert len(found[0]) == 3 * 23
    assert by_walker(data, batch_bytes) == found
    assert by_walker(gzip.compress(data), batch_bytes) == found


def test_what_interfaces_lost_is_noted() -> None:
    walker = Walker(io.BytesIO(section("<", Random(1)) * 2))
    assert sum(len(batch.at) for batch in walker.batches()) == 46
    assert [(one.interface, one.received, one.dropped) for one in walker.statistics] == [
        (0, 20, 3),
        (5, 20, 3),
    ]


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("batch_bytes", [64, 300, 1 << 20])
def test_pcap_of_either_order_in_any_piece_size(order: str, batch_bytes: int) -> None:
    rng = Random(4)
    data = wire.pcap(((n * 10**9 + n, rng.randbytes(rng.randrange(90))) for n in range(99)), 113, order)
    found = by_source(data)
    assert len(found[0]) == 99
    assert by_walker(data, batch_bytes) == found
    microseconds = data.replace(struct.pack(f"{order}I", 0xA1B23C4D), struct.pack(f"{order}I", 0xA1B2C3D4), 1)
    assert by_walker(microseconds, batch_bytes) == by_source(microseconds) != found


@pytest.mark.parametrize("classic", [True, False])
def test_damaged_files_end_at_the_same_frame_with_the_same_words(classic: bool) -> None:
    rng = Random(classic)
    right = wire.pcap((n, rng.randbytes(20)) for n in range(30)) if classic else section("<", rng)
    problems = set()
    for _ in range(MANY):
        data = bytearray(right)
        for _ in range(rng.choice((1, 1, 2, 5))):
            at = rng.randrange(len(data))
            match rng.randrange(5):
                case 0:
                    del data[max(at, 1) :]
                case 1:
                    data[at:at] = bytes(rng.randrange(9))
                case 2:
                    data[at] = rng.choice((0, 1, 2, 3, 4, 6, 255, rng.randrange(256)))
                case _:
                    numbers = (0, 1, 2, 3, 4, 5, 6, 12, 28, 32, 60, 64, 1 << 24, 1 << 31, 0x0A0D0D0A)
                    at &= ~3
                    data[at : at + 4] = struct.pack("<I", rng.choice(numbers))
        found = by_source(bytes(data))
        assert by_walker(bytes(data), rng.choice((64, 100, 1000, 100_000))) == found
        problems.add(str(found[1]).translate(str.maketrans("", "", "0123456789")))
    assert len(problems) > (6 if classic else 15)


class Endless(io.RawIOBase):
    """A capture of so many copies of the same records, none of which is held."""

    def __init__(self, head: bytes, body: bytes, copies: int) -> None:
        self._left = head
        self._body = body
        self._copies = copies

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._left and self._copies:
            self._left, self._copies = self._body, self._copies - 1
        size = min(len(buffer), len(self._left))
        buffer[:size] = self._left[:size]
        self._left = self._left[size:]
        return size


def peak_bytes(copies: int) -> tuple[int, int]:
    """How much memory the columns of a long capture take at most, and how many rows there were."""
    whole = wire.pcap(
        (n, wire.udp("127.0.0.1:47123", "127.0.0.2:47123", b"\x06\0\xff\x11\1\x21")) for n in range(500)
    )
    stream: Any = Endless(whole[:24], whole[24:], copies)
    chunks = Chunks(stream, batch_bytes=1 << 17)
    tracemalloc.start()
    try:
        rows = sum(part["hearts"].rows for part in chunks)
        return tracemalloc.get_traced_memory()[1], rows
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_file() -> None:
    peak_bytes(4)  # what is made once is made now
    short, few = peak_bytes(20)
    long, many = peak_bytes(400 if FULL else 200)
    assert (few, many) == (10_000, 200_000 if FULL else 100_000)
    assert long < 1.2 * short


def test_a_longer_file_is_more_pieces_of_the_same_size() -> None:
    """So the work grows as the file does, and no faster."""
    whole = wire.pcap((n, bytes(60)) for n in range(2000))
    body = whole[24:]

    def pieces(copies: int) -> list[int]:
        stream: Any = Endless(whole[:24], body, copies)
        return [len(batch.at) for batch in Walker(stream, batch_bytes=1 << 16).batches()]

    short, long = pieces(2), pieces(20)
    assert (sum(short), sum(long)) == (4000, 40_000)
    assert max(long) == max(short)
    assert len(long) <= 10 * len(short)
