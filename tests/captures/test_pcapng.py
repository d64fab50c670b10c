"""Writer and reader: each other's inverse, and against Wireshark."""

from __future__ import annotations

import io
import struct
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from captures import (
    Block,
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
    Writer,
    load,
    read_blocks,
)
from captures.blocks import BLOCK_MAX, OPTION_MAX, UNDERSTOOD, ByteOrder
from captures.pcapng import FLUSH_BYTES
from tests.captures import shark

if TYPE_CHECKING:
    from pathlib import Path

texts = st.text(st.characters(codec="utf-8"), max_size=20)
comments = st.lists(texts, max_size=3).map(tuple)
times = st.integers(0, 2**64 - 1)
counts = st.none() | st.integers(0, 2**64 - 1)
orders: st.SearchStrategy[ByteOrder] = st.sampled_from(["<", ">"])
node_names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=9)
addresses = st.ip_addresses(v=4).map(str) | st.sampled_from(["::1", "fe80::1", "2001:db8::7"])

sections = st.builds(Section, texts, texts, texts, comments)
interfaces = st.builds(Interface, texts, texts, st.integers(0, 65535), st.just(0), comments)
packets = st.builds(
    Packet,
    st.just(0),
    times,
    st.binary(max_size=60),
    st.integers(0, 2**32 - 1),
    st.sampled_from(Direction),
    comments,
)
name_records = st.tuples(addresses, st.lists(node_names, min_size=1, max_size=3).map(tuple))
names = st.builds(Names, st.lists(name_records, max_size=3).map(tuple), comments)
statistics = st.builds(
    Statistics, st.just(0), times, st.none() | times, st.none() | times, counts, counts, comments
)
others = st.builds(
    Other,
    st.integers(0, 2**32 - 1).filter(lambda kind: kind not in UNDERSTOOD),
    st.binary(max_size=20).map(lambda body: body[: len(body) // 4 * 4]),
)
block_lists = st.lists(interfaces | packets | names | statistics | others, max_size=8)


def written(section: Section, blocks: list[Block], order: ByteOrder = "<") -> bytes:
    stream = io.BytesIO()
    writer = Writer(stream, section, order)
    for block in blocks:
        writer.write(block)
    writer.flush()
    return stream.getvalue()


def read_all(data: bytes) -> tuple[list[Block], CaptureError | None]:
    blocks: list[Block] = []
    try:
        for block in read_blocks(io.BytesIO(data)):
            blocks.append(block)
    except CaptureError as error:
        return blocks, error
    return blocks, None


A_FILE: list[Block] = [
    Interface("m0→m1", "a link"),
    Names((("127.0.71.1", ("m0",)), ("::1", ("m1", "again")))),
    Packet(0, 1_600_000_000_123_456_789, bytes(61), 61, Direction.OUTBOUND, ("first",)),
    Other(0x0BAD, b"abcd"),
    Packet(0, 1_600_000_000_123_456_790, bytes(14), 14),
    Statistics(0, 1_600_000_001_000_000_000, 1, 2, 2, 0),
]
HEAD = Section("x86_64", "Linux", "Wiretable", ("a comment",))


@given(sections, interfaces, block_lists, orders)
@settings(deadline=None)
def test_what_is_written_is_read_back(
    section: Section, first: Interface, blocks: list[Block], order: ByteOrder
) -> None:
    assert read_all(written(section, [first, *blocks], order)) == ([section, first, *blocks], None)


@pytest.mark.parametrize("order", ["<", ">"])
def test_a_file_cut_at_any_byte_reads_up_to_there(order: ByteOrder) -> None:
    whole = [HEAD, *A_FILE]
    data = written(HEAD, A_FILE, order)
    ends = [len(written(HEAD, A_FILE[:count], order)) for count in range(len(A_FILE) + 1)]
    for cut in range(len(data)):
        blocks, error = read_all(data[:cut])
        complete = sum(end <= cut for end in ends)
        assert blocks == whole[:complete]
        if cut in ends:
            assert error is None
        else:
            assert isinstance(error, Truncated)
            assert error.offset == ([0, *ends][complete])


@given(st.binary(max_size=200))
@settings(deadline=None)
def test_any_bytes_give_blocks_or_a_capture_error(data: bytes) -> None:
    read_all(data)


@given(st.data(), orders)
@settings(deadline=None, max_examples=300)
def test_any_damage_gives_blocks_or_a_capture_error(data: st.DataObject, order: ByteOrder) -> None:
    file = bytearray(written(HEAD, A_FILE, order))
    for _ in range(data.draw(st.integers(1, 4))):
        file[data.draw(st.integers(0, len(file) - 1))] = data.draw(st.integers(0, 255))
    read_all(bytes(file))


@given(st.binary(max_size=80), st.sampled_from(sorted(UNDERSTOOD)), orders)
@settings(deadline=None, max_examples=300)
def test_any_body_of_a_known_block_gives_blocks_or_a_capture_error(
    body: bytes, kind: int, order: ByteOrder
) -> None:
    body = body[: len(body) // 4 * 4]
    length = struct.pack(order + "I", len(body) + 12)
    block = struct.pack(order + "I", kind) + length + body + length
    read_all(written(HEAD, A_FILE[:1], order) + block)


@pytest.mark.parametrize(
    ("data", "kind", "text"),
    [
        (b"", Truncated, "empty"),
        (b"\x0a\x0d", Truncated, "byte 0"),
        (b"PNG", ForeignFile, "not a pcapng file"),
        (bytes.fromhex("d4c3b2a1020004000000000000000000"), ForeignFile, "classic pcap"),
        (b"\x1f\x8b\x08\x00\x00\x00\x00\x00", ForeignFile, "compressed"),
        (b"\x0a\x0d\x0d\x0a\x1c\x00\x00\x00abcd", Damaged, "no byte order"),
        (written(HEAD, []) + struct.pack("<II", 6, BLOCK_MAX + 4), Damaged, "bytes long"),
        (written(HEAD, []) + struct.pack("<II", 6, 13), Damaged, "bytes long"),
        (written(HEAD, []) + struct.pack("<III", 9, 12, 16), Damaged, "two different lengths"),
        (written(HEAD, []) + struct.pack("<8I", 6, 32, 0, 0, 0, 0, 0, 32), Damaged, "never described"),
        (written(HEAD, A_FILE[:1]) + struct.pack("<8I", 6, 32, 0, 0, 0, 9, 9, 32), Damaged, "less than"),
        (written(HEAD, []) + struct.pack("<4I", 6, 16, 0, 16), Damaged, "too short"),
        (written(HEAD, []) + struct.pack("<II4HI", 4, 20, 1, 2, 0, 0, 20), Damaged, "half an address"),
        (written(HEAD, []) + struct.pack("<II2HI", 4, 16, 1, 9, 16), Damaged, "longer than the block"),
        (
            struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 2, 0, -1, 28),
            Damaged,
            "version 2",
        ),
    ],
)
def test_a_file_that_makes_no_sense_is_refused_in_a_sentence(
    data: bytes, kind: type[CaptureError], text: str
) -> None:
    _blocks, error = read_all(data)
    assert type(error) is kind
    assert text in str(error)


@pytest.mark.parametrize(
    ("resolution", "ticks", "time_ns"),
    [
        (None, 3_000_001, 3_000_001_000),
        (9, 7, 7),
        (0, 7, 7_000_000_000),
        (12, 7999, 7),
        (0x81, 3, 1_500_000_000),
    ],
)
def test_the_clock_of_an_interface_is_honoured(resolution: int | None, ticks: int, time_ns: int) -> None:
    options = b"" if resolution is None else struct.pack("<HHB3xHH", 9, 1, resolution, 0, 0)
    length = 20 + len(options)
    clock = struct.pack("<IIHHI", 1, length, 1, 0, 0) + options + struct.pack("<I", length)
    packet = struct.pack("<8I", 6, 32, 0, ticks >> 32, ticks & 0xFFFFFFFF, 0, 0, 32)
    blocks, error = read_all(written(HEAD, []) + clock + packet)
    assert error is None
    assert isinstance(blocks[-1], Packet)
    assert blocks[-1].time_ns == time_ns


def test_the_offset_of_a_clock_is_added() -> None:
    options = struct.pack("<HHqHHB3xHH", 14, 8, -2, 9, 1, 9, 0, 0)
    length = 20 + len(options)
    clock = struct.pack("<IIHHI", 1, length, 1, 0, 0) + options + struct.pack("<I", length)
    packet = struct.pack("<8I", 6, 32, 0, 1, 0, 0, 0, 32)
    blocks, _error = read_all(written(HEAD, []) + clock + packet)
    assert isinstance(blocks[-1], Packet)
    assert blocks[-1].time_ns == 2**32 - 2_000_000_000


def test_sections_in_one_file_have_their_own_byte_order_and_interfaces() -> None:
    blocks, error = read_all(written(HEAD, A_FILE, "<") + written(HEAD, A_FILE, ">"))
    assert error is None
    assert blocks == [HEAD, *A_FILE] * 2


def test_a_frame_longer_than_the_snap_length_is_cut_and_says_so() -> None:
    data = written(HEAD, [Interface("m0→m1", snaplen=20), Packet(0, 0, bytes(range(40)), 40)])
    packet = read_all(data)[0][-1]
    assert packet == Packet(0, 0, bytes(range(20)), 40)


@pytest.mark.parametrize(
    "block",
    [
        Packet(1, 0, b"", 0),
        Packet(-1, 0, b"", 0),
        Packet(0, -1, b"", 0),
        Packet(0, 2**64, b"", 0),
        Packet(0, 0, b"", 2**32),
        Packet(0, 0, b"", 0, comments=("x" * (OPTION_MAX + 1),)),
        Names((("nowhere", ("m0",)),)),
        Names((("127.0.0.1", ()),)),
        Names((("127.0.0.1", ("a\0b",)),)),
        Names((("127.0.0.1", ("x" * OPTION_MAX,)),)),
        Statistics(1, 0),
        Statistics(0, 0, received=-1),
        Interface(link_type=65536),
        Interface(name="x" * (OPTION_MAX + 1)),
        Other(6, b""),
        Other(7, b"abc"),
        Other(7, bytes(BLOCK_MAX)),
        Section(),
    ],
)
def test_what_a_file_cannot_hold_is_refused_and_leaves_no_trace(block: Block) -> None:
    stream = io.BytesIO()
    writer = Writer(stream, HEAD)
    writer.interface(Interface("m0→m1", snaplen=0))
    writer.flush()
    before = stream.getvalue()
    with pytest.raises(ValueError, match=r"\w"):
        writer.write(block)
    writer.flush()
    assert stream.getvalue() == before


def test_a_frame_longer_than_a_block_is_refused() -> None:
    writer = Writer(io.BytesIO(), HEAD)
    writer.interface(Interface(snaplen=0))
    with pytest.raises(ValueError, match="does not fit"):
        writer.packet(0, 0, bytes(BLOCK_MAX))


def test_blocks_wait_until_flush_or_until_enough_have_gathered() -> None:
    stream = io.BytesIO()
    writer = Writer(stream, HEAD)
    link = writer.interface(Interface("m0→m1"))
    assert stream.getvalue() == b""
    writer.flush()
    first = len(stream.getvalue())
    assert first > 0
    writer.packet(link, 0, b"abc")
    assert len(stream.getvalue()) == first
    writer.packet(link, 0, bytes(FLUSH_BYTES))
    assert len(stream.getvalue()) > first + FLUSH_BYTES


def test_wireshark_sees_names_comments_directions_and_statistics(tmp_path: Path) -> None:
    path = tmp_path / "a.pcapng"
    frame = bytes(12) + bytes.fromhex("0800 4500001c000040004011 0dcf 7f004701 7f004702 b813b81300080000")
    with path.open("wb") as stream, Writer(stream, HEAD) as writer:
        there = writer.interface(Interface("m0→m1", "the first link"))
        back = writer.interface(Interface("m1→m0", "the second link"))
        writer.names({"127.0.71.1": "m0", "127.0.71.2": "m1"})
        writer.packet(there, 1_600_000_000_123_456_789, frame, Direction.OUTBOUND, ("dropped", "by rule 3"))
        writer.packet(back, 1_600_000_000_123_456_790, frame, Direction.INBOUND)
        writer.write(Statistics(there, 1_600_000_001_000_000_000, received=1, dropped=0))
    assert load(path).problem is None
    assert shark.fields(
        path,
        "frame.interface_name",
        "frame.interface_description",
        "frame.comment",
        "frame.packet_flags_direction",
    ) == [
        ("m0→m1", "the first link", "dropped,by rule 3", "0x00000002"),
        ("m1→m0", "the second link", "", "0x00000001"),
    ]
    assert shark.fields(path, "frame.time_epoch")[0] == ("1600000000.123456789",)
    assert "m0 → m1" in " ".join(shark.tshark(path, "-N", "n")[0].split())
    said = shark.capinfos(path)
    for part in ("Wiretable", "a comment", "Name = m1→m0", "nanoseconds (9)", "Number of stat entries = 1"):
        assert part in said
