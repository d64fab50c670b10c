# scapy.contrib.description = WebSocket (RFC 6455) with permessage-deflate (RFC 7692)
# scapy.contrib.status = loads

"""WebSocket: the upgrade and the frames as Scapy layers.

  frame   0               1               2               3
         +-+-+-+-+-------+-+-------------+-------------------------------+
         |F|R|R|R| opcode|M| length      | length16, if length is 126    |
         |I|S|S|S|       |A|             | length64, if length is 127    |
         |N|V|V|V|       |S|             |                               |
         | |1|2|3|       |K|             |                               |
         +-+-+-+-+-------+-+-------------+-------------------------------+
         | key, if mask is 1                                             |
         +---------------------------------------------------------------+
         | payload: masked on the wire, shown and set without its mask   |
         +---------------------------------------------------------------+

    WebSocket(mask=1, key=0x37FA213D) / PlayMove(move=3)

`length` left alone becomes the shortest form that holds the payload; any form may be set:
`WebSocket(length=127, length64=5)`. WebSocket(bytes) is an UpgradeRequest or UpgradeResponse where
the bytes begin one. What is too short for a header is Malformed; a payload that goes on in the next
segment is Raw.

One frame alone cannot tell what a fragmented or compressed message says. Packets reads a connection
from its upgrade on, and hangs the whole message under its last frame, in a WebSocketMessage layer.
"""

from __future__ import annotations

from typing import Any

from scapy.fields import (
    BitEnumField,
    BitField,
    ConditionalField,
    LongField,
    ShortEnumField,
    ShortField,
    StrField,
    XIntField,
)
from scapy.layers.inet import TCP
from scapy.packet import Packet, Padding, Raw, bind_bottom_up, bind_layers

from dissectors.frames import (
    CONTROL_MAX,
    OPCODES,
    Binary,
    Broken,
    Event,
    Frame,
    Opcode,
    Text,
    Upgrade,
    unmask,
)
from dissectors.handshake import BLANK_LINE, begins_head
from dissectors.malformed import Malformed, NoteField, malformed
from dissectors.observer import Observer
from dissectors.upgrade import PORT, UpgradeRequest, UpgradeResponse, faults, head_fault, remarks

__all__ = [
    "Binary", "Broken", "Event", "Frame", "Observer", "Opcode", "Packets", "Text",
    "Upgrade", "UpgradeRequest", "UpgradeResponse", "WebSocket",
    "WebSocketClose", "WebSocketMessage",
]  # fmt: skip

# RFC 6455, 7.4.1, and the registry it opened.
CLOSE_CODES = {
    1000: "normal closure",
    1001: "going away",
    1002: "protocol error",
    1003: "unsupported data",
    1005: "no status",
    1006: "abnormal closure",
    1007: "invalid data",
    1008: "policy violation",
    1009: "message too big",
    1010: "mandatory extension",
    1011: "internal error",
    1012: "service restart",
    1013: "try again later",
    1014: "bad gateway",
    1015: "TLS handshake",
}


class _Unreadable(Malformed):
    """No header of a frame, and no head of an upgrade."""

    def do_dissect(self, s: bytes) -> bytes:
        rest: bytes = super().do_dissect(s)
        self.fields["check"] = head_fault(s) or "websocket/5.2.header"
        return rest


class WebSocket(Packet):
    name = "WebSocket"
    fields_desc = [
        BitField("fin", 1, 1),
        BitField("rsv1", 0, 1),
        BitField("rsv2", 0, 1),
        BitField("rsv3", 0, 1),
        BitEnumField("opcode", Opcode.TEXT.value, 4, OPCODES),
        BitField("mask", 0, 1),
        BitField("length", None, 7),
        ConditionalField(ShortField("length16", None), lambda pkt: pkt.length == 126),
        ConditionalField(LongField("length64", None), lambda pkt: pkt.length == 127),  # type: ignore[arg-type] # None: computed
        ConditionalField(XIntField("key", 0), lambda pkt: pkt.mask),
        faults(),
    ]

    @classmethod
    def dispatch_hook(cls, _pkt: bytes = b"", *_args: Any, **_kargs: Any) -> type[Packet]:
        if not _pkt:
            return cls
        if begins_head(_pkt):
            if head_fault(_pkt) is not None:
                return _Unreadable
            return UpgradeResponse if _pkt.startswith(b"HTTP/") else UpgradeRequest
        return cls if _header_size(_pkt) is not None else _Unreadable

    @classmethod
    def tcp_reassemble(cls, data: bytes, metadata: dict[str, Any], session: dict[str, Any]) -> Packet | None:
        """For GameSession, and Scapy's TCPSession: one head or frame at a time, once it is whole."""
        if begins_head(data):
            size = data.find(BLANK_LINE) + len(BLANK_LINE)
            if size < len(BLANK_LINE):
                return None
        else:
            size = _frame_size(data)
            if size > len(data):
                metadata["tcp_min_len"] = size
                return None
        found = _packets(session).feed(_from_client(data, metadata, session), data[:size])
        packet = next((one for one in found if not isinstance(one, Malformed)), None) or cls(data[:size])
        if len(data) > size:
            packet.lastlayer().add_payload(Padding(data[size:]))
        return packet

    @classmethod
    def tcp_begins(cls, data: bytes) -> bool:
        """Whether this segment is made of whole frames: so are nearly all, and hardly anything else is."""
        at = 0
        while at < len(data):
            size = _frame_size(data[at : at + 14])
            if not _is_likely(data[at : at + 14]) or at + size > len(data):
                return False
            at += size
        return True

    @classmethod
    def tcp_resync(cls, _pending: bytes, _missing: int, from_client: bool, session: dict[str, Any]) -> None:
        """A fragment or a compressed message may have been lost: frames are shown alone from here on."""
        _packets(session).lost(from_client)

    @property
    def payload_size(self) -> int | None:
        """What the header says; None: it says what the payload turns out to be."""
        form = {126: "length16", 127: "length64"}.get(self.length)
        size: int | None = self.getfieldval(form) if form else self.length
        return size

    def extract_padding(self, s: bytes) -> tuple[bytes, bytes | None]:
        size = self.payload_size or 0
        body = s[:size]
        return (unmask(body, self._key()) if self.mask else body), s[size:] or None

    def guess_payload_class(self, payload: bytes) -> type[Packet]:
        if len(payload) < (self.payload_size or 0) or (self.opcode == Opcode.CLOSE and len(payload) < 2):
            return Raw
        guessed: type[Packet] = super().guess_payload_class(payload)
        return guessed

    def do_build_payload(self) -> bytes:
        built: bytes = super().do_build_payload()
        return unmask(built, self._key()) if self.mask else built

    def post_build(self, pkt: bytes, pay: bytes) -> bytes:
        size = len(pay)
        form = self.length
        if form is None:
            form = size if size <= 125 else 126 if size <= 0xFFFF else 127
        header = bytes([pkt[0], self.mask << 7 | form])
        if form == 126:
            header += min(_or(self.length16, size), 0xFFFF).to_bytes(2, "big")
        elif form == 127:
            header += _or(self.length64, size).to_bytes(8, "big")
        return header + (self._key() if self.mask else b"") + pay

    def _key(self) -> bytes:
        key: int = self.key or 0
        return key.to_bytes(4, "big")

    def hashret(self) -> bytes:
        hashed: bytes = self.payload.hashret()
        return hashed

    def answers(self, other: Packet) -> int:
        """A pong answers its ping, a close a close; a message what it itself says it answers."""
        if not isinstance(other, WebSocket):
            return 0
        if other.opcode == Opcode.PING:
            return int(self.opcode == Opcode.PONG and bytes(self.payload) == bytes(other.payload))
        if other.opcode == Opcode.CLOSE:
            return int(self.opcode == Opcode.CLOSE)
        answered: int = self.payload.answers(other.payload)
        return answered

    def mysummary(self) -> str:
        name = OPCODES.get(self.opcode, f"reserved {self.opcode:#x}")
        marks = [word for word, on in (("fragment", not self.fin), ("compressed", self.rsv1)) if on]
        size = self.payload_size
        shown = f"{len(self.payload) if size is None else size} bytes"
        return f"WebSocket {name} ({', '.join([*marks, shown])})" + remarks(self)


class WebSocketClose(Packet):
    """The payload of a close frame (5.5.1)."""

    name = "WebSocket close"
    fields_desc = [ShortEnumField("code", 1000, CLOSE_CODES), StrField("reason", b"")]

    def mysummary(self) -> str:
        reason = self.reason.decode("utf-8", "replace")
        return f"{self.code} {CLOSE_CODES.get(self.code, '')}".rstrip() + (f": {reason}" if reason else "")


class WebSocketMessage(Packet):
    """The last frame's own bytes as they are on the wire; under it, what the whole message says."""

    name = "WebSocket message"
    fields_desc = [
        NoteField("frames", 1),
        NoteField("compressed", False),
        StrField("load", b""),
    ]

    def do_build_payload(self) -> bytes:
        return b""

    def mysummary(self) -> str:
        return f"message of {self.frames} frames" + (", inflated" if self.compressed else "")


class Packets:
    """One connection, both directions, as Scapy layers: an Observer's events in their order.

    Each packet is an UpgradeRequest, an UpgradeResponse or a WebSocket frame, with the message it
    ends under it and the clauses it breaks in `faults`; or Malformed, where there is no such packet.
    """

    def __init__(self) -> None:
        self.observer = Observer()
        # What the layers above remember of this connection: who plays at its other end.
        self._memory: dict[str, str] = {}

    def feed(self, from_client: bool, data: bytes) -> list[Packet]:
        """Take the next bytes of one direction; return the packets they complete."""
        return self._packets(self.observer.feed(from_client, data))

    def lost(self, from_client: bool) -> list[Packet]:
        """Bytes of this direction are missing."""
        return self._packets(self.observer.lost(from_client))

    def _packets(self, events: list[Event]) -> list[Packet]:
        packets: list[Packet] = []
        for event in events:
            match event:
                case Upgrade(from_client=True):
                    packets.append(
                        UpgradeRequest(method=event.method, path=event.path, version=event.version)
                    )
                    packets[-1].headers = list(event.headers)
                case Upgrade():
                    packets.append(UpgradeResponse(version=event.version, status=event.status))
                    packets[-1].reason, packets[-1].headers = event.reason, list(event.headers)
                case Frame():
                    packets.append(_frame_packet(event))
                case Text() | Binary():
                    layer = _hang(packets[-1], event)
                    if hasattr(layer, "heard"):
                        layer.heard(self._memory, event.from_client)
                case Broken() if packets and not isinstance(packets[-1], Malformed):
                    packets[-1].fields["faults"] = (*(packets[-1].faults or ()), event.check)
                case Broken():
                    packets.append(malformed(event.check, event.data))
        return packets


def _frame_packet(frame: Frame) -> Packet:
    """A frame as a layer: dissected, so that all of it stands as it came."""
    form = {7: frame.length, 16: 126, 64: 127}[frame.length_bits]
    bits = (frame.fin, frame.rsv1, frame.rsv2, frame.rsv3)
    first = sum(on << 7 - place for place, on in enumerate(bits)) | frame.opcode
    header = bytes([first, (frame.key is not None) << 7 | form])
    if frame.length_bits > 7:
        header += frame.length.to_bytes(frame.length_bits // 8, "big")
    body = frame.payload
    if frame.key is not None:
        header += frame.key
        body = unmask(body, frame.key)
    return WebSocket(header + body)


def _hang(packet: Packet, message: Text | Binary) -> Packet:
    """Under the last frame of a message hangs what the whole of it says. Return that layer."""
    if message.frames > 1 or message.compressed:
        whole = WebSocketMessage(
            frames=message.frames, compressed=message.compressed, load=bytes(packet.payload)
        )
        opcode = Opcode.TEXT if isinstance(message, Text) else Opcode.BINARY
        alone = WebSocket(bytes(WebSocket(opcode=opcode) / Raw(message.data)))
        packet.remove_payload()
        packet.add_payload(whole)
        whole.add_payload(alone.payload)
    last: Packet = packet.lastlayer()
    return last


def _header_size(data: bytes) -> int | None:
    """How long a frame's header is; None where it is not all there."""
    if len(data) < 2:
        return None
    size = 2 + _EXTENDED.get(data[1] & 0x7F, 0) + (4 if data[1] & 0x80 else 0)
    return size if len(data) >= size else None


_EXTENDED = {126: 2, 127: 8}  # bytes of the length behind the 7 bits


def _payload_size(data: bytes) -> int:
    form = data[1] & 0x7F
    extra = _EXTENDED.get(form, 0)
    return int.from_bytes(data[2 : 2 + extra], "big") if extra else form


def _frame_size(data: bytes) -> int:
    """How long a frame is; one byte more than is there, where its header does not yet say."""
    header = _header_size(data)
    return len(data) + 1 if header is None else header + _payload_size(data)


def _is_likely(data: bytes) -> bool:
    """Whether a frame that begins so keeps to the text: opcode, RSV bits, the form of its length."""
    first, size = data[0], _payload_size(data) if _header_size(data) else 0
    control = first & 0x08
    return (
        first & 0x0F in OPCODES
        and not first & 0x30
        and not (control and (first & 0xC0 != 0x80 or size > CONTROL_MAX))
        and size >= {126: 126, 127: 65_536}.get(data[1] & 0x7F if len(data) > 1 else 0, 0)
    )


def _packets(session: dict[str, Any]) -> Packets:
    """The Packets of a TCP session, which Scapy's sessions know nothing of."""
    packets: Packets = session.setdefault("websocket", Packets())
    return packets


def _from_client(data: bytes, metadata: dict[str, Any], session: dict[str, Any]) -> bool:
    """Who says it: the side that asked for the upgrade, or else the one that masks."""
    original = metadata.get("original")
    port = original[TCP].sport if original is not None else None
    if begins_head(data):
        asks = not data.startswith(b"HTTP/")
        if asks and port is not None:
            session["client"] = port
        return asks
    if port is not None and "client" in session:
        return bool(session["client"] == port)
    return bool(data[1] & 0x80)


def _or(value: int | None, otherwise: int) -> int:
    return otherwise if value is None else value


bind_layers(WebSocket, WebSocketClose, opcode=Opcode.CLOSE.value)
bind_bottom_up(TCP, WebSocket, dport=PORT)
bind_bottom_up(TCP, WebSocket, sport=PORT)
bind_layers(TCP, WebSocket, dport=PORT)
