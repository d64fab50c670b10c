"""What every core inherits: its queues, its errors, and defaults that do nothing."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from nodes.core import (
    Core,
    Event,
    Happened,
    Json,
    LocalProtocolError,
    Peer,
    Player,
    ProtocolError,
    Refused,
    RemoteProtocolError,
    Send,
    Turn,
)

NOW = 1_600_000_000.0


@dataclass(frozen=True)
class Word:
    text: str

    @property
    def kind(self) -> str:
        return "word"

    def encode(self) -> bytes:
        return self.text.encode()

    def fields(self) -> dict[str, Json]:
        return {"text": self.text}


class Echo(Core):
    """Says back what it hears, and refuses to hear nothing."""

    def start(self, now: float) -> None:  # noqa: ARG002
        self._outputs.append(Send("all", b"here"))

    def receive(self, data: bytes, peer: Peer, now: float) -> None:  # noqa: ARG002
        if data:
            self._outputs.append(Send(peer, data))
            self._events.append(Happened("echo", f"{peer} said {data!r}"))
        else:
            self._refuse(peer, RemoteProtocolError("echo/1", "nothing was said"), data)


def test_what_is_to_go_out_is_taken_once_and_in_order() -> None:
    core = Echo()
    assert core.data_to_send(NOW) == []
    core.start(NOW)
    core.receive(b"a", "p1", NOW)
    core.receive(b"b", "p2", NOW)
    assert core.data_to_send(NOW) == [Send("all", b"here"), Send("p1", b"a"), Send("p2", b"b")]
    assert core.data_to_send(NOW) == []


def test_events_are_taken_oldest_first() -> None:
    core = Echo()
    assert core.next_event() is None
    core.receive(b"a", "p1", NOW)
    core.receive(b"b", "p2", NOW)
    assert core.next_event() == Happened("echo", "p1 said b'a'", {})
    assert core.next_event() == Happened("echo", "p2 said b'b'")
    assert core.next_event() is None


def test_a_refusal_is_an_event_and_a_count_by_check_id() -> None:
    core = Echo()
    for _ in range(2):
        core.receive(b"", "p1", NOW)
    assert core.refusals == {"echo/1": 2}
    assert core.next_event() == Refused("p1", "echo/1", "nothing was said", b"")


def test_a_refusal_keeps_only_the_beginning_of_the_bytes() -> None:
    assert Refused("p1", "echo/1", "too long", b"x" * 10_000).data == b"x" * Refused.DATA_MAX


def test_a_core_without_connections_timers_or_decisions_ignores_them() -> None:
    core = Echo()
    core.connected("p1", NOW)
    core.disconnected("p1", NOW)
    core.act(Turn("p1", None), "anything", NOW)
    core.handle_timer(NOW)
    assert core.timer() is None
    assert not core.done
    assert core.data_to_send(NOW) == []
    assert core.next_event() is None


@pytest.mark.parametrize("kind", [LocalProtocolError, RemoteProtocolError])
def test_an_error_says_what_happened_and_which_clause(kind: type[ProtocolError]) -> None:
    error = kind("hearts/6.2", "seat 3 played out of turn")
    assert isinstance(error, ProtocolError)
    assert (error.check, error.text) == ("hearts/6.2", "seat 3 played out of turn")
    assert str(error) == "seat 3 played out of turn [hearts/6.2]"


def test_a_remote_error_may_carry_the_reply_the_text_asks_for() -> None:
    assert RemoteProtocolError("echo/1", "nothing").reply_hint is None
    assert RemoteProtocolError("echo/1", "nothing", Word("what?")).reply_hint == Word("what?")


def test_a_player_must_decide_and_need_not_listen() -> None:
    player = Player()
    player.tell(Event())
    with pytest.raises(NotImplementedError):
        player.choose(None)
