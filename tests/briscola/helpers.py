"""One server or client at a bench: words in, words out, and what it said happened."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, TypeVar

from nodes.briscola.client import Client
from nodes.briscola.dialect import Dialect
from nodes.briscola.messages import Ack, Word, decode
from nodes.briscola.server import Server
from nodes.core import Event, Send, Turn
from nodes.game import Seat, Setup

if TYPE_CHECKING:
    from nodes.core import Core

EPOCH = 1_600_000_000.0
E = TypeVar("E", bound=Event)


@dataclass
class Bench:
    """Drives one core by hand."""

    core: Core
    now: float = EPOCH
    events: list[Event] = field(default_factory=list)

    def tell(self, word: Word | bytes, peer: str = "server") -> list[tuple[str, Word]]:
        """Hand it a word; what it answers."""
        self.core.receive(word if isinstance(word, bytes) else word.encode(), peer, self.now)
        return self.said()

    def said(self) -> list[tuple[str, Word]]:
        outputs = self.core.data_to_send(self.now)
        while (event := self.core.next_event()) is not None:
            self.events.append(event)
        return [(output.peer, decode(output.data)) for output in outputs if isinstance(output, Send)]

    def wait(self, seconds: float) -> list[tuple[str, Word]]:
        """Let time pass, calling the timer whenever it is due."""
        end = self.now + seconds
        said = []
        while (at := self.core.timer()) is not None and at <= end:
            self.now = max(self.now, at)
            self.core.handle_timer(self.now)
            said += self.said()
        self.now = end
        return said

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def turn(self) -> Turn:
        return self.of(Turn)[-1]


def words(said: list[tuple[str, Word]], peer: str = "server") -> list[Word]:
    """What went to that peer."""
    return [word for to, word in said if to == peer]


def server(*, players: int = 2, games: int = 1, seed: int = 1, dialect: Dialect | None = None) -> Bench:
    setup = Setup(Seat("server", "server", 0), dialect or Dialect(), Random(seed), players, games)
    bench = Bench(Server(setup))
    bench.core.start(bench.now)
    assert bench.said() == []
    return bench


def client(*, index: int = 0, games: int = 1, seed: int = 1, dialect: Dialect | None = None) -> Bench:
    setup = Setup(Seat(f"p{index + 1}", "client", index), dialect or Dialect(), Random(seed), 2, games)
    bench = Bench(Client(setup))
    bench.core.start(bench.now)
    return bench


class Peers:
    """Honest hands at the server's other end: they acknowledge, and remember what they were given."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.heard: dict[str, list[Word]] = {}
        self.counts: dict[str, int] = {}

    def say(self, peer: str, word: Word) -> list[Word]:
        """Send a word and acknowledge all that follows; what came to that peer, ACKs included."""
        before = len(self.heard.get(peer, []))
        self.settle(self.bench.tell(word, peer))
        return self.heard.get(peer, [])[before:]

    def settle(self, said: list[tuple[str, Word]]) -> None:
        while said:
            peer, word = said.pop(0)
            self.heard.setdefault(peer, []).append(word)
            if word.op.name in ("INIT", "GIV_C", "ENM_C", "END_G"):
                self.counts[peer] = 1 if word.op.name == "INIT" else self.counts[peer] + 1
                said += self.bench.tell(Ack(self.counts[peer]), peer)
