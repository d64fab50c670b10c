"""What one who only listens makes of a WebSocket's two directions: upgrade, frames, messages, faults.

    observer = Observer()
    for data in streams:                        any chunks, in order for each direction
        for event in observer.feed(data.from_client, data.data):
            Upgrade   a request or a response       (RFC 6455, 4)
            Frame     every frame, control frames too, unmasked but not inflated   (5)
            Text      a whole message, after defragmentation and inflation   (5.4, RFC 7692)
            Binary    likewise
            Broken    a clause that was not kept, with its id and a sentence

feed() never raises. Where a fault leaves the frame's end known, reading goes on behind it; else
`Broken.ended` says that nothing more of that direction is read. Nothing here needs Scapy.

A message comes after its last Frame, and a Broken after the Frame it is about. A faulty frame's
message is not given out, with one exception: a length longer than it need be leaves no doubt about
the message, and most receivers take it, so it is remarked upon and the message follows.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from dissectors.deflate import NAME as DEFLATE
from dissectors.deflate import (
    BadExtension,
    CannotInflate,
    Deflate,
    Extension,
    Inflater,
    agreed,
    parse_extensions,
    unasked,
)
from dissectors.frames import (
    DATA_MAX,
    FRAME_MAX,
    Binary,
    Broken,
    Event,
    Frame,
    Opcode,
    Text,
    Upgrade,
    frame_faults,
    is_close_code,
    unmask,
)
from dissectors.handshake import (
    BLANK_LINE,
    HEAD_MAX,
    BadHead,
    Head,
    Request,
    Response,
    begins_head,
    read_request,
    read_response,
    request_faults,
    response_faults,
)

MESSAGE_MAX = 1 << 20  # bytes, after inflation
EARLY_MAX = 65_536  # bytes a client may send before the server's answer has been seen
FAULTS_MAX = 50  # in one direction; then it is taken for something else than a WebSocket


@dataclass(slots=True)
class _Header:
    """A frame whose payload is still to come."""

    first: int
    key: bytes | None
    length: int
    length_bits: int


@dataclass(slots=True)
class _Message:
    """A message whose last frame is still to come."""

    opcode: int
    compressed: bool
    spoilt: bool = False  # a Broken has been said of it: no more is said, and nothing given out
    data: bytearray = field(default_factory=bytearray)
    frames: int = 0


class _Side:
    """One direction."""

    def __init__(self, from_client: bool) -> None:
        self.from_client = from_client
        self.buffer = bytearray()
        self.searched = 0  # of the buffer, for the head's end
        self.upgraded = False
        self.trusted = True  # False: the upgrade was not seen, so a first fault is taken for the truth
        self.ended = False
        self.closed = False  # a close frame was seen
        self.faults = 0
        self.skip = 0  # bytes of a payload that is not read
        self.header: _Header | None = None
        self.message: _Message | None = None
        self.inflater: Inflater | None = None

    def end(self) -> None:
        """Read no more of it, and let go of what was held."""
        self.ended = True
        self.buffer.clear()
        self.header = self.message = self.inflater = None


class Observer:
    """One connection. Memory is bounded, whatever is fed."""

    def __init__(self) -> None:
        self._client, self._server = _Side(True), _Side(False)
        self._request: Request | None = None
        self._offers: tuple[Extension, ...] = ()
        self._events: list[Event] = []

    def feed(self, from_client: bool, data: bytes) -> list[Event]:
        """Take the next bytes of one direction; return what they complete."""
        side = self._client if from_client else self._server
        if not side.ended:
            side.buffer += data
            self._advance(side)
        return self._take()

    def lost(self, from_client: bool) -> list[Event]:
        """Bytes of this direction are missing: where a frame begins is not known any more."""
        side = self._client if from_client else self._server
        if not side.ended:
            self._break(side, "websocket/5.1.gap", "bytes are missing from the capture here", ended=True)
            other = self._server if from_client else self._client
            # The answer will never be seen: what the client said meanwhile is read for what it is.
            if not from_client and not other.ended:
                self._advance(other)
        return self._take()

    def end(self, from_client: bool) -> list[Event]:
        """Nothing more comes from this side. Say so where it stops in the middle of something."""
        side = self._client if from_client else self._server
        if not side.ended:
            if side.buffer or side.header or side.skip:
                text = "the connection ends in the middle of a frame"
                if not side.upgraded:
                    text = "the connection ends in the middle of the upgrade"
                self._break(side, "websocket/7.1.1.cut", text, bytes(side.buffer[:DATA_MAX]), ended=True)
            elif side.message is not None and not side.message.spoilt and not side.closed:
                text = "the connection ends in the middle of a message"
                data = bytes(side.message.data[:DATA_MAX])
                self._break(side, "websocket/5.4.unfinished", text, data, ended=True)
            side.end()
        return self._take()

    def _take(self) -> list[Event]:
        events, self._events = self._events, []
        return events

    def _advance(self, side: _Side) -> None:
        if not side.upgraded:
            self._upgrade(side)
        if side.upgraded and not side.ended and not self._waits(side):
            self._frames(side)

    def _waits(self, side: _Side) -> bool:
        """Until the server has answered, nobody knows whether a client's frames are compressed."""
        if self._request is None or not side.from_client or self._server.upgraded or self._server.ended:
            return False
        if len(side.buffer) > EARLY_MAX:
            self._break(
                side,
                "websocket/4.1.early",
                f"more than {EARLY_MAX:,} bytes came before the server's answer",
                ended=True,
            )
        return True

    # The upgrade

    def _upgrade(self, side: _Side) -> None:
        buffer = side.buffer
        if not buffer:
            return
        if not begins_head(buffer):
            self._join(side)
            return
        end = buffer.find(BLANK_LINE, side.searched)
        if end < 0:
            side.searched = max(0, len(buffer) - len(BLANK_LINE) + 1)
            if len(buffer) > HEAD_MAX:
                self._break(
                    side,
                    "websocket/10.4.head",
                    f"no blank line within {HEAD_MAX:,} bytes: this is no upgrade",
                    bytes(buffer),
                    ended=True,
                )
            return
        head = bytes(buffer[: end + len(BLANK_LINE)])
        del buffer[: len(head)]
        try:
            if len(head) > HEAD_MAX:
                raise BadHead("websocket/10.4.head", f"a head of {len(head):,} bytes; at most {HEAD_MAX:,}")
            if side.from_client:
                self._asked(side, read_request(head), head)
            else:
                self._answered(side, read_response(head), head)
        except BadHead as error:
            self._break(side, error.check, str(error), head, ended=True)

    def _join(self, side: _Side) -> None:
        """The capture began after the upgrade. A segment nearly always begins a frame: try it."""
        side.upgraded = True
        other = self._server if side.from_client else self._client
        if other.upgraded and other.trusted:
            return  # the other half of the upgrade was seen
        side.trusted = False
        side.inflater = Deflate().inflater(side.from_client, MESSAGE_MAX)
        self._events.append(
            Broken(
                side.from_client,
                "websocket/4.1.unseen",
                "the upgrade was not captured; frames are read for as long as they make sense",
            )
        )

    def _asked(self, side: _Side, request: Request, head: bytes) -> None:
        self._request = request
        self._offers, problem = _extensions(request)
        self._events.append(
            Upgrade(
                True,
                request.headers,
                request.version,
                request.method,
                request.path,
                extensions=self._offers,
            )
        )
        side.upgraded = True
        for check, text in [*request_faults(request), *problem]:
            self._break(side, check, text, head)

    def _answered(self, side: _Side, response: Response, head: bytes) -> None:
        extensions, problem = _extensions(response)
        switched = response.status == 101
        deflate, refused = self._agree(extensions) if switched else (None, [])
        self._events.append(
            Upgrade(
                False,
                response.headers,
                response.version,
                status=response.status,
                reason=response.reason,
                extensions=extensions,
                deflate=deflate,
            )
        )
        if not switched:
            text = f"the server answers {response.status} {response.reason}: this is no WebSocket"
            self._break(side, "websocket/4.2.2.status", text, head, ended=True)
            self._client.end()
            return
        side.upgraded = True
        for one in (self._client, self._server):
            one.inflater = deflate.inflater(one.from_client, MESSAGE_MAX) if deflate else None
        for check, text in [*response_faults(response, self._request), *problem, *refused]:
            self._break(side, check, text, head)
        if not self._client.ended:
            self._advance(self._client)

    def _agree(self, extensions: tuple[Extension, ...]) -> tuple[Deflate | None, list[tuple[str, str]]]:
        deflate: Deflate | None = None
        faults: list[tuple[str, str]] = []
        for extension in extensions:
            if extension.name != DEFLATE:
                faults.append(
                    ("websocket/9.1.unknown", f"the extension '{extension.name}' is not known here")
                )
                continue
            if deflate is not None:
                faults.append(("websocket/7692-7.1.answer", f"{DEFLATE} is agreed on twice"))
                continue
            try:
                if self._request is None:
                    deflate = unasked(extension)
                else:
                    offers = [offer for offer in self._offers if offer.name == DEFLATE]
                    deflate = agreed(offers, extension)
            except BadExtension as error:
                faults.append((error.check, str(error)))
                # Any compressor's output can be read with the largest window and all the past.
                deflate = Deflate()
        return deflate, faults

    # Frames

    def _frames(self, side: _Side) -> None:
        at = 0
        buffer = side.buffer
        while not side.ended:
            if side.skip:
                step = min(side.skip, len(buffer) - at)
                side.skip -= step
                at += step
                if side.skip:
                    break
            if side.header is None:
                at = self._header(side, at)
                if side.header is None:
                    break
            header = side.header
            if header.length > FRAME_MAX:
                side.header = None
                side.skip = header.length
                self._frame(side, header, b"")
            elif len(buffer) - at >= header.length:
                side.header = None
                payload = bytes(buffer[at : at + header.length])
                at += header.length
                self._frame(side, header, unmask(payload, header.key) if header.key else payload)
            else:
                break
        if side.ended:
            buffer.clear()
        else:
            del buffer[:at]

    def _header(self, side: _Side, at: int) -> int:
        """Read a header that is all there, and say where its payload begins."""
        buffer = side.buffer
        have = len(buffer) - at
        if have < 2:
            return at
        second = buffer[at + 1]
        length = second & 0x7F
        extra = 2 if length == 126 else 8 if length == 127 else 0
        masked = second & 0x80
        size = 2 + extra + (4 if masked else 0)
        if have < size:
            return at
        if extra:
            length = int.from_bytes(buffer[at + 2 : at + 2 + extra], "big")
        key = bytes(buffer[at + size - 4 : at + size]) if masked else None
        side.header = _Header(buffer[at], key, length, extra * 8 or 7)
        return at + size

    def _frame(self, side: _Side, header: _Header, payload: bytes) -> None:
        first = header.first
        frame = Frame(
            side.from_client,
            first >= 0x80,
            bool(first & 0x40),
            bool(first & 0x20),
            bool(first & 0x10),
            first & 0x0F,
            header.key,
            header.length,
            header.length_bits,
            payload,
        )
        self._events.append(frame)
        sound = True
        for check, text, fatal in frame_faults(frame, side.inflater is not None, side.closed):
            # One that joined late has only the frames' own word that they are frames.
            ended = fatal or not side.trusted
            sound = False
            self._break(side, check, text, payload, ended=ended)
            if side.ended:
                return
        if frame.length_bits > 7 and frame.length < (126 if frame.length_bits == 16 else 65_536):
            text = f"a length of {frame.length} is written in {frame.length_bits} bits"
            self._break(side, "websocket/5.2.minimal", text, ended=not side.trusted)
            if side.ended:
                return
        if frame.opcode >= 8:
            if frame.opcode == Opcode.CLOSE:
                self._close(side, frame, sound)
            return
        if frame.opcode <= Opcode.BINARY:
            self._data(side, frame, sound)

    def _close(self, side: _Side, frame: Frame, sound: bool) -> None:
        side.closed = True
        body = frame.payload
        code = frame.close_code
        if not sound:
            return
        if len(body) == 1:
            self._break(side, "websocket/5.5.1.body", "a close frame of one byte holds half a code", body)
        elif code is not None and not is_close_code(code):
            self._break(side, "websocket/7.4.code", f"no close frame has the code {code}", body)
        elif not _is_utf8(body[2:]):
            self._break(side, "websocket/5.5.1.utf8", "the reason of the close is no UTF-8", body)
        elif side.message is not None and not side.message.spoilt:
            text = "the connection is closed in the middle of a message"
            self._break(side, "websocket/5.4.unfinished", text, bytes(side.message.data[:DATA_MAX]))

    def _data(self, side: _Side, frame: Frame, sound: bool) -> None:
        message = side.message
        if frame.opcode == Opcode.CONTINUATION:
            if message is None:
                if sound:
                    text = "a continuation of no message"
                    self._break(side, "websocket/5.4.continuation", text, frame.payload)
                return
        else:
            if message is not None and not message.spoilt:
                text = "a new message before the last one was finished"
                self._break(side, "websocket/5.4.interleaved", text, frame.payload)
                sound = False
            message = side.message = _Message(frame.opcode, frame.rsv1)
        message.frames += 1
        message.spoilt |= not sound
        if not message.spoilt:
            if len(message.data) + len(frame.payload) > MESSAGE_MAX:
                text = f"a message of more than {MESSAGE_MAX:,} bytes is not read"
                self._break(side, "websocket/10.4.message", text, bytes(message.data[:DATA_MAX]))
                message.spoilt = True
            else:
                message.data += frame.payload
        if message.spoilt:
            message.data.clear()
            if message.compressed and side.inflater is not None:
                side.inflater.miss()
        if frame.fin:
            side.message = None
            if not message.spoilt:
                self._whole(side, message)

    def _whole(self, side: _Side, message: _Message) -> None:
        data = bytes(message.data)
        if message.compressed:
            assert side.inflater is not None  # else RSV1 was a fault
            try:
                data = side.inflater.inflate(data)
            except CannotInflate as error:
                self._break(side, error.check, str(error), data)
                return
        if message.opcode == Opcode.BINARY:
            self._events.append(Binary(side.from_client, data, message.compressed, message.frames))
            return
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            where = f"a text that is no UTF-8 at byte {error.start}"
            self._break(side, "websocket/8.1.utf8", where, data)
            return
        self._events.append(Text(side.from_client, text, data, message.compressed, message.frames))

    def _break(self, side: _Side, check: str, text: str, data: bytes = b"", *, ended: bool = False) -> None:
        side.faults += 1
        self._events.append(Broken(side.from_client, check, text, data[:DATA_MAX], ended))
        if not ended and side.faults >= FAULTS_MAX:
            ended = True
            text = f"{FAULTS_MAX} faults: this direction is no WebSocket, or its beginning was lost"
            self._events.append(Broken(side.from_client, "websocket/7.1.7.faults", text, ended=True))
        if ended:
            side.end()


def _extensions(head: Head) -> tuple[tuple[Extension, ...], list[tuple[str, str]]]:
    try:
        return parse_extensions(head.values("Sec-WebSocket-Extensions")), []
    except BadExtension as error:
        return (), [(error.check, str(error))]


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
