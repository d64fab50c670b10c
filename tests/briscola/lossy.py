"""A network that loses, doubles and delays, in virtual time, from a seed."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from nodes.core import Finished, Send, Turn

if TYPE_CHECKING:
    from collections.abc import Mapping
    from random import Random

    from nodes.core import Core, Event, Json, Player

EPOCH = 1_600_000_000.0


class LossyNetwork:
    """Every datagram is lost, doubled and delayed by its own throw of the dice. Who is done has left."""

    def __init__(
        self,
        cores: Mapping[str, Core],
        players: Mapping[str, Player],
        rng: Random,
        *,
        loss: float,
        double: float,
        delay_s: tuple[float, float],
    ) -> None:
        self.cores = dict(cores)
        self.players = dict(players)
        self.now = EPOCH
        self.events: dict[str, list[Event]] = {name: [] for name in self.cores}
        self.carried = 0
        self.lost = 0
        self.cut: set[str] = set()  # seats whose datagrams are all lost, both ways
        self._rng = rng
        self._loss, self._double, self._delay_s = loss, double, delay_s
        self._air: list[tuple[float, int, str, str, bytes]] = []

    def run(self, until_s: float = 86_400.0) -> dict[str, dict[str, Json]]:
        for name, core in self.cores.items():
            core.start(self.now)
            self._drain(name)
        while not all(core.done for name, core in self.cores.items() if name not in self.cut):
            self.step()
            assert self.now < EPOCH + until_s, "the game hangs"
        return {
            name: event.result
            for name, events in self.events.items()
            for event in events
            if isinstance(event, Finished)
        }

    def step(self) -> None:
        """Go on to the next arrival or timer."""
        timers = [(at, name) for name, core in self.cores.items() if (at := core.timer()) is not None]
        if self._air and (not timers or self._air[0][0] <= min(timers)[0]):
            self.now, _, name, peer, data = heapq.heappop(self._air)
            if not self.cores[name].done and name not in self.cut:
                self.cores[name].receive(data, peer, self.now)
                self._drain(name)
            return
        assert timers, "nobody has anything to say"
        at, name = min(timers)
        self.now = max(self.now, at)
        self.cores[name].handle_timer(self.now)
        self._drain(name)

    def _drain(self, name: str) -> None:
        core = self.cores[name]
        while True:
            for output in core.data_to_send(self.now):
                assert isinstance(output, Send)
                self._throw(name, output)
            event = core.next_event()
            if event is None:
                return
            self.events[name].append(event)
            if isinstance(event, Turn):
                core.act(event, self.players[name].choose(event.view), self.now)

    def _throw(self, name: str, output: Send) -> None:
        copies = 1 + (self._rng.random() < self._double)
        for _ in range(copies):
            self.carried += 1
            if self._rng.random() < self._loss or name in self.cut:
                self.lost += 1
                continue
            at = self.now + self._rng.uniform(*self._delay_s)
            heapq.heappush(self._air, (at, self.carried, output.peer, name, output.data))
