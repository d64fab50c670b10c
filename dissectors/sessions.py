"""Whole messages out of a capture for Scapy: `sniff(offline="run.pcapng", session=GameSession)`.

Scapy's own TCPSession glues a stream together over a segment that the capture lost, and decodes what
comes out. GameSession stands on our Reassembler: each message is one packet, with the headers of the
segment that completed it, and where bytes are missing it says so:

    Ether / IP / TCP / gap: 512 bytes were never captured
    Ether / IP / TCP / unread: 37 bytes, the end of a message

A layer takes part by the classmethod that TCPSession asks for, and may have two more:

    tcp_reassemble(data, metadata, session)
        the first message of `data`, the rest as Padding; None while it is not whole (see Scapy's docs);
        metadata["original"] is the packet that brought the last of it, metadata["tcp_end"] that none follows
    tcp_resync(pending, missing, from_client, session)
        `missing` bytes are lost after `pending`: how many bytes more until a message begins, or None
    tcp_begins(data)
        whether a message may begin here; asked at the start of each segment while nobody knows

A layer without the two is not read on behind a gap.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scapy.error import log_runtime
from scapy.fields import StrField
from scapy.layers.inet import IP, TCP
from scapy.layers.inet6 import IPv6
from scapy.packet import Packet, Padding
from scapy.sessions import IPSession

from dissectors.malformed import NoteField
from dissectors.streams import SERVERS, Connection, Data, Gap, Reassembler, Segment

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from scapy.supersocket import SuperSocket

    from dissectors.streams import Endpoint, Event

# Hold'em's messages are the longest: 1 MiB.
PENDING_BYTES_MAX = 2 << 20
# Headers of segments that have yet to be delivered.
HEADERS_MAX = 4096


class StreamGap(Packet):
    """Bytes of this direction are not in the capture."""

    name = "StreamGap"
    fields_desc = [NoteField("missing", 0)]

    def mysummary(self) -> Any:
        return f"gap: {_bytes(self.missing)} never captured", [TCP]


class Unread(Packet):
    """Bytes that belong to a message which is not wholly there."""

    name = "Unread"
    fields_desc = [NoteField("why", ""), StrField("load", b"")]

    def mysummary(self) -> Any:
        return f"unread: {_bytes(len(self.load))}, {self.why}", [TCP]


def _bytes(number: int) -> str:
    return "1 byte" if number == 1 else f"{number} bytes"


@dataclass(slots=True)
class _Side:
    """One direction: what is not yet a message, and how much of what follows is none."""

    synchronised: bool
    pending: bytes = b""
    parts: list[bytes] = field(default_factory=list)  # come after `pending`, not joined before needed
    size: int = 0
    skip: int = 0
    metadata: dict[str, Any] = field(default_factory=dict)

    def joined(self) -> bytes:
        if self.parts:
            self.pending = b"".join((self.pending, *self.parts))
            self.parts.clear()
        return self.pending

    def keep(self, rest: bytes) -> None:
        self.pending, self.size = rest, len(rest)
        self.parts.clear()


@dataclass(slots=True)
class _Stream:
    layer: type[Packet]
    sides: tuple[_Side, _Side]  # the server's, the client's
    session: dict[str, Any] = field(default_factory=dict)


class GameSession(IPSession):
    """Messages of all stream games, several connections at once. Other packets pass as they are."""

    def __init__(self, *args: Any, servers: Collection[int] = SERVERS, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._reassembler = Reassembler(servers)
        self._streams: WeakKeyDictionary[Connection, _Stream] = WeakKeyDictionary()
        self._headers: OrderedDict[int, Packet] = OrderedDict()
        self._frame = 0

    def recv(self, sock: SuperSocket) -> Iterator[Packet]:
        """Yield what the next packet completes; at the end of a file what is still held."""
        try:
            packet = sock.recv(stop_dissection_after=TCP)
        except EOFError:
            yield from self.finish()
            raise
        if packet is None:
            return
        try:
            yield from self.messages(packet)
        except Exception as error:  # a layer somebody bound to one of these ports
            log_runtime.warning("GameSession: %s in packet %d; it stays as it is.", error, self._frame)
            yield packet

    def messages(self, packet: Packet) -> list[Packet]:
        """Take the next packet of a capture; return the messages that are now whole."""
        whole = self.process(packet)
        if whole is None or TCP not in whole:
            return [] if whole is None else [whole]
        packet, tcp = whole, whole[TCP]
        self._frame += 1
        payload = b"" if isinstance(tcp.payload, Padding) else bytes(tcp.payload)
        layer = tcp.guess_payload_class(payload)
        if not hasattr(layer, "tcp_reassemble"):
            if payload:
                tcp.remove_payload()
                tcp.stop_dissection_after = None
                tcp.do_dissect_payload(payload)
            return [packet]
        header = _header(packet)
        self._headers[self._frame] = header
        found = self._read(self._reassembler.add(self._segment(header, payload)))
        if len(self._headers) > HEADERS_MAX:
            self._headers.popitem(last=False)
        return found if payload else [packet, *found]

    def finish(self) -> list[Packet]:
        """What is held behind holes, and that there are holes. `sniff` asks at the end of a file."""
        return self._read(self._reassembler.finish())

    def _segment(self, header: Packet, payload: bytes) -> Segment:
        tcp = header[TCP]
        ip = tcp.underlayer
        dst = ip.dst if isinstance(ip, IP | IPv6) else ""
        return Segment(
            *_source(header), dst, tcp.dport, tcp.seq, tcp.ack, int(tcp.flags), payload, self._frame,
            int(header.time * 1_000_000_000),
        )  # fmt: skip

    def _read(self, events: list[Event]) -> list[Packet]:
        found: list[Packet] = []
        for event in events:
            header = self._headers.get(event.frame)
            if header is None or _source(header) != _ends(event)[0]:
                header = _made(event)
            stream = self._streams.get(event.connection)
            if stream is None:
                layer = header[TCP].guess_payload_class(b"")
                began = event.connection
                stream = _Stream(layer, (_Side(began.server_began), _Side(began.client_began)))
                self._streams[event.connection] = stream
            side = stream.sides[event.from_client]
            if isinstance(event, Data):
                messages = list(_feed(stream, side, event.data, header))
            elif isinstance(event, Gap):
                messages = list(_lost(stream, side, event.missing, event.from_client))
            else:
                messages = list(_ended(stream, side, header))
            for message in messages:
                found.append(header / message)
                found[-1].time = event.time_ns / 1_000_000_000
        for event in events:
            self._headers.pop(event.frame, None)
        return found


def _header(packet: Packet) -> Packet:
    """A copy without the payload. Lengths and checksums are computed again for what is put there."""
    header = packet.copy()
    header[TCP].remove_payload()
    header[TCP].chksum = None
    if IP in header:
        header[IP].len = header[IP].chksum = None
    elif IPv6 in header:
        header[IPv6].plen = None
    header.wirelen = None
    return header


def _source(header: Packet) -> Endpoint:
    ip = header[TCP].underlayer
    return ip.src if isinstance(ip, IP | IPv6) else "", header[TCP].sport


def _ends(event: Event) -> tuple[Endpoint, Endpoint]:
    client, server = event.connection.client, event.connection.server
    return (client, server) if event.from_client else (server, client)


def _made(event: Event) -> Packet:
    """Headers for what no segment of its direction tells: that its end is missing."""
    (src, sport), (dst, dport) = _ends(event)
    network = IPv6 if ":" in src else IP
    return network(src=src or None, dst=dst or None) / TCP(sport=sport, dport=dport)


def _feed(stream: _Stream, side: _Side, data: bytes, header: Packet) -> Iterator[Packet]:
    if side.skip:
        skipped, data = data[: side.skip], data[side.skip :]
        side.skip -= len(skipped)
        yield _unread("the end of a message", skipped)
    if not side.synchronised:
        begins = getattr(stream.layer, "tcp_begins", None)
        if begins is None or not begins(data):
            if data:
                yield _unread("and where a message begins is not known", data)
            return
        side.synchronised = True
    side.parts.append(data)
    side.size += len(data)
    yield from _whole(stream, side, header)
    if side.size > PENDING_BYTES_MAX:
        yield _unread("which is too much for one message", side.joined())
        side.keep(b"")
        side.synchronised = False


def _whole(stream: _Stream, side: _Side, header: Packet) -> Iterator[Packet]:
    while side.size and side.size >= side.metadata.get("tcp_min_len", 0):
        side.metadata.pop("tcp_min_len", None)
        side.metadata["original"] = header
        message = stream.layer.tcp_reassemble(side.joined(), side.metadata, stream.session)
        if message is None:
            return
        side.metadata.clear()
        padding = message.getlayer(Padding)
        if padding is not None and padding.underlayer is not None:
            padding.underlayer.remove_payload()
        rest = b"" if padding is None else padding.load
        yield message
        if len(rest) >= side.size:  # a layer that takes nothing would be asked for ever
            rest = b""
        side.keep(rest)


def _lost(stream: _Stream, side: _Side, missing: int, from_client: bool) -> Iterator[Packet]:
    pending = side.joined()
    if pending:
        yield _unread("the beginning of a message", pending)
    side.keep(b"")
    side.metadata.clear()
    yield StreamGap(missing=missing)
    if side.skip >= missing:
        side.skip -= missing
        return
    resync = getattr(stream.layer, "tcp_resync", None)
    skip = None
    if resync is not None and side.synchronised:
        skip = resync(pending, missing - side.skip, from_client, stream.session)
    side.synchronised = skip is not None
    side.skip = skip or 0


def _ended(stream: _Stream, side: _Side, header: Packet) -> Iterator[Packet]:
    if pending := side.joined():
        metadata = {**side.metadata, "original": header, "tcp_end": True}
        message = stream.layer.tcp_reassemble(pending, metadata, stream.session)
        yield message or _unread("and then the connection ended", pending)
        side.keep(b"")


def _unread(why: str, data: bytes) -> Unread:
    return Unread(why=why, load=data)
