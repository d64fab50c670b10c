"""What the TCP and the WebSocket shell share: connections as named peers of one core, on asyncio."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import resource
import signal
from typing import TYPE_CHECKING, Any, Protocol

from nodes.core import Close, Happened, Open, Send
from nodes.shell import ShellError, why

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from nodes.address import Address
    from nodes.core import Output, Peer
    from nodes.shell import Driver
    from nodes.tape import Tape

WRITE_BUFFER_MAX = 4 << 20  # a peer that does not read is cut off here
CONNECTIONS_MAX = 4096
DESCRIPTORS_SPARE = 64
EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
CONNECT_PATIENCE_S = 10.0  # machines of a lab do not start at the same instant
CONNECT_PAUSE_S = 0.05
FLUSH_PATIENCE_S = 2.0  # for a peer to read the last that it is sent


class Link(Protocol):
    """One open connection."""

    def write(self, data: bytes) -> None: ...

    def buffered(self) -> int: ...

    def close(self) -> None:
        """Flush, then end."""

    def abort(self) -> None: ...


class StreamShell:
    """Feeds one core from many connections. A subclass knows how to listen and how to dial."""

    def __init__(
        self,
        driver: Driver,
        *,
        server: Address | None = None,
        local: Address | None = None,
        tape: Tape | None = None,
    ) -> None:
        self.driver = driver
        self.server = server  # whom a client dials
        self.local = local  # where a server listens; from where a client dials
        self.tape = tape
        self.on_listening: Callable[[Address], None] = lambda _: None
        self.signal: int | None = None
        self._links: dict[Peer, Link] = {}
        self._over = asyncio.Event()
        self._empty = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at: float | None = None
        self._dials: set[asyncio.Task[None]] = set()
        self._person = False
        self._was_connected = False
        self._crowded = False

    async def listen(self) -> tuple[Address, Callable[[], Awaitable[None]]]:
        """Start listening at `local`: where, and how to stop."""
        raise NotImplementedError

    async def dial(self, peer: Peer) -> None:
        """Connect to `server` and call opened(), or raise OSError."""
        raise NotImplementedError

    def ask_in_background(self) -> None:
        """A person plays here."""
        self._person = True

    async def run(self) -> None:
        """Serve the core until it is done, the person leaves, or a signal comes."""
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._on_exception)
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._stop, number)
        if self._person:
            self.driver.ask_in_background(lambda: loop.call_soon_threadsafe(self.pump))
        stop = None
        if self.server is None:
            _allow_descriptors(CONNECTIONS_MAX + DESCRIPTORS_SPARE)
            where, stop = await self.listen()
            self.on_listening(where)
        self.driver.core.start(self.driver.clock())
        self.pump()
        await self._over.wait()
        if self._timer is not None:
            self._timer.cancel()
        for dial in list(self._dials):
            dial.cancel()
        for link in list(self._links.values()):
            link.close()
        if self._links:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._empty.wait(), FLUSH_PATIENCE_S)
        for link in list(self._links.values()):
            link.abort()
        if stop is not None:
            await stop()
        for dial in self._dials:
            if dial.done() and not dial.cancelled() and (error := dial.exception()):
                raise error

    def opened(self, peer: Peer, link: Link) -> None:
        """A connection is there."""
        if len(self._links) >= CONNECTIONS_MAX or self._over.is_set():
            link.abort()
            return
        self._links[peer] = link
        self._was_connected = True
        self._empty.clear()
        self.driver.core.connected(peer, self.driver.clock())
        self.pump()

    def received(self, peer: Peer, link: Link, data: bytes) -> None:
        if self._links.get(peer) is link:
            self.driver.core.receive(data, peer, self.driver.clock())
            self.pump()

    def garbled(self, peer: Peer, text: str) -> None:
        """A connection ends because of what came on it."""
        if not self._over.is_set():
            self.driver.core.garbled(peer, text, self.driver.clock())
            self.pump()

    def closed(self, peer: Peer, link: Link) -> None:
        """A connection is gone, whoever ended it. Its peer may have a newer one by now."""
        if self._links.get(peer) is link:
            del self._links[peer]
            if not self._over.is_set():
                self.driver.core.disconnected(peer, self.driver.clock())
                self.pump()
        if not self._links:
            self._empty.set()

    def pump(self) -> None:
        if self._over.is_set():
            return
        self.driver.pump(self._carry)
        if self.driver.over:
            self._over.set()
            return
        self._set_timer()

    def _carry(self, output: Output) -> None:
        match output:
            case Send(peer, data):
                link = self._links.get(peer)
                if link is not None:
                    link.write(data)
                    if link.buffered() > WRITE_BUFFER_MAX:
                        link.abort()
            case Open(peer):
                dial = asyncio.get_running_loop().create_task(self._dial(peer))
                self._dials.add(dial)
                dial.add_done_callback(self._dialled)
            case Close(peer):
                link = self._links.pop(peer, None)
                if link is not None:
                    link.close()

    def _dialled(self, dial: asyncio.Task[None]) -> None:
        if dial.cancelled() or dial.exception() is None:
            self._dials.discard(dial)
        else:
            self._over.set()  # run() raises it

    async def _dial(self, peer: Peer) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + CONNECT_PATIENCE_S
        while True:
            try:
                await self.dial(peer)
            except OSError as error:
                if loop.time() < deadline:
                    await asyncio.sleep(CONNECT_PAUSE_S)
                elif self._was_connected:
                    self.driver.core.disconnected(peer, self.driver.clock())
                    self.pump()
                    return
                else:
                    raise ShellError(f"nobody answers at {self.server}: {why(error)}; is it up?") from None
            else:
                return

    def _set_timer(self) -> None:
        due = self.driver.timer()
        if due == self._timer_at:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = due
        self._timer = None
        if due is not None:
            wait_s = max(0.0, due - self.driver.clock())
            self._timer = asyncio.get_running_loop().call_later(wait_s, self._ring)

    def _ring(self) -> None:
        self._timer_at = None
        self.driver.handle_timer()
        self.pump()

    def _stop(self, number: int) -> None:
        self.signal = number
        self._over.set()

    def _on_exception(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """More connections than this process may have files: asyncio lets them wait, and tries again."""
        error = context.get("exception")
        exhausted = isinstance(error, OSError) and error.errno in EXHAUSTED
        if exhausted and not self._crowded:
            self._crowded = True
            text = f"new connections must wait: {error}; raise the limit of open files (ulimit -n)"
            self.driver.note(Happened("crowded", text))
        # At the end a trial may still be due, on a listener that is closed by then.
        if not exhausted and not self._over.is_set():
            loop.default_exception_handler(context)


def _allow_descriptors(count: int) -> None:
    """As many open files as the limits on connections need, if the machine lets us."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < count:
        wanted = count if hard == resource.RLIM_INFINITY else min(count, hard)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
