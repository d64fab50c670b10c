"""permessage-deflate (RFC 7692) as one who only listens needs it: what was agreed, and inflation with an end.

Nothing here needs Scapy.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

NAME = "permessage-deflate"
WINDOW_BITS_MAX = 15
# "Append 4 octets of 0x00 0x00 0xff 0xff to the tail end of the payload of the message." (RFC 7692, 7.2.2)
TAIL = b"\x00\x00\xff\xff"
# A stream that ends its last block (RFC 7692, 7.2.3.4) begins anew; each such end costs a new inflater.
ENDS_MAX = 16


class BadExtension(ValueError):
    """What a header says of its extensions makes no sense. `check` is the clause."""

    def __init__(self, check: str, text: str) -> None:
        super().__init__(text)
        self.check = check


class CannotInflate(ValueError):
    """These bytes are no deflate stream, or hold more than was allowed. `check` is the clause."""

    def __init__(self, check: str, text: str) -> None:
        super().__init__(text)
        self.check = check


@dataclass(frozen=True, slots=True)
class Extension:
    """One element of Sec-WebSocket-Extensions."""

    name: str
    parameters: tuple[tuple[str, str | None], ...] = ()

    def __str__(self) -> str:
        words = [name if value is None else f"{name}={value}" for name, value in self.parameters]
        return "; ".join([self.name, *words])


@dataclass(frozen=True, slots=True)
class Deflate:
    """What both sides agreed on. A missing word means the defaults: context is kept, windows are 32 KiB."""

    server_no_context_takeover: bool = False
    client_no_context_takeover: bool = False
    server_max_window_bits: int = WINDOW_BITS_MAX
    client_max_window_bits: int = WINDOW_BITS_MAX

    def inflater(self, from_client: bool, size_max: int) -> Inflater:
        """Return what reads the compressed messages of one side."""
        if from_client:
            return Inflater(self.client_max_window_bits, not self.client_no_context_takeover, size_max)
        return Inflater(self.server_max_window_bits, not self.server_no_context_takeover, size_max)


def agreed(offers: Sequence[Extension], answer: Extension) -> Deflate:
    """What a server's answer to these offers comes to. Raises BadExtension where it answers none of them."""
    given = _parameters(answer, offer=False)
    for offer in offers:
        try:
            asked = _parameters(offer, offer=True)
        except BadExtension:
            continue  # "A server MUST decline an extension negotiation offer" that is malformed (7.1)
        result = _settle(asked, given)
        if result is not None:
            return result
    raise BadExtension("websocket/7692-7.1.answer", f"'{answer}' answers none of the client's offers")


def unasked(answer: Extension) -> Deflate:
    """What an answer comes to by its own words alone, whatever was offered."""
    given = _parameters(answer, offer=False)
    return _settle(given | {"client_max_window_bits": WINDOW_BITS_MAX}, given) or Deflate()


Parameters = dict[str, int]
_FLAGS = ("server_no_context_takeover", "client_no_context_takeover")
_BITS = ("server_max_window_bits", "client_max_window_bits")
_BITS_VALUES = {str(bits): bits for bits in range(8, WINDOW_BITS_MAX + 1)}


def _parameters(extension: Extension, *, offer: bool) -> Parameters:
    """Read the four parameters; each at most once, with a value where it takes one (RFC 7692, 7.1)."""
    found: Parameters = {}
    for name, value in extension.parameters:
        if name in found:
            raise BadExtension("websocket/7692-7.1.parameter", f"{NAME} has {name} twice")
        if name in _FLAGS and value is None:
            found[name] = 1
        elif name in _BITS and value in _BITS_VALUES:
            found[name] = _BITS_VALUES[value]
        elif name == "client_max_window_bits" and value is None and offer:
            # 7.1.2.2: without a value it only says that the client understands the parameter.
            found[name] = WINDOW_BITS_MAX
        else:
            shown = name if value is None else f"{name}={value}"
            raise BadExtension("websocket/7692-7.1.parameter", f"{NAME} knows no '{shown}' here")
    return found


def _settle(asked: Parameters, given: Parameters) -> Deflate | None:
    """Apply 7.1.1 and 7.1.2; None where the answer does not fit this offer."""
    if "server_no_context_takeover" in asked and "server_no_context_takeover" not in given:
        return None
    if "server_max_window_bits" in asked and (
        given.get("server_max_window_bits", WINDOW_BITS_MAX + 1) > asked["server_max_window_bits"]
    ):
        return None
    client_bits = given.get("client_max_window_bits")
    if client_bits is not None and client_bits > asked.get("client_max_window_bits", 0):
        return None  # "MUST NOT be included" where the offer has none
    return Deflate(
        bool(given.get("server_no_context_takeover")),
        # 7.1.1.2: the offer is a hint that the client will not keep its context, whatever is answered.
        bool(given.get("client_no_context_takeover") or asked.get("client_no_context_takeover")),
        given.get("server_max_window_bits", WINDOW_BITS_MAX),
        # 7.1.2.2: an offer's value is a promise too.
        client_bits or asked.get("client_max_window_bits", WINDOW_BITS_MAX),
    )


def parse_extensions(values: Iterable[str]) -> tuple[Extension, ...]:
    """Read Sec-WebSocket-Extensions (RFC 6455, 9.1). Raises BadExtension."""
    found = []
    for element in ",".join(values).split(","):
        if not element.strip():
            continue  # an empty element of a list says nothing (RFC 7230, 7)
        name, *rest = (part.strip() for part in element.split(";"))
        parameters: list[tuple[str, str | None]] = []
        for part in rest:
            key, equals, value = (piece.strip() for piece in part.partition("="))
            # "When using the quoted-string syntax variant, the value after quoted-string unescaping
            # MUST conform to the 'token' ABNF": so a comma or semicolon never stands inside quotes.
            if len(value) >= 2 and value[0] == value[-1] == '"':
                value = value[1:-1]
            if not _is_token(key) or (equals and not _is_token(value)):
                raise BadExtension("websocket/9.1.extensions", f"'{part}' is no extension parameter")
            parameters.append((key, value if equals else None))
        if not _is_token(name):
            raise BadExtension("websocket/9.1.extensions", f"'{name}' is no extension's name")
        found.append(Extension(name, tuple(parameters)))
    return tuple(found)


_TOKEN = frozenset("!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")


def _is_token(word: str) -> bool:
    return bool(word) and _TOKEN.issuperset(word)


class Inflater:
    """Inflates the messages of one direction, each to at most `size_max` bytes."""

    def __init__(self, window_bits: int, takeover: bool, size_max: int) -> None:
        self._wbits = -window_bits
        self._window = 1 << window_bits
        self._takeover = takeover
        self._size_max = size_max
        self._stream = zlib.decompressobj(self._wbits)
        self._past = bytearray()  # what a back reference may still reach
        self._lost = False

    def miss(self) -> None:
        """A compressed message went by unread: what refers to it cannot be inflated."""
        self._lost = self._takeover

    def inflate(self, data: bytes | bytearray) -> bytes:
        """Inflate one whole message. Raises CannotInflate."""
        if self._lost:
            raise CannotInflate(
                "websocket/7692-7.2.2.context",
                "an earlier message could not be inflated, and this one may refer to it",
            )
        if not self._takeover:
            self._stream = zlib.decompressobj(self._wbits)
        try:
            whole = self._run(bytes(data) + TAIL)
        except CannotInflate:
            self.miss()
            raise
        if self._takeover:
            self._past += whole[-self._window :]
            del self._past[: -self._window]
        return whole

    def _run(self, data: bytes) -> bytes:
        pieces: list[bytes] = []
        room = self._size_max
        for _ in range(ENDS_MAX):
            try:
                # One byte more than allowed tells a full message from one that goes on.
                piece = self._stream.decompress(data, room + 1)
            except zlib.error as error:
                raise CannotInflate("websocket/7692-7.2.2.inflate", f"this is no deflate: {error}") from None
            pieces.append(piece)
            room -= len(piece)
            if room < 0:
                raise CannotInflate(
                    "websocket/7692-8.size", f"inflated, it is longer than {self._size_max:,} bytes"
                )
            if not self._stream.eof:
                return b"".join(pieces)
            # 7.2.3.4: a block with BFINAL ends the stream; what follows begins anew, with the same past.
            data = self._stream.unused_data
            past = (bytes(self._past) + b"".join(pieces))[-self._window :]
            self._stream = (
                zlib.decompressobj(self._wbits, zdict=past) if past else zlib.decompressobj(self._wbits)
            )
            if data in (b"", TAIL):
                return b"".join(pieces)
        raise CannotInflate("websocket/7692-7.2.2.inflate", f"it ends and begins anew {ENDS_MAX} times")
