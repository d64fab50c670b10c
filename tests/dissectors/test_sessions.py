"""GameSession on captures of real runs, whole and cut up: every message once, and every hole told."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Ether
from scapy.layers.skinny import Skinny
from scapy.packet import Packet, Raw
from scapy.sendrecv import sniff
from scapy.sessions import TCPSession
from scapy.utils import rdpcap, wrpcap

from dissectors import sessions
from dissectors.hearts import Hearts
from dissectors.holdem import Holdem, HoldemFragment, HoldemMessage
from dissectors.sessions import GameSession, StreamGap, Unread
from dissectors.tictactoe import ShortTicTacToe, TicTacToe, TicTacToeMove, TicTacToeState
from nodes.holdem.messages import Ready
from nodes.holdem.transport import Frames, frame
from nodes.tictactoe.transport import Chunks

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parent.parent.parent
LAYERS: dict[str, type[Packet]] = {"holdem": Holdem, "tictactoe": TicTacToe}
Way = tuple[str, int, str, int]


@pytest.fixture(scope="module", params=LAYERS)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[Packet]]:
    """A game, and the packets of its run."""
    game: str = request.param
    out = tmp_path_factory.mktemp(game)
    subprocess.run(
        [sys.executable, "-P", "-m", "labs", "run", game, "--seed", "7", "--games", "3", "--capture",
         "shells", "--out", str(out), "--quiet"],
        cwd=out, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True, capture_output=True,
    )  # fmt: skip
    return game, list(rdpcap(str(out / "latest" / "capture.pcapng")))


def way(packet: Packet) -> Way:
    ip, tcp = packet[IP], packet[TCP]
    return ip.src, tcp.sport, ip.dst, tcp.dport


def load(packet: Packet) -> bytes:
    return bytes(packet[TCP].payload)


def truth(game: str, packets: list[Packet]) -> dict[Way, list[bytes]]:
    """The messages of a capture that lacks nothing, by the nodes' own framing."""
    spoken: defaultdict[Way, bytes] = defaultdict(bytes)
    for packet in packets:
        spoken[way(packet)] += load(packet)
    found = {}
    for key, data in spoken.items():
        if game == "tictactoe":
            found[key] = Chunks().feed(data)
        else:
            frames = Frames()
            frames.feed(data)
            found[key] = [frame(body) for body in iter(frames.take, None)]
        assert b"".join(found[key]) == data
    return {key: messages for key, messages in found.items() if messages}


class Seen:
    """What a session makes of packets, by direction; holes as numbers, unread bytes by themselves."""

    def __init__(self, game: str, packets: list[Packet], session: Any = GameSession) -> None:
        self.messages: defaultdict[Way, list[bytes]] = defaultdict(list)
        self.gaps: list[tuple[Way, int]] = []
        self.unread: list[bytes] = []
        self.packets = list(sniff(offline=packets, session=session, quiet=True))
        for packet in self.packets:
            if StreamGap in packet:
                self.gaps.append((way(packet), packet.missing))
            elif Unread in packet:
                self.unread.append(packet[Unread].load)
            elif TCP in packet and load(packet):
                assert isinstance(packet[TCP].payload, LAYERS[game])
                assert packet[TCP].payload.check is None, packet.summary()
                self.messages[way(packet)].append(load(packet))


@pytest.fixture
def through_a_file(tmp_path: Path) -> Callable[[list[Packet]], list[Packet]]:
    """Give back what GameSession reads out of a file of these packets."""

    def read(packets: list[Packet]) -> list[Packet]:
        path = str(tmp_path / "cut.pcap")
        wrpcap(path, packets)
        return list(sniff(offline=path, session=GameSession, quiet=True))

    return read


def test_a_run_is_read_whole(run: tuple[str, list[Packet]]) -> None:
    game, packets = run
    seen = Seen(game, packets)
    assert seen.messages == truth(game, packets)
    assert seen.gaps == []
    assert seen.unread == []
    assert sum(map(len, seen.messages.values())) > 5


def test_scapys_own_session_reads_it_too(run: tuple[str, list[Packet]]) -> None:
    game, packets = run
    found = sniff(offline=[packet.copy() for packet in packets], session=TCPSession, quiet=True)
    messages: defaultdict[Way, bytes] = defaultdict(bytes)
    for packet in found:
        assert Raw not in packet
        if TCP in packet and load(packet):
            messages[way(packet)] += load(packet)
    assert messages == {key: b"".join(parts) for key, parts in truth(game, packets).items()}


def piece(packet: Packet, low: int, high: int) -> Packet:
    """A part of a segment, as a segment."""
    part: Packet = packet.copy()
    data = load(packet)[low:high]
    part[TCP].remove_payload()
    part[TCP].seq = (packet[TCP].seq + low) & 0xFFFF_FFFF
    part[IP].len = part[IP].chksum = part[TCP].chksum = None
    return Ether(bytes(part / Raw(data)))


def split(packets: list[Packet], rng: Random) -> list[Packet]:
    found = []
    for packet in packets:
        size = len(load(packet))
        if size < 2:
            found.append(packet)
            continue
        edges = sorted({0, size, *(rng.randrange(1, size) for _ in range(rng.randrange(4)))})
        found += [piece(packet, low, high) for low, high in pairwise(edges)]
    return found


def duplicate(packets: list[Packet], rng: Random) -> list[Packet]:
    found: list[Packet] = []
    for packet in packets:
        found.append(packet)
        if rng.random() < 0.3:
            found.append(rng.choice(found[-6:]))
    return found


def overlap(packets: list[Packet], rng: Random) -> list[Packet]:
    """Each segment also in two parts that share bytes, before or after the whole."""
    found = []
    for packet in packets:
        size = len(load(packet))
        parts = [packet]
        if size > 3:
            middle = rng.randrange(1, size - 1)
            parts += [piece(packet, 0, middle + 1), piece(packet, middle, size)]
            rng.shuffle(parts)
        found += parts
    return found


def swap(packets: list[Packet], rng: Random) -> list[Packet]:
    found = list(packets)
    at = 0
    while at + 2 < len(found):
        some = found[at : at + rng.randint(1, 4)]
        if not any(packet[TCP].flags.S for packet in some):
            rng.shuffle(some)
        found[at : at + len(some)] = some
        at += len(some)
    return found


@pytest.mark.parametrize("cut", [split, duplicate, overlap, swap], ids=lambda cut: str(cut.__name__))
def test_splits_repeats_overlaps_and_swaps_change_no_message(
    run: tuple[str, list[Packet]], cut: Callable[[list[Packet], Random], list[Packet]]
) -> None:
    game, packets = run
    for seed in range(2):
        seen = Seen(game, cut(packets, Random(seed)))
        assert seen.messages == truth(game, packets)
        assert seen.gaps == []
        assert seen.unread == []


def test_all_of_it_at_once_changes_no_message(run: tuple[str, list[Packet]]) -> None:
    game, packets = run
    rng = Random(3)
    assert Seen(game, swap(duplicate(split(packets, rng), rng), rng)).messages == truth(game, packets)


def survivors(messages: list[bytes], low: int, high: int) -> list[bytes]:
    """The messages of a direction that have no byte in the hole."""
    found, at = [], 0
    for message in messages:
        if at >= high or at + len(message) <= low:
            found.append(message)
        at += len(message)
    return found


@pytest.mark.parametrize("in_parts", [False, True])
def test_a_lost_segment_is_told_and_costs_only_the_messages_it_is_of(
    run: tuple[str, list[Packet]], in_parts: bool
) -> None:
    game, packets = run
    expected = truth(game, packets)
    rng = Random(5)
    if in_parts:
        packets = split(packets, rng)
    carriers = [at for at, packet in enumerate(packets) if load(packet)]
    for lost in rng.sample(carriers, 12):
        gone = packets[lost]
        key, size = way(gone), len(load(gone))
        low = sum(len(load(packet)) for packet in packets[:lost] if way(packet) == key)
        seen = Seen(game, packets[:lost] + packets[lost + 1 :])
        left = {**expected, key: survivors(expected[key], low, low + size)}
        assert seen.gaps == [(key, size)]
        assert seen.messages == {one: messages for one, messages in left.items() if messages}
        told = sum(map(len, left[key])) + size + sum(map(len, seen.unread))
        assert told == sum(map(len, expected[key])), "every byte is a message's, unread or missing"


def test_a_capture_that_begins_late_reads_what_begins_in_it(run: tuple[str, list[Packet]]) -> None:
    game, packets = run
    expected = truth(game, packets)
    late = packets[len(packets) // 2 :]
    seen = Seen(game, late)
    for key, messages in seen.messages.items():
        assert messages == expected[key][-len(messages) :]
    assert sum(map(len, seen.messages.values())) > 2
    assert seen.gaps == []


def test_a_file_is_read_to_its_end(
    run: tuple[str, list[Packet]], through_a_file: Callable[[list[Packet]], list[Packet]]
) -> None:
    packets = run[1]
    carriers = [packet for packet in packets if load(packet)]
    key = way(carriers[-1])
    of_it = [packet for packet in carriers if way(packet) == key]
    # Without acknowledgements only the end of the file tells that one is missing.
    alone = [packet for packet in packets if way(packet) == key and packet is not of_it[-2]]
    found = through_a_file(alone)
    gaps = [packet for packet in found if StreamGap in packet and way(packet) == key]
    assert [packet.missing for packet in gaps] == [len(load(of_it[-2]))]
    behind = [load(packet) for packet in found[found.index(gaps[0]) + 1 :] if way(packet) == key]
    assert load(of_it[-1]) in behind


def connection(*segments: bytes, begin: int = 1000, port: int = 2333) -> list[Packet]:
    """A client that connects and says this, a segment each."""
    head = Ether() / IP(src="10.0.0.2", dst="10.0.0.1")
    packets = [head / TCP(sport=50_000, dport=port, seq=begin - 1, flags="S")]
    for data in segments:
        packets.append(head / TCP(sport=50_000, dport=port, seq=begin, flags="PA") / Raw(data))
        begin += len(data)
    packets.append(head / TCP(sport=50_000, dport=port, seq=begin, flags="FA"))
    return [Ether(bytes(packet)) for packet in packets]


READY = frame(Ready().encode())
MOVE = b"   5        "


def test_several_messages_in_a_segment_are_a_packet_each() -> None:
    found = [
        packet for packet in sniff(offline=connection(READY * 3), session=GameSession) if Holdem in packet
    ]
    assert len(found) == 3
    assert all(load(packet) == READY for packet in found)
    assert all(isinstance(packet[Holdem].payload, HoldemMessage) for packet in found)
    again = IP(bytes(found[0][IP]))
    assert again.len == len(again), "lengths and checksums fit what is there now"


def test_a_connection_that_ends_within_a_message_shows_what_there_is() -> None:
    found = sniff(offline=connection(READY, READY[:10]), session=GameSession)
    assert [packet[HoldemFragment].load for packet in found if HoldemFragment in packet] == [READY[4:10]]
    found = sniff(offline=connection(b" " * 7, port=6666), session=GameSession)
    assert [packet[ShortTicTacToe].load for packet in found if ShortTicTacToe in packet] == [b" " * 7]


def test_a_gap_within_a_known_length_does_not_cost_the_next_message() -> None:
    packets = connection(READY[:10], READY[10:15], READY[15:] + READY)
    del packets[2]
    found = [packet[TCP].payload for packet in sniff(offline=packets, session=GameSession)]
    told = [one for one in found if one]
    assert [type(one) for one in told] == [Unread, StreamGap, Unread, Holdem]
    assert told[0].load == READY[:10]
    assert told[1].missing == 5
    assert told[2].load == READY[15:]
    assert "gap: 5 bytes never captured" in told[1].summary()
    assert "unread: 10 bytes, the beginning of a message" in told[0].summary()


def test_two_gaps_in_a_message_do_not_cost_the_next_either() -> None:
    packets = connection(READY[:8], READY[8:12], READY[12:16], READY[16:20], READY[20:] + READY)
    del packets[4], packets[2]
    found = [packet[TCP].payload for packet in sniff(offline=packets, session=GameSession)]
    told = [type(one) for one in found if one]
    assert told == [Unread, StreamGap, Unread, StreamGap, Unread, Holdem]


def test_a_gap_over_the_end_of_a_cut_message_is_counted_from_there() -> None:
    text = MOVE * 4
    packets = connection(text[:5], text[5:8], text[8:10], text[10:24], text[24:], port=6666)
    del packets[4], packets[2]
    found = [packet[TCP].payload for packet in sniff(offline=packets, session=GameSession)]
    assert [one.choice for one in found if isinstance(one, TicTacToeMove)] == ["5", "5"]
    assert sum(one.missing for one in found if isinstance(one, StreamGap)) == 17


def test_the_packet_below_tells_who_speaks() -> None:
    head = Ether() / IP(src="10.0.0.1", dst="10.0.0.2") / TCP(sport=6666, dport=50_000, seq=9, flags="PA")
    packet = Ether(bytes(head / Raw(MOVE)))
    (found,) = sniff(offline=[packet], session=GameSession)
    assert found[TicTacToeState].check == "tictactoe/state.0"


def test_a_capture_that_begins_within_a_message_does_not_read_its_rest() -> None:
    packets = connection(READY[7:], READY)[1:]
    found = [packet[TCP].payload for packet in sniff(offline=packets, session=GameSession)]
    assert [type(one) for one in found if one] == [Unread, Holdem]


def test_a_first_segment_that_is_lost_is_told_at_the_end() -> None:
    packets = connection(READY, READY)[:-1]
    del packets[1]
    found = [packet[TCP].payload for packet in sniff(offline=packets, session=GameSession)]
    assert [type(one) for one in found if one] == [StreamGap, Holdem]


def test_behind_a_gap_of_unknown_messages_nothing_is_guessed() -> None:
    packets = connection(READY, READY, READY[7:], b"junk that is no prefix", READY)
    del packets[2]
    found = [packet[TCP].payload for packet in sniff(offline=packets, session=GameSession)]
    assert [type(one) for one in found if one] == [Holdem, StreamGap, Unread, Unread, Holdem]


def test_too_long_a_message_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "PENDING_BYTES_MAX", 100)
    data = (1000).to_bytes(4, "little") + b"{" + b" " * 200
    found = [packet[TCP].payload for packet in sniff(offline=connection(data, READY), session=GameSession)]
    assert [type(one) for one in found if one] == [Unread, Holdem]


def test_other_packets_pass_as_they_are() -> None:
    hearts = Ether() / IP() / UDP(sport=47123, dport=47123) / Hearts()
    web = Ether() / IP() / TCP(sport=40_000, dport=45_999) / Raw(b"abc")
    phone = Ether() / IP() / TCP(sport=2000, dport=2000) / Skinny()
    bare = [Ether(bytes(packet)) for packet in (hearts, web, phone)]
    found = list(sniff(offline=bare, session=GameSession))
    assert Skinny in found[2]
    assert Hearts in found[0]
    assert found[1][Raw].load == b"abc"


def test_a_layer_that_raises_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def tcp_reassemble(*_: Any) -> None:
        raise ValueError("no")

    monkeypatch.setattr(Holdem, "tcp_reassemble", tcp_reassemble)
    found = list(sniff(offline=connection(READY), session=GameSession))
    assert len(found) == 3
