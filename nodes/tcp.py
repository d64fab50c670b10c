"""The TCP shell."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, cast

from nodes.address import Address
from nodes.shell import cannot_listen
from nodes.streams import FLUSH_PATIENCE_S, StreamShell

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from nodes.core import Peer

LISTEN_BACKLOG = 512


class TcpShell(StreamShell):
    """Many TCP connections, one core."""

    async def listen(self) -> tuple[Address, Callable[[], Awaitable[None]]]:
        assert self.local is not None
        loop = asyncio.get_running_loop()
        try:
            server = await loop.create_server(
                lambda: TcpLink(self, None), *self.local, backlog=LISTEN_BACKLOG
            )
        except OSError as error:
            raise cannot_listen(self.local, error) from None

        async def stop() -> None:
            server.close()

        return Address(*server.sockets[0].getsockname()[:2]), stop

    async def dial(self, peer: Peer) -> None:
        assert self.server is not None
        loop = asyncio.get_running_loop()
        await loop.create_connection(lambda: TcpLink(self, peer), *self.server, local_addr=self.local)


class TcpLink(asyncio.Protocol):
    """One connection. A client calls the other side by a fixed name; a server by its address."""

    def __init__(self, shell: StreamShell, peer: Peer | None) -> None:
        self._shell = shell
        self._dialled = peer is not None
        self._peer = peer or ""
        self._transport: asyncio.Transport | None = None
        self._here = self._there = Address("", 0)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        # Games are small messages in turn: Nagle would hold each for the other side's delayed ACK.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._here = Address(*transport.get_extra_info("sockname")[:2])
        # A server that hung up at once has no name any more; we know whom we dialled all the same.
        self._there = self._shell.server or Address(*transport.get_extra_info("peername")[:2])
        self._peer = self._peer or str(self._there)
        if self._dialled and self._shell.tape is not None:
            self._shell.tape.write("open", self._here, self._there)
        self._shell.opened(self._peer, self)

    def data_received(self, data: bytes) -> None:
        self._shell.received(self._peer, self, data)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - how it ended does not matter
        self._shell.closed(self._peer, self)

    def write(self, data: bytes) -> None:
        assert self._transport is not None
        if self._transport.is_closing():
            return  # it was cut off; connection_lost() is on its way
        if self._shell.tape is not None:
            self._shell.tape.write("data", self._here, self._there, data)
        self._transport.write(data)

    def buffered(self) -> int:
        assert self._transport is not None
        return self._transport.get_write_buffer_size()

    def close(self) -> None:
        assert self._transport is not None
        if self._shell.tape is not None:
            self._shell.tape.write("close", self._here, self._there)
        self._transport.close()
        # Whoever does not read the last that it was sent must not hold a connection for ever.
        asyncio.get_running_loop().call_later(FLUSH_PATIENCE_S, self._transport.abort)

    def abort(self) -> None:
        assert self._transport is not None
        self._transport.abort()
