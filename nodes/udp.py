"""The datagram shell: one blocking socket, one core. Plain asyncio would cost four times as much a hop."""

from __future__ import annotations

import os
import select
import socket
from typing import TYPE_CHECKING

from nodes.address import Address, family, parse
from nodes.core import Send
from nodes.shell import cannot_listen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nodes.core import Output, Peer
    from nodes.shell import Driver
    from nodes.tape import Tape

DATAGRAM_MAX = (
    2048  # the longest legal one has 260 bytes; a longer one arrives cut, and is refused all the same
)
RECEIVE_BUFFER_BYTES = 1 << 20


class UdpShell:
    """`routes` names the fixed peers ("next", "server"); `peer_of` names whoever sent a datagram."""

    def __init__(
        self,
        driver: Driver,
        listen: Address,
        *,
        routes: Mapping[Peer, Address],
        peer_of: Callable[[tuple[str, int]], Peer | None],
        tape: Tape | None = None,
    ) -> None:
        self._driver = driver
        self._routes = dict(routes)
        self._peer_of = peer_of
        self._tape = tape
        self._socket = socket.socket(family(listen), socket.SOCK_DGRAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER_BYTES)
        try:
            self._socket.bind(listen)
        except OSError as error:
            self._socket.close()
            raise cannot_listen(listen, error) from None
        self._wake: tuple[int, int] | None = None
        self._wait_s: float | None = None  # what the socket's timeout is now
        name = self._socket.getsockname()
        self.address = Address(name[0], name[1])
        self.send_errors = 0

    def ask_in_background(self) -> None:
        """A person plays here."""
        self._wake = read, write = os.pipe()
        os.set_blocking(read, False)
        self._driver.ask_in_background(lambda: os.write(write, b"."))

    def run(self) -> None:
        """Serve the core until it is done or the person leaves."""
        driver, core, receive = self._driver, self._driver.core, self._receive
        core.start(driver.clock())
        driver.pump(self._send)
        while not driver.over:
            due = driver.timer()
            wait_s = None if due is None else due - driver.clock()
            datagram = None
            if wait_s is not None and wait_s <= 0:
                driver.handle_timer()  # first: a flood of datagrams must not keep timers from ringing
            else:
                datagram = receive(wait_s)
            if datagram is not None:
                peer = self._peer_of(datagram[1])
                if peer is not None:
                    core.receive(datagram[0], peer, driver.clock())
            driver.pump(self._send)

    def close(self) -> None:
        # The person's pipe stays open: their thread may still write, and must not hit another file's number.
        self._socket.close()

    def _receive(self, wait_s: float | None) -> tuple[bytes, tuple[str, int]] | None:
        """A datagram, or None when the person answered or the time is up."""
        if self._wake is not None:
            datagrams, answers = self._socket.fileno(), self._wake[0]
            ready, _, _ = select.select([datagrams, answers], [], [], wait_s)
            if answers in ready:
                os.read(answers, 64)
            if datagrams not in ready:
                return None
        elif wait_s != self._wait_s:
            # Every settimeout is a system call, even one that changes nothing. And a timeout of 0 would
            # make the socket non-blocking, with another exception.
            self._wait_s = wait_s
            self._socket.settimeout(None if wait_s is None else max(wait_s, 1e-6))
        try:
            return self._socket.recvfrom(DATAGRAM_MAX)
        except TimeoutError:
            return None
        except (ConnectionError, BlockingIOError):
            return None  # Some kernels report a peer's closed port here; UDP promises nothing anyway

    def _send(self, output: Output) -> None:
        if not isinstance(output, Send):
            return  # datagrams need no connection
        address = self._routes.get(output.peer) or parse(output.peer)
        if self._tape is not None:
            self._tape.write("data", self.address, address, output.data)
        try:
            self._socket.sendto(output.data, address)
        except OSError:
            self.send_errors += 1  # no route, no buffer, a firewall: to the core it is a lost datagram
