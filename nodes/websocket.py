"""The WebSocket shell: frames, pings and close codes are the `websockets` library's, not ours."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, cast

from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.connection import broadcast
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage
from websockets.frames import CloseCode

from nodes.address import Address
from nodes.shell import ShellError, cannot_listen
from nodes.streams import WRITE_BUFFER_MAX, StreamShell

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from nodes.core import Peer

MESSAGE_MAX = 4096  # bytes; the longest message of the text is under 100
PING_EVERY_S = 30.0
CLOSE_PATIENCE_S = 2.0
REASON_MAX = 200  # characters of it that are told
# With these we hang up on whoever broke the protocol.
BROKEN = (
    CloseCode.PROTOCOL_ERROR,
    CloseCode.UNSUPPORTED_DATA,
    CloseCode.INVALID_DATA,
    CloseCode.MESSAGE_TOO_BIG,
)

Connection = ServerConnection | ClientConnection


class _Dial(connect):
    """One server is asked for, and no other: redirections are not followed."""

    def process_redirect(self, exc: Exception) -> Exception:
        return exc


class WebSocketShell(StreamShell):
    """Many WebSocket connections, one core. One text frame is one message."""

    async def listen(self) -> tuple[Address, Callable[[], Awaitable[None]]]:
        assert self.local is not None
        try:
            server = await serve(
                self._serve,
                *self.local,
                create_connection=_guarded(ServerConnection, self),
                compression=None,  # a message of 60 bytes gains nothing, and a capture shows what was said
                max_size=MESSAGE_MAX,
                ping_interval=PING_EVERY_S,
                close_timeout=CLOSE_PATIENCE_S,
                server_header="wiretable",
                logger=_quiet(),
            )
        except OSError as error:
            raise cannot_listen(self.local, error) from None

        async def stop() -> None:
            server.close()
            await server.wait_closed()

        return Address(*next(iter(server.sockets)).getsockname()[:2]), stop

    async def dial(self, peer: Peer) -> None:
        assert self.server is not None
        try:
            connection = await _Dial(
                f"ws://{self.server}/",
                create_connection=_guarded(ClientConnection, self),
                local_addr=self.local,
                compression=None,  # a message of 60 bytes gains nothing, and a capture shows what was said
                max_size=MESSAGE_MAX,
                ping_interval=PING_EVERY_S,
                close_timeout=CLOSE_PATIENCE_S,
                proxy=None,
                logger=_quiet(),
            )
        except (InvalidHandshake, InvalidMessage, TimeoutError) as error:
            raise ShellError(f"{self.server} does not speak WebSocket: {error}") from None
        reading = asyncio.get_running_loop().create_task(self._read(peer, connection))
        self._readers.add(reading)
        reading.add_done_callback(self._readers.discard)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._readers: set[asyncio.Task[None]] = set()

    async def _serve(self, connection: ServerConnection) -> None:
        try:
            await self._read(str(Address(*connection.remote_address[:2])), connection)
        except Exception as error:  # ours; the library would not tell
            context = {"message": "a connection was not served", "exception": error}
            asyncio.get_running_loop().call_exception_handler(context)

    async def _read(self, peer: Peer, connection: Connection) -> None:
        link = WebSocketLink(connection)
        self.opened(peer, link)
        try:
            while True:
                message = await connection.recv()
                if isinstance(message, bytes):
                    # "messages textes": a binary frame is no message at all.
                    await connection.close(CloseCode.UNSUPPORTED_DATA, "text frames only")
                    break
                self.received(peer, link, message.encode())
        except ConnectionClosed:
            pass
        finally:
            self.closed(peer, link)


class WebSocketLink:
    """One open WebSocket."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._closing: asyncio.Task[None] | None = None

    def write(self, data: bytes) -> None:
        # broadcast() writes without waiting for the reader, which send() would; the shell bounds the buffer.
        broadcast([self._connection], data.decode())

    def buffered(self) -> int:
        return self._connection.transport.get_write_buffer_size()

    def close(self) -> None:
        loop = asyncio.get_running_loop()
        self._closing = loop.create_task(self._connection.close())
        # The library's own patience begins only once all that was sent before has gone out.
        loop.call_later(CLOSE_PATIENCE_S, self.abort)

    def abort(self) -> None:
        self._connection.transport.abort()


class TapedTransport:
    """A transport that writes down what goes out. All else is the real one's."""

    def __init__(self, transport: asyncio.Transport, shell: StreamShell, *, dialled: bool) -> None:
        self._transport = transport
        self._tape = shell.tape
        self._here = Address(*transport.get_extra_info("sockname")[:2])
        self._there = Address(*transport.get_extra_info("peername")[:2])
        if self._tape is not None and dialled:
            self._tape.write("open", self._here, self._there)

    def write(self, data: bytes) -> None:
        if self._tape is not None:
            self._tape.write("data", self._here, self._there, data)
        self._transport.write(data)

    def close(self) -> None:
        if self._tape is not None and not self._transport.is_closing():
            self._tape.write("close", self._here, self._there)
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


def _guarded(base: type[Any], shell: StreamShell) -> type[Any]:
    """The library's connection class, with limits where it has none, and a tape where one is wanted."""

    class Guarded(base):  # type: ignore[misc] # the base is chosen at run time
        _ending = False

        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            if shell.tape is not None:
                stream = cast("asyncio.Transport", transport)
                transport = cast(
                    "asyncio.BaseTransport",
                    TapedTransport(stream, shell, dialled=base is ClientConnection),
                )
            super().connection_made(transport)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            # The library answers every ping, whether or not its pongs are read.
            if self.transport.get_write_buffer_size() > WRITE_BUFFER_MAX:
                self.transport.abort()
            # After a broken frame it waits for the other side to hang up, however long that takes.
            elif not self._ending and self.protocol.close_expected():
                self._ending = True
                self.loop.call_later(CLOSE_PATIENCE_S, self.transport.abort)

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            why = _fault(self.protocol)
            if why:
                dialled = base is ClientConnection
                peer = "server" if dialled else str(Address(*self.remote_address[:2]))
                shell.garbled(peer, why)

    return Guarded


def _fault(protocol: Any) -> str:
    """What the other side did wrong for the connection to end, or nothing. Its own words are not trusted."""
    text = ""
    if protocol.handshake_exc is not None:
        text = f"no WebSocket handshake: {protocol.handshake_exc}"
    elif protocol.close_sent is not None and protocol.close_sent.code in BROKEN:
        text = f"not WebSocket as it should be: {protocol.close_sent}"
    return ascii(text)[1:-1][:REASON_MAX]


def _quiet() -> logging.Logger:
    """The library logs every broken handshake with a traceback; our log has the check ids instead."""
    logger = logging.getLogger("nodes.websocket")
    logger.addHandler(logging.NullHandler())
    logger.propagate = False
    return logger
