"""The shell without sockets: bytes arrive at once and in order, time jumps to the next timer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from nodes.core import Close, Core, Finished, Open, Peer, Player, Send, Turn
from nodes.game import Game, Setup
from nodes.memory import EPOCH, Network, Stalled, network

if TYPE_CHECKING:
    from random import Random


class Node(Core):
    """One of a ring: a number goes round and every node adds the word its player chose."""

    def __init__(self, first: bool) -> None:
        super().__init__()
        self.first = first

    def start(self, now: float) -> None:  # noqa: ARG002
        if self.first:
            self._events.append(Turn("me", None))

    def act(self, turn: Turn, choice: Any, now: float) -> None:
        assert (turn.seat, now) == ("me", EPOCH)
        self._outputs.append(Send("next", choice))

    def receive(self, data: bytes, peer: Peer, now: float) -> None:  # noqa: ARG002
        assert peer == "prev"
        if not self.first:
            self._outputs.append(Send("next", data + b"+"))
        self.done = True
        self._events.append(Finished({"games": [{"winner": data.decode()}]}))


class Says(Player):
    def __init__(self, word: bytes) -> None:
        self.word = word

    def choose(self, view: Any) -> bytes:  # noqa: ARG002
        return self.word


class Client(Core):
    """Dials as often as it is told, says one word each time, and keeps what it hears."""

    def __init__(self, dials: int = 1, wait_s: float | None = None) -> None:
        super().__init__()
        self.dials, self.wait_s = dials, wait_s
        self.at: float | None = None
        self.heard: list[tuple[Peer, bytes | None, float]] = []

    def start(self, now: float) -> None:
        if self.wait_s is None:
            self._outputs.append(Open("server"))
        else:
            self.at = now + self.wait_s

    def timer(self) -> float | None:
        return self.at

    def handle_timer(self, now: float) -> None:  # noqa: ARG002
        self.at = None
        self._outputs.append(Open("server"))

    def connected(self, peer: Peer, now: float) -> None:  # noqa: ARG002
        self._outputs.append(Send(peer, b"hello"))

    def receive(self, data: bytes, peer: Peer, now: float) -> None:
        self.heard.append((peer, data, now))

    def disconnected(self, peer: Peer, now: float) -> None:
        self.heard.append((peer, None, now))
        self.dials -= 1
        self.done = not self.dials
        if self.dials:
            self._outputs.append(Open("server"))


class Server(Core):
    """Answers one word, closes, and talks on as if it had not."""

    def __init__(self, visits: int) -> None:
        super().__init__()
        self.visits = visits
        self.log: list[tuple[str, Peer]] = []

    def start(self, now: float) -> None:
        pass

    def connected(self, peer: Peer, now: float) -> None:  # noqa: ARG002
        self.log.append(("connected", peer))
        self._outputs.append(Send(peer, b"welcome"))

    def receive(self, data: bytes, peer: Peer, now: float) -> None:  # noqa: ARG002
        self.log.append((data.decode(), peer))
        self._outputs += [Send(peer, b"bye"), Close(peer), Send(peer, b"too late"), Close(peer)]
        self.visits -= 1
        self.done = not self.visits


class Datagrams(Core):
    """Speaks to a peer by its name, with no connection."""

    def __init__(self, to: str = "") -> None:
        super().__init__()
        self.to = to
        self.heard: list[tuple[Peer, bytes]] = []

    def start(self, now: float) -> None:  # noqa: ARG002
        if self.to:
            self._outputs.append(Send(self.to, b"ping"))

    def receive(self, data: bytes, peer: Peer, now: float) -> None:  # noqa: ARG002
        self.heard.append((peer, data))
        if not self.to:
            self._outputs.append(Send(peer, b"pong"))
        self.done = True


def ring_core(setup: Setup) -> Core:
    return Node(first=setup.seat.index == 0)


def star_core(setup: Setup) -> Core:
    return Server(setup.players * setup.games) if setup.seat.role == "server" else Client(setup.games)


def a_game(topology: Any, core: Any) -> Game:
    def speaker(word: bytes) -> Any:
        def make(rng: Random) -> Player:
            assert rng.random() < 1
            return Says(word)

        return make

    return Game(
        name="fake",
        title="Fake",
        topology=topology,
        transport="udp",
        port=1,
        dialect=dict,
        players=range(1, 5),
        default_players=4,
        default_games=1,
        core=core,
        bots={"a": speaker(b"a"), "b": speaker(b"b")},
        default_bots={"node": "a"},
        human=lambda terminal: Says(str(terminal).encode()),
        checks={},
    )


def test_on_a_ring_what_is_sent_to_next_arrives_from_prev() -> None:
    net = network(a_game("ring", ring_core), seed=1)
    results = net.run()
    assert net.sent == [
        ("m0", "m1", b"a"),
        ("m1", "m2", b"a+"),
        ("m2", "m3", b"a++"),
        ("m3", "m0", b"a+++"),
    ]
    assert results["m0"] == {"games": [{"winner": "a+++"}]}
    assert list(results) == ["m0", "m1", "m2", "m3"]


def test_a_bot_may_be_chosen_by_role_or_by_seat() -> None:
    game = a_game("ring", ring_core)
    assert network(game, 1, bots={"node": "b"}).run()["m1"] == {"games": [{"winner": "b"}]}
    assert network(game, 1, bots={"m0": "b"}).run()["m1"] == {"games": [{"winner": "b"}]}
    assert network(game, 1, bots={"m1": "b"}).run()["m1"] == {"games": [{"winner": "a"}]}


def test_a_stream_opens_carries_both_ways_and_ends_once() -> None:
    net = network(a_game("star", star_core), seed=1, players=2, games=1, dialect={})
    net.run()
    assert net.sent == [
        ("server", "p1", b"welcome"),
        ("p1", "server", b"hello"),
        ("server", "p2", b"welcome"),
        ("p2", "server", b"hello"),
        ("server", "p1", b"bye"),
        ("server", "p2", b"bye"),
    ]
    client = net.cores["p1"]
    assert isinstance(client, Client)
    assert client.heard == [
        ("server", b"welcome", EPOCH),
        ("server", b"bye", EPOCH),
        ("server", None, EPOCH),
    ]


def test_a_client_that_dials_again_is_a_new_peer_to_the_server() -> None:
    net = network(a_game("star", star_core), seed=1, players=1, games=3)
    net.run()
    server = net.cores["server"]
    assert isinstance(server, Server)
    assert [peer for what, peer in server.log if what == "connected"] == ["p1", "p1#2", "p1#3"]


def test_time_jumps_to_the_next_timer_and_never_goes_back() -> None:
    net = Network({"server": Server(2), "late": Client(wait_s=60.0), "past": Client(wait_s=-5.0)}, {})
    net.run()
    late, past = net.cores["late"], net.cores["past"]
    assert isinstance(late, Client)
    assert isinstance(past, Client)
    assert {at for _, _, at in past.heard} == {EPOCH}
    assert {at for _, _, at in late.heard} == {EPOCH + 60.0}


def test_a_datagram_needs_no_connection_and_can_be_answered() -> None:
    net = Network({"server": Datagrams(), "p1": Datagrams("server")}, {})
    net.run()
    assert net.sent == [("p1", "server", b"ping"), ("server", "p1", b"pong")]


def test_a_datagram_to_nobody_is_lost() -> None:
    net = Network({"p1": Datagrams("nobody")}, {})
    with pytest.raises(Stalled, match=r"not done: \['p1'\]"):
        net.run()
    assert net.sent == []


def test_a_game_that_can_not_go_on_says_who_waits() -> None:
    net = Network({"server": Server(1)}, {})
    with pytest.raises(Stalled, match=r"at 0\.000 s; not done: \['server'\]"):
        net.run()


def test_a_timer_after_the_end_of_the_run_does_not_count() -> None:
    net = Network({"late": Client(wait_s=60.0)}, {})
    with pytest.raises(Stalled):
        net.run(until=EPOCH + 59.0)
    assert net.now == EPOCH
