"""`wiretable shell`: Scapy with the five protocols loaded, and a wire to any node.

Scapy's own sr1() speaks through raw sockets: it needs root, and the kernel, which knows nothing of it,
tells the node that nobody listens. wire() and stream() give Scapy an ordinary socket: no root, any system.
"""

from __future__ import annotations

import code
import socket
import sys
from typing import TYPE_CHECKING, Any

from scapy.supersocket import SimpleSocket, StreamSocket

from nodes import address

if TYPE_CHECKING:
    from scapy.packet import Packet

BANNER = """\
Scapy {version} with Hearts, Briscola, tic-tac-toe, hold'em and Connect Four. Try:

  (Hearts(origin=1)/PlayCard(card="Q♠")).show2()           build a frame, and see it as a node does
  packets = rdpcap("runs/latest/capture.pcapng")           read a run; packets[0].show(), hexdump(packets[0])
  wire("127.0.0.1:47200", Briscola).sr1(BriscolaSearch(player=5))     ask a server that runs here

check(packet) says which check a node would refuse it by; ls(Hearts) lists fields. Ctrl-D leaves."""

CONNECT_TIMEOUT_S = 5.0


class Wire(SimpleSocket):
    """Datagrams to one address, from anyone: on a ring, who answers is not who was asked."""

    def __init__(self, layer: type[Packet], there: address.Address, here: address.Address) -> None:
        sock = socket.socket(address.family(there), socket.SOCK_DGRAM)
        sock.bind(here)
        super().__init__(sock, layer)
        self.there = there
        self.here = address.Address(*sock.getsockname()[:2])

    def send(self, x: Packet) -> int:
        assert self.outs is not None
        return self.outs.sendto(bytes(x), self.there)


def wire(there: str, layer: type[Packet], here: str | None = None) -> Wire:
    """A UDP socket to a node: wire(…).send(frame), .recv(), .sr1(frame, timeout=1)."""
    to = address.parse(there)
    return Wire(
        layer, to, address.parse(here) if here else address.Address("::" if ":" in to.host else "", 0)
    )


def stream(there: str, layer: type[Packet]) -> StreamSocket:
    """A TCP connection to a server: stream(…).recv(), .send(message), .sr1(message, timeout=1)."""
    sock = socket.create_connection(address.parse(there), timeout=CONNECT_TIMEOUT_S)
    sock.settimeout(None)
    return StreamSocket(sock, layer)


def namespace() -> dict[str, Any]:
    """All that a line typed in the shell can name."""
    import scapy.all as scapy

    import dissectors

    names = {name: value for name, value in vars(scapy).items() if not name.startswith("_")}
    names |= {name: getattr(dissectors, name) for name in dissectors.__all__}
    return names | {"dissectors": dissectors, "wire": wire, "stream": stream}


def banner() -> str:
    import scapy

    return BANNER.format(version=scapy.VERSION)


def interact() -> None:
    """Read lines until there are no more, from a person or from a pipe."""
    names = namespace()
    if sys.stdin.isatty():
        _complete(names)
    code.interact(banner(), local=names, exitmsg="")


def _complete(names: dict[str, Any]) -> None:
    """Arrow keys and the Tab key, where Python has readline."""
    try:
        import readline
        import rlcompleter
    except ImportError:
        return
    readline.set_completer(rlcompleter.Completer(names).complete)
    readline.parse_and_bind("tab: complete")
