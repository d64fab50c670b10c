"""Server and client: registration, pairing, clocks, and what each makes of a hostile other side."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.connect4 import client as client_module
from nodes.connect4 import server as server_module
from nodes.connect4.checks import CHECKS
from nodes.connect4.client import ANSWER_S, RETRY_S, SILENCE_S, TRIES_MAX, Client
from nodes.connect4.dialect import Dialect
from nodes.connect4.game import GAME
from nodes.connect4.rules import Board
from nodes.connect4.server import REGISTER_S, RETURN_S, STRIKES_MAX, Server
from nodes.core import (
    Close,
    Core,
    Event,
    Finished,
    Happened,
    LocalProtocolError,
    Open,
    Received,
    Refused,
    Send,
    Sent,
    Turn,
)
from nodes.dialect import DialectError, parse
from nodes.game import Seat, Setup
from nodes.memory import Network, network

EMPTY = "." * 42
SEEDED = Dialect(clock="logical", pairing="rounds")


def setup(name: str, dialect: Dialect | None = None, players: int = 2, games: int = 1) -> Setup:
    seat = Seat(name, "server" if name == "server" else "client", 0)
    return Setup(seat, dialect or Dialect(), Random(1), players, games)


class Table:
    """A server and the texts that go in and out of it."""

    def __init__(self, *names: str, dialect: Dialect | None = None, players: int = 2, games: int = 1) -> None:
        self.core = Server(setup("server", dialect, players, games))
        self.now = 1000.0
        self.events: list[Event] = []
        self.core.start(self.now)
        self.closed: list[str] = []
        self.said: dict[str, list[str]] = {}
        self.log: list[str] = []
        for name in names:
            self.join(name)

    def join(self, name: str) -> list[str]:
        self.open(name)
        return self.say(name, f"connect {name}")

    def open(self, peer: str) -> None:
        self.said[peer] = []
        self.core.connected(peer, self.now)
        self._drain()

    def say(self, peer: str, *lines: str | bytes) -> list[str]:
        """Send lines; what that peer heard since it last spoke."""
        for line in lines:
            self.core.receive(line if isinstance(line, bytes) else f"{line}\r\n".encode(), peer, self.now)
            self._drain()
        return self.heard(peer)

    def heard(self, peer: str) -> list[str]:
        heard, self.said[peer] = self.said[peer], []
        return heard

    def leave(self, peer: str) -> None:
        self.core.disconnected(peer, self.now)
        self._drain()

    def wait(self, seconds: float) -> None:
        """Let time pass; every timer on the way goes off when it is due."""
        until = self.now + seconds
        while (at := self.core.timer()) is not None and at <= until:
            self.now = max(self.now, at)
            self.core.handle_timer(self.now)
            self._drain()
        self.now = until

    def refused(self) -> list[str]:
        return [event.check for event in self.events if isinstance(event, Refused)]

    def result(self) -> list[Any]:
        (finished,) = [event for event in self.events if isinstance(event, Finished)]
        games = finished.result["games"]
        assert isinstance(games, list)
        return games

    def _drain(self) -> None:
        for output in self.core.data_to_send(self.now):
            assert not isinstance(output, Open)
            if isinstance(output, Send):
                assert output.peer not in self.closed, "nothing follows a close"
                self.said[output.peer].append(output.data.decode().removesuffix("\r\n"))
                self.log.append(self.said[output.peer][-1])
            else:
                self.closed.append(output.peer)
        while (event := self.core.next_event()) is not None:
            self.events.append(event)


def test_a_game_runs_as_the_example_of_the_text() -> None:
    table = Table()
    assert table.join("client1") == ["connected hello client1"]
    assert table.join("client2") == ["connected hello client2", "newgame client1 client2"]
    assert table.heard("client1") == ["newgame client1 client2", f"genmove {EMPTY} R PlayR 42.0"]
    assert table.say("client1", "playmove 1") == []
    assert table.heard("client2") == [f"genmove .R{EMPTY[2:]} Y PlayY 42.0"]
    for peer, column in (("client2", 1), *((peer, c) for c in (2, 3) for peer in ("client1", "client2"))):
        table.say(peer, f"playmove {column}")
    assert not table.core.done
    table.heard("client1")
    table.heard("client2")
    end = ".RRRR...YYY..............................."
    assert table.say("client1", "playmove 4") == [f"endgame {end} R WinR Ok"]
    assert table.heard("client2") == [f"endgame {end} Y WinR Ok"]
    assert table.core.done
    assert table.closed == ["client1", "client2"]
    assert table.result() == [
        {
            "winner": "client1",
            "scores": {"client1": 1, "client2": 0},
            "status": "WinR",
            "battle": "Ok",
            "red": "client1",
            "yellow": "client2",
        }
    ]
    assert table.core.timer() is None
    table.open("late")
    assert table.say("late", "connect late") == []


@pytest.mark.parametrize("name", ["", " ", "a b", "é", "a.b", "a" * 33])
def test_a_bad_name_is_not_connected_and_closed(name: str) -> None:
    table = Table()
    table.open("x")
    heard = table.say("x", f"connect {name}")
    if name.isascii():
        assert heard == ["not-connected bad name"]
        assert table.closed == ["x"]
    else:
        assert table.refused() == ["connect4/line"]


def test_a_taken_name_is_not_connected_and_closed_and_the_first_goes_on() -> None:
    table = Table("p1")
    table.open("x")
    assert table.say("x", "connect p1") == ["not-connected name taken"]
    assert table.closed == ["x"]
    assert table.refused() == ["connect4/user.taken"]
    table.join("p2")
    assert f"genmove {EMPTY} R PlayR 42.0" in table.heard("p1")


def test_a_name_may_have_signs_that_an_info_may_not() -> None:
    assert Table().join("a-b_c") == ["connected hello a b c"]


def test_a_tournament_has_as_many_seats_as_players() -> None:
    table = Table("p1", "p2")
    assert table.join("p3") == ["not-connected table full"]
    assert table.closed == ["p3"]
    assert table.refused() == ["connect4/full"]


def test_a_seat_is_free_again_when_somebody_leaves() -> None:
    table = Table("p1", "p2")
    table.leave("p2")
    assert table.join("p3")[0] == "connected hello p3"


def test_a_server_has_a_limit_of_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "CONNECTIONS_MAX", 2)
    table = Table("p1", "p2")
    table.open("p3")
    assert table.heard("p3") == ["not-connected server full"]
    assert table.closed == ["p3"]


def test_a_name_must_come_in_time() -> None:
    table = Table()
    table.open("slow")
    table.open("mute")
    table.say("slow", "connect slow")
    table.wait(REGISTER_S - 0.1)
    assert table.closed == []
    table.wait(0.2)
    assert table.closed == ["mute"]
    assert table.heard("mute") == ["not-connected no name in time"]
    assert table.refused() == ["connect4/register"]


def test_time_is_taken_off_the_clock_of_whoever_was_asked() -> None:
    table = Table("p1", "p2")
    table.wait(1.26)
    table.say("p1", "playmove 3")
    table.wait(10.0)
    table.say("p2", "playmove 3")
    assert table.heard("p1")[-1].endswith("R PlayR 40.7")
    table.say("p1", "playmove 3")
    assert table.heard("p2")[-1].endswith("Y PlayY 32.0")


def test_whoever_uses_up_its_time_loses() -> None:
    table = Table("p1", "p2")
    table.say("p1", "playmove 1")
    table.wait(41.9)
    assert not table.core.done
    table.wait(0.2)
    assert table.heard("p1")[-1] == f"endgame .R{EMPTY[2:]} R WinR Timeout"
    assert table.heard("p2")[-1] == f"endgame .R{EMPTY[2:]} Y WinR Timeout"
    assert table.result()[0]["winner"] == "p1"
    assert table.result()[0]["battle"] == "Timeout"


def test_a_move_that_comes_before_the_timer_but_too_late_loses_too() -> None:
    table = Table("p1", "p2")
    table.now += 42.0
    assert table.say("p1", "playmove 1")[-1] == f"endgame {EMPTY} R WinY Timeout"


def test_a_short_clock_goes_off_before_a_long_one_set_earlier() -> None:
    table = Table("p1", "p2", games=2)
    table.wait(41.0)
    table.say("p1", "playmove 0")
    table.say("p2", "playmove 0")
    table.wait(1.5)
    assert f"endgame R......Y{'.' * 34} R WinY Timeout" in table.heard("p1")


@pytest.mark.parametrize("line", ["playmove 3", "playmove 7", "playmove x", "playmove -1"])
def test_an_invalid_move_costs_time_and_penalty_and_is_asked_anew(line: str) -> None:
    table = Table("p1", "p2")
    for _ in range(3):
        table.say("p1", "playmove 3")
        table.say("p2", "playmove 3")
    table.wait(2.0)
    heard = table.say("p1", line)
    assert heard[-1].endswith("R PlayR 39.0")
    assert table.refused() == ["connect4/column" if line == "playmove 3" else "connect4/move"]
    assert table.say("p1", "playmove 4") == []


def test_penalties_can_use_up_a_clock() -> None:
    table = Table("p1", "p2", dialect=Dialect(clock_s=2.5, penalty_s=1.0))
    assert table.say("p1", "playmove 9")[-1].endswith("R PlayR 1.5")
    assert table.say("p1", "playmove 9")[-1].endswith("R PlayR 0.5")
    assert table.say("p1", "playmove 9")[-1] == f"endgame {EMPTY} R WinY Timeout"


def test_an_earlier_deadline_after_a_penalty_is_kept() -> None:
    table = Table("p1", "p2", dialect=Dialect(penalty_s=41.0), games=2)
    table.say("p1", "playmove 9")
    table.wait(1.1)
    assert table.heard("p1")[-2:] == [f"endgame {EMPTY} R WinY Timeout", "newgame p2 p1"]
    table.wait(42.0)
    assert [game["winner"] for game in table.result()] == ["p2", "p1"]


def test_whoever_disconnects_loses() -> None:
    table = Table("p1", "p2")
    table.leave("p1")
    assert table.heard("p2")[-1] == f"endgame {EMPTY} Y WinY Disconnected"
    table.wait(RETURN_S)
    assert table.result()[0]["winner"] == "p2"
    assert table.result()[0]["battle"] == "Disconnected"


def test_a_game_lost_by_leaving_counts_and_the_tournament_waits_for_a_return() -> None:
    table = Table("p1", "p2", games=2)
    table.leave("p1")
    table.wait(RETURN_S - 1.0)
    assert not table.core.done
    assert table.join("p1")[-1] == "newgame p2 p1"
    table.leave("p1")
    table.wait(RETURN_S + 1.0)
    assert table.core.done
    assert [game["winner"] for game in table.result()] == ["p2", "p2"]


def test_a_tournament_goes_on_without_somebody_who_does_not_return() -> None:
    table = Table("p1", "p2", "p3", players=3, dialect=Dialect(pairing="rounds"))
    table.leave("p1")
    assert not table.core.done
    table.wait(RETURN_S + 200.0)
    assert table.core.done
    assert {name for game in table.result() for name in (game["red"], game["yellow"])} >= {"p2", "p3"}


def test_a_tournament_that_all_have_left_ends() -> None:
    table = Table("p1", "p2", "p3", players=3, dialect=Dialect(pairing="rounds"))
    for name in ("p3", "p2", "p1"):
        table.leave(name)
        table.wait(1.0)
    assert not table.core.done
    table.wait(RETURN_S)
    assert table.core.done


@pytest.mark.parametrize(
    ("state", "line", "check"),
    [
        ("new", "playmove 1", "connect4/register"),
        ("new", "connected", "connect4/direction"),
        ("idle", "playmove 1", "connect4/turn"),
        ("idle", "connect p9", "connect4/connect.again"),
        ("idle", "connect ?", "connect4/user"),
        ("waiting", "playmove 1", "connect4/turn"),
        ("waiting", "playmove 9", "connect4/move"),
        ("thinking", "newgame a b", "connect4/direction"),
        ("thinking", "not-connected", "connect4/direction"),
        ("thinking", f"genmove {EMPTY} R PlayR 1.0", "connect4/direction"),
        ("thinking", f"endgame {EMPTY} R WinR Ok", "connect4/direction"),
        ("thinking", "connect p1", "connect4/connect.again"),
        ("thinking", "garbage", "connect4/message"),
        ("thinking", "playmove", "connect4/playmove"),
        ("thinking", "x" * 200, "connect4/line"),
    ],
)
def test_what_has_no_place_is_ignored_and_counted_and_twenty_close(state: str, line: str, check: str) -> None:
    table = Table()
    peer = {"new": "p0", "idle": "p1", "waiting": "p2", "thinking": "p1"}[state]
    if state == "new":
        table.open(peer)
    else:
        table.join("p1")
    if state in ("waiting", "thinking"):
        table.join("p2")
    table.heard(peer)
    for _ in range(STRIKES_MAX - 1):
        assert table.say(peer, line) == []
    assert table.closed == []
    assert table.core.refusals == {check: STRIKES_MAX - 1}
    table.say(peer, line)
    assert peer in table.closed
    assert table.refused()[-1] == "connect4/strikes"
    assert check in CHECKS
    if state in ("waiting", "thinking"):
        table.wait(RETURN_S)
        assert table.result()[0]["battle"] == "Disconnected"


def test_a_move_after_the_endgame_is_ignored() -> None:
    table = Table("p1", "p2", players=3)
    table.wait(42.5)
    assert table.heard("p1")[-1] == f"endgame {EMPTY} R WinY Timeout"
    assert table.say("p1", "playmove 1") == []
    assert table.refused() == ["connect4/turn"]


def test_the_legacy_genmove_has_no_status() -> None:
    table = Table("p1", "p2", dialect=Dialect(genmove="legacy", clock_s=21.0))
    assert table.heard("p1")[-1] == f"genmove {EMPTY} R 21.0"


def test_a_logical_clock_charges_every_answer_the_same() -> None:
    shown = []
    for pause in (0.0, 3.3):
        table = Table("p1", "p2", dialect=Dialect(clock="logical"))
        for column in (0, 1, 0, 1, 2):
            table.wait(pause)
            table.say("p1", f"playmove {column}")
            table.say("p2", f"playmove {column}")
        shown.append([line for line in table.log if line.startswith("genmove")])
    assert shown[0] == shown[1]
    assert shown[0][-2].endswith(" 41.6")


def test_a_logical_clock_still_times_out_whoever_stays_silent() -> None:
    table = Table("p1", "p2", dialect=Dialect(clock="logical"))
    table.wait(42.5)
    assert table.result()[0]["status"] == "WinY"


@pytest.mark.parametrize(
    "setting", ["clock_s=0", "clock_s=nan", "clock_s=1e9", "penalty_s=-1", "penalty_s=nan"]
)
def test_a_clock_that_makes_no_sense_is_no_dialect(setting: str) -> None:
    with pytest.raises(DialectError, match=setting.partition("=")[0]):
        parse(Dialect, [setting])


def test_every_message_is_told_as_an_event() -> None:
    table = Table("p1", "p2")
    table.say("p1", "playmove 3")
    sent = [event.message.encode().decode().strip() for event in table.events if isinstance(event, Sent)]
    received = [
        event.message.encode().decode().strip() for event in table.events if isinstance(event, Received)
    ]
    assert sent == table.log
    assert received == ["connect p1", "connect p2", "playmove 3"]


def test_many_games_at_once_keep_one_timer_each() -> None:
    names = [f"p{i}" for i in range(400)]
    table = Table(*names, players=400, games=0)
    began = [event for event in table.events if isinstance(event, Happened) and event.kind == "game"]
    assert len(began) == 200
    for column in (0, 1, 2, 0, 1, 2):
        for name in names:
            if any(line.startswith("genmove") for line in table.heard(name)):
                table.say(name, f"playmove {column}")
    assert len(table.core._alarms) <= len(names)
    table.wait(42.5)
    kinds = [event.kind for event in table.events if isinstance(event, Happened)]
    assert kinds.count("end") == 200
    assert kinds.count("game") == 400
    assert not table.core.done


# Whole games in memory.


def results_agree(net: Network, results: dict[str, dict[str, Any]]) -> list[Any]:
    games: list[Any] = results["server"]["games"]
    for name, result in results.items():
        if name != "server":
            assert result["games"] == [game for game in games if name in (game["red"], game["yellow"])]
    assert not any(core.refusals for core in net.cores.values())
    return games


DIALECTS = [
    Dialect(),
    Dialect(genmove="legacy"),
    Dialect(clock="logical"),
    Dialect(pairing="rounds"),
    Dialect(clock_s=10.0, penalty_s=0.5),
    SEEDED,
]


@pytest.mark.parametrize("dialect", DIALECTS, ids=repr)
@pytest.mark.parametrize(("players", "games"), [(2, 1), (3, 2), (5, 3)])
def test_whole_tournaments_finish_and_all_sides_agree(dialect: Dialect, players: int, games: int) -> None:
    net = network(GAME, 7, players=players, games=games, bots={"client": "random"}, dialect=dialect)
    results = net.run()
    assert len(results_agree(net, results)) == games * players * (players - 1) // 2


def test_the_same_seed_gives_the_same_bytes() -> None:
    def run(seed: int) -> list[tuple[str, str, bytes]]:
        net = network(GAME, seed, games=1, bots={"client": "random", "p1": "search"}, dialect=SEEDED)
        net.run()
        return net.sent

    once = run(3)
    assert run(3) == once
    assert run(4) != once


def test_a_seeded_run_says_the_same_whoever_comes_first_and_however_slow() -> None:
    def run(order: list[str], hurry: int) -> dict[str, list[bytes]]:
        net = network(GAME, 5, players=5, games=2, bots={"client": "random"}, dialect=SEEDED)
        net.cores = {"server": net.cores["server"], **{name: net.cores[name] for name in order}}
        rng = Random(hurry)
        plain = net._drain

        def drain(name: str) -> None:
            net.now += rng.random() / 10
            plain(name)

        net._drain = drain  # type: ignore[method-assign] # time passes between any two steps
        net.run()
        return {name: [data for _, to, data in net.sent if to == name] for name in order}

    names = [f"p{i + 1}" for i in range(5)]
    first = run(names, 1)
    assert run(names[::-1], 2) == {name: first[name] for name in names[::-1]}


def test_a_hostile_guest_disturbs_no_other_game() -> None:
    net = network(GAME, 7, players=3, games=2, bots={"client": "random"})
    server = net.cores["server"]
    rng = Random(1)
    real = net._deliver

    def deliver(name: str, peer: str, data: bytes | None) -> None:
        if rng.random() < 0.3:
            guest = f"guest{rng.randrange(4)}"
            server.connected(guest, net.now)
            for _ in range(rng.randrange(4)):
                server.receive(rng.randbytes(rng.randrange(140)), guest, net.now)
            server.receive(b"connect p1\r\n", guest, net.now)
            server.disconnected(guest, net.now)
        real(name, peer, data)

    net._deliver = deliver  # type: ignore[method-assign]
    results = net.run()
    assert len(results["server"]["games"]) == 6  # type: ignore[arg-type]
    assert server.refusals["connect4/user.taken"] > 0


lines = st.sampled_from(
    [
        "playmove 0",
        "playmove 3",
        "playmove 6",
        "playmove 7",
        "playmove",
        "connect p1",
        "connect a b",
        "connected",
        "",
    ]
)
steps = st.lists(
    st.tuples(
        st.sampled_from(["open", "join", "leave", "say", "say", "say", "say", "raw", "wait"]),
        st.integers(0, 4),
        lines,
        st.binary(max_size=20),
    ),
    max_size=60,
)


@settings(max_examples=120, deadline=None)
@given(steps, st.sampled_from([*DIALECTS, Dialect(clock_s=3.0)]), st.integers(0, 2))
def test_nothing_a_client_does_raises_out_of_the_server(
    script: list[tuple[str, int, str, bytes]], dialect: Dialect, games: int
) -> None:
    table = Table(dialect=dialect, players=3, games=games)
    here: set[str] = set()
    for step, number, line, raw in script:
        peer = f"p{number}"
        here -= set(table.closed)
        table.closed.clear()
        if step in ("open", "join") and peer not in here:
            here.add(peer)
            table.open(peer)
        if peer in here:
            if step == "join":
                table.say(peer, f"connect {peer}")
            elif step == "leave":
                here.discard(peer)
                table.leave(peer)
            elif step == "say":
                table.say(peer, line)
            elif step == "raw":
                table.say(peer, raw)
        if step == "wait":
            table.wait(number * 1.5)
    assert set(table.refused()) <= set(CHECKS)


# The client, told the truth and lies.


class Desk:
    """A client core and what a server says to it."""

    def __init__(self, name: str = "me", *lines: str) -> None:
        self.core = Client(setup(name))
        self.now = 1000.0
        self.events: list[Event] = []
        self.opened = self.closed = 0
        self.sent: list[str] = []
        self.core.start(self.now)
        self._drain()
        self.core.connected("server", self.now)
        self._drain()
        self.say(*lines)

    def say(self, *lines: str) -> None:
        for line in lines:
            self.core.receive(f"{line}\r\n".encode(), "server", self.now)
            self._drain()

    def act(self, column: int, turn: Turn | None = None) -> None:
        self.core.act(turn or self.turn(), column, self.now)
        self._drain()

    def turn(self) -> Turn:
        return [event for event in self.events if isinstance(event, Turn)][-1]

    def turns(self) -> int:
        return sum(isinstance(event, Turn) for event in self.events)

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.core.handle_timer(self.now)
        self._drain()

    def lose(self) -> None:
        self.core.disconnected("server", self.now)
        self._drain()

    def result(self) -> list[Any]:
        (finished,) = [event for event in self.events if isinstance(event, Finished)]
        games = finished.result["games"]
        assert isinstance(games, list)
        return games

    def _drain(self) -> None:
        for output in self.core.data_to_send(self.now):
            match output:
                case Open():
                    self.opened += 1
                case Close():
                    self.closed += 1
                case Send(_, data):
                    self.sent.append(data.decode().removesuffix("\r\n"))
        while (event := self.core.next_event()) is not None:
            self.events.append(event)


START = ("connected hello me", "newgame me you")
ASK = f"genmove {EMPTY} R PlayR 42.0"


def after(*columns: int) -> str:
    board = Board()
    for column in columns:
        board = board.play(column)
    return board.text()


def test_a_client_registers_answers_and_ends_when_the_server_closes() -> None:
    desk = Desk("me", *START, ASK)
    assert desk.sent == ["connect me"]
    view = desk.turn().view
    assert (view.color, view.opponent, view.time_s, view.legal) == ("R", "you", 42.0, tuple(range(7)))
    desk.act(3)
    assert desk.sent[-1] == "playmove 3"
    desk.say(f"genmove {after(3, 0)} R PlayR 41.0")
    desk.act(3)
    desk.say(f"genmove {after(3, 0, 3, 0)} R 40.0")
    desk.act(3)
    desk.say(f"genmove {after(3, 0, 3, 0, 3, 0)} R PlayR 39.0")
    desk.act(3)
    desk.say(f"endgame {after(3, 0, 3, 0, 3, 0, 3)} R WinR Ok")
    assert not desk.core.done
    desk.lose()
    assert desk.core.done
    assert desk.core.timer() is None
    assert not desk.core.refusals
    assert [game["winner"] for game in desk.result()] == ["me"]
    moves = [event.text for event in desk.events if isinstance(event, Happened) and event.kind == "move"]
    assert len(moves) == 7
    desk.lose()
    desk.say(ASK)
    assert desk.core.refusals == {"connect4/order": 1}


def test_a_client_that_plays_yellow_sees_the_last_move_in_the_endgame() -> None:
    desk = Desk("me", "connected", "newgame you me")
    for columns in ((0,), (0, 1, 0), (0, 1, 0, 1, 0)):
        desk.say(f"genmove {after(*columns)} Y PlayY 42.0")
        desk.act(1)
    desk.say(f"endgame {after(0, 1, 0, 1, 0, 1, 0)} Y WinR Ok")
    desk.lose()
    assert not desk.core.refusals
    assert desk.result()[0]["winner"] == "you"


def test_a_client_that_is_not_taken_says_why_and_ends() -> None:
    desk = Desk("me", "not-connected name taken")
    assert desk.core.done
    assert desk.closed == 1
    assert desk.result() == []
    assert any("name taken" in event.text for event in desk.events if isinstance(event, Happened))
    assert Desk("me", "not-connected").core.done


def test_a_client_with_an_impossible_name_does_not_start() -> None:
    with pytest.raises(LocalProtocolError, match="letters, digits"):
        Client(setup("a b"))


def test_an_illegal_choice_is_refused_and_the_turn_stays_open() -> None:
    desk = Desk("me", *START, f"genmove {after(2, 2, 2, 2, 2, 2)} R PlayR 42.0")
    for choice in (2, 7, -1, "3", True, None):
        with pytest.raises(LocalProtocolError, match="columns with room: 0, 1, 3, 4, 5, 6"):
            desk.act(choice)  # type: ignore[arg-type]
    assert desk.sent == ["connect me"]
    desk.act(3)
    assert desk.sent[-1] == "playmove 3"


def test_a_lapsed_turn_may_still_be_answered_and_nothing_is_sent() -> None:
    desk = Desk("me", *START, ASK, f"endgame {EMPTY} R WinY Timeout")
    desk.act(3)
    assert desk.sent == ["connect me"]
    assert not desk.core.refusals


def test_an_answer_that_came_too_late_for_the_server_is_no_lie() -> None:
    desk = Desk("me", *START, ASK)
    desk.act(3)
    desk.say(f"endgame {EMPTY} R WinY Timeout")
    assert not desk.core.refusals


def test_being_asked_again_on_the_same_board_opens_a_new_turn() -> None:
    desk = Desk("me", *START, ASK)
    old = desk.turn()
    desk.say(f"genmove {EMPTY} R PlayR 41.0")
    assert desk.turn() is not old
    desk.act(3, old)
    assert desk.sent == ["connect me"]
    desk.act(4)
    assert desk.sent[-1] == "playmove 4"
    assert not desk.core.refusals


@pytest.mark.parametrize(
    ("lines", "check", "turns"),
    [
        (["genmove"], "connect4/genmove", 0),
        (["connected"], "connect4/order", 0),
        (["connect me"], "connect4/order", 0),
        (["newgame you them"], "connect4/newgame.mine", 0),
        (["newgame me me"], "connect4/newgame.mine", 0),
        (["newgame me you"], "connect4/newgame.early", 0),
        (["newgame you me"], "connect4/newgame.early", 0),
        ([f"genmove {EMPTY} Y PlayR 42.0"], "connect4/color.mine", 0),
        ([f"genmove {after(3)} R PlayY 42.0"], "connect4/genmove.turn", 0),
        ([f"genmove {after(0, 1, 0, 1, 0, 1, 2, 1)} R WinY 42.0"], "connect4/genmove.turn", 0),
        ([f"genmove {EMPTY[:-1]}R R PlayR 42.0"], "connect4/board.possible", 0),
        ([f"genmove {EMPTY} R PlayY 42.0"], "connect4/status.board", 1),
        ([f"genmove {after(3, 3)} R PlayR 42.0"], "connect4/board.step", 1),
        ([ASK, f"genmove {EMPTY} R PlayR 43.0"], "connect4/time.left", 2),
        ([ASK, "!3", f"genmove {EMPTY} R PlayR 41.0"], "connect4/board.step", 2),
        ([ASK, "!3", f"genmove {after(3, 3, 3, 3)} R PlayR 41.0"], "connect4/board.step", 2),
        ([f"endgame {EMPTY} Y WinR Timeout"], "connect4/color.mine", 0),
        ([f"endgame {EMPTY} R PlayR Ok"], "connect4/endgame.status", 0),
        ([f"endgame {EMPTY} R WinR Ok"], "connect4/status.board", 0),
        ([f"endgame {EMPTY} R Tie Timeout"], "connect4/endgame.battle", 0),
        ([f"endgame {EMPTY} R WinY Disconnected"], "connect4/endgame.battle", 0),
        ([f"endgame {after(1)} R WinR Timeout"], "connect4/board.step", 0),
        ([ASK, "!3", f"endgame {after(4)} R WinR Timeout"], "connect4/board.step", 1),
    ],
)
def test_a_lie_of_the_server_is_named_and_play_goes_on(lines: list[str], check: str, turns: int) -> None:
    desk = Desk("me", *START)
    for line in lines:
        if line.startswith("!"):
            desk.act(int(line[1:]))
        else:
            desk.say(line)
    assert desk.core.refusals == {check: 1}
    assert check in CHECKS
    assert desk.turns() == turns
    desk.say("newgame you me")
    desk.say(f"genmove {after(3)} Y PlayY 42.0")
    desk.act(3)
    assert desk.sent[-1] == "playmove 3"
    assert not desk.core.done


def test_a_genmove_without_a_game_is_refused() -> None:
    desk = Desk("me", "connected", ASK)
    assert desk.core.refusals == {"connect4/order": 1}
    assert desk.turns() == 0


def test_a_client_tries_again_until_the_server_is_up_but_not_for_ever() -> None:
    desk = Desk("me")
    for tries in range(1, TRIES_MAX):
        assert desk.opened == tries
        desk.lose()
        desk.lose()
        assert not desk.core.done
        desk.wait(RETRY_S / 2)
        assert desk.opened == tries
        desk.wait(RETRY_S / 2)
    desk.lose()
    assert desk.core.done
    assert desk.result() == []
    desk.wait(1.0)
    desk.core.connected("server", desk.now)
    assert desk.core.data_to_send(desk.now) == []


def test_a_server_that_does_not_answer_connect_is_left() -> None:
    desk = Desk("me")
    desk.wait(ANSWER_S)
    assert desk.core.refusals == {"connect4/silence": 1}
    assert desk.closed == 1
    desk.wait(RETRY_S)
    assert desk.opened == 2


def test_a_client_waits_for_a_game_as_long_as_it_takes() -> None:
    desk = Desk("me", "connected")
    assert desk.core.timer() is None


def test_a_server_that_falls_silent_in_a_game_is_left() -> None:
    desk = Desk("me", *START, f"endgame {EMPTY} R WinR Disconnected", "newgame me you")
    desk.wait(SILENCE_S)
    assert desk.core.refusals == {"connect4/silence": 1}
    assert desk.core.done
    assert len(desk.result()) == 1


server_lines = st.sampled_from(
    [
        *START,
        *("newgame you me", "newgame a b", "not-connected", "playmove 1", "genmove", ASK),
        *(
            f"genmove {after(3)} Y PlayY 3.0",
            f"genmove {after(3, 3)} R 9.0",
            f"genmove {after(3, 2)} R Tie 9.0",
        ),
        *(f"endgame {after(3)} R WinR Timeout", f"endgame {after(3)} Y WinR Ok", f"endgame {EMPTY} R Tie Ok"),
    ]
)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(server_lines | st.binary(max_size=140) | st.sampled_from([1.0, 40.0, 900.0, -1.0]), max_size=30)
)
def test_nothing_a_server_does_raises_out_of_the_client(script: list[str | bytes | float]) -> None:
    desk = Desk("me")
    for step in script:
        if isinstance(step, float):
            desk.wait(step) if step > 0 else desk.lose()
            continue
        desk.core.receive(step if isinstance(step, bytes) else step.encode(), "server", desk.now)
        desk._drain()
        if desk.turns():
            desk.act(desk.turn().view.legal[0])
    assert set(desk.core.refusals) <= set(CHECKS)


def test_both_roles_remember_only_so_many_games(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "GAMES_REMEMBERED_MAX", 2)
    desk = Desk("me", "connected")
    for _ in range(3):
        desk.say("newgame me you", f"endgame {EMPTY} R WinR Disconnected")
    desk.lose()
    assert len(desk.result()) == 2


def test_the_role_follows_the_seat() -> None:
    cores: list[Core] = [GAME.core(setup(name)) for name in ("server", "p1")]
    assert [type(core) for core in cores] == [Server, Client]


@pytest.mark.parametrize("core", [Server(setup("server")), Client(setup("ada"))])
def test_what_is_no_websocket_is_refused_as_no_line(core: Core) -> None:
    core.garbled("somebody", "no WebSocket handshake", 1000.0)
    assert core.next_event() == Refused("somebody", "connect4/line", "no WebSocket handshake")
    assert core.refusals == {"connect4/line": 1}
    assert core.data_to_send(1000.0) == []
