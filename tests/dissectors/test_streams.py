"""TCP streams out of captures: nothing lost, nothing twice, nothing glued."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dissectors import streams
from dissectors.streams import ACK, FIN, LATE_SEGMENTS, RST, SERVERS, SYN, Data, Ended, Gap, Segment
from nodes.game import load

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dissectors.streams import Event

ORDER = settings(deadline=None, max_examples=200)
CLIENT, SERVER = ("10.0.0.2", 50_000), ("10.0.0.1", 2333)
# Starts that wrap within a few bytes, and one that does not.
starts = st.sampled_from([0, 1000, 0x7FFF_FFF0, 0xFFFF_FFF0, 0xFFFF_FFFF])


def client(
    seq: int, payload: bytes = b"", flags: int = ACK, ack: int = 0, port: int = CLIENT[1], frame: int = 0
) -> Segment:
    ends = (CLIENT[0], port, *SERVER)
    return Segment(*ends, seq & 0xFFFF_FFFF, ack & 0xFFFF_FFFF, flags, payload, frame, frame * 1000)


def server(
    seq: int, payload: bytes = b"", flags: int = ACK, ack: int = 0, port: int = CLIENT[1], frame: int = 0
) -> Segment:
    ends = (*SERVER, CLIENT[0], port)
    return Segment(*ends, seq & 0xFFFF_FFFF, ack & 0xFFFF_FFFF, flags, payload, frame, frame * 1000)


def handshake(here: int = 0, there: int = 0, port: int = CLIENT[1]) -> list[Segment]:
    """The three segments; `here` and `there` are the numbers of the two sides' first bytes."""
    return [
        client(here - 1, flags=SYN, port=port),
        server(there - 1, flags=SYN | ACK, ack=here, port=port),
        client(here, ack=there, port=port),
    ]


@dataclass
class Told:
    """What came out, by connection and direction: the bytes, with each gap as a number between them."""

    pieces: defaultdict[tuple[int, bool], list[bytes | int]] = field(
        default_factory=lambda: defaultdict(list)
    )
    ended: list[tuple[int, bool]] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    def take(self, events: Iterable[Event]) -> None:
        for event in events:
            self.events.append(event)
            key = event.connection.number, event.from_client
            assert key not in self.ended, "nothing follows the end"
            if isinstance(event, Ended):
                self.ended.append(key)
                continue
            pieces = self.pieces[key]
            if isinstance(event, Gap):
                assert event.missing > 0
                pieces.append(event.missing)
            elif pieces and isinstance(pieces[-1], bytes):
                assert event.data
                pieces[-1] += event.data
            else:
                pieces.append(event.data)

    def said(self, connection: int = 0, from_client: bool = True) -> list[bytes | int]:
        return self.pieces[connection, from_client]


def told(segments: Iterable[Segment], finish: bool = True) -> Told:
    reassembler = streams.Reassembler()
    result = Told()
    for frame, segment in enumerate(segments, 1):
        result.take(reassembler.add(segment._replace(frame=frame, time_ns=frame * 1000)))
    if finish:
        result.take(reassembler.finish())
        assert not reassembler._flows
        assert not reassembler._idle
        assert reassembler._cost == 0
    return result


def cuts(text: bytes, places: Iterable[int]) -> list[tuple[int, bytes]]:
    """A text cut at these places, each part with its offset."""
    edges = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    return [(low, text[low:high]) for low, high in pairwise(edges)]


texts = st.binary(min_size=1, max_size=300)
places = st.lists(st.integers(0, 300), max_size=12)


@ORDER
@given(texts, places, places, starts, st.data())
def test_any_splitting_repeating_and_reordering_gives_the_same_bytes(
    text: bytes, once: list[int], again: list[int], start: int, data: st.DataObject
) -> None:
    segments = [client(start + at, part) for at, part in cuts(text, once) + cuts(text, again)]
    segments.append(client(start + len(text), flags=ACK | FIN))
    segments += data.draw(st.lists(st.sampled_from(segments), max_size=6))
    result = told([*handshake(start), *data.draw(st.permutations(segments))])
    assert result.said() == [text]
    assert result.ended == [(0, True)]


@ORDER
@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=4), places, starts, st.randoms())
def test_connections_and_directions_do_not_mix(
    talks: list[tuple[bytes, bytes]], where: list[int], start: int, random: object
) -> None:
    queues = []
    for number, (question, answer) in enumerate(talks):
        port = 50_000 + number
        queues.append(handshake(start, start + 7, port))
        there = start + 7
        queues.append([client(start + at, part, ack=there, port=port) for at, part in cuts(question, where)])
        queues.append([server(there + at, part, ack=start, port=port) for at, part in cuts(answer, where)])
    order = [segment for begin in queues[::3] for segment in begin]
    rest = [queue for at, queue in enumerate(queues) if at % 3]
    while rest := [queue for queue in rest if queue]:
        order.append(random.choice(rest).pop(0))  # type: ignore[attr-defined]
    result = told(order)
    for number, (question, answer) in enumerate(talks):
        assert result.said(number, True) == [question]
        assert result.said(number, False) == [answer]


@ORDER
@given(texts, places, starts, st.data())
def test_a_removed_segment_is_one_gap_of_its_size_at_its_place(
    text: bytes, where: list[int], start: int, data: st.DataObject
) -> None:
    parts = cuts(text, where)
    lost = data.draw(st.integers(0, len(parts) - 1))
    at, hole = parts.pop(lost)
    segments = [client(start + offset, part) for offset, part in parts]
    segments = data.draw(st.permutations(segments))
    acknowledged = data.draw(st.integers(0, LATE_SEGMENTS * 2))
    # Nobody says anything after the last byte, so only its acknowledgement tells that it was said.
    acks = [server(0, ack=start + len(text))] * (acknowledged + (at + len(hole) == len(text)))
    result = told([*handshake(start), *segments, *acks])
    before, after = text[:at], text[at + len(hole) :]
    assert result.said() == [piece for piece in (before, len(hole), after) if piece]
    if before or after:
        behind = [event for event in result.events if isinstance(event, Data)][-1]
        assert behind.frame <= len(segments) + 3, "bytes behind a hole have the frame that carried them"


@ORDER
@given(texts, places, starts, st.data())
def test_an_acknowledgement_a_little_before_its_data_is_no_gap(
    text: bytes, where: list[int], start: int, data: st.DataObject
) -> None:
    order = handshake(start)
    for at, part in cuts(text, where):
        both = [client(start + at, part), server(0, ack=start + at + len(part))]
        order += data.draw(st.permutations(both))
    swap = data.draw(st.integers(3, len(order) - 2)) if len(order) > 4 else 3
    order[swap : swap + 2] = reversed(order[swap : swap + 2])
    assert told(order).said() == [text]


addresses = st.sampled_from(["10.0.0.1", "10.0.0.2", "fe80::1"])
ports = st.sampled_from([2333, 6666, 50_000])
numbers = st.one_of(st.integers(0, 40), st.integers(0xFFFF_FFF0, 0xFFFF_FFFF), st.integers(0, 0xFFFF_FFFF))
strangers = st.builds(
    Segment, addresses, ports, addresses, ports, numbers, numbers, st.integers(0, 255),
    st.binary(max_size=20), st.just(0), st.just(0),
)  # fmt: skip


@settings(ORDER, max_examples=400)
@given(st.lists(strangers, max_size=120))
def test_no_segments_whatsoever_raise_or_pass_a_limit(segments: list[Segment]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streams, "HELD_BYTES_MAX", 60)
        patch.setattr(streams, "HELD_TOTAL_BYTES_MAX", 150)
        patch.setattr(streams, "SEGMENT_OVERHEAD_BYTES", 5)
        patch.setattr(streams, "CONNECTIONS_MAX", 3)
        reassembler = streams.Reassembler()
        result = Told()
        for segment in segments:
            result.take(reassembler.add(segment))
            flows = [flow for one in reassembler._idle.values() for flow in (one, one.other)]
            assert len(flows) <= 6
            assert len(reassembler._flows) <= 6
            assert all(flow.cost <= 60 for flow in flows)
            assert all(len(flow.held) == len(flow.heap) <= 12 for flow in flows)
            assert all(
                flow.cost == sum(len(held.payload) + 5 for held in flow.held.values()) for flow in flows
            )
            assert reassembler._cost == sum(flow.cost for flow in flows) <= 150
        result.take(reassembler.finish())
        carried = sum(len(segment.payload) for segment in segments)
        assert carried >= sum(len(event.data) for event in result.events if isinstance(event, Data))
        assert reassembler._cost == 0
        assert not reassembler._flows


def test_the_servers_ports_are_the_games() -> None:
    assert {load(name).port for name in ("tictactoe", "holdem", "connect4")} == SERVERS


def test_data_comes_out_with_the_segment_that_completed_it() -> None:
    result = told([*handshake(), client(5, b"fghij"), client(0, b"abcde"), client(10, b"k")])
    frames = [(event.data, event.frame, event.time_ns) for event in result.events if isinstance(event, Data)]
    assert frames == [(b"abcde", 5, 5000), (b"fghij", 5, 5000), (b"k", 6, 6000)]


def test_an_overlapping_repeat_adds_only_what_is_new() -> None:
    assert told([*handshake(), client(0, b"abc"), client(1, b"bcde"), client(0, b"abcdef")]).said() == [
        b"abcdef"
    ]


def test_a_longer_repeat_of_a_held_segment_takes_its_place() -> None:
    segments = [client(3, b"d"), client(3, b"def"), client(3, b"d"), client(0, b"abc")]
    assert told([*handshake(), *segments]).said() == [b"abcdef"]


def test_a_keep_alive_says_nothing() -> None:
    result = told([*handshake(), client(0, b"abc"), client(2), client(2, b"\0"), client(3, b"d")])
    assert result.said() == [b"abcd"]


def test_a_probe_of_a_closed_window_is_a_byte_that_is_sent_again() -> None:
    assert told([*handshake(), client(0, b"a"), client(0, b"a"), client(0, b"abc")]).said() == [b"abc"]


def test_a_syn_and_a_fin_may_carry_data() -> None:
    segments = [client(-1, b"abc", SYN), server(-1, b"", SYN | ACK, 3), client(3, b"def", FIN | ACK)]
    result = told([*segments, client(3, b"def", FIN | ACK)])
    assert result.said() == [b"abcdef"]
    assert result.ended == [(0, True)]


def test_a_fin_that_overtakes_waits_for_the_data() -> None:
    result = told([*handshake(), client(3, flags=FIN | ACK), client(0, b"abc")], finish=False)
    assert result.said() == [b"abc"]
    assert result.ended == [(0, True)]


def test_each_direction_ends_by_itself() -> None:
    segments = [client(0, flags=FIN | ACK), server(0, b"still here"), server(10, flags=FIN | ACK)]
    result = told([*handshake(), *segments])
    assert result.said(from_client=False) == [b"still here"]
    assert result.ended == [(0, True), (0, False)]


def test_a_reset_ends_both_and_gives_up_what_was_waited_for() -> None:
    segments = [client(0, b"abc"), server(5, b"fg"), client(3, flags=RST), server(0, b"abcde")]
    result = told([*handshake(), *segments], finish=False)
    assert result.said() == [b"abc"]
    assert result.said(from_client=False) == [5, b"fg"]
    assert result.ended == [(0, True), (0, False)]


def test_a_reset_far_off_is_a_strangers() -> None:
    result = told([*handshake(), client(0, b"abc"), client(1 << 31, flags=RST), client(3, b"d")])
    assert result.said() == [b"abcd"]
    assert result.ended == []


def test_a_refused_connection_ends() -> None:
    result = told([client(-1, flags=SYN), server(0, flags=RST | ACK, ack=0)])
    assert result.ended == [(0, False), (0, True)]


def test_a_port_used_again_is_another_connection() -> None:
    first = [*handshake(100, 200), client(100, b"one"), client(105, b"!")]
    second = [*handshake(9000, 9100), client(9000, b"two")]
    result = told([*first, *second])
    assert result.said(0) == [b"one", 2, b"!"]
    assert result.said(1) == [b"two"]


def test_a_repeated_or_late_syn_is_no_new_connection() -> None:
    syn, answer, _ = handshake(100, 200)
    assert told([syn, syn, answer, syn, answer, client(100, b"abc")]).said() == [b"abc"]
    assert told([answer, syn, client(100, b"abc")]).said() == [b"abc"]
    result = told([client(100, b"abc", ack=200), syn, answer, client(103, b"d")])
    assert result.said() == [b"abcd"]
    assert result.events[0].connection.client_known


@pytest.mark.parametrize("first", ["client", "server"])
def test_a_capture_that_begins_in_the_middle_guesses_the_client_by_the_ports(first: str) -> None:
    question, answer = client(500, b"abc", ack=900), server(900, b"xyz", ack=503)
    result = told([question, answer] if first == "client" else [answer._replace(ack=500), question])
    connection = result.events[0].connection
    assert (connection.client, connection.server) == (CLIENT, SERVER)
    assert not connection.client_known
    assert not connection.began(True)
    assert not connection.began(False)
    assert result.said(from_client=True) == [b"abc"]
    assert result.said(from_client=False) == [b"xyz"]


def test_between_unknown_ports_the_lower_is_the_servers() -> None:
    result = told([Segment("a", 80, "b", 40_000, 0, 0, ACK, b"x", 0, 0)])
    assert result.events[0].connection.server == ("a", 80)


def test_a_connection_seen_from_its_syn_began() -> None:
    connection = told([*handshake(), client(0, b"a")]).events[0].connection
    assert connection.client_known
    assert connection.began(True)
    assert connection.began(False)
    # A SYN+ACK tells where both begin.
    connection = told([handshake()[1], client(0, b"a")]).events[0].connection
    assert connection.began(True)
    assert connection.client == CLIENT


def test_a_keep_alive_first_of_all_starts_no_stream() -> None:
    assert told([client(499), client(500, b"abc")]).said() == [b"abc"]


def test_a_hole_is_given_up_once_it_is_acknowledged_and_some_segments_have_passed() -> None:
    reassembler = streams.Reassembler()
    result = Told()
    for segment in [*handshake(), client(5, b"fgh", frame=4)]:
        result.take(reassembler.add(segment))
    for _ in range(LATE_SEGMENTS):
        result.take(reassembler.add(server(0, ack=8)))
        assert result.said() == []
    result.take(reassembler.add(server(0, ack=8)))
    assert result.said() == [5, b"fgh"]
    assert {event.frame for event in result.events} == {4}


def test_a_hole_that_nobody_acknowledged_may_still_be_filled() -> None:
    late = [server(0, ack=0)] * (LATE_SEGMENTS + 9)
    assert told([*handshake(), client(5, b"fgh"), *late, client(0, b"abcde")]).said() == [b"abcdefgh"]


def test_what_follows_an_acknowledged_hole_counts_as_well_as_acknowledgements() -> None:
    more = [client(5 + number, b"x") for number in range(LATE_SEGMENTS + 1)]
    result = told([*handshake(), more[0], server(0, ack=6), *more[1:]], finish=False)
    assert result.said() == [5, b"x" * len(more)]


def test_a_hole_of_which_a_part_was_acknowledged_may_still_be_filled() -> None:
    acks = [server(0, ack=3)] * (LATE_SEGMENTS + 9)
    assert told([*handshake(), client(5, b"fgh"), *acks, client(0, b"abcde")]).said() == [b"abcdefgh"]


def test_each_hole_is_waited_for_anew() -> None:
    holes = [client(2, b"c"), client(5, b"f")]
    acks = [server(0, ack=6)] * (LATE_SEGMENTS + 2)
    result = told([*handshake(), *holes, *acks, client(3, b"de")])
    assert result.said() == [2, b"cdef"]


def test_an_old_acknowledgement_takes_nothing_back() -> None:
    result = told([*handshake(), client(0, b"abc"), server(0, ack=10), server(0, ack=5)])
    assert result.said() == [b"abc", 7]


@pytest.mark.parametrize("fins", [(3, 10), (10, 3)])
def test_of_two_fins_the_earlier_counts(fins: tuple[int, int]) -> None:
    ends = [client(at, flags=FIN | ACK) for at in fins]
    result = told([*handshake(), *ends, client(0, b"abc")], finish=False)
    assert result.ended == [(0, True)]


def test_a_missing_end_is_told_by_its_acknowledgement() -> None:
    result = told([*handshake(), client(0, b"abc"), server(0, ack=10)])
    assert result.said() == [b"abc", 7]


def test_what_was_missing_before_a_fin_is_told() -> None:
    result = told([*handshake(), client(0, b"abc"), client(10, flags=FIN | ACK)])
    assert result.said() == [b"abc", 7]
    assert result.ended == [(0, True)]


def test_too_much_behind_a_hole_gives_the_hole_up() -> None:
    part = bytes(64_000)
    count = streams.HELD_BYTES_MAX // len(part) + 1
    segments = [client(10 + number * len(part), part) for number in range(count)]
    result = told([*handshake(), *segments], finish=False)
    assert result.said()[0] == 10
    assert sum(len(piece) for piece in result.said()[1:] if isinstance(piece, bytes)) > 4_000_000


def test_much_behind_many_holes_gives_holes_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "HELD_TOTAL_BYTES_MAX", 3 * (streams.SEGMENT_OVERHEAD_BYTES + 1))
    segments = [segment for port in range(5) for segment in handshake(port=port)]
    result = told([*segments, *(client(4, b"e", port=port) for port in range(5))], finish=False)
    assert [result.said(number) for number in range(5)] == [[], [], [], [4, b"e"], [4, b"e"]]


def test_the_longest_idle_connection_is_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "CONNECTIONS_MAX", 2)
    segments = [
        client(0, b"a", port=1),
        client(2, b"c", port=1),
        client(0, b"a", port=2),
        client(1, b"b", port=1),
        client(2, b"c", port=2),
        client(3, b"d", port=1),
        client(0, b"a", port=3),  # 2 goes
        client(4, b"e", port=1),
    ]
    result = told(segments, finish=False)
    assert result.said(0) == [b"abcde"]
    assert result.said(1) == [b"a", 1, b"c"]
    assert result.said(2) == [b"a"]


def test_a_segment_between_an_address_and_itself_does_no_harm() -> None:
    same = ("a", 1, "a", 1)
    segments = [Segment(*same, 0, 0, flags, b"x", 0, 0) for flags in (SYN, SYN | ACK, ACK, FIN, RST)]
    told([*segments, *segments])
