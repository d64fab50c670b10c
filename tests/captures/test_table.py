"""Columns agree with the nodes' codecs, row by row: what is accepted, why not, and every field's value."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import captures
from captures.batches import Chunks
from captures.columns import address, address_text
from captures.layers import LINK_ETHERNET, LINK_LOOP, LINK_NULL, LINK_SLL, LINK_SLL2
from captures.learnt import codecs
from captures.messages import CUT, GAP, read
from nodes.briscola.messages import decode as decode_word
from nodes.core import RemoteProtocolError
from nodes.hearts.messages import decode as decode_frame
from nodes.tictactoe.messages import Move, State
from tests.captures import wire

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from captures.batches import Table
    from captures.columns import Columns

FULL = os.environ.get("WIRETABLE_FULL") == "1"
MANY = 100_000 if FULL else 4_000

A, B = "127.0.0.1:47123", "127.0.0.2:47123"
CLIENT, SERVER = "127.0.0.1:50000", "127.0.0.2:47200"
ACK, PSH, SYN, FIN = 0x10, 0x08, 0x02, 0x01


def table(data: bytes, **how: Any) -> Table:
    return captures.table(io.BytesIO(data), **how)


def udp_table(payloads: Sequence[bytes], src: str, dst: str) -> Table:
    return table(wire.pcap((n, wire.udp(src, dst, data)) for n, data in enumerate(payloads)))


def expected(decode: Callable[[bytes], Any], data: bytes) -> tuple[str, dict[str, Any]]:
    try:
        return "", decode(data).fields()
    except RemoteProtocolError as error:
        return error.check, {}


def assert_agrees(columns: Columns, right: list[tuple[str, dict[str, Any]]]) -> None:
    """Each column, cell by cell, is what the codec gives."""
    assert columns.rows == len(right)
    assert [columns.checks[number] for number in columns["check"]] == [check for check, _ in right]
    for name in columns.codec.fields:
        column = columns[name]
        assert len(column) == len(right)
        for cell, (_, fields) in zip(column.tolist(), right, strict=True):
            value = fields.get(name)
            if isinstance(cell, bytes):
                assert cell.decode() == (value or ""), name
            elif isinstance(cell, list):
                wanted = [] if value is None else value if isinstance(value, list) else [value]
                assert cell == wanted + [-1] * (len(cell) - len(wanted)), name
            else:
                assert cell == (-1 if value is None else value), name


@given(st.lists(st.binary(max_size=24), min_size=1, max_size=8))
@settings(max_examples=60, deadline=None)
@example([bytes(n) for n in range(24)])
def test_any_datagram_on_the_ring_is_judged_as_the_codec_does(payloads: list[bytes]) -> None:
    columns = udp_table(payloads, A, B)["hearts"]
    assert_agrees(columns, [expected(decode_frame, data) for data in payloads])


def test_many_hearts_frames_right_and_wrong() -> None:
    rng = Random(1)
    payloads = [wire.hostile(rng, wire.hearts_frame(rng)) for _ in range(MANY)]
    right = [expected(decode_frame, data) for data in payloads]
    assert_agrees(udp_table(payloads, A, B)["hearts"], right)
    # All that decode() can say has been said, and most frames were right.
    said = {check for check, _ in right}
    assert said == {
        "", "hearts/3.header", "hearts/3.len", "hearts/3.origin", "hearts/3.dest",
        "hearts/4.type", "hearts/4.payload", "hearts/5.card", "hearts/5.twice",
    }  # fmt: skip
    assert sum(not check for check, _ in right) > MANY / 3


@pytest.mark.parametrize("kind", range(11))
def test_every_byte_at_every_place_of_every_type(kind: int) -> None:
    rng = Random(kind)
    frames = (wire.hearts_frame(rng) for _ in range(400))
    frame = next((one for one in frames if one[0] == kind), bytes((kind, 0, 255, 0, 1, 2)))
    payloads = [
        frame[:place] + bytes((byte,)) + frame[place + 1 :]
        for place in range(len(frame))
        for byte in range(256)
    ]
    assert_agrees(udp_table(payloads, A, B)["hearts"], [expected(decode_frame, data) for data in payloads])


def test_every_word_of_briscola() -> None:
    words = [word.to_bytes(2, "big") for word in range(0, 1 << 16, 1 if FULL else 7)]
    rng = Random(2)
    words += [wire.hostile(rng, wire.word(rng)) for _ in range(MANY // 2)]
    columns = udp_table(words, CLIENT, SERVER)["briscola"]
    assert_agrees(columns, [expected(decode_word, data) for data in words])


@pytest.mark.parametrize(("decode", "client"), [(State.decode, 0), (Move.decode, 1)], ids=["state", "move"])
def test_many_messages_of_tictactoe(decode: Callable[[bytes], Any], client: int) -> None:
    rng = Random(3)
    messages = [wire.hostile(rng, wire.twelve(rng))[:12].ljust(12) for _ in range(MANY)]
    codec = codecs()["tictactoe"]
    raw = np.array([[*data, client] for data in messages], np.uint8)
    check = codec.judge(raw, np.full(MANY, 12))
    right = [expected(decode, data) for data in messages]
    assert [codec.checks[number] for number in check] == [check for check, _ in right]
    for name in codec.fields:
        for cell, (_, fields) in zip(codec.column(name, raw, check).tolist(), right, strict=True):
            value = fields.get(name)
            if isinstance(cell, bytes):
                assert cell.decode() == (value or "")
            else:
                assert cell == (-1 if value is None else value)


def assert_same_as_messages(data: bytes, batch_bytes: int = 1 << 20) -> None:
    """The columns hold what captures.messages reads from the same file, and count the same losses."""
    messages = read(io.BytesIO(data))
    seen = [one for one in messages if one.game in codecs()]
    chunks = Chunks(io.BytesIO(data), batch_bytes=batch_bytes)
    rows = []
    for part in chunks:
        for game, columns in part.items():
            for row in range(columns.rows):
                ends = [
                    (address_text(columns[end][row]), int(columns[port][row]))
                    for end, port in (("src", "sport"), ("dst", "dport"))
                ]
                rows.append(
                    (
                        int(columns["frame"][row]),
                        int(columns["time_ns"][row]),
                        chunks.links[columns["link"][row]],
                        game,
                        *(f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in ends),
                        columns.checks[columns["check"][row]] or None,
                        columns.fields(row),
                    )
                )
    wanted = [
        (one.frame, one.time_ns, one.link, one.game, one.src, one.dst, one.check, one.fields)
        for one in seen
        if one.kind not in (CUT, GAP)
    ]
    assert sorted(rows, key=lambda row: row[:2]) == sorted(wanted, key=lambda row: row[:2])
    assert chunks.frames == messages.frames
    assert chunks.unread == messages.unread
    assert chunks.foreign == messages.foreign
    assert chunks.problem == messages.problem
    assert chunks.cut == sum(one.kind == CUT for one in seen)
    assert chunks.gaps == sum(one.kind == GAP for one in seen)


LINKS = (LINK_ETHERNET, LINK_SLL, LINK_SLL2, LINK_NULL, LINK_LOOP, wire.LINK_RAW)
PLAY = bytes.fromhex("0600ff110121")


@pytest.mark.parametrize("link_type", LINKS)
@pytest.mark.parametrize(
    "ends", [(A, B), ("[::1]:47123", "[fe80::2]:47123"), (CLIENT, SERVER), (A, SERVER), (SERVER, A)]
)
def test_every_link_and_both_versions_of_ip(link_type: int, ends: tuple[str, str]) -> None:
    frames = [wire.on_link(wire.udp(*ends, data), link_type) for data in (PLAY, b"\xa0\x05", b"", PLAY[:4])]
    data = wire.pcap(((n, frame) for n, frame in enumerate(frames)), link_type)
    assert sum(columns.rows for columns in table(data).games.values()) == len(frames)
    assert_same_as_messages(data)


@pytest.mark.parametrize("link_type", LINKS)
def test_changed_frames_give_the_same_rows_and_the_same_reasons(link_type: int) -> None:
    """Wrong lengths, options, fragments, other protocols, VLANs by luck: whatever bytes make of a frame."""
    rng = Random(link_type)
    ends = [(A, B), (CLIENT, SERVER), (SERVER, CLIENT), ("127.0.0.1:1", "127.0.0.2:2")]
    frames = []
    for _ in range(MANY // 4):
        payload = wire.hearts_frame(rng) if rng.random() < 0.5 else wire.word(rng)
        frame = bytearray(wire.on_link(wire.udp(*rng.choice(ends), payload), link_type))
        for _ in range(rng.choice((0, 1, 1, 2))):
            frame[rng.randrange(min(len(frame), 46))] = rng.choice(
                (0, 1, 2, 4, 6, 8, 0x45, 0x46, 0x81, 17, 255)
            )
        if rng.random() < 0.1:
            del frame[rng.randrange(len(frame)) :]
        if rng.random() < 0.1:
            frame += rng.randbytes(rng.randrange(20))
        frames.append(bytes(frame))
    assert_same_as_messages(wire.pcap(enumerate(frames), link_type), batch_bytes=10_000)


def ip(frame: bytes, at: int, value: bytes) -> bytes:
    """Change the IP packet of an Ethernet frame."""
    return frame[: 14 + at] + value + frame[14 + at + len(value) :]


FRAME = wire.udp(A, B, PLAY)
ODD = {
    "VLAN": FRAME[:12] + b"\x81\x00\x00\x07" + FRAME[12:],
    "two VLANs": FRAME[:12] + b"\x88\xa8\x00\x07\x81\x00\x00\x08" + FRAME[12:],
    "IP options": FRAME[:14] + b"\x46" + FRAME[15:16] + b"\x00\x26" + FRAME[18:34] + b"\1\1\1\0" + FRAME[34:],
    "padding": FRAME + bytes(12),
    "more fragments": ip(FRAME, 6, b"\x20\x00"),
    "a later fragment": ip(FRAME, 6, b"\x00\x01"),
    "UDP longer than IP": ip(FRAME, 24, b"\x00\x0f"),
    "UDP shorter than IP": ip(FRAME, 24, b"\x00\x0d"),
    "UDP shorter than its header": ip(FRAME, 24, b"\x00\x07"),
    "UDP and IP shorter than UDP's header": ip(ip(FRAME, 2, b"\x00\x18"), 24, b"\x00\x04"),
    "UDP of no length": ip(FRAME, 24, b"\x00\x00"),
    "IP of no length": ip(FRAME, 2, b"\x00\x00"),
    "IP shorter than its header": ip(FRAME, 2, b"\x00\x13"),
    "IP longer than the frame": ip(FRAME, 2, b"\x01\x00"),
    "cut in the payload": FRAME[:-2],
    "cut in UDP": FRAME[:40],
    "cut in IP": FRAME[:30],
    "cut in Ethernet": FRAME[:10],
    "nothing": b"",
    "ARP": FRAME[:12] + b"\x08\x06" + FRAME[14:],
    "ICMP": ip(FRAME, 9, b"\x01"),
    "IPv6 in IPv4's place": ip(FRAME, 0, b"\x65"),
}


@pytest.mark.parametrize("frame", ODD.values(), ids=ODD.keys())
def test_frames_that_are_not_plain_give_what_messages_give(frame: bytes) -> None:
    assert_same_as_messages(wire.pcap([(1, FRAME), (2, frame), (3, FRAME)]))


def conversation(rng: Random, messages: int) -> list[bytes]:
    """Both sides of tic-tac-toe, cut anyhow, some of it repeated, lost, or out of order."""
    client, server = f"127.0.0.1:{rng.randrange(40000, 60000)}", "127.0.0.2:6666"
    seq, ack = rng.randrange(1 << 32), rng.randrange(1 << 32)
    frames = [
        wire.tcp(client, server, seq, 0, SYN),
        wire.tcp(server, client, ack, (seq + 1) & 0xFFFFFFFF, SYN | ACK),
    ]
    seq, ack = seq + 1, ack + 1
    for _ in range(messages):
        data = b"".join(wire.twelve(rng) for _ in range(rng.choice((1, 1, 1, 2))))
        cut = rng.choice((0, 0, 0, rng.randrange(len(data))))
        for piece in (data[:cut], data[cut:]):
            if not piece:
                continue
            if rng.random() < 0.5:
                frames.append(wire.tcp(client, server, seq & 0xFFFFFFFF, ack & 0xFFFFFFFF, ACK | PSH, piece))
                seq += len(piece)
            else:
                frames.append(wire.tcp(server, client, ack & 0xFFFFFFFF, seq & 0xFFFFFFFF, ACK | PSH, piece))
                ack += len(piece)
    frames.append(wire.tcp(client, server, seq & 0xFFFFFFFF, ack & 0xFFFFFFFF, ACK | FIN))
    match rng.randrange(4):
        case 0:
            del frames[rng.randrange(len(frames))]
        case 1:
            at = rng.randrange(len(frames))
            frames.insert(at, frames[rng.randrange(len(frames))])
        case 2:
            at = rng.randrange(1, len(frames))
            frames[at - 1 : at + 1] = reversed(frames[at - 1 : at + 1])
    return frames


def test_streams_of_tictactoe_whole_split_lost_and_repeated() -> None:
    rng = Random(5)
    talks = [conversation(rng, 8) for _ in range(MANY // 40)]
    frames: list[bytes] = []
    while talks:
        talk = rng.choice(talks[:6])
        frames.append(talk.pop(0))
        talks = [one for one in talks if one]
    assert_same_as_messages(wire.pcap(enumerate(frames)), batch_bytes=2_000)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=40), st.integers(200, 3000))
@settings(max_examples=30, deadline=None)
def test_a_piece_may_end_anywhere(kinds: list[int], batch_bytes: int) -> None:
    frames = [(FRAME, wire.udp(CLIENT, SERVER, b"\xa0\x05"), ODD["VLAN"], ODD["ARP"])[kind] for kind in kinds]
    assert_same_as_messages(wire.pcap(enumerate(frames)), batch_bytes)


def test_bytes_beyond_a_message_are_zero() -> None:
    raw = udp_table([PLAY, PLAY[:3], PLAY * 4], A, B)["hearts"].raw
    assert [row.tobytes() for row in raw] == [PLAY.ljust(18, b"\0"), PLAY[:3].ljust(18, b"\0"), PLAY * 3]


def test_ports_may_be_named() -> None:
    data = wire.pcap([(1, wire.udp("127.0.0.1:9", "127.0.0.2:9", PLAY))])
    assert table(data)["hearts"].rows == 0
    assert table(data).foreign == 1
    assert table(data, ports={"hearts": 9})["hearts"]["card"].tolist() == [0x21]


def test_a_compressed_file_gives_the_same() -> None:
    data = wire.pcap((n, FRAME) for n in range(100))
    assert table(gzip.compress(data))["hearts"]["frame"].tolist() == list(range(1, 101))
    cut = table(gzip.compress(data)[:-20])
    assert cut.problem is not None
    assert "compressed" in cut.problem


@pytest.mark.parametrize("text", ["127.0.0.1", "::1", "10.0.0.0", "2001:db8::"])
def test_addresses_are_found_by_what_people_call_them(text: str) -> None:
    assert address_text(address(text)) == text
    where = f"[{text}]:1" if ":" in text else f"{text}:1"
    other = "[::9]:47123" if ":" in text else "9.9.9.9:47123"
    columns = table(wire.pcap([(1, wire.udp(where, other, PLAY))]))["hearts"]
    assert (columns["src"] == address(text)).tolist() == [True]
    assert (columns["dst"] == address(text)).tolist() == [False]


def test_an_empty_capture_has_all_columns() -> None:
    empty = table(wire.pcap([]))
    for game, columns in empty.games.items():
        assert set(codecs()[game].fields) < set(columns)
        assert all(len(columns[name]) == 0 for name in columns)
        assert len(columns) == len(list(columns))
    with pytest.raises(KeyError):
        empty["hearts"]["nothing"]


def test_recording_needs_no_numpy() -> None:
    code = "import captures, sys; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
