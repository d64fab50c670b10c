"""Large captures as typed columns: the games' fixed formats, without a packet object for any frame.

    table = captures.table("capture.pcapng")
    hearts = table["hearts"]
    hearts["time_ns"][hearts["owner"] == 2]       when the token was passed to m2
    table.problem                                 why not all of the file could be read, if so

    for part in captures.chunks("2-GB.pcapng"): …          the same piece by piece, in bounded memory

Each game has a row a message, in the order of the capture, also for what its codec refuses:

    frame, time_ns    which frame, and when        check    0 accepted, else what `checks` calls it
    link              which of `links`             kind     which of `kinds`, -1 if refused
    src, dst          16 bytes, see `address`      …        each field of the game's fields.py
    sport, dport

A field that a message does not have is -1, or empty where it is text; a list is a row of its own, filled up
with -1. Fields are made from the kept bytes when they are asked for.

Hearts and Briscola over plain Ethernet, Linux cooked, raw or loopback and IPv4 are decoded a batch at a time.
Frames that are not so plain (VLAN, options, IPv6, odd lengths) go through `captures.layers` one by one, and
tic-tac-toe through `captures.messages`, which puts its streams together; only its bytes are judged by the
column. Nothing is left out, but those are slow: about 4 million frames a second where frames are plain,
200,000 where they go through `layers`, 90,000 of tic-tac-toe, also where each segment is whole messages.
Hold'em and Connect Four are not of a fixed format: read those with `messages`.

Why numpy and not Arrow: what there is to do is arithmetic on bytes in place, which numpy has and Arrow has
not; Arrow imports numpy anyway, takes 17–30 ms more to import and 170 MB on disk (numpy: 45), and would serve
those who pass columns on to other programs, which nobody does here. `pyarrow.array(column)` is one call.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from captures.learnt import ABSENT, Codec

if TYPE_CHECKING:
    from captures.walk import Array, Bytes
    from nodes.core import Json

__all__ = ["ABSENT", "COMMON", "Columns", "address", "address_text", "join", "mapped"]

COMMON: dict[str, np.dtype[Any]] = {
    "frame": np.dtype(np.int64),
    "time_ns": np.dtype(np.int64),
    "link": np.dtype(np.int32),
    "src": np.dtype("V16"),
    "dst": np.dtype("V16"),
    "sport": np.dtype(np.uint16),
    "dport": np.dtype(np.uint16),
    "check": np.dtype(np.uint8),
}

_MAPPED = bytes(10) + b"\xff\xff"  # how IPv6 writes an IPv4 address (RFC 4291, 2.5.5.2)


def address(text: str) -> np.void:
    """An address as the columns `src` and `dst` have it; IPv4 as ::ffff:a.b.c.d."""
    if ":" in text:
        return np.void(socket.inet_pton(socket.AF_INET6, text))
    return np.void(_MAPPED + socket.inet_pton(socket.AF_INET, text))


def address_text(value: np.void) -> str:
    """What people call it."""
    raw = value.tobytes()
    if raw.startswith(_MAPPED):
        return socket.inet_ntop(socket.AF_INET, raw[len(_MAPPED) :])
    return socket.inet_ntop(socket.AF_INET6, raw)


class Columns(Mapping[str, "Array"]):
    """One game's messages, a row each."""

    def __init__(self, codec: Codec, common: Mapping[str, Array], raw: Bytes) -> None:
        self.codec = codec
        self.checks = codec.checks  # the id by the number in column `check`
        self.raw = raw  # the bytes, zero beyond their end
        self._common = common

    def __getitem__(self, name: str) -> Array:
        if name in self._common:
            return self._common[name]
        if name == "kind":
            return self.codec.kinds(self.raw, self._common["check"])[0]
        if name in self.codec.fields:
            return self.codec.column(name, self.raw, self._common["check"])
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter((*self._common, "kind", *self.codec.fields))

    def __len__(self) -> int:
        return len(self._common) + 1 + len(self.codec.fields)

    @property
    def rows(self) -> int:
        return len(self.raw)

    @property
    def kinds(self) -> list[str]:
        """The name by the number in column `kind`."""
        return self.codec.kinds(self.raw[:0], self._common["check"][:0])[1]

    def fields(self, row: int) -> dict[str, Json]:
        """One row's fields, as the codec gives them; nothing if it is refused."""
        found: dict[str, Json] = {}
        if self._common["check"][row] == 0:
            one = self.where(np.array([row]))
            for name in self.codec.message(self.raw[row].tobytes()).fields():
                found[name] = self.codec.value(name, one[name][0], self.raw[row])
        return found

    def where(self, rows: Array) -> Columns:
        """Some of the rows."""
        return Columns(
            self.codec, {name: column[rows] for name, column in self._common.items()}, self.raw[rows]
        )


def mapped(addresses: Array) -> Array:
    """IPv4 addresses, four bytes each, as the columns have them."""
    found = np.empty((len(addresses), 16), np.uint8)
    found[:, : len(_MAPPED)] = np.frombuffer(_MAPPED, np.uint8)
    found[:, len(_MAPPED) :] = np.ascontiguousarray(addresses).view(np.uint8).reshape(-1, 4)
    return found.view("V16")[:, 0]


def join(codec: Codec, parts: list[Columns]) -> Columns:
    """Some parts as one, in order."""
    if len(parts) == 1:
        return parts[0]
    common = {
        name: np.concatenate([part[name] for part in parts]) if parts else np.zeros(0, dtype)
        for name, dtype in COMMON.items()
    }
    raw = [part.raw for part in parts]
    return Columns(codec, common, np.concatenate(raw) if raw else np.zeros((0, codec.width), np.uint8))
