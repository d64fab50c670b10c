"""How messages travel: four bytes of length, little-endian and signed, then that many bytes of JSON.

┌────────────────────┬──────────────────────┐
│ length  4, LE, int │ JSON  `length` bytes │
└────────────────────┴──────────────────────┘

"在数据包发送时，首先发送长度为4的数据包长度，再发送数据包。"
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

from nodes.core import RemoteProtocolError

PREFIX = 4
LENGTH_MIN = 2  # the shortest JSON object is {}
LENGTH_MAX = 1 << 20
SHOWN_MAX = 40
NUMBER_SHOWN_MAX = 10**12
# An entry of action_history lies four deep. Without a limit of ours Python's own would judge, which differs
# from place to place; and whoever copies, compares or prints what was read has one as well.
NESTING_MAX = 64


def frame(body: bytes) -> bytes:
    """A body with its length in front."""
    return len(body).to_bytes(PREFIX, "little", signed=True) + body


def length_of(prefix: bytes | bytearray) -> int:
    """What the four bytes say."""
    length = int.from_bytes(prefix, "little", signed=True)
    if not LENGTH_MIN <= length <= LENGTH_MAX:
        raise RemoteProtocolError(
            "holdem/frame.len",
            f"a packet length of {length} is not between {LENGTH_MIN} and {LENGTH_MAX}",
        )
    return length


class Frames:
    """One direction of a stream, cut into bodies. It holds what has not been taken yet."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._start = 0  # bodies before this are taken; moving it is cheaper than moving the bytes

    def __len__(self) -> int:
        return len(self._buffer) - self._start

    def feed(self, data: bytes) -> None:
        """Add any piece of the stream; take all that is whole before feeding more."""
        del self._buffer[: self._start]
        self._start = 0
        self._buffer += data

    def take(self) -> bytes | None:
        """The next whole body, or None. A bad length raises; nothing can be read after that."""
        begin = self._start + PREFIX
        if len(self._buffer) < begin:
            return None
        length = length_of(self._buffer[self._start : begin])
        if len(self._buffer) < begin + length:
            return None
        self._start = begin + length
        return bytes(self._buffer[begin : self._start])


def refuse(check: str, text: str) -> NoReturn:
    raise RemoteProtocolError(check, text)


def shown(value: object) -> str:
    """A stranger's value, short and printable. Only scalars are shown: a container may be deep."""
    if isinstance(value, str):
        return ascii(value[:SHOWN_MAX])
    if value is None or isinstance(value, bool | float):
        return str(value)
    if isinstance(value, int):
        return str(value) if abs(value) <= NUMBER_SHOWN_MAX else "a huge number"
    return "a list" if isinstance(value, list) else "an object"


def parse(body: bytes) -> dict[str, Any]:
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        refuse("holdem/frame.utf8", f"byte {error.start} of the packet is not UTF-8")
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except RecursionError:
        refuse("holdem/frame.json", "the JSON is nested too deeply")
    except ValueError as error:  # also a number of more digits than Python converts
        refuse("holdem/frame.json", f"the packet is not JSON: {str(error)[:80]}")
    if not isinstance(value, dict):
        refuse("holdem/frame.json", "the packet is JSON, but not an object")
    if text.count("[") + text.count("{") > NESTING_MAX and _is_deep(value):
        refuse("holdem/frame.json", "the JSON is nested too deeply")
    return value


def _is_deep(value: object) -> bool:
    level: list[Any] = [value]
    for _ in range(NESTING_MAX):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
    return bool(level)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        refuse("holdem/frame.json", "an object has the same key twice")
    return fields


def _no_constant(word: str) -> NoReturn:
    refuse("holdem/frame.json", f"{word} is not a JSON number")


def whole(value: object, low: int, high: int, check: str, what: str) -> int:
    """A whole number in bounds; 2.0 is one, true is not."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        refuse(check, f"{what} is {shown(value)}, not a whole number from {low} to {high}")
    return value


def string(value: object, low: int, high: int, check: str, what: str) -> str:
    """A text of sane length that can be printed (so no lone surrogates and no control characters)."""
    if not isinstance(value, str) or not low <= len(value) <= high or not value.isprintable():
        refuse(check, f"{what} is {shown(value)}, not a printable text of {low} to {high} characters")
    return value


def list_of(value: object, length_max: int, check: str, what: str) -> list[Any]:
    if not isinstance(value, list) or len(value) > length_max:
        refuse(check, f"{what} is not a list of at most {length_max}")
    return value


def object_of(value: object, check: str, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        refuse(check, f"{what} is {shown(value)}, not an object")
    return value
