"""Tapes: what the shells wrote down becomes a capture that Wireshark believes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from captures import Direction, Names, Section, Statistics, load, merge, parse_link
from captures.conversation import ACK_EVERY_BYTES, MSS
from captures.frames import UDP_DATA_MAX, checksum
from captures.links import parse_end
from captures.tapes import HOW, LINE_MAX, OTHER, SYNTHESISED, parse_line
from tests.captures import shark

if TYPE_CHECKING:
    from pathlib import Path

T0 = 1_600_000_000.0
M0, M1 = "127.0.71.1:47123", "127.0.71.2:47123"
P1, P2, SERVER = "127.0.72.2:50001", "127.0.72.3:50002", "127.0.72.1:47200"
RING = [parse_link("m0→m1=127.0.71.1>127.0.71.2"), parse_link("m1→m0=127.0.71.2>127.0.71.1")]
STAR = [
    parse_link("p1↔server=127.0.72.2<>127.0.72.1"),
    parse_link("p2↔server=127.0.72.3<>127.0.72.1"),
]

Entry = dict[str, object]


def entry(after_s: float, kind: str, proto: str, src: str, dst: str, data: bytes | None = None) -> Entry:
    line: Entry = {"t": T0 + after_s, "kind": kind, "proto": proto, "src": src, "dst": dst}
    return line if data is None else line | {"data": data.hex()}


def udp(after_s: float, src: str, dst: str, data: bytes) -> Entry:
    return entry(after_s, "data", "udp", src, dst, data)


def opened(after_s: float, src: str, dst: str) -> Entry:
    return entry(after_s, "open", "tcp", src, dst)


def said(after_s: float, src: str, dst: str, data: bytes) -> Entry:
    return entry(after_s, "data", "tcp", src, dst, data)


def closed(after_s: float, src: str, dst: str) -> Entry:
    return entry(after_s, "close", "tcp", src, dst)


def tape(path: Path, *lines: Entry, torn: str = "") -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + torn, "utf-8")
    return path


def assert_wireshark_believes(path: Path) -> None:
    assert shark.complaints(path, *shark.CHECKSUMS) == []
    checked = shark.fields(path, "ip.checksum.status", "udp.checksum.status", "tcp.checksum.status")
    assert all(set(row) <= {"1", ""} and "1" in row for row in checked)


def stream(path: Path, src: str) -> bytes:
    """Return what Wireshark's reassembly takes this side to have said, over all connections."""
    host, port = src.rsplit(":", 1)
    said = []
    for number in sorted({row[0] for row in shark.fields(path, "tcp.stream")}, key=int):
        mine = f"tcp.stream == {number} && ip.src == {host} && tcp.srcport == {port}"
        rows = shark.tshark(path, "-Y", mine, "-T", "fields", "-e", "tcp.payload")
        said += [bytes.fromhex(row) for row in rows]
    return b"".join(said)


def test_datagrams_of_all_tapes_come_in_order_of_time_each_on_its_link(tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"
    first = tape(tmp_path / "m0", udp(0.1, M0, M1, b"one"), udp(0.3, M0, M1, b"three!"))
    second = tape(tmp_path / "m1", udp(0.2, M1, M0, b"two"), udp(0.4, M1, M0, b""))
    names = {"127.0.71.1": "m0", "127.0.71.2": "m1"}
    assert merge([first, second], out, RING, names, "a test").frames == 4
    capture = load(out)
    assert capture.problem is None
    assert [(packet.interface, packet.data[42:]) for packet in capture.packets] == [
        (0, b"one"),
        (1, b"two"),
        (0, b"three!"),
        (1, b""),
    ]
    assert [round(packet.time_ns / 1e9 - T0, 3) for packet in capture.packets] == [0.1, 0.2, 0.3, 0.4]
    assert Names((("127.0.71.1", ("m0",)), ("127.0.71.2", ("m1",)))) in capture.blocks
    counts = [(block.interface, block.received) for block in capture.blocks if isinstance(block, Statistics)]
    assert counts == [(0, 2), (1, 2)]
    assert_wireshark_believes(out)
    assert shark.fields(out, "frame.interface_name", "ip.src", "udp.length")[2] == (
        "m0→m1",
        "127.0.71.1",
        "14",
    )


def test_the_capture_says_plainly_that_its_headers_were_made(tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"
    merge([tape(tmp_path / "m0", udp(0, M0, M1, b"x"))], out, RING, {}, "a test")
    capture = load(out)
    section = capture.blocks[0]
    assert isinstance(section, Section)
    assert section.comments == (SYNTHESISED, "a test")
    assert all(interface.description.endswith(HOW) for interface in capture.interfaces)
    assert "not seen by the kernel" in shark.capinfos(out)


def test_a_connection_has_its_handshake_numbers_and_fins(tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"
    client = tape(
        tmp_path / "p1",
        opened(0.1, P1, SERVER),
        said(0.2, P1, SERVER, b"hello"),
        closed(0.5, P1, SERVER),
    )
    server = tape(
        tmp_path / "server",
        said(0.3, SERVER, P1, b"welcome"),
        said(0.4, SERVER, P1, b" again"),
        closed(0.6, SERVER, P1),
    )
    merge([client, server], out, STAR, {})
    assert_wireshark_believes(out)
    rows = shark.fields(out, "ip.src", "tcp.flags.str", "tcp.seq", "tcp.ack", "tcp.len")
    shape = [(src == "127.0.72.2", flags.strip("·"), *numbers) for src, flags, *numbers in rows]
    assert shape == [
        (True, "S", "0", "0", "0"),
        (False, "A··S", "0", "1", "0"),
        (True, "A", "1", "1", "0"),
        (True, "AP", "1", "1", "5"),
        (False, "AP", "1", "6", "7"),
        (False, "AP", "8", "6", "6"),
        (True, "A···F", "6", "14", "0"),
        (False, "A", "14", "7", "0"),
        (False, "A···F", "14", "7", "0"),
        (True, "A", "7", "15", "0"),
    ]
    # Completeness 31: SYN, SYN+ACK, ACK, data and FIN were all seen.
    assert shark.fields(out, "tcp.completeness")[-1] == ("31",)
    assert stream(out, SERVER) == b"welcome again"
    directions = {packet.direction for packet in load(out).packets}
    assert directions == {Direction.OUTBOUND, Direction.INBOUND}


def test_a_long_text_travels_in_segments_that_never_fill_the_window(tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"
    text = bytes(range(256)) * 1000
    lines = [opened(0, P1, SERVER), said(0.1, P1, SERVER, text), closed(0.2, P1, SERVER)]
    merge([tape(tmp_path / "p1", *lines)], out, STAR, {})
    assert_wireshark_believes(out)
    lengths = [int(length) for (length,) in shark.fields(out, "tcp.len")]
    assert max(lengths) == MSS
    assert sum(length == 0 for length in lengths) > len(text) // (2 * ACK_EVERY_BYTES)
    assert stream(out, P1) == text


def test_a_server_that_speaks_before_the_open_line_is_still_the_server(tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"
    server = tape(tmp_path / "server", said(0.1, SERVER, P1, b"state"), closed(0.4, SERVER, P1))
    client = tape(
        tmp_path / "p1",
        opened(0.2, P1, SERVER),
        said(0.3, P1, SERVER, b"move"),
        closed(0.5, P1, SERVER),
    )
    merge([server, client], out, STAR, {})
    assert_wireshark_believes(out)
    assert shark.fields(out, "ip.src", "tcp.flags.str")[0] == ("127.0.72.2", "··········S·")
    assert {row[0] for row in shark.fields(out, "tcp.stream")} == {"0"}
    assert (stream(out, SERVER), stream(out, P1)) == (b"state", b"move")


def test_without_the_clients_tape_the_higher_port_is_the_clients(tmp_path: Path) -> None:
    for src, dst in ((P1, SERVER), (SERVER, P1)):
        out = tmp_path / "out.pcapng"
        merge([tape(tmp_path / "a", said(0, src, dst, b"hi"), closed(1, src, dst))], out, STAR, {})
        assert_wireshark_believes(out)
        assert shark.fields(out, "ip.src")[0] == ("127.0.72.2",)
        assert stream(out, src) == b"hi"


def test_an_open_line_long_after_belongs_to_another_connection(tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"
    lines = [
        said(0, P1, SERVER, b"a"),
        closed(1, P1, SERVER),
        opened(9, P1, SERVER),
        said(9.5, P1, SERVER, b"b"),
    ]
    merge([tape(tmp_path / "p1", *lines)], out, STAR, {})
    assert {row[0] for row in shark.fields(out, "tcp.stream")} == {"0", "1"}
    assert stream(out, P1) == b"ab"


def test_connections_of_several_clients_keep_apart(tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"
    tapes = [
        tape(tmp_path / "p1", opened(0, P1, SERVER), said(2, P1, SERVER, b"one"), closed(4, P1, SERVER)),
        tape(tmp_path / "p2", opened(1, P2, SERVER), said(3, P2, SERVER, b"two"), closed(5, P2, SERVER)),
    ]
    merge(tapes, out, STAR, {})
    assert_wireshark_believes(out)
    assert set(shark.fields(out, "tcp.stream", "frame.interface_name")) == {
        ("0", "p1↔server"),
        ("1", "p2↔server"),
    }
    assert (stream(out, P1), stream(out, P2)) == (b"one", b"two")


def test_a_second_connection_between_the_same_ends_is_a_new_one(tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"
    lines = []
    for again in (0.0, 10.0):
        lines += [opened(again, P1, SERVER), said(again + 1, P1, SERVER, b"x"), closed(again + 2, P1, SERVER)]
    server = tape(tmp_path / "server", closed(3, SERVER, P1), closed(3.5, SERVER, P1), closed(13, SERVER, P1))
    merge([tape(tmp_path / "p1", *lines), server], out, STAR, {})
    assert {row[0] for row in shark.fields(out, "tcp.stream")} == {"0", "1"}
    assert sum("F" in flags for (flags,) in shark.fields(out, "tcp.flags.str")) == 4


def test_ipv6_has_right_checksums_too(tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"
    here, there = "[::1]:50001", "[::1]:47200"
    lines = [
        udp(0, here, there, b"odd"),
        opened(1, here, there),
        said(2, here, there, b"even"),
        closed(3, here, there),
    ]
    links = [parse_link(f"p1↔server={here}<>{there}")]
    merge([tape(tmp_path / "p1", *lines)], out, links, {"::1": "here"})
    assert shark.complaints(out, *shark.CHECKSUMS) == []
    statuses = shark.fields(out, "udp.checksum.status", "tcp.checksum.status")
    assert {"".join(row) for row in statuses} == {"1"}


def test_what_belongs_to_no_link_is_kept_apart_not_lost(tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"
    lines = [udp(0, M0, "127.0.9.9:9", b"stray"), udp(1, M0, M1, b"x"), udp(2, M0, "127.0.9.9:9", b"stray")]
    assert merge([tape(tmp_path / "m0", *lines)], out, RING, {}).frames == 3
    capture = load(out)
    assert [interface.name for interface in capture.interfaces] == ["m0→m1", "m1→m0", OTHER]
    assert [packet.interface for packet in capture.packets] == [2, 0, 2]
    assert_wireshark_believes(out)


def test_a_torn_last_line_is_no_fault_and_others_are_counted(tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"
    whole = udp(0, M0, M1, b"x")
    torn = tape(tmp_path / "m0", whole, torn=json.dumps(whole)[:40])
    bad = tape(tmp_path / "m1", {"t": "noon"}, udp(1, M1, M0, b"y"), torn="x" * (LINE_MAX + 5) + "\n")
    result = merge([torn, bad, tmp_path / "never written"], out, RING, {})
    assert (result.frames, result.skipped) == (2, 3)
    assert_wireshark_believes(out)


def test_a_last_line_that_lacks_only_its_end_is_read(tmp_path: Path) -> None:
    path = tape(tmp_path / "m0", torn=json.dumps(udp(0, M0, M1, b"x")))
    assert merge([path], tmp_path / "out", RING, {}).frames == 1


def test_no_tapes_give_an_empty_capture(tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"
    assert merge([], out, RING, {}).frames == 0
    assert load(out).problem is None
    assert shark.tshark(out) == []


def test_a_clock_that_goes_back_does_not_reorder_a_tape(tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"
    path = tape(tmp_path / "m0", udp(5, M0, M1, b"first"), udp(4, M0, M1, b"second"))
    merge([path], out, RING, {})
    assert [packet.data[42:] for packet in load(out).packets] == [b"first", b"second"]


GOOD = udp(0, M0, M1, b"x")


@pytest.mark.parametrize(
    "line",
    [
        [],
        {},
        GOOD | {"t": "noon"},
        GOOD | {"t": -1},
        GOOD | {"t": 1e300},
        GOOD | {"t": float("nan")},
        GOOD | {"t": float("inf")},
        GOOD | {"t": None},
        GOOD | {"kind": "open"},
        GOOD | {"kind": []},
        GOOD | {"proto": "sctp"},
        GOOD | {"src": "127.0.71.1"},
        GOOD | {"src": 7},
        GOOD | {"src": "m0:47123"},
        GOOD | {"dst": "[::1]:5"},
        GOOD | {"dst": M0},
        GOOD | {"data": "abc"},
        GOOD | {"data": 7},
        GOOD | {"data": "00" * (UDP_DATA_MAX + 1)},
        opened(0, P1, SERVER) | {"kind": "listen"},
    ],
)
def test_a_line_that_makes_no_sense_is_none(line: object) -> None:
    assert parse_line(json.dumps(line).encode()) is None


@given(st.binary(max_size=80) | st.sampled_from([b"[" * 100_000, b"\xff\n", b"1" * 9000]))
@settings(deadline=None)
def test_any_bytes_are_a_line_or_none(raw: bytes) -> None:
    assert parse_line(raw) is None


def test_the_longest_datagram_fits(tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"
    merge([tape(tmp_path / "m0", udp(0, M0, M1, bytes(UDP_DATA_MAX)))], out, RING, {})
    assert_wireshark_believes(out)


def test_a_checksum_that_comes_out_zero_is_sent_as_all_ones(tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"
    plain = tape(tmp_path / "plain", udp(0, M0, M1, b"\0\0"))
    merge([plain], out, RING, {})
    # Two bytes that fill the sum up to all ones make the checksum zero.
    filling = load(out).packets[0].data[40:42]
    merge([tape(tmp_path / "zero", udp(0, M0, M1, filling))], out, RING, {})
    assert load(out).packets[0].data[40:42] == b"\xff\xff"
    assert_wireshark_believes(out)


@given(st.binary(max_size=41))
def test_a_checksum_over_its_own_result_is_zero(data: bytes) -> None:
    even = data + b"\0" * (len(data) % 2)
    assert checksum(even + checksum(data).to_bytes(2, "big")) == 0


steps = st.lists(
    st.tuples(
        st.sampled_from(["open", "data", "close"]),
        st.booleans(),
        st.binary(max_size=3) | st.just(bytes(2 * MSS + 1)),
    ),
    max_size=12,
)


@given(steps)
@settings(deadline=None, max_examples=60)
def test_no_order_of_lines_loses_a_byte(
    tmp_path_factory: pytest.TempPathFactory, script: list[tuple[str, bool, bytes]]
) -> None:
    folder = tmp_path_factory.mktemp("tapes")
    lines: dict[bool, list[Entry]] = {True: [], False: []}
    for number, (kind, by_client, data) in enumerate(script):
        ends = (P1, SERVER) if by_client else (SERVER, P1)
        lines[by_client].append(entry(number, kind, "tcp", *ends, data if kind == "data" else None))
    tapes = [tape(folder / str(side), *lines[side]) for side in lines]
    out = folder / "out.pcapng"
    assert merge(tapes, out, STAR, {}).skipped == 0
    for side, src in ((True, P1), (False, SERVER)):
        address = parse_end(src).address
        sent = b"".join(packet.data[34 + 4 * (packet.data[46] >> 4) :] for packet in load(out).packets
                        if packet.data[26:30] == address)  # fmt: skip
        assert sent == b"".join(
            data for kind, by_client, data in script if kind == "data" and by_client == side
        )


def test_every_connection_makes_sense_to_wireshark_whatever_the_order(tmp_path: Path) -> None:
    """All orders of four steps, each between ends of its own, in one capture."""
    choices = [("data", True), ("data", False), ("close", True), ("close", False)]
    lines = []
    for number in range(4**4):
        client = f"127.0.72.2:{50000 + number}"
        lines.append(opened(number, client, SERVER))
        for step in range(4):
            kind, by_client = choices[number // 4**step % 4]
            ends = (client, SERVER) if by_client else (SERVER, client)
            before = [choices[number // 4**earlier % 4] for earlier in range(step)]
            if ("close", by_client) not in before:  # nobody speaks after closing
                data = b"word" if kind == "data" else None
                lines.append(entry(number + (step + 1) / 10, kind, "tcp", *ends, data))
    out = tmp_path / "out.pcapng"
    assert merge([tape(tmp_path / "all", *lines)], out, STAR, {}).skipped == 0
    assert_wireshark_believes(out)
