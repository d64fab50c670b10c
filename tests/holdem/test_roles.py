"""Server and client: whole matches in memory, and what strangers may try."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes import memory
from nodes.core import Close, Finished, Happened, LocalProtocolError, Open, Received, Refused, Send, Turn
from nodes.game import Seat, Setup, load
from nodes.holdem import server as server_module
from nodes.holdem.checks import CHECKS
from nodes.holdem.client import SILENCE_S, Client
from nodes.holdem.dialect import Dialect
from nodes.holdem.messages import (
    GAMES_MAX,
    Action,
    AnyMessage,
    Connect,
    Error,
    Played,
    PlayerResult,
    PlayerState,
    Ready,
    Result,
    State,
    Success,
    decode,
)
from nodes.holdem.roles import REFUSALS_MAX, View, outcome
from nodes.holdem.server import CONNECT_S, READY_S, ROOM_S, Server
from nodes.holdem.transport import Frames, frame
from nodes.memory import EPOCH

if TYPE_CHECKING:
    from nodes.core import Event

GAME = load("holdem")
LOGICAL = Dialect(clock="logical")


class Desk:
    """A server, and what each of its peers heard."""

    def __init__(self, players: int = 2, games: int = 1, dialect: Dialect = LOGICAL) -> None:
        self.core = Server(Setup(Seat("server", "server", 0), dialect, Random(1), players, games))
        self.now = EPOCH
        self.heard: defaultdict[str, list[AnyMessage]] = defaultdict(list)
        self.closed: list[str] = []
        self.events: list[Event] = []
        self.core.start(self.now)

    def connect(self, *peers: str) -> None:
        for peer in peers:
            self.core.connected(peer, self.now)
        self.drain()

    def join(self, *names: str, games: int = 1, room: int = 0, **more: Any) -> None:
        """Connect peers that call themselves as they are called here."""
        for name in names:
            self.connect(name)
            self.say(name, Connect(name, room or len(names), games, **more))

    def say(self, peer: str, message: AnyMessage | bytes) -> None:
        data = message if isinstance(message, bytes) else frame(message.encode())
        self.core.receive(data, peer, self.now)
        self.drain()

    def leave(self, peer: str) -> None:
        self.core.disconnected(peer, self.now)
        self.drain()

    def wait(self, seconds: float) -> None:
        self.now += seconds
        at = self.core.timer()
        assert at is not None
        assert at <= self.now
        self.core.handle_timer(self.now)
        self.drain()

    def drain(self) -> None:
        for output in self.core.data_to_send(self.now):
            assert not isinstance(output, Open)
            assert output.peer not in self.closed, "nothing follows a Close"
            if isinstance(output, Close):
                self.closed.append(output.peer)
            else:
                frames = Frames()
                frames.feed(output.data)
                self.heard[output.peer] += [decode(body) for body in iter(frames.take, None)]
        while event := self.core.next_event():
            self.events.append(event)

    def state(self, peer: str) -> State:
        return [message for message in self.heard[peer] if isinstance(message, State)][-1]

    def result(self, peer: str) -> Result:
        return [message for message in self.heard[peer] if isinstance(message, Result)][-1]

    def act(self, *actions: str) -> None:
        for action in actions:
            state = next(self.state(p) for p in self.heard if p not in self.closed and self.in_play(p))
            self.say(state.players[state.action_position].name, Action(action))

    def in_play(self, peer: str) -> bool:
        return any(isinstance(message, State) for message in self.heard[peer])

    def checks(self) -> list[str]:
        return [event.check for event in self.events if isinstance(event, Refused)]

    def infos(self, peer: str) -> list[str]:
        return [message.INFO for message in self.heard[peer]]


def games_of(core: Any) -> Any:
    finished = [event for event in iter(core.next_event, None) if isinstance(event, Finished)]
    (event,) = finished
    return event.result["games"]


@pytest.mark.parametrize("players", [2, 3, 10])
def test_a_whole_match_ends_and_all_report_the_same(players: int) -> None:
    net = memory.network(GAME, 3, players=players, games=4)
    results = net.run()
    assert set(results) == {seat.name for seat in GAME.seats(players)}
    assert all(result == results["server"] for result in results.values())
    games: Any = results["server"]["games"]
    assert len(games) == 4
    for game in games:
        assert sum(game["scores"].values()) == 0
        best = max(game["scores"].values())
        assert game["winner"] is None or game["scores"][game["winner"]] == best
    assert not any(core.refusals for core in net.cores.values())
    assert all(core.timer() is None for core in net.cores.values())


DIALECTS = [
    Dialect(stacks="carry-over"),
    Dialect(seats="fixed"),
    Dialect(first_to_act="from-1"),
    Dialect(raises="uncapped"),
    Dialect(final_state=False),
    Dialect(result_money="excluded"),
    Dialect(clock="logical"),
    Dialect(thinking_s=1.5),
    Dialect(room_id=7),
]


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda d: ",".join(f for f in d.__slots__))
def test_every_dialect_plays_a_whole_match(dialect: Dialect) -> None:
    net = memory.network(GAME, 5, games=6, dialect=dialect, bots={"client": "random"})
    results = net.run()
    assert all(result == results["server"] for result in results.values())
    assert not any(core.refusals for core in net.cores.values())


def test_the_same_seed_puts_the_same_bytes_on_the_wire_whoever_arrives_first() -> None:
    def streams(reverse: bool) -> dict[tuple[str, str], bytes]:
        net = memory.network(GAME, 11, players=4, games=3, dialect=LOGICAL)
        if reverse:
            net.cores = dict(sorted(net.cores.items(), key=lambda item: item[0] == "p1"))
        net.run()
        sent: defaultdict[tuple[str, str], bytes] = defaultdict(bytes)
        for source, target, data in net.sent:
            sent[source, target] += data
        return dict(sent)

    assert streams(reverse=False) == streams(reverse=False)
    assert streams(reverse=False) == streams(reverse=True)


def test_another_seed_deals_other_cards() -> None:
    one, two = (memory.network(GAME, seed, dialect=LOGICAL) for seed in (1, 2))
    one.run()
    two.run()
    assert one.sent != two.sent


def test_a_client_process_does_not_wait_for_the_poker_library() -> None:
    code = (
        "import sys; from random import Random; from nodes.game import *; game = load('holdem');"
        "game.core(Setup(Seat('p1', 'client', 0), game.dialect(), Random(1), 2));"
        "assert 'pokerkit' not in sys.modules;"
        "game.core(Setup(Seat('server', 'server', 0), game.dialect(), Random(1), 2));"
        "assert 'pokerkit' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_match_begins_when_the_room_is_full() -> None:
    desk = Desk(players=3)
    desk.join("a", "b", room=3)
    assert desk.heard == {}
    desk.join("c", room=3)
    assert [desk.infos(peer) for peer in "abc"] == [["state"]] * 3


def test_a_state_goes_to_every_seat_with_its_own_cards_only() -> None:
    desk = Desk(players=3)
    desk.join("b", "c", "a")
    states = [desk.state(peer) for peer in "abc"]
    assert [state.position for state in states] == [0, 1, 2]  # by name, not by arrival
    assert len({state.private_card for state in states}) == 3
    assert {state.action_position for state in states} == {2}
    assert {state.legal_actions for state in states} == {("fold", "call", "raise")}
    assert {state.raise_range for state in states} == {(200, 20000)}
    assert states[0].players == (
        PlayerState(0, 19950, 20000, "a"),
        PlayerState(1, 19900, 20000, "b"),
        PlayerState(2, 20000, 20000, "c"),
    )
    assert states[0].action_history == ((),)


def test_after_the_last_action_comes_one_more_state_then_the_result_then_the_end() -> None:
    desk = Desk()
    desk.join("a", "b")
    desk.act("fold")
    assert desk.infos("b") == ["state", "state", "result"]
    final = desk.state("b")
    assert (final.action_position, final.legal_actions, final.raise_range) == (-1, (), ())
    assert desk.closed == ["a", "b"]
    assert desk.core.done
    last = desk.events[-1]
    assert isinstance(last, Finished)
    assert last.result == {"games": [{"winner": "b", "scores": {"a": -50, "b": 50}}]}


def test_no_final_state_is_a_knob() -> None:
    desk = Desk(dialect=Dialect(final_state=False))
    desk.join("a", "b")
    desk.act("fold")
    assert desk.infos("b") == ["state", "result"]


CHECKED_DOWN = ("call", *["check"] * 7)


@pytest.mark.parametrize("included", [True, False])
def test_money_left_in_a_result_has_the_winnings_in_it_or_not(included: bool) -> None:
    desk = Desk(dialect=Dialect(result_money="included" if included else "excluded"))
    desk.join("a", "b")
    desk.act(*CHECKED_DOWN)
    for player in desk.result("a").players:
        assert player.money_left == (20000 + player.win_money if included else 19900)
        assert player.total_money == 20000


def test_a_result_shows_the_cards_of_all_but_folders_to_the_others() -> None:
    desk = Desk(players=3)
    desk.join("a", "b", "c")
    desk.act("call", "fold", "check", *["check"] * 6)
    a, b, c = (desk.result(peer) for peer in "abc")
    assert b.player_card == c.player_card
    assert b.player_card[0] == ()
    assert a.player_card[0] == desk.state("a").private_card
    assert a.player_card[1:] == b.player_card[1:]
    assert all(len(cards) == 2 for cards in b.player_card[1:])
    assert len(a.public_card) == 5
    assert [len(street) for street in a.action_history] == [3, 2, 2, 2]


def test_timestamps_come_from_the_clock_or_count_by_themselves() -> None:
    wall, logical = Desk(dialect=Dialect()), Desk()
    for desk in (wall, logical):
        desk.now += 0.25
        desk.join("a", "b")
        desk.act("call", "check")
    assert wall.state("a").action_history[0][0] == Played(0, "call", "2020-09-13 12:26:40.250")
    assert [played.timestamp for played in logical.state("a").action_history[0]] == [
        "2020-07-06 18:45:44.509",
        "2020-07-06 18:45:44.515",
    ]


def test_f_is_read_as_fold() -> None:
    desk = Desk()
    desk.join("a", "b")
    desk.act("f")
    assert desk.result("b").action_history[0][0].action == "fold"


def test_the_next_hand_begins_when_all_are_ready_and_seats_have_moved() -> None:
    desk = Desk(players=2, games=2)
    desk.join("a", "b", games=2)
    desk.act("fold")
    desk.say("a", Ready())
    desk.say("a", Ready())  # twice is no harm
    assert desk.infos("a")[-1] == "result"
    desk.say("b", Ready())
    assert [desk.state(peer).position for peer in "ab"] == [1, 0]
    desk.act("fold")
    assert desk.core.done
    desk.say("a", Ready())  # "a ready after the last is tolerated"
    assert desk.core.refusals == {}


def test_players_who_ask_for_different_rooms_do_not_meet() -> None:
    desk = Desk(games=0)
    for i, connect in enumerate(
        [
            Connect("x", 2, 1),
            Connect("x", 2, 2),
            Connect("x", 3, 1),
            Connect("x", 2, 1, 5),
            Connect("x", 2, 1, "5"),
        ]
    ):
        desk.connect(str(i))
        desk.say(str(i), connect)
    assert desk.heard == {}
    desk.connect("9")
    desk.say("9", Connect("y", 2, 1, 5))
    assert set(desk.heard) == {"3", "9"}


def test_a_name_that_is_taken_in_the_room_is_refused_and_another_may_be_tried() -> None:
    desk = Desk()
    desk.join("a", room=2)
    desk.connect("b")
    desk.say("b", Connect("a", 2, 1))
    assert desk.checks() == ["holdem/connect.twice"]
    assert desk.infos("b") == ["error"]
    desk.say("b", Connect("b", 2, 1))
    assert desk.infos("b") == ["error", "state"]


@pytest.mark.parametrize(
    ("action", "check"),
    [
        ("check", "holdem/action.illegal"),
        ("raise", "holdem/action.illegal"),
        ("all in", "holdem/action.illegal"),
        ("r199", "holdem/action.range"),
        ("r20001", "holdem/action.range"),
    ],
)
def test_an_illegal_action_is_an_error_and_a_fold_and_the_match_goes_on(action: str, check: str) -> None:
    desk = Desk(players=3)
    desk.join("a", "b", "c")
    desk.act(action)
    assert desk.checks() == [check]
    assert desk.infos("c") == ["state", "error", "state"]
    assert desk.infos("a") == desk.infos("b") == ["state", "state"]
    assert desk.state("a").action_history == ((Played(2, "fold", "2020-07-06 18:45:44.509"),),)
    assert desk.state("a").action_position == 0
    desk.act("call", "check", *["check"] * 6)
    assert desk.result("c").players[2].win_money == 0


def test_an_action_out_of_turn_folds_its_sender_and_leaves_the_actor_to_think() -> None:
    desk = Desk(players=4)
    desk.join("a", "b", "c", "d")
    desk.say("a", Action("call"))
    assert desk.checks() == ["holdem/action.turn"]
    assert desk.infos("a") == ["state", "error"]
    assert desk.infos("c") == ["state"]  # not asked twice
    desk.say("c", Action("call"))
    assert [played.action for played in desk.state("b").action_history[0]] == ["fold", "call"]
    desk.act("call", "check", *["check"] * 9)
    assert desk.core.done
    assert desk.result("a").players[0].win_money == -50


def test_an_action_out_of_turn_that_leaves_one_player_ends_the_hand() -> None:
    desk = Desk()
    desk.join("a", "b")
    desk.say("b", Action("call"))
    assert desk.infos("a") == ["state", "state", "result"]
    assert desk.core.done


def test_one_who_folded_or_is_all_in_gets_an_error_for_acting_and_nothing_changes() -> None:
    desk = Desk(players=3)
    desk.join("a", "b", "c")
    desk.act("fold", "r20000")
    for peer in ("c", "a"):
        before = desk.state("b")
        desk.say(peer, Action("call"))
        assert desk.infos(peer)[-1] == "error"
        assert desk.state("b") is before
    desk.act("call")
    assert desk.core.done


def test_a_raise_that_was_offered_is_a_call_once_nobody_can_answer_it() -> None:
    """a is all in for 5000; c, asked with d still in, may raise; d is folded out of turn meanwhile."""
    desk = Desk(players=3, games=2, dialect=Dialect(stacks="carry-over"))
    desk.join("a", "b", "c", games=2)
    desk.act("r5000", "call", "fold", "check", "check", "check", "check", "check", "check")
    for peer in "abc":
        desk.say(peer, Ready())
    money = {p.name: p.total_money for p in desk.state("a").players}
    short = min(money, key=lambda name: money[name])
    for _ in range(10):
        state = desk.state("a")
        name = state.players[state.action_position].name
        if name == short:
            desk.act(f"r{state.raise_range[1]}")
            break
        desk.act("check" if "check" in state.legal_actions else "call")
    state = desk.state("a")
    actor = state.players[state.action_position].name
    assert "raise" in state.legal_actions
    (third,) = {"a", "b", "c"} - {short, actor}
    desk.say(third, Action("call"))
    desk.say(actor, Action(f"r{state.raise_range[1]}"))
    assert desk.checks() == ["holdem/action.turn"]
    assert desk.core.done
    history = [played.action for played in desk.result("a").action_history[0]]
    assert history[-1] == "call"


def test_who_does_not_act_in_time_is_folded() -> None:
    desk = Desk(players=3, dialect=Dialect(thinking_s=5))
    desk.join("a", "b", "c")
    desk.wait(5)
    assert desk.checks() == ["holdem/action.time"]
    assert desk.infos("c") == ["state", "error", "state"]
    assert desk.state("a").action_position == 0
    desk.wait(5)
    assert desk.core.done
    assert desk.result("b").players[1].win_money == 50


def test_being_slow_for_ever_does_not_end_the_match() -> None:
    hands = 2 * REFUSALS_MAX + 4  # a acts first in every other one
    desk = Desk(games=hands)
    desk.join("a", "b", games=hands)
    for _ in range(hands):
        assert not desk.core.done
        state = desk.state("a")
        if state.players[state.action_position].name == "a":
            desk.wait(30)
        else:
            desk.act("fold")
        for peer in "ab":
            desk.say(peer, Ready())
    assert desk.core.done
    assert desk.core.refusals == {"holdem/action.time": hands // 2}


@pytest.mark.parametrize("hello", [b"", b"\x02", frame(b"{}")[:5]])
def test_a_connection_that_does_not_say_connect_in_time_is_closed(hello: bytes) -> None:
    desk = Desk()
    desk.connect("x")
    desk.join("a", room=2)
    desk.say("x", hello)
    desk.wait(CONNECT_S)
    assert desk.checks() == ["holdem/connect.late"]
    assert desk.closed == ["x"]
    desk.join("b", room=2)
    assert desk.infos("a") == ["state"]


def test_a_room_that_does_not_fill_is_closed() -> None:
    desk = Desk(players=3)
    desk.join("a", "b", room=3)
    desk.wait(ROOM_S)
    assert desk.checks() == ["holdem/connect.room"] * 2
    assert desk.closed == ["a", "b"]
    assert desk.core.timer() is None
    assert not desk.core.done


def test_one_who_is_not_ready_in_time_has_left() -> None:
    desk = Desk(players=3, games=2)
    desk.join("a", "b", "c", games=2)
    desk.act("fold", "fold")
    desk.say("b", Ready())
    desk.wait(READY_S)
    assert desk.checks() == ["holdem/ready.late"]
    assert sorted(desk.closed) == ["a", "b", "c"]
    assert desk.infos("b")[-3:] == ["result", "result", "success"]
    assert desk.core.done


def test_exit_ends_the_match_others_get_the_result_so_far_and_success() -> None:
    desk = Desk(players=3, games=3)
    desk.join("a", "b", "c", games=3)
    desk.act("fold", "fold")
    desk.say("b", Ready("exit"))
    for peer in "ac":
        assert desk.infos(peer)[-3:] == ["result", "result", "success"]
        assert desk.heard[peer][-2] == desk.heard[peer][-3]
    assert desk.infos("b")[-1] == "result"
    assert sorted(desk.closed) == ["a", "b", "c"]
    assert desk.core.done


def test_a_player_who_vanishes_during_a_hand_makes_it_void() -> None:
    desk = Desk(players=3, games=2)
    desk.join("a", "b", "c", games=2)
    desk.act("r500", "call")
    desk.leave("c")
    for peer in "ab":
        assert desk.infos(peer)[-2:] == ["result", "success"]
        result = desk.result(peer)
        assert [(p.win_money, p.money_left) for p in result.players] == [(0, 20000)] * 3
        own = desk.state(peer).position
        assert [bool(cards) for cards in result.player_card] == [i == own for i in range(3)]
    assert "c" not in desk.closed
    assert sorted(desk.closed) == ["a", "b"]
    last = desk.events[-1]
    assert isinstance(last, Finished)
    assert last.result == {"games": [{"winner": None, "scores": {"a": 0, "b": 0, "c": 0}}]}


def test_a_player_who_vanishes_before_the_match_frees_the_place() -> None:
    desk = Desk()
    desk.connect("lobby")
    desk.leave("lobby")
    desk.leave("lobby")
    desk.join("a", room=2)
    desk.leave("a")
    assert desk.core.timer() is None
    desk.join("b", room=2)
    desk.join("a", room=3)
    assert desk.heard == {}
    desk.join("c", room=2)
    assert set(desk.heard) == {"b", "c"}


def test_one_of_several_waiting_may_go() -> None:
    desk = Desk(players=3)
    desk.join("a", "b", room=3)
    desk.leave("a")
    desk.join("c", "d", room=3)
    assert set(desk.heard) == {"b", "c", "d"}


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("lobby", Action("call")),
        ("lobby", Ready()),
        ("lobby", Result((), (), (), tuple(PlayerResult(i, 0, 0, 0, "a") for i in range(2)))),
        ("waiting", Connect("z", 2, 1)),
        ("waiting", Action("call")),
        ("between", Action("call")),
        ("between", Connect("a", 2, 2)),
    ],
)  # fmt: skip
def test_a_message_out_of_order_is_an_error_and_nothing_else(where: str, message: AnyMessage) -> None:
    desk = Desk(games=2)
    desk.connect("a")
    if where != "lobby":
        desk.say("a", Connect("a", 2, 2))
    if where == "between":
        desk.join("b", games=2, room=2)
        desk.act("fold")
    desk.say("a", message)
    assert desk.checks() == ["holdem/order"]
    assert desk.infos("a")[-1] == "error"
    assert desk.closed == []


@pytest.mark.parametrize(
    "message", [Ready(), Connect("a", 2, 2), b"\x02\x00\x00\x00[]", b"\x02\x00\x00\x00\xff\xff"]
)
def test_anything_but_a_legal_action_folds_during_a_hand(message: AnyMessage | bytes) -> None:
    desk = Desk(players=3)
    desk.join("a", "b", "c")
    desk.say("c", message)
    assert desk.infos("c") == ["state", "error", "state"]
    assert desk.state("a").action_history[0][0].action == "fold"


@pytest.mark.parametrize("length", [0, 1, -1, -(2**31), 2**20 + 1, 2**31 - 1])
def test_a_bad_length_closes_the_connection_and_leaves_other_matches_alone(length: int) -> None:
    desk = Desk(games=0)
    desk.join("a", "b")
    desk.join("c", "d")
    desk.say("c", length.to_bytes(4, "little", signed=True) + b"{}")
    assert desk.checks() == ["holdem/frame.len"]
    assert sorted(desk.closed) == ["c", "d"]
    assert desk.infos("c")[-1] == "error"
    assert desk.infos("d")[-1] == "success"
    desk.act("fold")
    assert desk.infos("a")[-1] == "result"


def test_after_too_many_refusals_a_connection_is_closed() -> None:
    desk = Desk()
    desk.connect("x")
    desk.say("x", frame(b"[]") * (REFUSALS_MAX + 50))
    assert desk.checks() == ["holdem/frame.json"] * (REFUSALS_MAX + 1) + ["holdem/limit.refusals"]
    assert desk.infos("x") == ["error"] * (REFUSALS_MAX + 1)
    assert desk.closed == ["x"]
    desk.say("x", Connect("x", 2, 1))
    assert desk.infos("x")[-1] == "error"


def test_connections_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "CONNECTIONS_MAX", 2)
    desk = Desk()
    desk.connect("a", "b", "c")
    assert desk.checks() == ["holdem/limit.connections"]
    assert desk.closed == ["c"]
    desk.leave("a")
    desk.connect("d")
    assert desk.closed == ["c"]


def test_rooms_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "ROOMS_MAX", 2)
    desk = Desk()
    for room in (2, 3, 4):
        desk.join(f"p{room}", room=room)
    assert desk.checks() == ["holdem/limit.connections"]
    assert desk.infos("p4") == ["error"]
    assert desk.closed == []


def test_half_received_packets_are_bounded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "BUFFERED_MAX", 1000)
    desk = Desk()
    desk.connect("a", "b", "c")
    half = frame(bytes(900))[:600]
    desk.say("a", half)
    desk.say("b", half[:401])
    assert desk.checks() == ["holdem/limit.buffer"]
    assert desk.closed == ["a"]  # who holds most goes, not who spoke last
    desk.leave("b")
    desk.say("c", half)
    assert desk.closed == ["a"]


def test_a_match_sent_byte_by_byte_is_the_same_match() -> None:
    whole, single = Desk(), Desk()
    for desk in (whole, single):
        desk.connect("a", "b")
    for peer, message in [
        ("a", Connect("a", 2, 1)),
        ("b", Connect("b", 2, 1)),
        ("a", Action("r300")),
        ("b", Action("fold")),
    ]:
        data = frame(message.encode())
        whole.say(peer, data)
        for i in range(len(data)):
            single.say(peer, data[i : i + 1])
    assert whole.heard == single.heard
    assert whole.core.done
    assert single.core.done


def test_pipelined_messages_are_taken_in_order() -> None:
    desk = Desk(games=2)
    desk.connect("a", "b")
    desk.say("b", Connect("b", 2, 2))
    desk.say(
        "a", frame(Connect("a", 2, 2).encode()) + frame(Action("fold").encode()) + frame(Ready().encode())
    )
    assert desk.infos("b") == ["state", "state", "result"]
    desk.say("b", Ready())
    assert desk.infos("a")[-1] == "state"
    assert desk.core.refusals == {}


def test_a_server_that_is_asked_for_one_match_takes_others_but_is_done_with_its_own() -> None:
    desk = Desk(players=2, games=1)
    desk.join("x", "y", games=3)
    desk.join("w", room=5)
    desk.connect("lobby")
    desk.join("a", "b")
    for peer in ("a", "b"):
        desk.leave(peer)
    assert not desk.core.done  # x and y are still playing
    desk.connect("late")
    assert "late" in desk.closed
    desk.leave("x")
    assert desk.core.done
    assert {"y", "w", "lobby"} <= set(desk.closed)
    last = desk.events[-1]
    assert isinstance(last, Finished)
    assert last.result["games"] == [{"winner": None, "scores": {"a": 0, "b": 0}}]


def test_a_server_for_ever_is_never_done() -> None:
    desk = Desk(games=0)
    for _ in range(3):
        desk.join("a", "b")
        desk.act("fold")
        assert not desk.core.done
        desk.closed.clear()
        desk.heard.clear()
    assert not any(isinstance(event, Finished) for event in desk.events)
    ends = [event for event in desk.events if isinstance(event, Happened) and event.kind == "match"]
    assert [event.fields["games"] for event in ends] == [1, 1, 1]


ODDITIES: list[AnyMessage] = [
    Action("call"), Action("r99999"), Ready(), Ready("exit"), Connect("z", 2, 1), Error("x"), Success("")
]  # fmt: skip
KEYS = st.sampled_from(["info", "name", "action", "status", "room_number"])
WORDS = st.sampled_from(["connect", "action", "ready", "state"])
JUNK = st.one_of(
    st.binary(max_size=60),
    st.binary(min_size=2, max_size=60).map(frame),
    st.sampled_from(ODDITIES).map(lambda message: frame(message.encode())),
    st.dictionaries(KEYS, st.one_of(WORDS, st.integers(), st.none(), st.lists(st.none()))).map(
        lambda fields: frame(json.dumps(fields).encode())
    ),
)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.sampled_from(["x", "y", "c"]), st.one_of(JUNK, st.none())), max_size=25))
def test_whatever_strangers_do_the_other_match_goes_on(moves: list[tuple[str, bytes | None]]) -> None:
    """x only connects, y sits in a room, c plays d; a and b never notice."""
    desk = Desk(games=0)
    desk.join("a", "b", games=2)
    desk.join("y", room=7)
    desk.join("c", "d", games=1)
    desk.connect("x")
    for peer, data in moves:
        if data is None:
            desk.leave(peer)
        else:
            desk.say(peer, data)
    assert set(desk.checks()) <= set(CHECKS)
    assert desk.infos("a") == desk.infos("b") == ["state"]
    desk.say("a", Action("fold"))
    desk.say("a", Ready())
    desk.say("b", Ready())
    desk.say("b", Action("fold"))
    assert desk.infos("a")[-1] == desk.infos("b")[-1] == "result"


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 60), st.sampled_from(["p1", "p2", "p3"]), st.booleans())
def test_whenever_a_player_vanishes_all_others_finish(steps: int, victim: str, midway: bool) -> None:
    net = memory.network(GAME, 1, games=2, dialect=LOGICAL, bots={"client": "caller"})
    for name, core in net.cores.items():
        core.start(net.now)
        net._drain(name)
    for _ in range(steps):
        if net._inbox:
            net._deliver(*net._inbox.popleft())
    if midway:
        net.cores["server"].receive(b"\x10\x00", victim, net.now)
    net.cores["server"].disconnected(victim, net.now)
    net._drain("server")
    net.cores[victim].disconnected("server", net.now)
    net._drain(victim)
    while net._inbox:
        name, peer, data = net._inbox.popleft()
        if name != victim:
            net._deliver(name, peer, data)
    others = [name for name in net.cores if name != victim]
    started = any(isinstance(e, Happened) and e.kind == "hand" for e in net.events["server"])
    assert all(net.cores[name].done == started for name in others)
    results = net.results()
    assert all(results[name] == results["server"] for name in others if started)


class Booth:
    """A client, and what it said."""

    def __init__(self, games: int = 2, dialect: Dialect | None = None) -> None:
        setup = Setup(Seat("me", "client", 0), dialect or Dialect(), Random(1), 2, games)
        self.core = Client(setup)
        self.core.start(EPOCH)
        assert self.core.data_to_send(EPOCH) == [Open("server")]
        self.core.connected("server", EPOCH)
        self.events: list[Event] = []

    def hear(self, *messages: AnyMessage | bytes) -> None:
        for message in messages:
            data = message if isinstance(message, bytes) else frame(message.encode())
            self.core.receive(data, "server", EPOCH)
        self.events += iter(self.core.next_event, None)

    def said(self) -> list[AnyMessage | str]:
        said: list[AnyMessage | str] = []
        for output in self.core.data_to_send(EPOCH):
            said.append(decode(output.data[4:]) if isinstance(output, Send) else "close")
        return said

    @property
    def turn(self) -> Turn:
        return [event for event in self.events if isinstance(event, Turn)][-1]


def state(
    turn: int = 0,
    history: tuple[tuple[Played, ...], ...] = ((),),
    public: tuple[str, ...] = (),
    mine: int = 0,
) -> State:
    names = ("me", "you") if mine == 0 else ("you", "me")
    return State(
        mine,
        turn,
        ("fold", "call", "raise"),
        (200, 20000),
        ("As", "Kh"),
        public,
        tuple(PlayerState(i, 19950 - 50 * i, 20000, name) for i, name in enumerate(names)),
        history,
    )


def result(mine: int = -100, yours: int = 100) -> Result:
    players = (PlayerResult(0, mine, 20000, 20000, "me"), PlayerResult(1, yours, 20000, 20000, "you"))
    return Result((("As", "Kh"), ()), (), ((),), players)


def test_a_client_asks_for_its_room() -> None:
    assert Booth().said() == [Connect("me", 2, 2)]
    assert Booth(games=0).said() == [Connect("me", 2, GAMES_MAX)]
    assert Booth(dialect=Dialect(room_id=9)).said() == [Connect("me", 2, 2, 9)]


def test_a_client_is_asked_only_when_it_is_its_turn() -> None:
    booth = Booth()
    booth.hear(state(turn=1), state(turn=-1))
    assert not any(isinstance(event, Turn) for event in booth.events)
    booth.hear(state(turn=0))
    view = booth.turn.view
    assert isinstance(view, View)
    assert booth.turn.seat == "me"
    assert (view.pot, view.to_call, len(view.opponents)) == (150, 50, 1)
    assert view.private_card == ("As", "Kh")


def test_a_clients_choice_is_sent_and_an_illegal_one_is_not() -> None:
    booth = Booth()
    booth.said()
    booth.hear(state())
    for choice, check in [
        ("check", "holdem/action.illegal"),
        ("r1", "holdem/action.range"),
        (7, "holdem/action.illegal"),
    ]:
        with pytest.raises(LocalProtocolError) as caught:
            booth.core.act(booth.turn, choice, EPOCH)
        assert caught.value.check == check
    assert booth.said() == []
    booth.core.act(booth.turn, "r300", EPOCH)
    assert booth.said() == [Action("r300")]
    booth.core.act(booth.turn, "r300", EPOCH)
    assert booth.said() == []


def test_a_turn_that_lapsed_may_be_answered_in_vain() -> None:
    booth = Booth()
    booth.said()
    booth.hear(state())
    late = booth.turn
    booth.hear(state(turn=1))
    booth.core.act(late, "call", EPOCH)
    booth.core.act(late, "nonsense", EPOCH)
    assert booth.said() == []


def test_a_client_is_ready_after_every_result_but_the_last() -> None:
    booth = Booth(games=2)
    booth.said()
    booth.hear(state(), result())
    assert booth.said() == [Ready()]
    booth.hear(state(), result(100, -100))
    assert booth.said() == ["close"]
    assert booth.core.done
    assert booth.core.timer() is None
    (finished,) = [event for event in booth.events if isinstance(event, Finished)]
    assert finished.result == {
        "games": [
            {"winner": "you", "scores": {"me": -100, "you": 100}},
            {"winner": "me", "scores": {"me": 100, "you": -100}},
        ]
    }
    booth.hear(Success("Complete playing"))
    booth.core.disconnected("server", EPOCH)
    assert booth.said() == []
    assert len([event for event in booth.events if isinstance(event, Finished)]) == 1


def test_a_result_sent_again_before_success_is_not_another_hand() -> None:
    booth = Booth(games=3)
    booth.hear(state(), result(), result(), Success("you left"))
    assert booth.core.done
    (finished,) = [event for event in booth.events if isinstance(event, Finished)]
    assert len(finished.result["games"]) == 1  # type: ignore[arg-type]


def test_the_same_result_of_another_hand_is_another_hand() -> None:
    booth = Booth(games=2)
    booth.hear(state(), result(), state(), result())
    assert booth.core.done


def test_a_result_that_does_not_add_up_is_complained_of_and_counted() -> None:
    booth = Booth(games=1)
    booth.hear(state(), result(-100, 200))
    assert booth.core.refusals == {"holdem/result.sum": 1}
    assert booth.core.done


@pytest.mark.parametrize(
    ("message", "check"),
    [
        (state(mine=1).encode().replace(b'"me"', b'"it"'), "holdem/state.position"),
        (result().encode().replace(b'"me"', b'"it"'), "holdem/result.form"),
        (result().encode().replace(b'"you"', b'"me"'), "holdem/result.form"),
        (Action("call").encode(), "holdem/order"),
        (b"[]", "holdem/frame.json"),
    ],
)
def test_a_client_refuses_nonsense_and_waits_on(message: bytes, check: str) -> None:
    booth = Booth()
    booth.said()
    booth.hear(frame(message))
    assert booth.core.refusals == {check: 1}
    assert booth.said() == []
    booth.hear(state())
    assert booth.turn


def test_a_client_gives_up_on_a_server_that_talks_only_nonsense() -> None:
    booth = Booth()
    booth.said()
    booth.hear(frame(b"[]") * (REFUSALS_MAX + 5))
    assert booth.core.done
    assert booth.said() == ["close"]
    assert booth.core.refusals == {"holdem/frame.json": REFUSALS_MAX + 1}


def test_a_client_gives_up_when_framing_is_lost() -> None:
    booth = Booth()
    booth.said()
    booth.hear(b"HTTP/1.1 400")
    assert booth.core.refusals == {"holdem/frame.len": 1}
    assert booth.core.done
    assert booth.said() == ["close"]


def test_a_client_gives_up_on_a_silent_server() -> None:
    booth = Booth()
    booth.said()
    at = booth.core.timer()
    assert at == EPOCH + SILENCE_S
    booth.core.handle_timer(at - 1)
    assert not booth.core.done
    booth.core.handle_timer(at)
    assert booth.core.done
    assert booth.said() == ["close"]
    booth.core.handle_timer(at + 1)
    assert games_of(booth.core) == []


def test_a_client_that_is_not_let_in_is_done() -> None:
    booth = Booth()
    booth.said()
    booth.hear(Error("somebody in this room is called me"))
    assert booth.core.done
    assert booth.said() == ["close"]


def test_an_error_during_the_match_does_not_end_it() -> None:
    booth = Booth()
    booth.hear(state(), Error("folded"), result(), Error("what?"))
    assert not booth.core.done


@pytest.mark.parametrize("hands", [0, 1])
def test_a_connection_that_is_closed_ends_the_match_for_a_client(hands: int) -> None:
    booth = Booth()
    booth.said()
    for _ in range(hands):
        booth.hear(state(), result())
    booth.said()
    booth.core.disconnected("server", EPOCH)
    assert booth.core.done
    assert booth.said() == []
    assert len(games_of(booth.core)) == hands


def test_a_client_tells_what_others_did() -> None:
    booth = Booth(games=1)
    call, check = Played(1, "call", ""), Played(0, "check", "")
    booth.hear(
        state(turn=1),
        state(turn=0, history=((call,),)),
        state(turn=1, history=((call, check), ()), public=("2c", "3d", "Th")),
        state(turn=1, history=((call, check), (Played(9, "fold", ""),)), public=("2c", "3d", "Th")),
        result(),
    )
    told = [(event.kind, event.text) for event in booth.events if isinstance(event, Happened)]
    assert told == [
        ("hand", "hand 1: me, you; you hold A♠ K♥"),
        ("action", "you: call"),
        ("action", "me: check"),
        ("street", "board 2♣ 3♦ 10♥"),
        ("action", "?: fold"),
        ("result", "hand 1, board empty: me -100, you +100"),
        ("match", "all 1 hands are played"),
    ]
    assert len([event for event in booth.events if isinstance(event, Received)]) == 5


def test_a_client_fed_byte_by_byte_says_the_same() -> None:
    whole, single = Booth(), Booth()
    stream = b"".join(frame(message.encode()) for message in (state(), result(), state(), result()))
    whole.hear(stream)
    single.hear(*[stream[i : i + 1] for i in range(len(stream))])
    assert whole.said() == single.said()
    assert whole.core.done
    assert single.core.done


@settings(deadline=None, max_examples=60)
@given(st.lists(JUNK, max_size=10))
def test_no_bytes_make_a_client_fail(pieces: list[bytes]) -> None:
    booth = Booth()
    booth.hear(state(), *pieces)
    assert set(booth.core.refusals) <= set(CHECKS)


def test_a_tied_hand_has_no_winner() -> None:
    assert outcome([("b", 50), ("a", 50), ("c", -100)]) == {
        "winner": None,
        "scores": {"a": 50, "b": 50, "c": -100},
    }
