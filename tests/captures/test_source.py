"""Any capture becomes records: every format and byte order says the same, and trouble is a sentence."""

from __future__ import annotations

import gzip
import io
import os
import struct
import subprocess
import sys
import threading
import tracemalloc
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from captures.blocks import CaptureError, ForeignFile, Interface, Section, Truncated
from captures.pcapng import Writer
from captures.source import FRAME_MAX, Record, Source
from tests.captures.shark import fields
from tests.house import ROOT
from tests.tools import require_tool

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

FRAMES = ((1_600_000_000_123_456_000, b"first frame"), (1_600_000_001_000_001_000, b"second"), (2_000, b""))


def pcap(
    order: str = "<", unit_ns: int = 1000, link_type: int = 1, frames: Iterable[tuple[int, bytes]] = FRAMES
) -> bytes:
    magic = 0xA1B2C3D4 if unit_ns == 1000 else 0xA1B23C4D
    out = struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, 65535, link_type)
    for time_ns, data in frames:
        seconds, rest = divmod(time_ns, 10**9)
        out += struct.pack(f"{order}IIII", seconds, rest // unit_ns, len(data), len(data) + 5) + data
    return out


def pcapng(order: str = "<", comments: tuple[str, ...] = (), link: str = "m0→m1") -> bytes:
    stream = io.BytesIO()
    writer = Writer(stream, Section(), order)  # type: ignore[arg-type] # < or >
    number = writer.interface(Interface(link))
    writer.names({"127.0.0.1": "m0"})
    for time_ns, data in FRAMES:
        writer.packet(number, time_ns, data, comments=comments, original_length=len(data) + 5)
    writer.flush()
    return stream.getvalue()


def block(kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


def records(data: bytes) -> tuple[list[Record], str | None]:
    source = Source(io.BytesIO(data))
    return list(source), source.problem


def told(found: list[Record]) -> list[tuple[int, int, bytes, int]]:
    return [(record.number, record.time_ns, record.data, record.length) for record in found]


WANTED = [(n, time_ns, data, len(data) + 5) for n, (time_ns, data) in enumerate(FRAMES, 1)]


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("unit_ns", [1000, 1])
def test_a_classic_file_in_either_order_and_unit(order: str, unit_ns: int) -> None:
    found, problem = records(pcap(order, unit_ns, link_type=113 | 0x2400_0000))
    assert told(found) == WANTED
    assert problem is None
    assert {(record.link, record.link_type, record.comments) for record in found} == {("", 113, ())}


@pytest.mark.parametrize("order", ["<", ">"])
def test_a_pcapng_file_in_either_order_with_names_links_and_comments(order: str) -> None:
    source = Source(io.BytesIO(pcapng(order, ("look here", "and here"))))
    found = list(source)
    assert told(found) == WANTED
    assert {(record.link, record.link_type) for record in found} == {("m0→m1", 1)}
    assert found[0].comments == ("look here", "and here")
    assert source.names == {"127.0.0.1": "m0"}


def test_blocks_of_old_and_simple_packets_are_read_too() -> None:
    section = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    interface = block(1, struct.pack("<HHI", 101, 0, 8))
    simple = block(3, struct.pack("<I", 20) + b"12345678")  # cut to the snap length of 8
    old = block(2, struct.pack("<HHIIII", 0, 3, 0, 7, 4, 4) + b"abcd")
    found, problem = records(section + interface + simple + old)
    assert problem is None
    assert told(found) == [(1, 0, b"12345678", 20), (2, 7000, b"abcd", 4)]
    assert {record.link_type for record in found} == {101}


@pytest.mark.parametrize("body", [struct.pack("<I", 20) + b"1234", b""])
def test_a_simple_packet_that_is_too_short_is_damage(body: bytes) -> None:
    section = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    found, problem = records(section + block(1, struct.pack("<HHI", 1, 0, 0)) + block(3, body))
    assert not found
    assert problem is not None
    found, problem = records(section + block(3, struct.pack("<I", 0)))
    assert problem is not None
    assert "never described" in problem


def test_a_new_section_counts_its_interfaces_anew() -> None:
    found, problem = records(pcapng("<") + pcapng(">", link="m1→m2"))
    assert problem is None
    assert [record.number for record in found] == list(range(1, 7))
    assert [record.link for record in found] == ["m0→m1"] * 3 + ["m1→m2"] * 3


@pytest.mark.parametrize("plain", [pcap(), pcapng()], ids=["pcap", "pcapng"])
def test_gzip_of_either_says_the_same(plain: bytes) -> None:
    assert records(gzip.compress(plain)) == records(plain)


@pytest.mark.parametrize("plain", [pcap(), pcapng()], ids=["pcap", "pcapng"])
def test_a_file_cut_anywhere_gives_what_came_before_and_a_sentence(plain: bytes) -> None:
    whole, _ = records(plain)
    for size in range(1, len(plain)):
        try:
            found, problem = records(plain[:size])
        except CaptureError:
            assert size < 4
            continue
        assert found == whole[: len(found)]
        ends_well = problem is None
        assert ends_well == (size > 23 and records(plain[:size])[0] == found and _is_boundary(plain, size))
        if problem is not None:
            assert "ends inside" in problem
            count = {0: "no frame", 1: "1 frame"}.get(len(found), f"{len(found)} frames")
            assert count in problem


def _is_boundary(plain: bytes, size: int) -> bool:
    """Whether a whole number of blocks or records ends here."""
    if plain[:4] == b"\x0a\x0d\x0d\x0a":
        at = 0
        while at < size:
            at += int.from_bytes(plain[at + 4 : at + 8], "little")
        return at == size
    at = 24
    while at < size:
        at += 16 + int.from_bytes(plain[at + 8 : at + 12], "little")
    return at == size


def test_a_gzip_that_is_cut_or_damaged_says_so_and_gives_what_came_before() -> None:
    noise = [(n, os.urandom(500)) for n in range(2000)]
    zipped = gzip.compress(pcap(frames=noise))
    found, problem = records(zipped[:-400_000])
    assert 100 < len(found) < 2000
    assert problem is not None
    assert "compressed file ends too early" in problem
    found, problem = records(zipped[:-8] + bytes(8))  # its checksum
    assert len(found) == 2000
    assert problem is not None
    assert "compressed file is damaged" in problem


@pytest.mark.parametrize(
    ("data", "hint"),
    [
        (b"\x28\xb5\x2f\xfd more", "unzstd"),
        (b"\xfd7zXZ\0 more", "unxz"),
        (b"BZh91AY", "bunzip2"),
        (b"PK\x03\x04 zip", "unzip"),
        (b"\x34\xcd\xb2\xa1" + bytes(20), "editcap"),
        (b"#!/bin/sh\necho", "neither a pcap nor a pcapng"),
        (b"x", "neither a pcap nor a pcapng"),
        (gzip.compress(b"hello, world"), "neither a pcap nor a pcapng"),
    ],
)
def test_a_foreign_file_is_told_apart_at_once(data: bytes, hint: str) -> None:
    with pytest.raises(ForeignFile, match=hint):
        Source(io.BytesIO(data))


def test_an_empty_file_and_none_at_all(tmp_path: Path) -> None:
    with pytest.raises(Truncated, match="empty"):
        Source(io.BytesIO(b""))
    with pytest.raises(CaptureError, match="No such file"):
        Source(tmp_path / "none.pcap")
    with pytest.raises(CaptureError, match="directory"):
        Source(tmp_path)


def test_lengths_that_cannot_be_end_the_reading() -> None:
    found, problem = records(pcap() + struct.pack("<IIII", 1, 2, FRAME_MAX + 1, 4))
    assert len(found) == 3
    assert problem is not None
    assert str(FRAME_MAX + 1) in problem
    assert "3 frames" in problem
    version = bytearray(pcap())
    version[4] = 9
    assert "version 9" in (records(bytes(version))[1] or "")


def test_standard_input_is_read_as_it_comes() -> None:
    """A live pipe gives each frame when it is there, not when the pipe ends."""
    script = (
        "from captures.source import Source\nfor record in Source('-'): print(record.number, flush=True)\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    )
    assert child.stdin is not None
    assert child.stdout is not None
    data = pcap()
    for byte in data[:24]:  # the slowest of pipes
        child.stdin.write(bytes((byte,)))
        child.stdin.flush()
    at = 24
    for number, (_, frame) in enumerate(FRAMES, 1):
        child.stdin.write(data[at : at + 16 + len(frame)])
        child.stdin.flush()
        at += 16 + len(frame)
        timer = threading.Timer(30, child.kill)
        timer.start()
        assert child.stdout.readline() == f"{number}\n".encode()
        timer.cancel()
    child.communicate()
    assert child.returncode == 0


def test_memory_does_not_grow_with_the_file() -> None:
    class Endless(io.RawIOBase):
        """A capture of so many frames, made as it is read."""

        def __init__(self, frames: int) -> None:
            self._left = frames
            self._rest = pcap(frames=())
            self.held = 0

        def readable(self) -> bool:
            return True

        def read(self, size: int = -1) -> bytes:
            while len(self._rest) < size and self._left:
                self._left -= 1
                self._rest += pcap(frames=[(1, bytes(1000))])[24:]
            data, self._rest = self._rest[:size], self._rest[size:]
            return data

    peaks = []
    for frames in (200, 4000):
        tracemalloc.start()
        source = Source(Endless(frames))  # type: ignore[arg-type] # reads bytes, which is all it needs
        assert sum(1 for _ in source) == frames
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]


@settings(deadline=None)
@given(
    st.binary(max_size=400),
    st.sampled_from([b"", pcap(), pcapng(), pcap()[:24], pcapng()[:60]]),
    st.booleans(),
)
def test_any_bytes_give_records_or_a_capture_error(tail: bytes, head: bytes, zipped: bool) -> None:
    data = gzip.compress(head + tail) if zipped else head + tail
    try:
        found, problem = records(data)
    except CaptureError:
        return
    assert problem is None or f"{len(found)} frame" in problem or "no frame" in problem


@pytest.mark.parametrize("kind", ["pcap", "nsecpcap", "pcapng"])
def test_what_wireshark_writes_is_read_as_wireshark_reads_it(tmp_path: Path, kind: str) -> None:
    tool = require_tool("editcap")
    original, converted = tmp_path / "a.pcapng", tmp_path / "b"
    original.write_bytes(pcapng())
    subprocess.run([tool, "-F", kind, original, converted], check=True)
    found = list(Source(converted))
    assert [record.data for record in found] == [data for _, data in FRAMES]
    seen = fields(converted, "frame.number", "frame.time_epoch", "frame.cap_len", "frame.len")
    assert seen == [
        (str(r.number), f"{r.time_ns // 10**9}.{r.time_ns % 10**9:09d}", str(len(r.data)), str(r.length))
        for r in found
    ]
