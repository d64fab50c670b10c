"""The HTTP upgrade that begins a WebSocket, as Scapy layers.

    GET /play HTTP/1.1                          HTTP/1.1 101 Switching Protocols
    method path version                         version status reason
    Name: value …       headers                 Name: value …            headers

Scapy's own HTTP layer is not used for the upgrade: it keeps one of several headers of the same name
(offers of extensions may stand on several lines), has no fields for Sec-WebSocket-*, raises
ValueError on a line without an end, and takes what follows an upgrade for HTTP/2.
"""

from __future__ import annotations

from typing import Any

from scapy.fields import ConditionalField, Field
from scapy.packet import Packet
from scapy.volatile import RandString

from dissectors.handshake import BLANK_LINE, BadHead, accept_for, begins_head, read_request, read_response
from dissectors.malformed import NoteField

PORT = 3000
# The example of RFC 6455, 1.3. A key need not be secret; it only shows that the server read it.
SAMPLE_KEY = "dGhlIHNhbXBsZSBub25jZQ=="


class TextField(Field[Any, Any]):
    """Letters, not bytes: what stands in the first line of a head."""

    def any2i(self, pkt: Packet | None, x: Any) -> Any:
        return x.decode("latin-1") if isinstance(x, bytes) else x

    def i2repr(self, pkt: Packet | None, x: Any) -> str:
        return str(x)

    def randval(self) -> RandString:
        return RandString()


class HeadersField(Field[Any, Any]):
    """A list of (name, value) in their order, up to the blank line."""

    islist = 1

    def any2i(self, pkt: Packet | None, x: Any) -> Any:
        return list(x.items()) if isinstance(x, dict) else x

    def i2repr(self, pkt: Packet | None, x: Any) -> str:
        return " | ".join(f"{name}: {value}" for name, value in x)

    def addfield(self, pkt: Packet, s: Any, val: Any) -> Any:
        lines = "".join(f"{name}: {value}\r\n" for name, value in val)
        return s + lines.encode("latin-1", "replace") + b"\r\n"


def faults() -> ConditionalField:
    """What Packets found wrong with it: ids of checks. No byte of the frame."""
    return ConditionalField(NoteField("faults", ()), lambda pkt: pkt.getfieldval("faults"))


def remarks(packet: Packet) -> str:
    return f" [{', '.join(packet.faults)}]" if packet.faults else ""


class _Head(Packet):
    """What a request and a response share. The three words of the first line, then the headers."""

    def value(self, name: str) -> str | None:
        """The value of the first header of that name."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    def self_build(self) -> bytes:
        # A header may have been added to the list in place.
        if self.raw_packet_cache is not None and self.raw_packet_cache_fields == {"headers": self.headers}:
            return bytes(self.raw_packet_cache)
        *words, headers, _ = self.fields_desc
        line = " ".join(str(self.getfieldval(word.name)) for word in words)
        return bytes(headers.addfield(self, line.encode("latin-1", "replace") + b"\r\n", self.headers))

    def do_dissect(self, s: bytes) -> bytes:
        end = s.index(BLANK_LINE) + len(BLANK_LINE)
        self.raw_packet_cache = s[:end]
        self.fields.update(self._read(s[:end]))
        self.raw_packet_cache_fields = {"headers": list(self.headers)}
        self.explicit = 1
        return s[end:]

    def _read(self, head: bytes) -> dict[str, Any]:
        raise NotImplementedError

    def extract_padding(self, s: bytes) -> tuple[bytes, bytes | None]:
        return b"", s or None


class UpgradeRequest(_Head):
    name = "WebSocket upgrade request"
    fields_desc = [
        TextField("method", "GET"),
        TextField("path", "/"),
        TextField("version", "HTTP/1.1"),
        HeadersField(
            "headers",
            [
                ("Host", f"127.0.0.1:{PORT}"),
                ("Upgrade", "websocket"),
                ("Connection", "Upgrade"),
                ("Sec-WebSocket-Key", SAMPLE_KEY),
                ("Sec-WebSocket-Version", "13"),
            ],
        ),
        faults(),
    ]

    def _read(self, head: bytes) -> dict[str, Any]:
        found = read_request(head)
        return {
            "method": found.method,
            "path": found.path,
            "version": found.version,
            "headers": list(found.headers),
        }

    def mysummary(self) -> str:
        return f"WebSocket upgrade request {self.path}" + remarks(self)


class UpgradeResponse(_Head):
    name = "WebSocket upgrade response"
    fields_desc = [
        TextField("version", "HTTP/1.1"),
        TextField("status", 101),
        TextField("reason", "Switching Protocols"),
        HeadersField(
            "headers",
            [
                ("Upgrade", "websocket"),
                ("Connection", "Upgrade"),
                ("Sec-WebSocket-Accept", accept_for(SAMPLE_KEY)),
            ],
        ),
        faults(),
    ]

    def _read(self, head: bytes) -> dict[str, Any]:
        found = read_response(head)
        return {
            "version": found.version,
            "status": found.status,
            "reason": found.reason,
            "headers": list(found.headers),
        }

    def answers(self, other: Packet) -> int:
        """Whether the accept key is the one that this request's key asks for."""
        key = other.value("Sec-WebSocket-Key") if isinstance(other, UpgradeRequest) else None
        return int(key is not None and self.value("Sec-WebSocket-Accept") == accept_for(key))

    def mysummary(self) -> str:
        return f"WebSocket upgrade response {self.status} {self.reason}".rstrip() + remarks(self)


def head_fault(data: bytes) -> str | None:
    """The check that the head of an upgrade fails; None where it can be read, or is a frame."""
    if not data or not begins_head(data):
        return None
    end = data.find(BLANK_LINE)
    if end < 0:
        return "websocket/4.1.head"
    try:
        (read_response if data.startswith(b"HTTP/") else read_request)(data[: end + len(BLANK_LINE)])
    except BadHead as error:
        return error.check
    return None
