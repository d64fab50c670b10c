"""The summary: what was said, how long it took, what was repeated, refused and lost."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from captures import Interface, Section, Statistics, Writer, batches
from captures.stats import Times, summarise
from labs.summary import show_summary
from nodes.hearts.messages import GameStart, PlayCard, TokenPass
from tests.captures import wire

if TYPE_CHECKING:
    from captures.stats import Summary
    from nodes.hearts.messages import Frame

US = 1000
RING = [f"127.0.0.{seat + 1}:47123" for seat in range(4)]


class Ring:
    """A ring whose every hop takes as long as it is told."""

    def __init__(self) -> None:
        self.now_us = 0
        self.packets: list[tuple[int, bytes]] = []

    def hop(self, data: bytes, seat: int) -> None:
        self.packets.append((self.now_us * US, wire.udp(RING[seat], RING[(seat + 1) % 4], data)))

    def lap(self, frame: Frame, origin: int, seq: int, hop_us: int = 10) -> None:
        """A message goes all the way round."""
        frame.origin, frame.seq = origin, seq
        for step in range(4):
            self.hop(frame.encode(), (origin + step) % 4)
            self.now_us += hop_us


def summary(packets: list[tuple[int, bytes]]) -> Summary:
    return summarise(io.BytesIO(wire.pcap(packets)))


def test_hops_laps_and_who_made_what() -> None:
    ring = Ring()
    ring.lap(GameStart(), 0, 0)
    ring.lap(TokenPass(2), 0, 1, hop_us=20)
    ring.lap(PlayCard(0x21), 2, 0, hop_us=30)
    game = summary(ring.packets).games["hearts"]
    assert game.seen == 12
    assert dict(game.kinds) == {("GAME_START", "m0"): 1, ("TOKEN_PASS", "m0"): 1, ("PLAY_CARD", "m2"): 1}
    # A machine's hop is from a frame on the link before it to the same frame on the link behind it.
    assert {node: times.count for node, times in game.times["hop"].items()} == {
        RING[0]: 1, RING[1]: 3, RING[2]: 2, RING[3]: 3
    }  # fmt: skip
    assert game.times["hop"][RING[3]].max_ns == 30 * US
    assert game.times["lap"]["m0"].count == 2
    assert game.times["lap"]["m0"].max_ns == 60 * US
    assert game.times["lap"]["m2"].max_ns == 90 * US


def test_the_token_is_held_from_its_coming_to_the_holders_next_pass() -> None:
    ring = Ring()
    for seat in range(4):
        ring.lap(GameStart(), seat, 0)  # so that all are known
    ring.lap(TokenPass(2), 0, 1)  # reaches m2 with its second hop, 10 µs after it was sent
    ring.now_us += 500
    ring.lap(PlayCard(0x21), 2, 1)
    ring.lap(TokenPass(3), 2, 2)
    token = summary(ring.packets).games["hearts"].times["token"]
    assert {seat: times.count for seat, times in token.items()} == {"m0": 0, "m1": 0, "m2": 1, "m3": 0}
    assert token["m2"].max_ns == (30 + 500 + 40) * US


def test_a_lost_hop_and_its_repeat() -> None:
    ring = Ring()
    ring.lap(GameStart(), 0, 0)
    frame = PlayCard(0x21, origin=0, seq=1).encode()
    ring.hop(frame, 0)
    ring.now_us += 1000  # lost behind m1, and sent again
    ring.lap(PlayCard(0x21), 0, 1)
    game = summary(ring.packets).games["hearts"]
    assert dict(game.repeats) == {RING[0]: 1}
    assert game.kinds["PLAY_CARD", "m0"] == 1
    assert game.times["lap"]["m0"].count == 2
    assert game.times["lap"]["m0"].max_ns == 30 * US


def test_a_number_comes_round_with_the_same_bytes() -> None:
    ring = Ring()
    for number in range(600):
        ring.lap(PlayCard(0x21), 1, number % 256)
    game = summary(ring.packets).games["hearts"]
    assert game.kinds["PLAY_CARD", "m1"] == 600
    assert game.times["lap"]["m1"].count == 600
    assert not game.repeats


@given(st.integers(150, 4000))
@settings(max_examples=15, deadline=None)
def test_where_a_piece_ends_changes_nothing(batch_bytes: int) -> None:
    ring = Ring()
    for number in range(12):
        ring.lap(TokenPass((number + 1) % 4), number % 4, number // 4, hop_us=7 + number)
        if number == 5:
            ring.hop(TokenPass(0, origin=3, seq=0).encode(), 3)
    packets = ring.packets
    for number in range(8):
        at = (10_000 + 100 * number) * US
        packets.append((at, wire.udp("127.0.0.8:5000", "127.0.0.9:47200", bytes((0xC0 + number // 2, 0x80)))))
        packets.append((at + 9 * US, wire.udp("127.0.0.9:47200", "127.0.0.8:5000", bytes((0, number)))))
    whole = summary(packets).as_json()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches.Chunks.__init__, "__kwdefaults__", {"ports": None, "batch_bytes": batch_bytes})
        assert summary(packets).as_json() == whole
    assert whole["games"]["briscola"]["times"]["ack"]["127.0.0.8:5000"]["count"] == 8  # type: ignore[index,call-overload]


def test_acks_and_repeats_of_briscola() -> None:
    client, server = "127.0.0.8:5000", "127.0.0.9:47200"
    said = [
        (0, client, b"\xa0\x05"),
        (100, server, b"\x00\x01"),  # answered after 100 µs
        (200, client, b"\xc8\x80"),
        (1200, client, b"\xc8\x80"),  # sent again: its ACK tells no round trip
        (1210, server, b"\x00\x02"),
        (1300, server, b"\x48\x80"),
        (1350, client, b"\x00\x01"),
        (1400, client, b"\xff"),  # refused
    ]
    packets = [(at * US, wire.udp(who, server if who == client else client, data)) for at, who, data in said]
    game = summary(packets).games["briscola"]
    assert dict(game.repeats) == {client: 1}
    assert dict(game.refused) == {"briscola/size": 1}
    assert {end: (times.count, times.max_ns) for end, times in game.times["ack"].items()} == {
        client: (1, 100 * US),
        server: (1, 50 * US),
    }
    assert game.kinds["USE_C", client] == 2


def test_losses_names_and_span_come_from_the_file() -> None:
    stream = io.BytesIO()
    writer = Writer(stream, Section())
    writer.interface(Interface("m0→m1"))
    writer.names({"127.0.0.1": "m0"})
    for at in (1, 3):
        writer.packet(0, at * 10**9, wire.udp(RING[0], RING[1], GameStart(seq=at).encode()))
    writer.write(Statistics(0, 5, received=9, dropped=7))
    writer.flush()
    found = summarise(io.BytesIO(stream.getvalue()))
    assert (found.frames, found.span_s, found.lost) == (2, 2.0, {"m0→m1": 7})
    assert found.as_json()["frames_per_s"] == 1.0
    assert found.games["hearts"].kinds["GAME_START", "m0"] == 2
    cut = summarise(io.BytesIO(stream.getvalue()[:-6]))
    assert cut.problem is not None
    console = Console(file=io.StringIO(), width=100)
    show_summary(console, cut)
    show_summary(console, found)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "lost by the recorder: m0→m1 7" in text
    assert "GAME_START" in text
    assert cut.problem in text.replace("\n", " ")


@given(st.lists(st.integers(1, 10**12), min_size=1, max_size=300))
@settings(max_examples=50, deadline=None)
def test_percentiles_are_right_within_a_quarter_of_a_percent(values: list[int]) -> None:
    times = Times()
    for part in np.array_split(np.array(values), 3):
        times.add(part)
    assert times.count == len(values)
    assert times.max_ns == max(values)
    for percent in (50, 90, 99, 100):
        right = np.percentile(values, percent, method="inverted_cdf")
        assert times.percentile_ns(percent) == pytest.approx(right, rel=0.0028)


def test_ends_beyond_the_limit_share_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("captures.stats.ENDS_MAX", 5)
    packets = [(n, wire.udp(f"10.0.0.{n}:{n}", "10.0.1.1:47200", b"\xa0\x05")) for n in range(1, 20)]
    game = summary(packets).games["briscola"]
    assert sum(game.kinds.values()) == 19
    assert game.kinds["SEARCH", "others"] > 10


def test_the_longest_time_there_is_has_its_place() -> None:
    times = Times()
    times.add(np.array([1, 2**63 - 1]))
    assert (times.count, times.max_ns) == (2, 2**63 - 1)
