"""TCP streams put together again from a capture: what each side said, and where a piece of it is missing.

    reassembler = Reassembler()
    for segment in segments:                  in the order of the capture
        for event in reassembler.add(segment):
            Data   bytes of one direction, in order, each once
            Gap    bytes of one direction that were never captured
            Ended  nothing more comes from that side
    reassembler.finish()                      what is still held, and what is missing before it

An observer sees what the two ends need not see: a segment they exchanged and the capture lost. It is
never sent again, so waiting for it would be waiting for ever. A hole is given up as a Gap when the
other side has acknowledged it and still LATE_SEGMENTS later it has not turned up, when more is held
than the limits allow, and at the end. Bytes are never glued together over it.

Where two copies of the same bytes differ, the copy that could be delivered first counts.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection

FIN, SYN, RST, ACK = 0x01, 0x02, 0x04, 0x10

# Tic-tac-toe, hold'em, Connect Four: whose port it is tells the server where no SYN was seen.
SERVERS = frozenset({6666, 2333, 3000})

SEQ_MASK = 0xFFFF_FFFF
# RFC 7323: no window is larger. A segment farther off is of no use here.
WINDOW_MAX = 1 << 30
# In a capture of several links an acknowledgement may stand before what it acknowledges.
LATE_SEGMENTS = 8

CONNECTIONS_MAX = 4096
# What waits behind a hole, in one direction and in all. A held segment costs its bytes and about this.
HELD_BYTES_MAX = 4 << 20
HELD_TOTAL_BYTES_MAX = 64 << 20
SEGMENT_OVERHEAD_BYTES = 512

Endpoint = tuple[str, int]


class Segment(NamedTuple):
    src: str
    sport: int
    dst: str
    dport: int
    seq: int
    ack: int
    flags: int
    payload: bytes
    frame: int
    time_ns: int


@dataclass(slots=True, eq=False, weakref_slot=True)
class Connection:
    """Two ends. Without a SYN who the client is was guessed: not the side with the well-known port."""

    number: int  # counts from 0 in order of appearance
    client: Endpoint
    server: Endpoint
    client_known: bool
    client_began: bool = False  # the first byte of the direction is in the capture, or in a Gap
    server_began: bool = False

    def began(self, from_client: bool) -> bool:
        """Whether the direction is seen from its first byte, not from somewhere in a message."""
        return self.client_began if from_client else self.server_began


@dataclass(slots=True)
class Data:
    """Bytes in order. `frame` completed them; after a Gap it is the one that carried them."""

    connection: Connection
    from_client: bool
    data: bytes
    frame: int
    time_ns: int


@dataclass(slots=True)
class Gap:
    """Bytes that were never captured. `frame` is the first known one behind the hole.

    Nothing of this direction can be trusted before its reader finds the start of a message again.
    """

    connection: Connection
    from_client: bool
    missing: int
    frame: int
    time_ns: int


@dataclass(slots=True)
class Ended:
    """The FIN of this direction, or a RST, which ends both. No more Data of it follows."""

    connection: Connection
    from_client: bool
    frame: int
    time_ns: int


Event = Data | Gap | Ended


class _Held(NamedTuple):
    payload: bytes
    frame: int
    time_ns: int


class _Flow:
    """One direction. Positions are sequence numbers that do not wrap."""

    __slots__ = (
        "acked", "acked_frame", "acked_time_ns", "connection", "cost", "ended", "fin", "fin_frame",
        "fin_time_ns", "from_client", "heap", "held", "late", "next", "other", "start",
    )  # fmt: skip
    other: _Flow

    def __init__(self, connection: Connection, from_client: bool) -> None:
        self.connection = connection
        self.from_client = from_client
        self.start: int | None = None  # the position of the first byte
        self.next = 0  # of the next byte in order; of no meaning without a start
        self.held: dict[int, _Held] = {}  # behind a hole, by position
        self.heap: list[int] = []  # their positions
        self.cost = 0
        self.acked = 0  # as far as the other side has it, if that is beyond `next`
        self.acked_frame = self.acked_time_ns = 0
        self.late = 0  # segments since the hole was acknowledged
        self.fin: int | None = None
        self.fin_frame = self.fin_time_ns = 0
        self.ended = False

    def begin(self, seq: int) -> None:
        self.start = self.next = self.acked = seq & SEQ_MASK

    def behind_hole(self) -> int | None:
        """Where the first thing that waits begins."""
        if self.heap:
            return self.heap[0]
        return self.fin


class Reassembler:
    """All connections of a capture. Time and memory are linear in what it is fed; see the limits above."""

    def __init__(self, servers: Collection[int] = SERVERS) -> None:
        self._servers = servers
        self._flows: dict[tuple[str | int, ...], _Flow] = {}
        self._idle: OrderedDict[int, _Flow] = OrderedDict()  # each connection's client, longest idle first
        self._cost = 0
        self._connections = 0
        self.strays = 0  # segments of no use: too far off

    def add(self, segment: Segment) -> list[Event]:
        """Take the next segment of the capture; return what is now known."""
        _, _, _, _, seq, ack, flags, payload, frame, time_ns = segment
        events: list[Event] = []
        flow = self._flows.get(segment[:4])
        if flow is None or flags & SYN:
            flow = self._open(segment, flow, events)
            if flags & SYN:
                seq += 1
        end = seq + len(payload)
        self._idle.move_to_end(flow.connection.number)
        if flags & ACK:
            other = flow.other
            if other.start is None:
                other.begin(ack)
            elif 0 < (ahead := (ack - other.next) & SEQ_MASK) < WINDOW_MAX and not other.ended:
                self._acknowledged(other, other.next + ahead, segment, events)
        if flow.ended:
            return events
        if payload:
            if flow.start is None:
                flow.begin(seq)
            ahead = (seq - flow.next) & SEQ_MASK
            if ahead == 0:
                flow.next += len(payload)
                events.append(Data(flow.connection, flow.from_client, payload, frame, time_ns))
                if flow.heap or flow.fin is not None:
                    self._release(flow, events, segment)
            elif ahead < WINDOW_MAX:
                self._hold(flow, flow.next + ahead, segment, events)
            elif (known := SEQ_MASK + 1 - ahead) < len(payload):
                # Some of it came before; a keep-alive repeats one byte, a retransmission more.
                payload = payload[known:]
                flow.next += len(payload)
                events.append(Data(flow.connection, flow.from_client, payload, frame, time_ns))
                self._release(flow, events, segment)
            elif known > WINDOW_MAX:
                self.strays += 1
        if flags & (FIN | RST) and not flow.ended:
            self._end(flow, end, segment, events)
        return events

    def finish(self) -> list[Event]:
        """The capture is over: give up all holes, deliver what is behind them, forget everything."""
        events: list[Event] = []
        for client in list(self._idle.values()):
            self._forget(client, events)
        return events

    def _open(self, segment: Segment, flow: _Flow | None, events: list[Event]) -> _Flow:
        """The flow of a segment that begins one, or may."""
        src, sport, dst, dport, seq, _, flags, *_ = segment
        from_client = not flags & ACK if flags & SYN else self._is_client(sport, dport)
        if flow is not None:
            if flow.start is None or (flow.start == (seq + 1) & SEQ_MASK and flow.from_client == from_client):
                # The second half of the handshake, or the first again, or captured late.
                self._begun(flow, segment)
                return flow
            # A port is used again.
            self._forget(flow if flow.from_client else flow.other, events)
        here, there = (src, sport), (dst, dport)
        client, server = (here, there) if from_client else (there, here)
        connection = Connection(self._connections, client, server, bool(flags & SYN))
        self._connections += 1
        if len(self._idle) >= CONNECTIONS_MAX:
            self._forget(next(iter(self._idle.values())), events)
        flow, other = _Flow(connection, from_client), _Flow(connection, not from_client)
        flow.other, other.other = other, flow
        self._flows[src, sport, dst, dport] = flow
        self._flows[dst, dport, src, sport] = other
        self._idle[connection.number] = flow if from_client else other
        if flags & SYN:
            self._begun(flow, segment)
        return flow

    def _begun(self, flow: _Flow, segment: Segment) -> None:
        if flow.start is None:
            flow.begin(segment.seq + 1)
        flow.connection.client_known = True
        if flow.from_client:
            flow.connection.client_began = True
        else:
            flow.connection.server_began = True
            # A SYN+ACK acknowledges the client's SYN, so it tells where the client begins.
            flow.connection.client_began = flow.connection.client_began or flow.other.start is None

    def _is_client(self, sport: int, dport: int) -> bool:
        """Guess from the ports: a server has a known one, or the lower."""
        known, peer_known = sport in self._servers, dport in self._servers
        return peer_known if known != peer_known else sport > dport

    def _hold(self, flow: _Flow, position: int, segment: Segment, events: list[Event]) -> None:
        payload = segment.payload
        kept = flow.held.get(position)
        if kept is None:
            heappush(flow.heap, position)
            cost = len(payload) + SEGMENT_OVERHEAD_BYTES
        else:
            cost = len(payload) - len(kept.payload)
        if kept is None or cost > 0:
            flow.held[position] = _Held(payload, segment.frame, segment.time_ns)
            flow.cost += cost
            self._cost += cost
            while flow.cost > HELD_BYTES_MAX or (flow.heap and self._cost > HELD_TOTAL_BYTES_MAX):
                self._skip(flow, events)
        if flow.heap and flow.acked >= flow.heap[0]:
            self._wait(flow, events)

    def _acknowledged(self, flow: _Flow, position: int, segment: Segment, events: list[Event]) -> None:
        """The other side has more of this direction than the capture does."""
        if position > flow.acked:
            flow.acked, flow.acked_frame, flow.acked_time_ns = position, segment.frame, segment.time_ns
        waiting = flow.behind_hole()
        if waiting is not None and flow.acked >= waiting:
            self._wait(flow, events)

    def _wait(self, flow: _Flow, events: list[Event]) -> None:
        flow.late += 1
        if flow.late > LATE_SEGMENTS:
            self._skip(flow, events)

    def _skip(self, flow: _Flow, events: list[Event]) -> None:
        """Give up the first hole, and deliver what is behind it up to the next."""
        if flow.heap:
            position = flow.heap[0]
            _, frame, time_ns = flow.held[position]
        else:
            assert flow.fin is not None
            position, frame, time_ns = flow.fin, flow.fin_frame, flow.fin_time_ns
        missing = position - flow.next
        events.append(Gap(flow.connection, flow.from_client, missing, frame, time_ns))
        flow.next = position
        self._release(flow, events, None)

    def _release(self, flow: _Flow, events: list[Event], completing: Segment | None) -> None:
        """Deliver what was held and is in order now."""
        flow.late = 0
        while flow.heap and flow.heap[0] <= flow.next:
            position = heappop(flow.heap)
            payload, frame, time_ns = flow.held.pop(position)
            cost = len(payload) + SEGMENT_OVERHEAD_BYTES
            flow.cost -= cost
            self._cost -= cost
            if position + len(payload) > flow.next:
                if completing is not None:
                    frame, time_ns = completing.frame, completing.time_ns
                payload = payload[flow.next - position :]
                flow.next += len(payload)
                events.append(Data(flow.connection, flow.from_client, payload, frame, time_ns))
        if flow.fin is not None and flow.next >= flow.fin and not flow.ended:
            self._close(flow, events, flow.fin_frame, flow.fin_time_ns)

    def _end(self, flow: _Flow, seq: int, segment: Segment, events: list[Event]) -> None:
        """A FIN or a RST came; `seq` is where it stands."""
        if flow.start is None:
            flow.begin(seq)
        ahead = (seq - flow.next) & SEQ_MASK
        if ahead >= WINDOW_MAX:
            self.strays += 1
        elif segment.flags & RST:
            for side in (flow, flow.other):
                if not side.ended:
                    self._give_up(side, events)
                if not side.ended:
                    self._close(side, events, segment.frame, segment.time_ns)
        elif flow.fin is None or flow.next + ahead < flow.fin:
            flow.fin, flow.fin_frame, flow.fin_time_ns = flow.next + ahead, segment.frame, segment.time_ns
            self._release(flow, events, segment)

    def _close(self, flow: _Flow, events: list[Event], frame: int, time_ns: int) -> None:
        flow.ended = True
        self._cost -= flow.cost
        flow.cost = 0
        flow.held.clear()
        flow.heap.clear()
        events.append(Ended(flow.connection, flow.from_client, frame, time_ns))

    def _give_up(self, flow: _Flow, events: list[Event]) -> None:
        """Nothing more comes: give up every hole, also one with nothing behind it but an acknowledgement."""
        while not flow.ended and flow.behind_hole() is not None:
            self._skip(flow, events)
        if not flow.ended and (missing := flow.acked - flow.next) > 0:
            flow.next = flow.acked
            events.append(
                Gap(flow.connection, flow.from_client, missing, flow.acked_frame, flow.acked_time_ns)
            )

    def _forget(self, client: _Flow, events: list[Event]) -> None:
        for flow in (client, client.other):
            self._give_up(flow, events)
            self._cost -= flow.cost
        connection = client.connection
        del self._idle[connection.number]
        # Both are the same where a hostile segment has the same address at both ends.
        self._flows.pop(connection.client + connection.server, None)
        self._flows.pop(connection.server + connection.client, None)
