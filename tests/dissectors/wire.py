"""Frames by hand, and the `websockets` library as one who reads them too."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from websockets.client import ClientProtocol
from websockets.frames import Frame as LibraryFrame
from websockets.frames import Opcode
from websockets.protocol import CLIENT, OPEN, SERVER, Protocol
from websockets.server import ServerProtocol
from websockets.uri import parse_uri

from dissectors.frames import Binary, Text
from dissectors.observer import Observer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from websockets.extensions import ClientExtensionFactory, Extension, ServerExtensionFactory

    from dissectors.frames import Event

KEY = b"\x37\xfa\x21\x3d"

REQUEST = (
    b"GET /play HTTP/1.1\r\nHost: 127.0.0.1:3000\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
RESPONSE = (
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"
)


def with_header(head: bytes, line: str) -> bytes:
    return head[:-2] + line.encode() + b"\r\n\r\n"


def frame(
    opcode: int,
    payload: bytes = b"",
    *,
    fin: bool = True,
    rsv: int = 0,
    mask: bytes | None = KEY,
    form: int | None = None,
    length: int | None = None,
) -> bytes:
    """One frame, right or wrong: `rsv` three bits, `form` 7, 16 or 64, `length` what the header says."""
    size = len(payload) if length is None else length
    form = form or (7 if size < 126 else 16 if size < 1 << 16 else 64)
    second = {7: size, 16: 126, 64: 127}[form]
    header = bytes([fin << 7 | rsv << 4 | opcode, (mask is not None) << 7 | second])
    if form > 7:
        header += size.to_bytes(form // 8, "big")
    if mask is None:
        return header + payload
    return header + mask + bytes(byte ^ mask[at % 4] for at, byte in enumerate(payload))


def deflated(data: bytes, level: int = 6) -> bytes:
    """One message, compressed by itself."""
    stream = zlib.compressobj(level, wbits=-15)
    return (stream.compress(data) + stream.flush(zlib.Z_SYNC_FLUSH))[:-4]


def opened(request: bytes = REQUEST, response: bytes = RESPONSE) -> Observer:
    """One whose upgrade is over."""
    observer = Observer()
    observer.feed(True, request)
    observer.feed(False, response)
    return observer


def compressing() -> Observer:
    """One whose upgrade agreed on permessage-deflate."""
    line = "Sec-WebSocket-Extensions: permessage-deflate"
    return opened(with_header(REQUEST, line), with_header(RESPONSE, line))


def chunks(data: bytes, cuts: Iterable[int]) -> list[bytes]:
    """The same bytes in pieces, cut at these places."""
    places = sorted({cut % (len(data) + 1) for cut in cuts} | {0, len(data)})
    return [data[start:end] for start, end in pairwise(places)]


def feed(observer: Observer, from_client: bool, pieces: Iterable[bytes]) -> list[Event]:
    return [event for piece in pieces for event in observer.feed(from_client, piece)]


def whole(events: Iterable[Event]) -> list[str | bytes]:
    """The messages among the events, as the library gives them out."""
    return [
        event.text if isinstance(event, Text) else event.data
        for event in events
        if isinstance(event, Text | Binary)
    ]


@dataclass(slots=True)
class Heard:
    """What the library made of a direction."""

    frames: list[tuple[int, bool, bytes]]
    messages: list[str | bytes]
    failed: bool
    closed: bool


def library(from_client: bool, pieces: Sequence[bytes], extensions: Sequence[Extension] = ()) -> Heard:
    """Let the library's own state machine read a direction after its upgrade."""
    protocol = Protocol(SERVER if from_client else CLIENT, state=OPEN, max_size=1 << 20)
    protocol.extensions = list(extensions)
    heard = Heard([], [], False, False)
    for piece in pieces:
        protocol.receive_data(piece)
    parts: list[bytes] = []
    text = False
    for event in protocol.events_received():
        assert isinstance(event, LibraryFrame)
        opcode, data = int(event.opcode), bytes(event.data)
        if opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            if opcode != Opcode.CONT:
                parts, text = [], opcode == Opcode.TEXT
            parts.append(data)
            if event.fin:
                try:
                    heard.messages.append(b"".join(parts).decode() if text else b"".join(parts))
                except UnicodeDecodeError:
                    heard.failed = True  # Protocol leaves this to the connection above it
                    return heard
        heard.closed |= opcode == Opcode.CLOSE
        heard.frames.append((opcode, event.fin, data))
    heard.failed = protocol.parser_exc is not None
    return heard


def handshake(
    client_extensions: Sequence[ClientExtensionFactory], server_extensions: Sequence[ServerExtensionFactory]
) -> tuple[ClientProtocol, ServerProtocol, bytes, bytes]:
    """Two of the library's protocols, upgraded, and the bytes of their upgrade."""
    client = ClientProtocol(parse_uri("ws://127.0.0.1:3000/play"), extensions=client_extensions)
    server = ServerProtocol(extensions=server_extensions)
    client.send_request(client.connect())
    request = b"".join(client.data_to_send())
    server.receive_data(request)
    (event,) = server.events_received()
    server.send_response(server.accept(event))  # type: ignore[arg-type] # the first event is the request
    response = b"".join(server.data_to_send())
    client.receive_data(response)
    client.events_received()
    assert client.state is OPEN
    assert server.state is OPEN
    return client, server, request, response
