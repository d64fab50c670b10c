"""What every protocol core looks like: data and time in, bytes and events out.

A core never reads a clock, opens a socket or draws a random number of its own. Time is the
argument `now` (seconds since 1970, never going back), randomness a seeded generator that is
handed in. So the same core runs under sockets, in memory, over a capture and under a fuzzer.

    shell                                core
      start(now)              ─────────▶
      connected(peer, now)    ─────────▶          streams only
      receive(data, peer, now) ────────▶
      garbled(peer, text, now) ────────▶          streams only
      disconnected(peer, now) ─────────▶          streams only
      handle_timer(now)       ─────────▶          when timer() is due
      act(turn, choice, now)  ─────────▶          the answer to a Turn event
                              ◀─────────  data_to_send(now)   Send, Open, Close
                              ◀─────────  next_event()        what happened
                              ◀─────────  timer()             when to call again
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

# The shell's name for the other end: "next" and "prev" on the ring, "server" for a client,
# whatever the shell calls a client ("127.0.0.9:50123") for a server.
Peer = str

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


class Message(Protocol):
    """One application message. Its field names are the project's one vocabulary (the game's fields.py)."""

    @property
    def kind(self) -> str:
        """The text's own name for this sort of message: PLAY_CARD, USE_C, genmove."""

    def encode(self) -> bytes: ...

    def fields(self) -> dict[str, Json]:
        """Every field as it is on the wire: numbers stay numbers, whatever they are called."""


@dataclass(frozen=True, slots=True)
class Send:
    """Hand these bytes to that peer: one datagram, one chunk of a stream, or one WebSocket text."""

    peer: Peer
    data: bytes


@dataclass(frozen=True, slots=True)
class Open:
    """A client wants a connection; the shell answers with connected() or disconnected()."""

    peer: Peer


@dataclass(frozen=True, slots=True)
class Close:
    """End the connection once all that was sent before has gone out. disconnected() does not follow."""

    peer: Peer


Output = Send | Open | Close


class Event:
    """Something a person, a log or a test may want to know."""

    __slots__ = ()


@dataclass(slots=True)
class Sent(Event):
    """This core originated a message (a repeat or a forwarded frame is not one)."""

    peer: Peer
    message: Message


@dataclass(slots=True)
class Received(Event):
    """A message was accepted and acted on."""

    peer: Peer
    message: Message


@dataclass(slots=True)
class Refused(Event):
    """A peer broke a clause. `check` names it; `data` are the bytes, cut to a sane length."""

    peer: Peer
    check: str
    text: str
    data: bytes = b""

    DATA_MAX: ClassVar[int] = 64

    def __post_init__(self) -> None:
        self.data = self.data[: self.DATA_MAX]


@dataclass(slots=True)
class Happened(Event):
    """A step of the game, told in one line. `kind` is a short word such as trick, hand, game."""

    kind: str
    text: str
    fields: Mapping[str, Json] = field(default_factory=dict)


@dataclass(slots=True)
class Turn(Event):
    """Somebody behind this core must decide: answer with act(turn, choice, now).

    `seat` is who is asked, `view` all that seat may know, with its legal choices.
    """

    seat: str
    view: Any


@dataclass(slots=True)
class Finished(Event):
    """All games this core was asked for are over.

    `result` is {"games": [{"winner": seat or None, "scores": {seat: number}, ...}, ...]}.
    """

    result: dict[str, Json]


class ProtocolError(Exception):
    """A clause was broken. `check` is its id ("hearts/3.len"), listed in the game's checks.py."""

    def __init__(self, check: str, text: str) -> None:
        super().__init__(f"{text} [{check}]")
        self.check = check
        self.text = text


class LocalProtocolError(ProtocolError):
    """Our side asked for something the text does not allow. Nothing was sent."""


class RemoteProtocolError(ProtocolError):
    """The other side did. `reply_hint` is what the text would have us answer, if anything."""

    def __init__(self, check: str, text: str, reply_hint: Message | None = None) -> None:
        super().__init__(check, text)
        self.reply_hint = reply_hint


@dataclass(frozen=True, slots=True)
class Check:
    """One clause: its words in the original text (or protocols.md), and what we make of them."""

    clause: str
    means: str


class Core(ABC):
    """The queues every core has. Subclasses add the protocol.

    No method raises on anything a peer did: that becomes a Refused event, a count in `refusals`
    and, where the text has one, a reply. Only act() raises, LocalProtocolError, on an illegal
    choice; the Turn stays open and may be answered again. A Turn that has lapsed (the game ended
    meanwhile) may still be answered; the answer is ignored.
    """

    def __init__(self) -> None:
        self.refusals: Counter[str] = Counter()
        self.done = False  # nothing more will be sent; the shell may leave once all is flushed
        self._events: deque[Event] = deque()
        self._outputs: list[Output] = []

    @abstractmethod
    def start(self, now: float) -> None:
        """Begin: deal, search, connect, or just wait."""

    @abstractmethod
    def receive(self, data: bytes, peer: Peer, now: float) -> None:
        """Take what arrived: one datagram, any piece of a stream, or one WebSocket text."""

    def connected(self, peer: Peer, now: float) -> None:  # noqa: B027 - datagram cores have no connections
        """A stream to this peer is open."""

    def disconnected(self, peer: Peer, now: float) -> None:  # noqa: B027
        """The stream is gone, or could not be opened."""

    def garbled(self, peer: Peer, text: str, now: float) -> None:  # noqa: B027
        """What this peer sent is nothing the transport knows; the shell has hung up on it."""

    def act(self, turn: Turn, choice: Any, now: float) -> None:  # noqa: B027
        """Answer a Turn. An illegal choice raises LocalProtocolError and changes nothing."""

    def timer(self) -> float | None:
        """When handle_timer wants to be called, or None."""
        return None

    def handle_timer(self, now: float) -> None:  # noqa: B027
        """The time that timer() named has come (or passed)."""

    def data_to_send(self, now: float) -> list[Output]:  # noqa: ARG002 - hardened cores pace by it
        """Take all that is to go out, in order."""
        outputs, self._outputs = self._outputs, []
        return outputs

    def next_event(self) -> Event | None:
        """Take the oldest event, or None."""
        return self._events.popleft() if self._events else None

    def _refuse(self, peer: Peer, error: RemoteProtocolError, data: bytes = b"") -> None:
        self.refusals[error.check] += 1
        self._events.append(Refused(peer, error.check, error.text, data))


class Player:
    """Who decides for a seat: a bot, or a person at a terminal."""

    def choose(self, view: Any) -> Any:
        """Answer a Turn. `view` is the game's own View; the answer one of its legal choices."""
        raise NotImplementedError

    def tell(self, event: Event) -> None:
        """Hear what happened (a person's screen shows it; bots need not listen)."""

    def complain(self, text: str) -> None:
        """Hear why the last choice was refused. It will be asked for again."""
