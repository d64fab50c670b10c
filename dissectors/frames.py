"""What an observer tells of: the upgrade, every frame, whole messages, and clauses that were not kept.

Nothing here needs Scapy.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dissectors.deflate import Deflate, Extension
    from dissectors.handshake import Headers

FRAME_MAX = 1 << 20  # bytes of payload; of a longer frame only the header is read, its payload is skipped
CONTROL_MAX = 125  # "All control frames MUST have a payload length of 125 bytes or less" (5.5)


class Opcode(IntEnum):
    """RFC 6455, 5.2. Those not named are reserved."""

    CONTINUATION = 0
    TEXT = 1
    BINARY = 2
    CLOSE = 8
    PING = 9
    PONG = 10


OPCODES: dict[int, str] = {opcode.value: opcode.name.lower() for opcode in Opcode}


@dataclass(slots=True)
class Upgrade:
    """The request (`from_client`) or the response. `deflate` is what a response agreed on."""

    from_client: bool
    headers: Headers
    version: str
    method: str = ""  # of a request
    path: str = ""  # of a request
    status: int | None = None  # of a response
    reason: str = ""  # of a response
    extensions: tuple[Extension, ...] = ()
    deflate: Deflate | None = None


@dataclass(slots=True)
class Frame:
    """One frame, as RFC 6455, 5.2 draws it. `payload` is unmasked, and empty where it was skipped."""

    from_client: bool
    fin: bool
    rsv1: bool
    rsv2: bool
    rsv3: bool
    opcode: int
    key: bytes | None  # the masking key; None: not masked
    length: int
    length_bits: int  # the form of the length: 7, 16 or 64
    payload: bytes

    @property
    def name(self) -> str:
        return OPCODES.get(self.opcode, f"reserved {self.opcode:#x}")

    @property
    def close_code(self) -> int | None:
        """Of a close frame that has one."""
        if self.opcode != Opcode.CLOSE or len(self.payload) < 2:
            return None
        return int.from_bytes(self.payload[:2], "big")

    @property
    def close_reason(self) -> str:
        """Of a close frame; what is no UTF-8 is replaced."""
        return self.payload[2:].decode("utf-8", "replace") if self.opcode == Opcode.CLOSE else ""


@dataclass(slots=True)
class Text:
    """A whole text message. `data` is its UTF-8."""

    from_client: bool
    text: str
    data: bytes
    compressed: bool
    frames: int


@dataclass(slots=True)
class Binary:
    """A whole binary message."""

    from_client: bool
    data: bytes
    compressed: bool
    frames: int


@dataclass(slots=True)
class Broken:
    """A clause was not kept. `check` names it by section; `ended`: nothing more of this side is read."""

    from_client: bool
    check: str
    text: str
    data: bytes = b""  # what it is about, cut to DATA_MAX bytes
    ended: bool = False


Event = Upgrade | Frame | Text | Binary | Broken
DATA_MAX = 64


def frame_faults(frame: Frame, compressing: bool, closed: bool) -> list[tuple[str, str, bool]]:
    """What is wrong with a frame by itself: check, sentence, and whether nothing behind it is read.

    `compressing`: permessage-deflate was agreed on; `closed`: a close frame came before it.
    """
    faults: list[tuple[str, str, bool]] = []
    control = frame.opcode >= 8
    if frame.length >> 63:
        # "the most significant bit MUST be 0"
        faults.append(("websocket/5.2.length", "the first bit of a 64-bit length is set", True))
    elif frame.length > FRAME_MAX:
        text = f"a frame of {frame.length:,} bytes; of more than {FRAME_MAX:,} the payload is skipped"
        faults.append(("websocket/10.4.frame", text, False))
    if frame.opcode not in OPCODES:
        faults.append(("websocket/5.2.opcode", f"opcode {frame.opcode:#x} is reserved", False))
    first_of_message = frame.opcode in (Opcode.TEXT, Opcode.BINARY)
    if frame.rsv2 or frame.rsv3 or (frame.rsv1 and not compressing):
        bits = "".join(str(bit) for bit, on in ((1, frame.rsv1), (2, frame.rsv2), (3, frame.rsv3)) if on)
        faults.append(("websocket/5.2.rsv", f"RSV{bits} set, which no extension agreed on uses", False))
    elif frame.rsv1 and not first_of_message:
        faults.append(("websocket/7692-6.1.rsv1", "RSV1 belongs to a message's first frame only", False))
    if frame.from_client and frame.key is None:
        faults.append(("websocket/5.1.unmasked", "a client masks every frame; this one is not masked", False))
    if not frame.from_client and frame.key is not None:
        faults.append(("websocket/5.1.masked", "a server masks no frame; this one is masked", False))
    if control and not frame.fin:
        faults.append(("websocket/5.5.fragment", f"a {frame.name} frame is never fragmented", False))
    if control and frame.length > CONTROL_MAX:
        text = f"a {frame.name} frame has at most {CONTROL_MAX} bytes, not {frame.length:,}"
        faults.append(("websocket/5.5.length", text, False))
    if closed:
        text = f"a {frame.name} frame after the close frame"
        faults.append(("websocket/5.5.1.after", text, True))
    return faults


def is_close_code(code: int) -> bool:
    """RFC 6455, 7.4, and the registry it opened: 1004–1006 and 1015 never stand in a frame."""
    return 1000 <= code <= 1003 or 1007 <= code <= 1014 or 3000 <= code <= 4999


def unmask(data: bytes, key: bytes) -> bytes:
    """Mask, or take the mask off: "the same algorithm applies" (5.3)."""
    size = len(data)
    stream = (key * (size // 4 + 1))[:size]
    # One long number beats a loop over the bytes by a hundred times.
    return (int.from_bytes(data, "little") ^ int.from_bytes(stream, "little")).to_bytes(size, "little")
