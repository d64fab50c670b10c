"""Addresses for machines that share one host: 127.0.x.y, a free x for every run at once."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nodes.address import Address

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nodes.game import Game, Seat

SUBNETS = range(64, 255)
SEATS_MAX = 200
FIRST_HOST = 10
LOCK_PORT = 47099  # held on the subnet's last host for as long as the run lasts


class NoAddressError(Exception):
    """No loopback addresses are left, or there are too many seats. The text says which."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """Who is where. Closing `lock` gives the subnet back."""

    by_seat: dict[str, Address]
    lock: socket.socket | None

    def release(self) -> None:
        if self.lock is not None:
            self.lock.close()


def reserve(game: Game, seats: Sequence[Seat]) -> Addresses:
    """A distinct loopback address a seat, or distinct ports where the host has one such address only."""
    if len(seats) > SEATS_MAX:
        raise NoAddressError(f"one host seats at most {SEATS_MAX} machines here, not {len(seats)}")
    if not _has_many_addresses():
        return Addresses({seat.name: Address("127.0.0.1", _free_port(game)) for seat in seats}, None)
    taken = False
    for subnet in SUBNETS:
        lock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            lock.bind((f"127.0.{subnet}.254", LOCK_PORT))
        except OSError:
            lock.close()
            continue
        addresses = {
            seat.name: Address(f"127.0.{subnet}.{FIRST_HOST + i}", game.port) for i, seat in enumerate(seats)
        }
        if all(_is_free(game, there) for there in addresses.values()):
            return Addresses(addresses, lock)
        lock.close()
        taken = True
    if taken:
        raise NoAddressError(
            f"another process has port {game.port} on all addresses; end it first (`ss -lnp` shows it)"
        )
    raise NoAddressError("every loopback subnet 127.0.64.x to 127.0.254.x is in use; end other runs first")


def _has_many_addresses() -> bool:
    """Linux answers on all of 127.0.0.0/8; others only where an alias was added."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind(("127.0.64.1", 0))
        except OSError:
            return False
    return True


def _kind(game: Game) -> socket.SocketKind:
    return socket.SOCK_DGRAM if game.transport == "udp" else socket.SOCK_STREAM


def _is_free(game: Game, there: Address) -> bool:
    """A stray process of the same port on all addresses would take what is meant for us."""
    with socket.socket(socket.AF_INET, _kind(game)) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, game.transport != "udp")
        try:
            probe.bind(there)
        except OSError:
            return False
    return True


def _free_port(game: Game) -> int:
    with socket.socket(socket.AF_INET, _kind(game)) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
