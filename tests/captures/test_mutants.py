"""Nothing that a wire could carry breaks decoding: mutated frames of the samples, and mutated files.

WIRETABLE_FULL=1 (`./wiretable test --full`) tries a million frames.
"""

from __future__ import annotations

import io
import struct
import sys
import tracemalloc
from random import Random
from typing import TYPE_CHECKING

import pytest

from captures import frames
from captures.blocks import CaptureError
from captures.links import parse_end
from captures.messages import read
from captures.samples.make import SAMPLES
from captures.source import Record, Source
from labs.decode import CsvWriter, JsonWriter, TextWriter, write
from tests.tools import how_many

if TYPE_CHECKING:
    from collections.abc import Iterable

    from labs.decode import Writer

FRAMES = how_many(60_000, 1_000_000)
BATCH = 1500
FILES = how_many(150, 3000)

RECORDS = {sample.name: list(Source(sample.file)) for sample in SAMPLES}
WRITERS: tuple[Writer, ...] = (TextWriter(colour=True), JsonWriter(), CsvWriter())


def pcap(data: Iterable[bytes], link_type: int = 1) -> bytes:
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, link_type)
    return head + b"".join(struct.pack("<IIII", 1, 2, len(one), len(one)) + one for one in data)


def mutated(records: list[Record], rng: Random) -> bytes:
    """One frame of a sample, no longer what it was."""
    data = bytearray(rng.choice(records).data)
    match rng.randrange(6):
        case 0:  # bits
            for _ in range(rng.choice((1, 1, 2, 8))):
                data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        case 1:  # shorter, or longer
            if rng.random() < 0.7:
                del data[rng.randrange(len(data)) :]
            else:
                data += rng.randbytes(rng.randrange(1, 40))
        case 2:  # two frames spliced
            other = rng.choice(records).data
            data = data[: rng.randrange(len(data))] + other[rng.randrange(len(other)) :]
        case 3:  # the headers hold, what is said does not
            at = rng.randrange(min(54, len(data) - 1), len(data))
            data[at:] = rng.randbytes(len(data) - at)
        case 4:  # a length that lies: IP's, UDP's, TCP's, or the message's own first bytes
            at = rng.choice((16, 38, 46, 42, 54, 66))
            if at + 2 <= len(data):
                data[at : at + 2] = rng.choice((b"\0\0", b"\xff\xff", b"\0\1", rng.randbytes(2)))
        case 5:  # as it was: streams go on between the others
            pass
    return bytes(data)


def decode_all(data: bytes, writer: Writer) -> int:
    """Bytes written."""
    out = io.BytesIO()
    messages = read(io.BytesIO(data))
    write(messages, writer, out)
    messages.notes()
    return len(out.getvalue())


def test_mutated_frames_are_decoded_without_an_exception() -> None:
    rng = Random("mutants")
    tried = 0
    names = sorted(RECORDS)
    while tried < FRAMES:
        records = RECORDS[names[tried // BATCH % len(names)]]
        start = rng.randrange(len(records))
        chosen = records[start : start + BATCH] or records
        data = pcap(mutated(chosen, rng) for _ in range(BATCH))
        decode_all(data, WRITERS[tried // BATCH % 3])
        tried += BATCH


def test_mutated_frames_in_order_keep_their_connections_and_break_none() -> None:
    """Every tenth frame is spoilt, the rest as it was: gaps and broken streams in the middle of games."""
    rng = Random("in order")
    for name, records in RECORDS.items():
        for _ in range(how_many(3, 20)):
            order = [
                record.data if rng.random() < 0.9 else mutated([record], rng) for record in records[:600]
            ]
            for writer in WRITERS:
                assert decode_all(pcap(order), writer), name


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_mutated_files_give_messages_or_a_sentence(sample: object) -> None:
    rng = Random("files")
    whole = sample.file.read_bytes()  # type: ignore[attr-defined] # a Sample
    for _ in range(FILES // len(SAMPLES)):
        data = bytearray(whole)
        for _ in range(rng.choice((1, 3, 30))):
            data[rng.randrange(len(data))] = rng.randrange(256)
        del data[rng.randrange(len(data) // 2, len(data) + 1) :]
        try:
            messages = read(io.BytesIO(data))
        except CaptureError:
            continue
        write(messages, WRITERS[0], io.BytesIO())


def calls(data: bytes) -> int:
    """How many functions decoding calls, Python's and C's."""
    count = 0

    def profile(_frame: object, event: str, _arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(profile)
    try:
        decode_all(data, WRITERS[1])
    finally:
        sys.setprofile(None)
    return count


def spoilt(name: str, count: int) -> bytes:
    rng = Random(name)
    return pcap(mutated(RECORDS[name], rng) for _ in range(count))


def segments(count: int, size: int, prefix: bytes, *, step: int = 1) -> bytes:
    """A hold'em stream in small segments; with a step of -1, the last first."""
    client, server = parse_end("10.0.0.1:50000"), parse_end("10.0.0.2:2333")
    stream = (prefix + bytes(count * size))[: count * size]
    places = range(0, count * size, size)[::step]
    syn = frames.tcp(client, server, 99, 0, 2, b"", None, 0)
    return pcap(
        [
            syn,
            *(frames.tcp(client, server, 100 + at, 0, 16, stream[at : at + size], None, 0) for at in places),
        ]
    )


WORKS = {
    "hearts": lambda n: spoilt("hearts", n),
    "holdem": lambda n: spoilt("holdem", n),
    "connect4": lambda n: spoilt("connect4", n),
    "one huge message in small pieces": lambda n: segments(n, 4, (1 << 20).to_bytes(4, "little") + b"{"),
    "backwards": lambda n: segments(n, 4, b"", step=-1),
    "the least lengths": lambda n: segments(n, 6, b"\x02\0\0\0{}" * n),
}


@pytest.mark.parametrize("what", WORKS)
def test_the_work_grows_with_the_capture_and_no_faster(what: str) -> None:
    calls(WORKS[what](200))  # caches fill, modules load
    small, large = calls(WORKS[what](1000)), calls(WORKS[what](4000))
    assert large < 5 * small


@pytest.mark.parametrize("what", ["hearts", "holdem", "connect4", "one huge message in small pieces"])
def test_memory_is_bounded(what: str) -> None:
    def peak(count: int) -> int:
        data = WORKS[what](count)
        tracemalloc.start()
        for _ in read(io.BytesIO(data)):
            pass
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return used

    peak(300)
    # The capture itself grows sixfold; what decoding holds of it does not.
    assert peak(6000) < 3 * peak(1000) + 200_000
