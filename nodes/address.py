"""HOST:PORT as people write it."""

from __future__ import annotations

import socket
import time
from typing import NamedTuple

RESOLVE_PATIENCE_S = 30.0  # a container's neighbour gets its name only when it is up
RESOLVE_PAUSE_S = 0.2
PORT_MAX = 65535


class AddressError(ValueError):
    """Not an address, or a host nobody knows. The text says which."""


class Address(NamedTuple):
    """An address; `host` may be a name until resolve() made it a number."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse(text: str, default_port: int | None = None) -> Address:
    """`127.0.0.1:47123`, `[::1]:47123`, `m1:47123`; the port may be left out where there is a default."""
    host, colon, port = text.rpartition(":")
    if not colon or (host.count(":") and not host.endswith("]")):
        host, port = text, ""
    host = host.removeprefix("[").removesuffix("]")
    if host and not port and default_port is not None:
        return Address(host, default_port)
    if not host or not (port.isascii() and port.isdigit()) or int(port) > PORT_MAX:
        raise AddressError(f"'{text}' is not HOST:PORT (for example 127.0.0.1:47123)")
    return Address(host, int(port))


def resolve(address: Address, patience_s: float = RESOLVE_PATIENCE_S) -> Address:
    """The numeric address of a host; waits a while for a name that is not there yet."""
    deadline = time.monotonic() + patience_s
    while True:
        try:
            found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_DGRAM)
        except (socket.gaierror, UnicodeError) as error:
            if time.monotonic() >= deadline:
                raise AddressError(f"nobody knows the host '{address.host}' ({error})") from None
            time.sleep(RESOLVE_PAUSE_S)
            continue
        return Address(str(found[0][4][0]), address.port)


def family(address: Address) -> socket.AddressFamily:
    """IPv6 has colons in it; anything else is IPv4."""
    return socket.AF_INET6 if ":" in address.host else socket.AF_INET
