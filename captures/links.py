"""Links: who may speak to whom in a run, and which interface of the capture a frame belongs to.

    m0→m1=127.0.71.1>127.0.71.2              one way, as on the ring
    p1↔server=127.0.72.2<>127.0.72.1:47200   both ways, as between a client and its server

A port narrows an end where several nodes share one address; IPv6 with a port is `[::1]:47123`.
"""

from __future__ import annotations

import platform
import re
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING

from captures.blocks import Direction, Interface, Section, packed_address
from nodes import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from captures.pcapng import Writer

LINKS_MAX = 4096


@dataclass(frozen=True, slots=True)
class End:
    """One end of a link: the bytes of its address, and its port where that matters."""

    address: bytes
    port: int | None = None

    def __str__(self) -> str:
        family = socket.AF_INET if len(self.address) == 4 else socket.AF_INET6
        text = socket.inet_ntop(family, self.address)
        if self.port is None:
            return text
        return f"{text}:{self.port}" if family == socket.AF_INET else f"[{text}]:{self.port}"


@dataclass(frozen=True, slots=True)
class Link:
    """A named link from `a` to `b`, or both ways."""

    name: str
    a: End
    b: End
    both_ways: bool = False

    def __str__(self) -> str:
        return f"{self.name}={self.a}{'<>' if self.both_ways else '>'}{self.b}"


def parse_end(text: str) -> End:
    """Read `127.0.71.1`, `127.0.71.1:47123`, `::1` or `[::1]:47123`."""
    if match := re.fullmatch(r"\[([^\]]*)\](?::([0-9]{1,5}))?", text):
        address, port = match.groups()
    elif text.count(":") == 1:
        address, _, port = text.partition(":")
        if not re.fullmatch("[0-9]{1,5}", port):
            raise ValueError(f"{text!r} has no port number after its colon")
    else:
        address, port = text, None
    if port is not None and not 0 < int(port) <= 0xFFFF:
        raise ValueError(f"{text!r} has a port outside of 1–65535")
    return End(packed_address(address), None if port is None else int(port))


def parse_link(text: str) -> Link:
    """Read `NAME=A>B` or `NAME=A<>B`."""
    name, equals, ends = text.rpartition("=")
    a, arrow, b = ends.partition(">")
    if not (name and equals and arrow):
        raise ValueError(f"link {text!r} is not NAME=A>B (one way) or NAME=A<>B (both ways)")
    both_ways = a.endswith("<")
    try:
        first, second = parse_end(a.removesuffix("<")), parse_end(b)
    except ValueError as error:
        raise ValueError(f"link {text!r}: {error}") from None
    if len(first.address) != len(second.address):
        raise ValueError(f"link {text!r} joins an IPv4 and an IPv6 address")
    return Link(name, first, second, both_ways)


def parse_node(text: str) -> tuple[str, str]:
    """Read `NAME=ADDRESS` and return the address and the name."""
    name, _, address = text.rpartition("=")
    try:
        if not name or "\0" in name:
            raise ValueError("the name is missing")
        return str(End(packed_address(address))), name
    except ValueError as error:
        raise ValueError(f"node {text!r} is not NAME=ADDRESS: {error}") from None


# Where a frame goes: the number of its link, and which way it went there.
Place = tuple[int, Direction]


class LinkTable:
    """Finds the link of a frame by its addresses, and by its ports where links need them."""

    def __init__(self, links: Sequence[Link]) -> None:
        if len(links) > LINKS_MAX:
            raise ValueError(f"{len(links)} links are too many: {LINKS_MAX} at most")
        self._rows: dict[tuple[bytes, bytes], list[tuple[int | None, int | None, Place]]] = {}
        for number, link in enumerate(links):
            self._add(link.a, link.b, (number, Direction.OUTBOUND))
            if link.both_ways:
                self._add(link.b, link.a, (number, Direction.INBOUND))

    @property
    def pairs(self) -> list[tuple[bytes, bytes]]:
        """Every (source, destination) pair of addresses that belongs to a link."""
        return list(self._rows)

    def find(self, src: bytes, dst: bytes, src_port: int | None, dst_port: int | None) -> Place | None:
        """Return the first link that fits. Ports are None in a fragment, which fits on its addresses."""
        for want_src, want_dst, place in self._rows.get((src, dst), ()):
            if (want_src is None or src_port is None or want_src == src_port) and (
                want_dst is None or dst_port is None or want_dst == dst_port
            ):
                return place
        return None

    def _add(self, src: End, dst: End, place: Place) -> None:
        self._rows.setdefault((src.address, dst.address), []).append((src.port, dst.port, place))


def section(*comments: str) -> Section:
    """Return a section header that says what machine and program recorded."""
    os_name = f"{platform.system()} {platform.release()}"
    return Section(platform.machine(), os_name, f"Wiretable {__version__}", comments)


def describe(writer: Writer, links: Iterable[Link], how: str, names: Mapping[str, str]) -> None:
    """Write the interfaces, one a link in their order, and the nodes' names by address."""
    for link in links:
        arrow = "both ways" if link.both_ways else "one way"
        writer.interface(Interface(link.name, f"{link.a} to {link.b}, {arrow}; {how}"))
    if names:
        writer.names(names)
