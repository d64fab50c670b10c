"""Who is who in a capture: which game a port belongs to, and which node an address is.

Names come from the capture itself (its name resolution blocks), else from the run.json beside it; ports from
the caller, else from that run.json, else the games' own.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from captures.links import parse_end
from nodes.game import NAMES, load

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

RUN_JSON_MAX = 4 * 1024 * 1024
CACHED_MAX = 4096


class Directory:
    """Finds games and names. `names` may still grow while a capture is read."""

    def __init__(
        self,
        names: Mapping[str, str],
        ports: Mapping[str, int] | None = None,
        run: Mapping[str, Any] | None = None,
    ) -> None:
        self._names = names
        self._seats = _seats(run or {})
        self._cached: dict[tuple[str, int], str] = {}
        self._known = 0  # how many names there were
        self._games: dict[tuple[str, int], str] = {}
        for name in NAMES:
            game = load(name)
            chosen = {game.port}
            if ports and name in ports:
                chosen = {ports[name]}
            elif run and run.get("game") == name:
                chosen = _ports(self._seats) or chosen
            for port in chosen:
                self._games["udp" if game.transport == "udp" else "tcp", port] = name
        self.servers = frozenset(port for proto, port in self._games if proto == "tcp")

    def game(self, proto: str, sport: int, dport: int) -> str | None:
        """The game of a packet, by either port. A star's client may have any port, also the ring's."""
        to, back = self._games.get((proto, dport)), self._games.get((proto, sport))
        if to is None or back is None or to == back:
            return to or back
        return back if to == "hearts" else to

    def ports(self, proto: str) -> list[int]:
        """The ports that belong to a game."""
        return [port for known, port in self._games if known == proto]

    def name(self, address: str, port: int) -> str:
        """The node there, else address and port."""
        if self._known != len(self._names) or len(self._cached) >= CACHED_MAX:
            self._cached.clear()
            self._known = len(self._names)
        name = self._cached.get((address, port))
        if name is None:
            where = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
            name = self._names.get(address) or self._seats.get(where) or self._seats.get(address) or where
            self._cached[address, port] = name
        return name


def run_beside(capture: Path) -> dict[str, Any]:
    """The run.json of a capture that a run left; empty if there is none, or none that makes sense."""
    try:
        with (capture.parent / "run.json").open("rb") as stream:
            run = json.loads(stream.read(RUN_JSON_MAX))
        return run if run["capture"]["file"] == capture.name else {}
    except (OSError, ValueError, TypeError, LookupError, RecursionError):
        return {}


def _seats(run: Mapping[str, Any]) -> dict[str, str]:
    """Address, with its port where it has one, → seat."""
    found: dict[str, str] = {}
    shared: set[str] = set()
    try:
        for seat in run.get("seats", ()):
            address, name = str(seat["address"]), str(seat["name"])
            end = parse_end(address)
            host = str(type(end)(end.address))
            for key in {address, host}:
                if key in found:
                    shared.add(key)
                found[key] = name
    except (ValueError, TypeError, LookupError):
        return {}
    # Where several seats have one address, only a port tells them apart.
    return {key: name for key, name in found.items() if key not in shared}


def _ports(seats: Mapping[str, str]) -> set[int]:
    ends = [parse_end(address) for address in seats]
    return {end.port for end in ends if end.port is not None}
