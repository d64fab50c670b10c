"""The shell with no sockets: cores wired to each other in one process, in virtual time.

Every byte is delivered at once and in order. Tests, the bench and the simulator use it.
"""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import TYPE_CHECKING

from nodes.core import Close, Finished, Open, Send, Turn
from nodes.game import Setup, bot_rng_for, rng_for
from nodes.shell import drain

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nodes.core import Core, Event, Json, Peer, Player
    from nodes.game import Game

EPOCH = 1_600_000_000.0


class Stalled(RuntimeError):
    """Nobody has anything to say and no timer is set, yet not all are done."""


class Network:
    """Cores, their players, and who is wired to whom."""

    def __init__(
        self, cores: Mapping[str, Core], players: Mapping[str, Player], ring: Iterable[str] = ()
    ) -> None:
        self.cores = dict(cores)
        self.players = dict(players)
        self.now = EPOCH
        self.events: dict[str, list[Event]] = {name: [] for name in self.cores}
        self.sent: list[tuple[str, str, bytes]] = []  # from seat, to seat, bytes: the wire in order
        self._wires: dict[tuple[str, Peer], tuple[str, Peer]] = {}
        self._inbox: deque[tuple[str, Peer, bytes | None]] = deque()  # None: the stream ended
        self._dials: dict[str, int] = {}
        self._streams: set[tuple[str, Peer]] = set()  # ends that are, or were, of a stream
        names = list(ring)
        for i, name in enumerate(names):
            after = names[(i + 1) % len(names)]
            self._wires[name, "next"] = (after, "prev")

    def run(self, until: float = EPOCH + 86_400.0) -> dict[str, dict[str, Json]]:
        """Play until every core is done; the results by seat."""
        for name, core in self.cores.items():
            core.start(self.now)
            self._drain(name)
        while not all(core.done for core in self.cores.values()):
            if self._inbox:
                self._deliver(*self._inbox.popleft())
                continue
            timers = [(at, name) for name, core in self.cores.items() if (at := core.timer()) is not None]
            if not timers or min(timers)[0] > until:
                waiting = [name for name, core in self.cores.items() if not core.done]
                raise Stalled(f"nothing more will happen at {self.now - EPOCH:.3f} s; not done: {waiting}")
            at, name = min(timers)
            self.now = max(self.now, at)
            self.cores[name].handle_timer(self.now)
            self._drain(name)
        return self.results()

    def results(self) -> dict[str, dict[str, Json]]:
        """What each core said when it finished."""
        return {
            name: event.result
            for name, events in self.events.items()
            for event in events
            if isinstance(event, Finished)
        }

    def _deliver(self, name: str, peer: Peer, data: bytes | None) -> None:
        core = self.cores[name]
        if data is None:
            core.disconnected(peer, self.now)
        else:
            core.receive(data, peer, self.now)
        self._drain(name)

    def _drain(self, name: str) -> None:
        """Let one core say all it has to say; its player answers in between."""
        drain(self.cores[name], self.now, partial(self._carry, name), partial(self._hear, name))

    def _hear(self, name: str, event: Event) -> None:
        self.events[name].append(event)
        if isinstance(event, Turn):
            self.cores[name].act(event, self.players[name].choose(event.view), self.now)

    def _carry(self, name: str, output: Send | Open | Close) -> None:
        if isinstance(output, Open):
            self._open(name, output.peer)
            return
        there = self._wires.get((name, output.peer))
        datagram = isinstance(output, Send) and (name, output.peer) not in self._streams
        if there is None and datagram and output.peer in self.cores:
            there = self._wires[name, output.peer] = (output.peer, name)  # it needs no connection
            self._wires[output.peer, name] = (name, output.peer)
        if there is None:
            return  # the stream is gone; as on a socket, what was still to be said is lost
        if isinstance(output, Send):
            self.sent.append((name, there[0], output.data))
            self._inbox.append((*there, output.data))
        else:
            del self._wires[name, output.peer]
            self._wires.pop(there, None)
            self._inbox.append((*there, None))

    def _open(self, name: str, peer: Peer) -> None:
        self._dials[name] = dial = self._dials.get(name, 0) + 1
        caller = name if dial == 1 else f"{name}#{dial}"
        self._wires[name, peer] = (peer, caller)
        self._wires[peer, caller] = (name, peer)
        self._streams |= {(name, peer), (peer, caller)}
        self.cores[peer].connected(caller, self.now)
        self._drain(peer)
        self.cores[name].connected(peer, self.now)


def network(game: Game, seed: int, *, players: int | None = None, games: int | None = None,
            bots: Mapping[str, str] | None = None, dialect: object = None) -> Network:  # fmt: skip
    """A whole topology in memory, bots in every seat that decides."""
    count = game.default_players if players is None else players
    dialect = game.dialect() if dialect is None else dialect
    seats = game.seats(count)
    chosen = {**game.default_bots, **(bots or {})}  # by role; by seat name where that is given
    cores = {
        seat.name: game.core(
            Setup(
                seat, dialect, rng_for(seed, seat.name), count, game.default_games if games is None else games
            )
        )
        for seat in seats
    }
    people = {
        seat.name: game.bots[chosen.get(seat.name, chosen[seat.role])](bot_rng_for(seed, seat.name))
        for seat in seats
        if seat.role in chosen
    }
    return Network(cores, people, ring=[seat.name for seat in seats] if game.topology == "ring" else ())
