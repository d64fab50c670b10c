"""The HTTP upgrade that begins a WebSocket (RFC 6455, 4), as one who only listens reads it.

Nothing here needs Scapy.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass

HEAD_MAX = 16_384  # bytes from the first letter to the blank line
HEADERS_MAX = 128
BLANK_LINE = b"\r\n\r\n"
# "concatenate this value with the string 258EAFA5-E914-47DA-95CA-C5AB0DC85B11" (RFC 6455, 4.2.2)
GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class BadHead(ValueError):
    """This is no head of an HTTP message. `check` is the clause."""

    def __init__(self, check: str, text: str) -> None:
        super().__init__(text)
        self.check = check


Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Head:
    """One request or response, up to its blank line."""

    headers: Headers

    def values(self, name: str) -> list[str]:
        """Every value of a header, whatever the case of its name."""
        wanted = name.lower()
        return [value for key, value in self.headers if key.lower() == wanted]

    def value(self, name: str) -> str | None:
        """The value of a header that stands exactly once."""
        found = self.values(name)
        return found[0] if len(found) == 1 else None

    def has_word(self, name: str, word: str) -> bool:
        """Whether a header that is a list has this word in it."""
        words = [one.strip().lower() for one in ",".join(self.values(name)).split(",")]
        return word in words


@dataclass(frozen=True, slots=True)
class Request(Head):
    method: str
    path: str
    version: str


@dataclass(frozen=True, slots=True)
class Response(Head):
    version: str
    status: int
    reason: str


_REQUEST_LINE = re.compile(r"([!#$%&'*+\-.^_`|~0-9A-Za-z]+) ([!-~]+) (HTTP/\d\.\d)")
_STATUS_LINE = re.compile(r"(HTTP/\d\.\d) (\d{3})(?: ([\t -~\x80-\xff]*))?")
_HEADER = re.compile(r"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([\t -~\x80-\xff]*)")


def read_request(head: bytes) -> Request:
    """Read a request, blank line included. Raises BadHead."""
    line, headers = _read(head)
    match = _REQUEST_LINE.fullmatch(line)
    if match is None:
        raise BadHead("websocket/4.1.request", f"'{line[:80]}' is no HTTP request line")
    return Request(headers, *match.groups())


def read_response(head: bytes) -> Response:
    """Read a response, blank line included. Raises BadHead."""
    line, headers = _read(head)
    match = _STATUS_LINE.fullmatch(line)
    if match is None:
        raise BadHead("websocket/4.2.2.response", f"'{line[:80]}' is no HTTP status line")
    return Response(headers, match[1], int(match[2]), match[3] or "")


def _read(head: bytes) -> tuple[str, Headers]:
    line, *lines = head.removesuffix(BLANK_LINE).decode("latin-1").split("\r\n")
    if len(lines) > HEADERS_MAX:
        raise BadHead("websocket/10.4.head", f"{len(lines)} headers; at most {HEADERS_MAX} are read")
    headers = []
    for one in lines:
        match = _HEADER.fullmatch(one)
        if match is None:
            raise BadHead("websocket/4.1.header", f"'{one[:80]}' is no HTTP header")
        headers.append((match[1], match[2].strip(" \t")))
    return line, tuple(headers)


def request_faults(request: Request) -> list[tuple[str, str]]:
    """What in a request breaks RFC 6455, 4.1, each with its check."""
    faults = []
    if request.method != "GET" or request.version < "HTTP/1.1":
        faults.append(
            (
                "websocket/4.1.method",
                f"an upgrade is GET in HTTP/1.1, not {request.method} in {request.version}",
            )
        )
    if request.value("Host") is None:
        faults.append(("websocket/4.1.host", "an upgrade has exactly one Host header"))
    if not request.has_word("Upgrade", "websocket") or not request.has_word("Connection", "upgrade"):
        faults.append(
            ("websocket/4.1.upgrade", "'Upgrade: websocket' and 'Connection: Upgrade' do not both stand")
        )
    if not _is_key(request.value("Sec-WebSocket-Key")):
        faults.append(("websocket/4.1.key", "Sec-WebSocket-Key is not 16 bytes in base64"))
    if request.value("Sec-WebSocket-Version") != "13":
        faults.append(("websocket/4.1.version", "Sec-WebSocket-Version is not 13"))
    return faults


def response_faults(response: Response, request: Request | None) -> list[tuple[str, str]]:
    """What in a response with status 101 breaks RFC 6455, 4.2.2, each with its check."""
    faults = []
    if not response.has_word("Upgrade", "websocket") or not response.has_word("Connection", "upgrade"):
        faults.append(
            ("websocket/4.2.2.upgrade", "'Upgrade: websocket' and 'Connection: Upgrade' do not both stand")
        )
    key = request.value("Sec-WebSocket-Key") if request else None
    accept = response.value("Sec-WebSocket-Accept")
    if key is not None and accept != accept_for(key):
        faults.append(
            (
                "websocket/4.2.2.accept",
                f"Sec-WebSocket-Accept is {accept}; the key asks for {accept_for(key)}",
            )
        )
    return faults


def accept_for(key: str) -> str:
    """The Sec-WebSocket-Accept that answers this Sec-WebSocket-Key (RFC 6455, 4.2.2)."""
    digest = hashlib.sha1(key.encode("latin-1", "replace") + GUID, usedforsecurity=False).digest()
    return base64.b64encode(digest).decode()


def _is_key(key: str | None) -> bool:
    try:
        return key is not None and len(base64.b64decode(key, validate=True)) == 16
    except (binascii.Error, ValueError):
        return False


_HEADS = (b"GET", b"HTTP", b"HEAD", b"POST", b"PUT", b"DELETE", b"OPTIONS", b"PATCH", b"TRACE", b"CONNECT")


def begins_head(data: bytes | bytearray) -> bool:
    """Whether these bytes begin a head, as far as they go, and not a frame.

    A frame that began with one of these letters would be a fragment with RSV1 set, and of a control
    or a reserved opcode.
    """
    start = bytes(data[:8])
    return any(start.startswith(word) or word.startswith(start) for word in _HEADS)
