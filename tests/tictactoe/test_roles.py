"""Server and client: whole games in memory, and each alone against a hostile other side."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.core import (
    Close,
    Core,
    Finished,
    Happened,
    LocalProtocolError,
    Open,
    Player,
    Refused,
    RemoteProtocolError,
    Send,
    Turn,
)
from nodes.game import Seat, Setup
from nodes.memory import network
from nodes.tictactoe.checks import CHECKS
from nodes.tictactoe.client import Client, judge
from nodes.tictactoe.dialect import Dialect
from nodes.tictactoe.game import GAME
from nodes.tictactoe.messages import Move, State
from nodes.tictactoe.roles import CLIENTS_MAX, LINGER_S, PIPELINE_MAX, REJECTED_MAX, THINK_S, View
from nodes.tictactoe.rules import EMPTY, free, outcome, play, to_move
from nodes.tictactoe.server import Server
from tests.tictactoe.test_rules import positions

if TYPE_CHECKING:
    from nodes.core import Event, Json

NOW = 1000.0
ALL = Dialect()
ORIGINAL = Dialect(plies="server")


def server(games: int = 1, players: int = 1, dialect: Dialect = ALL) -> Server:
    core = Server(Setup(Seat("server", "server", 0), dialect, Random(1), players, games))
    core.start(NOW)
    return core


def client(games: int = 1, dialect: Dialect = ALL) -> Client:
    core = Client(Setup(Seat("p1", "client", 0), dialect, Random(1), 1, games))
    core.start(NOW)
    assert core.data_to_send(NOW) == [Open("server")]
    return core


def greeted(games: int = 1, dialect: Dialect = ALL) -> tuple[Client, Turn]:
    """A client that has the first state and is asked for its first move."""
    core = client(games, dialect)
    core.connected("server", NOW)
    core.receive(State.of(EMPTY, dialect).encode(), "server", NOW)
    return core, turn_of(core)


def moved(choice: str = "5", games: int = 1, dialect: Dialect = ALL) -> Client:
    """A client that waits for the answer to its first move."""
    core, turn = greeted(games, dialect)
    core.act(turn, choice, NOW)
    assert core.data_to_send(NOW) == [Send("server", Move(choice).encode())]
    return core


def events(core: Core) -> list[Event]:
    return list(iter(core.next_event, None))


def answer(core: Core) -> None:
    """Hear all; take the first legal choice at every turn."""
    while event := core.next_event():
        if isinstance(event, Turn):
            core.act(event, event.view.legal[0], NOW)
        if isinstance(event, Refused):
            assert event.check in CHECKS


def turn_of(core: Core) -> Turn:
    [turn] = [event for event in events(core) if isinstance(event, Turn)]
    return turn


def sent(core: Core, peer: str = "a") -> list[bytes]:
    """What goes to this peer; b"" stands for the end of the connection."""
    return [
        output.data if isinstance(output, Send) else b""
        for output in core.data_to_send(NOW)
        if output.peer == peer
    ]


def say(core: Core, text: str, peer: str = "a") -> None:
    core.receive(text.encode("latin-1"), peer, NOW)


def move(core: Core, choice: str, peer: str = "a") -> None:
    core.receive(Move(choice).encode(), peer, NOW)


def result(core: Core) -> list[Json]:
    [finished] = [event for event in events(core) if isinstance(event, Finished)]
    games = finished.result["games"]
    assert isinstance(games, list)
    return games


class Plays(Player):
    """A player that plays these choices."""

    def __init__(self, *choices: str) -> None:
        self._choices = list(choices)

    def choose(self, view: View) -> str:  # noqa: ARG002
        return self._choices.pop(0)


# Whole games


def whole(seed: int, **options: Any) -> tuple[dict[str, list[dict[str, Any]]], list[tuple[str, str, bytes]]]:
    net = network(GAME, seed, **options)
    results: dict[str, Any] = net.run()
    assert not any(core.refusals for core in net.cores.values())
    return {name: value["games"] for name, value in results.items()}, net.sent


@pytest.mark.parametrize("dialect", [ALL, ORIGINAL])
@pytest.mark.parametrize("bots", [{"server": s, "client": c} for s in GAME.bots for c in GAME.bots])
def test_a_game_ends_and_both_sides_agree_how(bots: dict[str, str], dialect: Dialect) -> None:
    for seed in range(20):
        games, _ = whole(seed, games=3, bots=bots, dialect=dialect)
        assert len(games["server"]) == len(games["p1"]) == 3
        for ours, theirs in zip(games["server"], games["p1"], strict=True):
            assert ours["mark"] == theirs["mark"]
            assert ours["end"] == theirs["end"]
            assert ours["scores"]["server"] == theirs["scores"]["server"]
            assert ours["scores"]["client"] == theirs["scores"]["p1"]
            assert {"server": "server", "client": "p1", None: None}[ours["winner"]] == theirs["winner"]


def test_two_perfect_players_tie() -> None:
    for seed in range(20):
        games, _ = whole(seed, bots={"client": "perfect"})
        assert games["p1"] == [{"winner": None, "mark": None, "scores": {"server": 0, "p1": 0}, "end": "tie"}]


def test_the_same_seed_sends_the_same_bytes() -> None:
    assert whole(7, players=5, games=4) == whole(7, players=5, games=4)
    assert whole(7)[1] != whole(8)[1]


def test_many_clients_play_at_once_each_its_own_game() -> None:
    games, _ = whole(3, players=64, games=2, bots={"server": "random"})
    assert len(games["server"]) == 128
    theirs = [game["mark"] for name in games if name != "server" for game in games[name]]
    marks = [game["mark"] for game in games["server"]]
    assert sorted(map(str, marks)) == sorted(map(str, theirs))
    assert len(set(marks)) == 3


@pytest.mark.parametrize(
    ("players", "winner", "wire"),
    [
        ({"p1": Plays("d")}, "server", [b"1 0         ", b"   d        ", b"1X0         "]),
        ({"p1": Plays("5"), "server": Plays("d")}, "p1", [b"1 0         ", b"   5        ", b"dO1    O    "]),
    ],
)
def test_either_side_may_give_up(players: dict[str, Player], winner: str, wire: list[bytes]) -> None:
    net = network(GAME, 1)
    net.players |= players
    results: dict[str, Any] = net.run()
    assert [data for _, _, data in net.sent] == wire
    assert results["p1"]["games"][0]["winner"] == winner
    assert results["p1"]["games"][0]["end"] == results["server"]["games"][0]["end"] == "resigned"
    assert results["p1"]["games"][0]["mark"] == results["server"]["games"][0]["mark"]


def test_what_happens_is_told_in_plain_lines() -> None:
    net = network(GAME, 1)
    net.players |= {"p1": Plays("1", "2", "4", "9"), "server": Plays("3", "7", "5")}
    net.run()
    assert [event.text for event in net.events["p1"] if isinstance(event, Happened)] == [
        "p1 marks 1 and server marks 3",
        "p1 marks 2 and server marks 7",
        "p1 marks 4 and server marks 5",
        "game 1: X (server) wins",
    ]
    assert [event.text for event in net.events["server"] if isinstance(event, Happened)][:3] == [
        "client 1 sits down, from p1",
        "client 1 marks 1",
        "server marks 3, against client 1",
    ]


# The server


def test_the_server_sends_the_first_state_at_once() -> None:
    core = server()
    core.connected("a", NOW)
    assert sent(core) == [b"1 0         "]


def test_the_original_count_begins_at_one() -> None:
    core = server(dialect=ORIGINAL)
    core.connected("a", NOW)
    assert sent(core) == [b"1 1         "]


@pytest.mark.parametrize(
    ("data", "check"),
    [
        ("   0        ", "tictactoe/move.3"),
        ("   5        ", "tictactoe/move.3"),
        ("   1        ", "tictactoe/move.3"),
        ("   x        ", "tictactoe/move.3"),
        ("            ", "tictactoe/move.3"),
        ("2  2        ", "tictactoe/move.1"),
        ("   2      \r\n", "tictactoe/move.1"),
        ("\xff" * 12, "tictactoe/move.1"),
    ],
)
def test_a_wrong_move_is_rejected_with_0_and_the_same_board(data: str, check: str) -> None:
    core = server()
    core.connected("a", NOW)
    move(core, "5")
    core.act(turn_of(core), "1", NOW)
    sent(core)
    say(core, data)
    assert sent(core) == [b"0 2X   O    "]
    assert core.refusals == {check: 1}
    [refused] = [event for event in events(core) if isinstance(event, Refused)]
    assert refused.data == data.encode("latin-1")
    assert check in CHECKS
    move(core, "2")
    assert turn_of(core).view.board == "XO  O    "


def test_too_many_rejected_moves_in_a_row_close_the_connection() -> None:
    core = server()
    core.connected("a", NOW)
    for _ in range(REJECTED_MAX - 1):
        say(core, "garbage     ")
    move(core, "5")  # an accepted move starts the count again
    core.act(turn_of(core), "1", NOW)
    sent(core)
    say(core, "garbage     " * (REJECTED_MAX + 3))
    assert sent(core) == [b"0 2X   O    "] * REJECTED_MAX + [b""]
    assert core.refusals["tictactoe/limit.rejected"] == 1
    assert result(core)[0] == {
        "winner": None,
        "mark": None,
        "scores": {"server": 0, "client": 0},
        "end": "left",
    }


def test_messages_sent_ahead_are_taken_in_order() -> None:
    core = server()
    core.connected("a", NOW)
    sent(core)
    say(core, "   1           2           4        ")
    core.act(turn_of(core), "9", NOW)
    assert sent(core) == [b"1 2O       X"]
    core.act(turn_of(core), "3", NOW)
    assert sent(core) == [b"1 4OOX     X"]
    core.act(turn_of(core), "7", NOW)
    assert sent(core) == [b"1 6OOXO  X X"]


def test_messages_sent_after_the_last_move_are_lost() -> None:
    core = server()
    core.connected("a", NOW)
    say(core, "   1           d           4        ")
    core.act(turn_of(core), "9", NOW)
    assert sent(core) == [b"1 0         ", b"1 2O       X", b"1X2O       X", b""]
    assert not core.refusals


@pytest.mark.parametrize(("ahead", "closed"), [(PIPELINE_MAX, False), (PIPELINE_MAX + 1, True)])
def test_only_so_many_messages_may_be_sent_ahead(ahead: int, closed: bool) -> None:
    core = server()
    core.connected("a", NOW)
    sent(core)
    say(core, "   1        " * (1 + ahead) + "   ")
    assert sent(core) == ([b""] if closed else [])
    assert core.refusals == ({"tictactoe/limit.pipeline": 1} if closed else {})


def test_a_final_state_sent_back_on_the_way_out_is_tolerated() -> None:
    core = server(games=0)
    core.connected("a", NOW)
    move(core, "d")
    assert sent(core) == [b"1 0         ", b"1X0         ", b""]
    say(core, "1X0         ")
    core.disconnected("a", NOW)
    assert sent(core) == []
    assert not core.refusals


def test_an_answer_to_a_turn_whose_client_is_gone_is_ignored() -> None:
    core = server(games=2)
    core.connected("a", NOW)
    move(core, "5")
    lapsed = turn_of(core)
    core.disconnected("a", NOW)
    core.act(lapsed, "1", NOW)
    core.connected("a", NOW)  # the same address again: still not that turn
    move(core, "5")
    core.act(lapsed, "1", NOW)
    assert sent(core) == [b"1 0         ", b"1 0         "]
    core.act(turn_of(core), "2", NOW)
    assert sent(core) == [b"1 2 X  O    "]


@pytest.mark.parametrize("choice", ["5", "0", "", "x", 1, None])
def test_an_illegal_choice_of_our_own_is_not_sent_and_may_be_made_again(choice: object) -> None:
    core = server()
    core.connected("a", NOW)
    move(core, "5")
    turn = turn_of(core)
    sent(core)
    with pytest.raises(LocalProtocolError) as caught:
        core.act(turn, choice, NOW)
    assert caught.value.check == "tictactoe/move.3"
    assert sent(core) == []
    core.act(turn, "1", NOW)
    assert sent(core) == [b"1 2X   O    "]


def test_a_silent_client_is_closed_and_the_others_play_on() -> None:
    core = server(games=0)
    assert core.timer() is None
    core.connected("a", NOW)
    core.connected("b", NOW + 1)
    assert core.timer() == NOW + THINK_S
    core.receive(b"   ", "a", NOW + 200)  # a dribble is no move
    core.handle_timer(NOW + THINK_S)
    assert core.refusals == {"tictactoe/limit.time": 1}
    assert core.timer() == NOW + 1 + THINK_S
    assert sent(core, "a") == [b"1 0         ", b""]
    move(core, "5", "b")
    assert core.timer() is None  # now the server's own player thinks
    core.act(turn_of(core), "1", NOW + 900)
    assert core.timer() == NOW + 900 + THINK_S


def test_rejected_moves_do_not_buy_time() -> None:
    core = server()
    core.connected("a", NOW)
    core.receive(b"garbage     ", "a", NOW + 200)
    assert core.timer() == NOW + THINK_S


def test_a_client_that_vanishes_in_a_game_ends_it() -> None:
    core = server()
    core.connected("a", NOW)
    move(core, "5")
    core.receive(b"   ", "a", NOW)
    core.disconnected("a", NOW)
    assert core.refusals == {"tictactoe/start.2": 1}
    assert core.done
    assert [game for game in result(core) if isinstance(game, dict) and game["end"] == "left"]


def test_a_connection_that_never_moves_is_no_game() -> None:
    core = server()
    core.connected("a", NOW)
    core.disconnected("a", NOW)
    assert not core.done
    core.connected("b", NOW)
    move(core, "d", "b")
    assert core.done
    assert len(result(core)) == 1


def test_more_clients_than_the_limit_are_closed() -> None:
    core = server(games=0)
    for i in range(CLIENTS_MAX):
        core.connected(str(i), NOW)
    core.connected("a", NOW)
    assert sent(core) == [b""]
    assert core.refusals == {"tictactoe/limit.clients": 1}
    core.disconnected("7", NOW)
    core.connected("a", NOW)
    assert sent(core) == [b"1 0         "]


def test_when_all_games_are_over_the_server_closes_what_is_open() -> None:
    core = server(players=2)
    for peer in "abc":
        core.connected(peer, NOW)
    move(core, "5", "b")
    for peer in "ac":
        move(core, "d", peer)
    assert core.done
    assert core.timer() is None
    assert sent(core, "b") == [b"1 0         ", b""]
    core.connected("d", NOW)
    assert sent(core, "d") == [b""]


def test_of_two_late_clients_the_first_may_end_it_all() -> None:
    core = server()
    for peer in "ab":
        core.connected(peer, NOW)
        move(core, "5", peer)
        core.act(turn_of(core), "1", NOW)
    core.handle_timer(NOW + THINK_S)
    assert core.done
    assert core.refusals == {"tictactoe/limit.time": 1}


def test_a_server_without_an_end_gathers_no_results() -> None:
    core = server(games=0)
    for i in range(100):
        core.connected(str(i), NOW)
        move(core, "d", str(i))
    assert not core.done
    assert core._results == []


def test_with_several_clients_the_result_does_not_depend_on_who_ended_first() -> None:
    orders = []
    for order in ("ab", "ba"):
        core = server(players=2)
        for peer in order:
            core.connected(peer, NOW)
        move(core, "5", "b")
        turn = turn_of(core)
        for peer in order:
            if peer == "a":
                move(core, "d", "a")
            else:
                core.act(turn, "d", NOW)
        orders.append(result(core))
    assert orders[0] == orders[1]


hostile = st.one_of(
    st.binary(max_size=40),
    st.sampled_from("123456789d").map(lambda choice: Move(choice).encode()),
    st.none(),  # the connection ends
)


@given(st.lists(st.tuples(st.sampled_from("ab"), hostile), max_size=40))
@settings(deadline=None)
def test_nothing_a_client_does_disturbs_another_game(script: list[tuple[str, bytes | None]]) -> None:
    core = server(games=0)
    core.connected("good", NOW)
    assert sent(core, "good") == [b"1 0         "]
    here: set[str] = set()
    for peer, data in script:
        if peer not in here:
            core.connected(peer, NOW)
            here.add(peer)
        if data is None:
            core.disconnected(peer, NOW)
            here.remove(peer)
        else:
            core.receive(data, peer, NOW)
        answer(core)
        outputs = core.data_to_send(NOW)
        assert not any(output.peer == "good" for output in outputs)
        here -= {output.peer for output in outputs if isinstance(output, Close)}
    move(core, "5", "good")
    core.act(turn_of(core), "1", NOW)
    assert sent(core, "good") == [b"1 2X   O    "]


# The client


def test_every_answer_of_our_server_is_right_to_our_client() -> None:
    for dialect in (ALL, ORIGINAL):
        for board in positions():
            if outcome(board) or to_move(board) == "X":
                continue
            for cell in free(board):
                mine = play(board, cell)
                boards = [mine] if outcome(mine) else [play(mine, reply) for reply in free(mine)]
                for after in boards:
                    now, end = judge(State.of(after, dialect), board, cell, dialect)
                    assert now == after
                    assert (end is None) == (outcome(after) is None)


FULL_BUT_ONE = "OXOXXOO X"  # O takes 8 and it is a tie


@pytest.mark.parametrize(
    ("board", "choice", "answer", "check"),
    [
        (EMPTY, "5", "1 0         ", "tictactoe/state.3"),  # our mark is missing
        (EMPTY, "5", "1 1    O    ", "tictactoe/state.3"),  # its own is
        (EMPTY, "5", "1 2    X   O", "tictactoe/state.3"),  # the marks changed places
        (EMPTY, "5", "1 3X X O    ", "tictactoe/state.3"),  # it moved twice
        (EMPTY, "5", "1 2X  O     ", "tictactoe/state.3"),  # it moved our mark
        ("X   O    ", "2", "1 4XO  X   O", "tictactoe/state.3"),  # it took over an old mark
        (EMPTY, "5", "1X2X   O    ", "tictactoe/state.1"),  # nobody has a line
        (EMPTY, "5", "1E2X   O    ", "tictactoe/state.1"),
        ("OX OX    ", "9", "1 6OX OX  XO", "tictactoe/state.1"),  # X has
        ("OX OX    ", "9", "1O6OX OX  XO", "tictactoe/state.1"),
        ("OO XX    ", "3", "1 5OOOXX    ", "tictactoe/state.1"),  # O has
        ("OO XX    ", "3", "1X6OOOXXX   ", "tictactoe/state.3"),  # and X moved after it
        ("OO XX    ", "3", "dO5OOOXX    ", "tictactoe/state.0"),  # gave up a game that was over
        (EMPTY, "5", "1 3X   O    ", "tictactoe/state.2"),
        (EMPTY, "5", "1 0X   O    ", "tictactoe/state.2"),
        (EMPTY, "5", "0 2X   O    ", "tictactoe/state.0"),  # rejected, yet played
        (EMPTY, "5", "0 1         ", "tictactoe/state.0"),
        (EMPTY, "5", "0X0         ", "tictactoe/state.0"),
        (EMPTY, "5", "dX1    O    ", "tictactoe/state.1"),  # gave up and won
        (EMPTY, "5", "dO2X   O    ", "tictactoe/state.3"),
        (EMPTY, "d", "1 0         ", "tictactoe/state.1"),  # we gave up
        (EMPTY, "d", "dX0         ", "tictactoe/state.0"),
        (EMPTY, "d", "1X1X        ", "tictactoe/state.3"),
        (FULL_BUT_ONE, "8", "1 9OXOXXOOOX", "tictactoe/state.1"),  # a tie not told
    ],
)
def test_a_server_that_lies_is_found_out(board: str, choice: str, answer: str, check: str) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        judge(State.decode(answer.encode()), board, choice, ALL)
    assert caught.value.check == check


@pytest.mark.parametrize(
    ("board", "choice", "answer", "after", "end"),
    [
        (EMPTY, "5", "1 2    O    ", None, None),
        (EMPTY, "5", "1 2X   O    ", "X   O    ", None),
        (EMPTY, "5", "1 1         ", EMPTY, None),  # rejected, the original's way
        (EMPTY, "5", "0 1         ", EMPTY, None),  # rejected, the text's way
        (FULL_BUT_ONE, "8", "1 5OXOXXOOOX", "OXOXXOOOX", "tie"),
        (FULL_BUT_ONE, "8", "1E5OXOXXOOOX", "OXOXXOOOX", "tie"),
        ("OO XX    ", "3", "1O3OOOXX    ", "OOOXX    ", "line"),
        ("OX OX    ", "9", "1X4OX OX  XO", "OX OX  XO", "line"),
        ("OO XX    ", "9", "d 3OO XX   O", "OO XX   O", "resigned"),  # does not name the winner
        ("OO XX    ", "9", "dO3OO XX   O", "OO XX   O", "resigned"),
    ],
)
def test_the_ways_of_the_original_program_are_understood(
    board: str, choice: str, answer: str, after: str | None, end: str | None
) -> None:
    state = State.decode(answer.encode())
    if after is None:
        with pytest.raises(RemoteProtocolError):
            judge(state, board, choice, ORIGINAL)
        return
    now, how = judge(state, board, choice, ORIGINAL)
    assert now == after
    assert (how and how.how) == end


@pytest.mark.parametrize(
    ("dialect", "first"),
    [
        (ALL, "1 1         "),
        (ALL, "0 0         "),
        (ALL, "1 1O        "),
        (ALL, "1E0         "),
        (ORIGINAL, "1 0         "),
    ],
)
def test_the_first_state_is_the_empty_board(dialect: Dialect, first: str) -> None:
    core = client(dialect=dialect)
    core.connected("server", NOW)
    say(core, first, "server")
    assert core.refusals == {"tictactoe/start.1": 1}
    assert core.done
    assert sent(core, "server") == [b""]
    assert result(core) == []  # it had not moved: no game


def test_a_lie_ends_the_game_and_the_client_with_a_clear_word() -> None:
    core = moved("5", games=3)
    say(core, "1X2X   O    1 2X   O    ", "server")
    assert core.refusals == {"tictactoe/state.1": 1}
    assert sent(core, "server") == [b""]
    heard = events(core)
    assert [event.text for event in heard if isinstance(event, Happened)] == [
        "p1 leaves the server: the server says winner 'X', by the rules it is ' '",
        "game 1: not finished, nobody wins",
    ]
    assert core.done
    core.disconnected("server", NOW)
    assert sent(core, "server") == []


def test_bytes_that_are_no_state_end_the_game() -> None:
    core = moved()
    say(core, "HTTP/1.1 400", "server")
    assert core.refusals == {"tictactoe/state.0": 1}
    assert core.done


def test_a_state_out_of_turn_is_refused_and_the_turn_lapses() -> None:
    core, turn = greeted()
    say(core, "1 0         ", "server")
    assert core.refusals == {"tictactoe/start.3": 1}
    assert sent(core, "server") == [b""]
    core.act(turn, "5", NOW)
    assert sent(core, "server") == []


def test_a_state_may_come_byte_by_byte() -> None:
    core = moved()
    for byte in "1 2X   O    ":
        say(core, byte, "server")
    assert turn_of(core).view == View("X   O    ", "O", "server", "server", 0)


def test_a_rejected_move_is_asked_for_again_but_not_for_ever() -> None:
    core = moved()
    for _ in range(REJECTED_MAX - 1):
        say(core, "0 0         ", "server")
        core.act(turn_of(core), "5", NOW)
    say(core, "0 0         ", "server")
    assert core.refusals == {"tictactoe/move.3": 1}
    assert core.done


def test_only_rejections_in_a_row_of_one_game_count() -> None:
    def rejected(core: Client, state: str) -> None:
        for _ in range(REJECTED_MAX - 1):
            say(core, state, "server")
            core.act(turn_of(core), "5" if state == "0 0         " else "2", NOW)

    core = moved("5", games=2)
    rejected(core, "0 0         ")
    say(core, "1 2X   O    ", "server")
    core.act(turn_of(core), "2", NOW)
    rejected(core, "0 2X   O    ")
    core.disconnected("server", NOW)
    core.connected("server", NOW)
    say(core, "1 0         ", "server")
    core.act(turn_of(core), "5", NOW)
    rejected(core, "0 0         ")
    assert not core.refusals


def test_an_illegal_choice_of_the_client_is_not_sent() -> None:
    core, turn = greeted()
    with pytest.raises(LocalProtocolError):
        core.act(turn, "D", NOW)
    assert sent(core, "server") == []
    core.act(turn, "d", NOW)
    assert sent(core, "server") == [b"   d        "]


def test_a_server_that_cannot_be_reached_or_is_full_ends_the_client() -> None:
    for connects in (False, True):
        core = client(games=5)
        if connects:
            core.connected("server", NOW)
        core.disconnected("server", NOW)
        assert core.done
        assert core.timer() is None
        assert result(core) == []


def test_a_server_that_vanishes_in_a_game_ends_that_game_and_the_next_is_tried() -> None:
    core = moved("5", games=2)
    say(core, "1 2X", "server")
    core.disconnected("server", NOW)
    assert core.refusals == {"tictactoe/start.2": 1}
    assert core.data_to_send(NOW) == [Open("server")]
    core.disconnected("server", NOW)
    [game] = result(core)
    assert game == {"winner": None, "mark": None, "scores": {"server": 0, "p1": 0}, "end": "left"}


def test_a_resignation_that_is_not_answered_is_one_all_the_same() -> None:
    core = moved("d", dialect=ORIGINAL)
    core.disconnected("server", NOW)
    [game] = result(core)
    assert game == {"winner": "server", "mark": "X", "scores": {"server": 1, "p1": 0}, "end": "resigned"}


def test_a_silent_server_is_left() -> None:
    core = client()
    assert core.timer() is None
    core.handle_timer(NOW + 9999)  # dialling is the shell's affair
    core.connected("server", NOW)
    assert core.timer() == NOW + THINK_S
    core.handle_timer(NOW + 1)
    assert not core.done
    core.handle_timer(NOW + THINK_S)
    assert core.refusals == {"tictactoe/limit.time": 1}
    assert sent(core, "server") == [b""]
    assert core.done


def test_nobody_hurries_the_clients_own_player() -> None:
    core, _ = greeted()
    assert core.timer() is None


def test_a_server_that_does_not_close_after_the_end_is_left() -> None:
    core = moved("d", games=0)
    say(core, "1X0         and more bytes, of no interest", "server")
    assert core.timer() == NOW + LINGER_S
    say(core, "1X0         ", "server")
    core.handle_timer(NOW + LINGER_S)
    assert core.data_to_send(NOW) == [Close("server"), Open("server")]
    assert not core.refusals
    core.connected("server", NOW)
    say(core, "1 0         ", "server")
    assert turn_of(core).view.game == 1
    assert core._results == []


states = st.sampled_from(["1 0         ", "1 1         ", "1 2OX       ", "0 0         ", "1 2X        "])


@given(
    st.lists(st.one_of(st.binary(max_size=40), states.map(str.encode)), max_size=12),
    st.sampled_from([ALL, ORIGINAL]),
)
@settings(deadline=None)
def test_nothing_a_server_sends_breaks_the_client(script: list[bytes], dialect: Dialect) -> None:
    core = client(games=2, dialect=dialect)
    core.connected("server", NOW)
    for data in script:
        core.receive(data, "server", NOW)
        answer(core)
        assert sum(core.refusals.values()) <= 1
    core.disconnected("server", NOW)
    core.disconnected("server", NOW)
    assert core.done
