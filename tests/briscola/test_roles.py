"""Both ends: whole games, pairing, and a hostile wire."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes import dialect
from nodes.briscola.checks import CHECKS
from nodes.briscola.client import SEARCH_AGAIN_S, SILENCE_MAX_S
from nodes.briscola.dialect import Dialect
from nodes.briscola.game import GAME
from nodes.briscola.messages import (
    NOBODY,
    Ack,
    Code,
    EndGame,
    EnemyCard,
    Error,
    GiveCard,
    Init,
    Search,
    UseCard,
    Word,
    decode,
    pack,
)
from nodes.briscola.roles import player_name
from nodes.briscola.rules import DECK, Card, View
from nodes.briscola.server import PAST_MAX, PEERS_MAX, THINK_MAX_S, WAITING_MAX_S
from nodes.briscola.transport import COPY_LIFE_S, TRIES_MAX
from nodes.core import Finished, Happened, LocalProtocolError, Received, Refused, Send, Sent, Turn
from nodes.memory import network
from tests.briscola.helpers import Bench, Peers, client, server, words

if TYPE_CHECKING:
    from nodes.briscola.dialect import AckStyle
    from nodes.core import Output

DENARI, SPADE, COPPE, BASTONI = range(4)
AGES_S = 10_000.0
LOST_S = 80.0  # TRIES_MAX repeats take 75 s


# Whole games in memory


@pytest.mark.parametrize("seed", range(20))
def test_a_game_ends_and_all_three_agree(seed: int) -> None:
    net = network(GAME, seed)
    results: dict[str, Any] = net.run()
    assert results["server"] == results["p1"] == results["p2"]
    (game,) = results["server"]["games"]
    scores, winner = game["scores"], game["winner"]
    assert sum(scores.values()) == 120
    best = max(scores.values())
    assert (best == 60) if winner is None else scores[winner] == best
    assert all(not core.refusals for core in net.cores.values())


def test_some_seed_ends_in_a_draw_and_both_hear_of_it() -> None:
    for seed in range(400):
        net = network(GAME, seed, bots={"client": "random"})
        results: dict[str, Any] = net.run()
        if results["server"]["games"][0]["winner"] is None:
            break
    ends = [data for name, _, data in net.sent if name == "server" and data[0] >> 5 == 4]
    assert ends == [EndGame(NOBODY).encode()] * 2
    assert net.results()["p1"] == net.results()["p2"] == net.results()["server"]


@pytest.mark.parametrize(("players", "games"), [(2, 1), (2, 3), (4, 2), (64, 1)])
def test_the_same_seed_gives_the_same_bytes(players: int, games: int) -> None:
    first, second, other = (network(GAME, seed, players=players, games=games) for seed in (5, 5, 6))
    results: list[dict[str, Any]] = [dict(net.run()) for net in (first, second, other)]
    assert first.sent == second.sent
    assert results[0] == results[1]
    assert first.sent != other.sent
    assert len(results[0]["server"]["games"]) == players // 2 * games
    assert all(len(results[0][f"p{i + 1}"]["games"]) == games for i in range(players))


def test_neighbours_by_id_play_each_other_whoever_came_first() -> None:
    net = network(GAME, 1, players=64)
    results: dict[str, Any] = net.run()
    pairs = [sorted(game["scores"]) for game in results["server"]["games"]]
    assert pairs == [sorted([f"p{i}", f"p{i + 1}"]) for i in range(1, 64, 2)]


@pytest.mark.parametrize("order", [(1, 2, 3, 4), (4, 3, 2, 1), (3, 1, 4, 2)])
def test_the_deal_does_not_depend_on_who_came_first(order: tuple[int, ...]) -> None:
    def dealt(order: tuple[int, ...]) -> list[Word]:
        peers = Peers(server(players=4))
        for player in order:
            peers.say(f"c{player}", Search(player))
        return [word for player in (1, 2, 3, 4) for word in peers.heard[f"c{player}"]]

    words = dealt(order)
    assert [word.player for word in words if isinstance(word, Init)] == [2, 1, 4, 3]
    assert words == dealt((2, 1, 3, 4))


@pytest.mark.parametrize("style", ["lenient", "counted", "bare"])
def test_each_way_of_acknowledging_plays_a_whole_game(style: AckStyle) -> None:
    net = network(GAME, 2, games=2, dialect=dialect.parse(Dialect, [f"ack={style}"]))
    results = net.run()
    assert results == network(GAME, 2, games=2).run()
    acks = {data for _, _, data in net.sent if data[0] >> 5 == 0}
    assert (acks == {b"\0\0"}) is (style == "bare")


def test_a_lenient_server_plays_with_a_client_that_does_not_count() -> None:
    net = network(GAME, 2)
    mixed = network(GAME, 2, dialect=Dialect("bare"))
    mixed.cores["server"] = network(GAME, 2).cores["server"]
    assert mixed.run() == net.run()


def test_a_counting_server_refuses_a_bare_ack() -> None:
    bench = server(dialect=Dialect("counted"))
    bench.tell(Search(1), "a")
    bench.tell(Search(2), "b")
    assert bench.tell(Ack(0), "a") == []
    assert bench.core.refusals == {"briscola/ack.bare": 1}


def test_every_event_of_a_game_is_one_readable_line() -> None:
    net = network(GAME, 1)
    net.run()
    for seat in ("server", "p1"):
        told = [event for event in net.events[seat] if isinstance(event, Happened)]
        assert all(event.text and "\n" not in event.text for event in told)
        kinds = [event.kind for event in told]
        assert kinds.count("play") == 40
        assert kinds.count("trick") == 20
        assert kinds[-1] == "game"
        assert "sit down; briscola is" in next(event.text for event in told if event.kind == "start")


def test_a_server_without_end_is_never_done_and_keeps_no_results() -> None:
    bench = server(games=0)
    peers = Peers(bench)
    for _ in range(3):
        play_out(peers)
    assert not bench.core.done
    assert bench.of(Finished) == []
    assert bench.core._games == {}  # type: ignore[attr-defined]
    assert sum(event.kind == "game" for event in bench.of(Happened)) == 3


def play_out(peers: Peers) -> None:
    """Two honest clients, a and b, play one game with the first card they may."""
    peers.heard = {}
    peers.say("a", Search(1))
    peers.say("b", Search(2))
    hands = {
        peer: [word.card for word in peers.heard[peer] if isinstance(word, GiveCard)] for peer in ("a", "b")
    }
    heard = {peer: len(peers.heard[peer]) for peer in ("a", "b")}
    while not any(isinstance(word, EndGame) for word in peers.heard["a"]):
        for peer in ("a", "b"):
            accepted = hands[peer] and any(
                isinstance(word, Ack) for word in peers.say(peer, UseCard(hands[peer][0]))
            )
            if accepted:
                hands[peer].pop(0)
        for peer in ("a", "b"):
            new = peers.heard[peer][heard[peer] :]
            hands[peer] += [word.card for word in new if isinstance(word, GiveCard)]
            heard[peer] = len(peers.heard[peer])


# The server's table of peers


def pair(games: int = 1) -> tuple[Bench, Peers, str, str]:
    """A game in its first trick: the bench, its peers, who leads and who follows."""
    bench = server(games=games)
    peers = Peers(bench)
    peers.say("a", Search(1))
    peers.say("b", Search(2))
    init = next(word for word in peers.heard["a"] if isinstance(word, Init))
    return (bench, peers, "a", "b") if init.first else (bench, peers, "b", "a")


def hand(peers: Peers, peer: str) -> list[Card]:
    return [word.card for word in peers.heard[peer] if isinstance(word, GiveCard)]


def test_search_is_acknowledged_and_its_repeat_too() -> None:
    bench = server()
    assert bench.tell(Search(5), "a") == [("a", Ack(1))]
    assert bench.tell(Search(5), "a") == [("a", Ack(1))]
    assert len(bench.of(Received)) == 1


def test_init_names_the_other_and_who_leads_then_three_cards_come() -> None:
    _, peers, leader, follower = pair()
    for peer, other, first in ((leader, follower, True), (follower, leader, False)):
        ack, init, *given = peers.heard[peer]
        assert ack == Ack(1)
        assert isinstance(init, Init)
        assert (init.first, player_name(init.player)) == (first, {"a": "p1", "b": "p2"}[other])
        assert len(given) == 3
        assert all(isinstance(word, GiveCard) for word in given)


def test_an_id_in_use_gets_err_3_and_a_stranger_is_not_remembered() -> None:
    bench = server()
    bench.tell(Search(1), "a")
    for _ in range(3):
        assert bench.tell(Search(1), "b") == [("b", Error(Code.ID_IN_USE))]
    assert bench.core.refusals == {"briscola/search.taken": 3}
    assert words(bench.tell(Search(7), "b"), "b")[0] == Ack(1)


def test_a_waiting_client_may_change_its_id_and_copies_of_the_old_one_do_nothing() -> None:
    bench = server(players=4)
    bench.tell(Search(1), "a")
    bench.tell(Search(2), "b")
    assert bench.tell(Search(3), "a") == [("a", Ack(1))]
    assert bench.tell(Search(1), "a") == []
    assert bench.tell(Search(2), "a") == [("a", Error(Code.ID_IN_USE))]
    assert bench.tell(Search(1), "c") == [("c", Ack(1))]


def test_a_full_table_gets_err_9() -> None:
    bench = server(players=64, games=0)
    for player in range(PEERS_MAX - 1):
        bench.tell(Search(player), f"c{player}")
    assert bench.tell(Search(3), "x") == [("x", Error(Code.ID_IN_USE))]
    bench.tell(Search(63), "c63")
    assert bench.tell(Search(3), "x") == [("x", Error(Code.SERVER_FULL))]


def test_no_search_is_taken_once_all_games_have_begun() -> None:
    bench, _, _, _ = pair()
    assert bench.tell(Search(9), "c") == [("c", Error(Code.SERVER_FULL))]


def test_a_third_client_waits_and_an_open_server_pairs_it_with_the_next() -> None:
    bench, peers, _, _ = pair(games=0)
    assert bench.tell(Search(3), "c") == [("c", Ack(1))]
    peers.say("d", Search(4))
    assert Init in [type(word) for word in peers.heard["d"]]


def test_more_clients_than_games_are_left_waiting_and_the_server_is_done_without_them() -> None:
    bench = server(players=4)
    peers = Peers(bench)
    for player in (3, 4):
        peers.say(f"c{player}", Search(player))
    peers.settle(bench.wait(WAITING_MAX_S))
    for player in (1, 2, 3, 4, 5, 6):  # 3 and 4 were gone when 1 and 2 were paired
        peers.say(f"c{player}", Search(player))
    paired = [peer for peer, heard in peers.heard.items() if any(isinstance(word, Init) for word in heard)]
    assert sorted(paired) == ["c1", "c2", "c3", "c4"], "two games were asked for"
    peers.settle(bench.wait(THINK_MAX_S))
    assert bench.core.done


def test_a_silent_waiting_client_is_forgotten_and_its_id_is_free() -> None:
    bench = server()
    bench.tell(Search(1), "a")
    bench.wait(WAITING_MAX_S - 1)
    bench.tell(Search(1), "a")
    bench.wait(WAITING_MAX_S - 1)
    assert bench.core.refusals == {}
    bench.wait(2)
    assert bench.core.refusals == {"briscola/link.silent": 1}
    assert bench.core.timer() is None
    assert bench.tell(Search(1), "b") == [("b", Ack(1))]


def test_when_one_of_four_is_gone_the_others_do_not_wait_for_it_for_ever() -> None:
    bench = server(players=4, games=0)
    peers = Peers(bench)
    for player in (1, 2, 3, 4):
        bench.tell(Search(player), f"c{player}")
    # nobody answers INIT: all four are gone, and two new ones are enough
    bench.wait(LOST_S * 2)
    assert bench.core.refusals["briscola/link.silent"] == 4
    peers.say("x", Search(8))
    peers.say("y", Search(9))
    assert any(isinstance(word, Init) for word in peers.heard["y"])


def test_an_id_that_was_gone_is_expected_again_once_somebody_has_it() -> None:
    bench = server(players=4, games=0)
    bench.tell(Search(5), "x")
    bench.wait(WAITING_MAX_S)
    bench.tell(Search(1), "a")
    bench.tell(Search(5), "a")
    bench.tell(Search(2), "b")
    assert bench.tell(Search(3), "c") == [("c", Ack(1))], "four are expected, three wait"
    assert len(bench.tell(Search(4), "d")) == 1 + 4


def test_the_memory_of_past_peers_is_bounded() -> None:
    bench = server(games=0, players=64)
    for i in range(PAST_MAX + 5):
        bench.tell(Search(i % 64), f"c{i}")
        bench.wait(WAITING_MAX_S)
    assert len(bench.core._past) == PAST_MAX  # type: ignore[attr-defined]
    assert bench.core._sessions == {}  # type: ignore[attr-defined]


# The server and a card


def test_a_card_goes_to_the_opponent_and_its_repeat_is_only_acknowledged() -> None:
    bench, peers, leader, follower = pair()
    card = hand(peers, leader)[0]
    assert bench.tell(UseCard(card), leader) == [(leader, Ack(2)), (follower, EnemyCard(card))]
    assert bench.tell(UseCard(card), leader) == [(leader, Ack(2))]


def test_a_card_out_of_turn_gets_err_4_and_may_be_played_later() -> None:
    bench, peers, leader, follower = pair()
    card = hand(peers, follower)[0]
    assert bench.tell(UseCard(card), follower) == [(follower, Error(Code.NOT_YOUR_TURN))]
    peers.say(leader, UseCard(hand(peers, leader)[0]))
    assert peers.say(follower, UseCard(card))[0] == Ack(2)
    assert bench.core.refusals == {"briscola/use.turn": 1}


def test_a_card_of_another_gets_err_5() -> None:
    bench, peers, leader, follower = pair()
    assert bench.tell(UseCard(hand(peers, follower)[0]), leader) == [(leader, Error(Code.NOT_YOUR_CARD))]
    assert bench.core.refusals == {"briscola/use.card": 1}


def test_no_such_card_gets_err_6() -> None:
    bench, _, leader, _ = pair()
    assert bench.tell(pack(6, 0b01_1100, 0), leader) == [(leader, Error(Code.NO_SUCH_CARD))]


def test_a_card_without_a_game_gets_err_7() -> None:
    bench = server()
    assert bench.tell(UseCard(DECK[0]), "a") == [("a", Error(Code.NO_GAME))]
    bench.tell(Search(1), "a")
    assert bench.tell(UseCard(DECK[0]), "a") == [("a", Error(Code.NO_GAME))]
    assert bench.core.refusals == {"briscola/game.none": 2}


@pytest.mark.parametrize("word", [Init(0, 1, True, 3), GiveCard(DECK[0]), EnemyCard(DECK[0]), EndGame(3)])
def test_the_servers_own_words_get_err_2(word: Word) -> None:
    bench = server()
    assert bench.tell(word, "a") == [("a", Error(Code.UNKNOWN_OP))]
    bench.tell(Search(1), "a")
    assert bench.tell(word, "a") == [("a", Error(Code.UNKNOWN_OP))]


@pytest.mark.parametrize("data", [b"", b"\xa0", b"\xa0\x05\x00", bytes(1500)])
def test_a_datagram_of_the_wrong_size_gets_err_1(data: bytes) -> None:
    bench = server()
    assert bench.tell(data, "a") == [("a", Error(Code.MALFORMED))]
    assert bench.of(Refused)[0].data == data[:64]


@pytest.mark.parametrize("word", [Ack(0), Ack(5), Error(1), Error(7), Error(99)])
def test_neither_ack_nor_err_of_a_stranger_is_answered(word: Word) -> None:
    bench = server()
    assert bench.tell(word, "a") == []
    assert bench.core.refusals == {}
    assert bench.events == []


def test_a_broken_ack_or_err_is_counted_and_not_answered() -> None:
    bench = server()
    assert bench.tell(pack(0, 5, 0), "a") == bench.tell(pack(7, 5, 0), "a") == []
    assert bench.core.refusals == {"briscola/card.unused": 2}


@pytest.mark.parametrize("word", [Search(3), UseCard(DECK[0]), Init(0, 1, True, 3)])
def test_one_datagram_of_a_stranger_draws_one_small_answer(word: Word) -> None:
    bench, _, _, _ = pair()
    assert len(bench.tell(word, "x")) == 1
    assert bench.wait(20.0) == [], "and it is not repeated"


# Peers that vanish


def test_the_one_who_stayed_wins_when_the_other_acknowledges_nothing() -> None:
    bench, peers, leader, follower = pair()
    card = hand(peers, leader)[0]
    peers.settle([said for said in bench.tell(UseCard(card), leader) if said[0] == leader])
    said = bench.wait(LOST_S)
    assert words(said, follower) == [EnemyCard(card)] * (TRIES_MAX - 1)
    winner = {"a": 1, "b": 2}[leader]
    assert words(said, leader)[:2] == [Error(Code.OPPONENT_LEFT), EndGame(winner)]
    bench.tell(Ack(5), leader)
    assert bench.core.done
    left = {"a": "p1", "b": "p2"}[follower]
    (finished,) = bench.of(Finished)
    assert finished.result == {"games": [{"winner": f"p{winner}", "scores": {}, "left": left}]}
    for data in (UseCard(card), Search(1), b"garbage"):
        assert bench.tell(data, follower) == [], "done: nothing more is said"
    assert bench.core.timer() is None


def test_one_who_thinks_too_long_loses_and_is_told_so() -> None:
    bench, _, leader, follower = pair()
    said = bench.wait(THINK_MAX_S)
    winner = {"a": 1, "b": 2}[follower]
    assert words(said, leader) == [EndGame(winner)]
    assert words(said, follower) == [Error(Code.OPPONENT_LEFT), EndGame(winner)]
    assert bench.core.refusals == {"briscola/use.slow": 1}


def test_an_end_that_nobody_acknowledges_is_given_up_and_the_server_is_done() -> None:
    bench, _, _, _ = pair()
    bench.wait(THINK_MAX_S)
    assert not bench.core.done
    bench.wait(LOST_S)
    assert bench.core.done


def test_a_search_before_the_end_is_acknowledged_waits_for_it() -> None:
    bench, _, leader, _ = pair(games=2)
    bench.wait(THINK_MAX_S)
    player = {"a": 1, "b": 2}[leader]
    assert bench.tell(Search(player), leader) == []
    assert bench.tell(UseCard(DECK[0]), leader) == [(leader, Error(Code.NO_GAME))]
    bench.tell(Ack(5), leader)
    assert bench.tell(Search(player), leader) == [(leader, Ack(1))]


def test_a_client_that_comes_back_as_if_nothing_had_been_is_paired_anew() -> None:
    bench, _, leader, follower = pair(games=2)
    me, other = {"a": (1, 2), "b": (2, 1)}[leader]
    assert bench.tell(Search(me), leader) == [(leader, Ack(1))], "it may be a copy that wandered"
    assert bench.tell(Search(40), leader) == [], "so may this one, of another id"
    bench.wait(COPY_LIFE_S + 1)
    said = bench.tell(Search(me), leader)
    assert words(said, leader) == [Ack(1)]
    assert words(said, follower) == [Error(Code.OPPONENT_LEFT), EndGame(other)]
    bench.tell(Ack(5), follower)
    said = bench.tell(Search(other), follower)
    assert [type(word) for word in words(said, leader)] == [Init]
    assert [type(word) for word in words(said, follower)] == [Ack, Init]


def test_a_search_repeated_before_init_is_acknowledged_is_a_repeat_however_late() -> None:
    bench = server(games=0)
    bench.tell(Search(1), "a")
    bench.tell(Search(2), "b")
    bench.wait(COPY_LIFE_S + 5)
    assert bench.tell(Search(1), "a") == [("a", Ack(1))]


def test_a_client_that_knows_of_no_game_is_believed_the_second_time() -> None:
    bench, peers, leader, follower = pair(games=0)
    bench.tell(UseCard(hand(peers, leader)[0]), leader)
    assert bench.tell(Error(Code.NO_GAME), follower) == [(follower, Ack(1))]
    said = bench.tell(Error(Code.NO_GAME), follower)
    assert words(said, leader) == [Error(Code.OPPONENT_LEFT), EndGame({"a": 1, "b": 2}[leader])]
    said = bench.tell(Error(Code.NO_GAME), leader)
    assert said == [(leader, Ack(2))]
    assert bench.core._sessions == {}, "END_G is not forced on one who knows of no game"  # type: ignore[attr-defined]


def test_other_errors_of_a_client_change_nothing() -> None:
    bench, peers, leader, _ = pair()
    for code in (1, 4, 7, 7, 7, 99):
        assert bench.tell(Error(code), leader) == [(leader, Ack(1))]
    assert peers.say(leader, UseCard(hand(peers, leader)[0]))[0] == Ack(2)


def test_late_copies_of_the_last_game_are_dropped_in_silence() -> None:
    bench = server(games=0)
    peers = Peers(bench)
    play_out(peers)
    used = [event.message for event in bench.of(Received) if isinstance(event.message, UseCard)]
    refused = sum(bench.core.refusals.values())
    mine = [event.message for event in bench.of(Received) if event.peer == "a" and event.message in used]
    assert len(mine) == 20
    for word in mine:
        assert isinstance(word, UseCard)
        assert bench.tell(word, "a") == [], "forgotten"
    bench.tell(Search(1), "a")
    for word in mine:
        assert isinstance(word, UseCard)
        assert bench.tell(word, "a") == [], "waiting"
    peers.say("b", Search(2))
    peers.settle(bench.wait(1.0))
    heard = peers.heard["a"]
    last = max(i for i, word in enumerate(heard) if isinstance(word, Init))
    now = {word.card for word in heard[last:] if isinstance(word, GiveCard)}
    for word in mine:
        assert isinstance(word, UseCard)
        if word.card not in now:
            assert bench.tell(word, "a") == [], "playing"
    assert sum(bench.core.refusals.values()) == refused


def test_a_copy_of_the_last_card_is_acknowledged_while_the_end_is_under_way() -> None:
    bench = server()
    peers = Peers(bench)
    peers.say("a", Search(1))
    peers.say("b", Search(2))
    bench.wait(THINK_MAX_S)
    assert bench.tell(UseCard(DECK[0]), "a") == [("a", Error(Code.NO_GAME))]
    bench, peers, leader, _ = pair()
    card = hand(peers, leader)[0]
    peers.say(leader, UseCard(card))
    bench.wait(THINK_MAX_S)
    assert bench.tell(UseCard(card), leader) == [(leader, Ack(2))]


def test_a_late_ack_changes_nothing() -> None:
    bench, _, leader, _ = pair()
    for count in (0, 1, 2, 3, 4, 5):
        assert bench.tell(Ack(count), leader) == []


# Hostile input


@settings(deadline=None, max_examples=150)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "b", "c"]),
            st.one_of(
                st.binary(max_size=4),
                st.sampled_from([Search(i).encode() for i in range(3)]),
                st.sampled_from(DECK).map(lambda card: UseCard(card).encode()),
                st.integers(0, 5).map(lambda count: Ack(count).encode()),
                st.just(Error(Code.NO_GAME).encode()),
            ),
            st.sampled_from([0.0, 0.1, 1.0, 40.0, 700.0]),
        ),
        max_size=60,
    )
)
def test_no_bytes_raise_out_of_the_server_and_each_datagram_draws_few(
    script: list[tuple[str, bytes, float]],
) -> None:
    bench = server(games=0)
    for peer, data, pause in script:
        said = bench.tell(data, peer)
        assert len(said) <= 7
        if len(data) == 2 and data[0] >> 5 in (0, 7):
            assert not any(word in (Error(1), Error(2), Error(7)) for word in words(said, peer))
        bench.wait(pause)
    assert set(bench.core.refusals) <= set(CHECKS)
    assert len(bench.core._sessions) <= 3  # type: ignore[attr-defined]


@settings(deadline=None, max_examples=150)
@given(
    st.integers(0, 50),
    st.lists(
        st.tuples(st.binary(min_size=2, max_size=2) | st.binary(max_size=4), st.sampled_from([0, 5, 1000])),
        max_size=40,
    ),
)
def test_no_bytes_raise_out_of_a_client(seed: int, script: list[tuple[bytes, float]]) -> None:
    bench = client(seed=seed, games=0)
    rng = Random(seed)
    for data, pause in script:
        bench.tell(data)
        for turn in bench.of(Turn):
            bench.core.act(turn, rng.choice(turn.view.legal), bench.now)
        bench.wait(pause)
    assert set(bench.core.refusals) <= set(CHECKS)


@pytest.mark.parametrize("seed", range(6))
def test_garbage_from_strangers_does_not_disturb_a_running_game(seed: int) -> None:
    quiet = network(GAME, seed)
    noisy = network(GAME, seed)
    rng = Random(seed)
    core = noisy.cores["server"]
    receive = core.receive

    def with_noise(data: bytes, peer: str, now: float) -> None:
        receive(data, peer, now)
        noise = rng.randbytes(rng.choice([0, 1, 2, 2, 2, 3, 40]))
        receive(noise, f"stranger{rng.randrange(100)}", now)
        core._outputs = [out for out in core._outputs if out.peer in noisy.cores]

    core.receive = with_noise  # type: ignore[method-assign]
    assert noisy.run()["server"] == quiet.run()["server"]
    assert sum(core.refusals.values()) > 50


# The client


def begin(*, first: bool = True, games: int = 1, trump: Card | None = None, player: int = 2) -> Bench:
    """A client that has its first three cards: A, 2 and 3 of spade; the briscola is 7 of coppe."""
    bench = client(games=games)
    card = trump or Card(COPPE, 7)
    bench.said()
    bench.tell(Ack(1))
    bench.tell(Init(card.suit, card.number, first, player))
    for number in (1, 2, 3):
        bench.tell(GiveCard(Card(SPADE, number)))
    return bench


def test_a_client_searches_with_the_id_of_its_seat() -> None:
    assert client(index=4).said() == [("server", Search(5))]
    assert client(index=63).said() == [("server", Search(0))]
    assert player_name(0) == "p64"


def test_search_is_repeated_until_acknowledged_and_then_said_again_now_and_then() -> None:
    bench = client()
    bench.said()
    assert words(bench.wait(3.5)) == [Search(1), Search(1)]
    bench.tell(Ack(1))
    assert bench.wait(SEARCH_AGAIN_S - 1) == []
    assert words(bench.wait(1.5)) == [Search(1)]


def test_init_stands_for_the_ack_of_search() -> None:
    bench = client()
    bench.said()
    assert words(bench.tell(Init(COPPE, 7, True, 2))) == [Ack(1)]
    assert bench.wait(60.0) == []


def test_a_client_asks_its_player_once_it_has_three_cards() -> None:
    bench = begin()
    view = bench.turn.view
    assert isinstance(view, View)
    assert bench.turn.seat == "p1"
    assert view.hand == (Card(SPADE, 1), Card(SPADE, 2), Card(SPADE, 3))
    bench.core.act(bench.turn, Card(SPADE, 2), bench.now)
    assert words(bench.said()) == [UseCard(Card(SPADE, 2))]


@pytest.mark.parametrize("choice", [Card(COPPE, 1), "asso", None, 3])
def test_an_illegal_choice_raises_and_may_be_made_again(choice: object) -> None:
    bench = begin()
    turn = bench.turn
    with pytest.raises(LocalProtocolError) as caught:
        bench.core.act(turn, choice, bench.now)
    assert caught.value.check == "briscola/use.card"
    assert bench.said() == []
    bench.core.act(turn, Card(SPADE, 2), bench.now)
    assert len(bench.said()) == 1
    bench.core.act(turn, Card(SPADE, 1), bench.now)
    assert bench.said() == [], "an answered turn is over"


def test_the_briscola_may_be_told_by_its_suit_only() -> None:
    bench = client()
    bench.said()
    bench.tell(Init(COPPE, 0, True, 2))
    assert "briscola is coppe" in bench.of(Happened)[-1].text
    for number in (1, 2, 3):
        bench.tell(GiveCard(Card(COPPE, number)))
    assert bench.turn.view.trump_card is None


def test_repeats_from_the_server_are_acknowledged_and_not_acted_on() -> None:
    bench = begin(first=False)
    for count, word in enumerate(
        [Init(COPPE, 7, False, 2), *(GiveCard(Card(SPADE, number)) for number in (1, 2, 3))], 1
    ):
        assert words(bench.tell(word)) == [Ack(count)]
    assert bench.of(Turn) == []
    assert words(bench.tell(EnemyCard(Card(DENARI, 4)))) == [Ack(5)]
    assert words(bench.tell(EnemyCard(Card(DENARI, 4)))) == [Ack(5)]
    assert len(bench.of(Turn)) == 1


@pytest.mark.parametrize(
    ("word", "check", "code"),
    [
        (Init(COPPE, 6, True, 2), "briscola/init.state", Code.NOT_YOUR_TURN),
        (GiveCard(Card(DENARI, 1)), "briscola/give.turn", Code.NOT_YOUR_TURN),
        (EnemyCard(Card(SPADE, 1)), "briscola/enemy.card", Code.NOT_YOUR_CARD),
        (EnemyCard(Card(COPPE, 7)), "briscola/enemy.card", Code.NOT_YOUR_CARD),
        (EndGame(3), "briscola/end.player", Code.MALFORMED),
        (Search(3), "briscola/op.direction", Code.UNKNOWN_OP),
        (UseCard(DECK[0]), "briscola/op.direction", Code.UNKNOWN_OP),
    ],
)
def test_what_the_server_may_not_say_is_refused_and_not_acknowledged(
    word: Word, check: str, code: Code
) -> None:
    bench = begin(first=False)
    assert words(bench.tell(word)) == [Error(code)]
    assert bench.core.refusals == {check: 1}
    assert words(bench.tell(EnemyCard(Card(DENARI, 4)))) == [Ack(5)], "the game goes on"


def test_a_card_before_its_time_or_already_known_is_refused() -> None:
    bench = begin()
    assert words(bench.tell(EnemyCard(Card(DENARI, 4)))) == [Error(Code.NOT_YOUR_TURN)]
    bench = client()
    bench.said()
    bench.tell(Init(COPPE, 7, True, 2))
    assert words(bench.tell(GiveCard(Card(COPPE, 7)))) == [Error(Code.NOT_YOUR_CARD)]
    assert bench.core.refusals == {"briscola/give.card": 1}


def test_init_against_oneself_is_refused() -> None:
    bench = client()
    bench.said()
    assert words(bench.tell(Init(COPPE, 7, True, 1))) == [Error(Code.MALFORMED)]
    assert bench.core.refusals == {"briscola/init.player": 1}


@pytest.mark.parametrize("word", [GiveCard(DECK[0]), EnemyCard(DECK[0]), EndGame(1)])
def test_a_client_in_no_game_says_so(word: Word) -> None:
    bench = client()
    bench.said()
    assert words(bench.tell(word)) == [Error(Code.NO_GAME)]


def test_an_id_in_use_makes_the_client_try_another_one() -> None:
    bench = client()
    bench.said()
    ack, search = words(bench.tell(Error(Code.ID_IN_USE)))
    assert ack == Ack(0)
    assert isinstance(search, Search)
    assert search.player != 1
    bench.tell(Ack(1))
    assert words(bench.tell(Error(Code.ID_IN_USE))) == [Ack(0)], "its id has been taken; this one is late"


def test_two_clients_of_one_id_do_not_walk_through_the_ids_together() -> None:
    tried = set()
    for seed in range(10):
        bench = client(seed=seed)
        bench.said()
        tried.add(words(bench.tell(Error(Code.ID_IN_USE)))[1])
    assert len(tried) > 5


def test_when_every_id_is_in_use_the_client_leaves() -> None:
    bench = client()
    tried = words(bench.said())
    while not bench.core.done:
        tried += [word for word in words(bench.tell(Error(Code.ID_IN_USE))) if isinstance(word, Search)]
    assert sorted(word.player for word in tried if isinstance(word, Search)) == list(range(64))
    assert bench.of(Finished)[0].result == {"games": []}


def test_a_full_server_is_asked_again_until_the_client_gives_up() -> None:
    bench = client()
    bench.said()
    assert words(bench.tell(Error(Code.SERVER_FULL))) == [Ack(0)]
    assert words(bench.wait(LOST_S)) == [Search(1)] * (TRIES_MAX - 1)
    assert bench.core.done
    assert bench.core.timer() is None
    bench.core.handle_timer(bench.now)
    assert bench.said() == []
    assert [event.kind for event in bench.of(Happened)] == ["error", "left"]


@pytest.mark.parametrize("code", [1, 2, 3, 4, 5, 6, 8, 9, 77])
def test_an_err_does_not_move_a_client_that_plays_by_the_rules(code: int) -> None:
    bench = begin()
    bench.core.act(bench.turn, Card(SPADE, 2), bench.now)
    bench.said()
    assert words(bench.tell(Error(code))) == [Ack(4)]
    assert words(bench.wait(1.0)) == [UseCard(Card(SPADE, 2))]


def test_a_client_whose_game_the_server_has_lost_searches_again() -> None:
    bench = begin()
    bench.core.act(bench.turn, Card(SPADE, 2), bench.now)
    bench.said()
    assert words(bench.tell(Error(Code.NO_GAME))) == [Ack(4)]
    assert words(bench.tell(Error(Code.NO_GAME))) == [Ack(4), Search(1)]


def test_no_game_is_not_believed_when_nothing_is_under_way() -> None:
    bench = begin()
    for _ in range(3):
        assert words(bench.tell(Error(Code.NO_GAME))) == [Ack(4)]
    bench.core.act(bench.turn, Card(SPADE, 2), bench.now)


def test_a_silent_server_is_given_up_but_a_thinking_player_is_not_its_fault() -> None:
    bench = begin()
    assert bench.core.timer() is None
    bench.wait(AGES_S)
    bench.core.act(bench.turn, Card(SPADE, 2), bench.now)
    bench.said()
    bench.tell(Ack(2))
    bench.wait(SILENCE_MAX_S - 1)
    assert not bench.core.done
    bench.wait(2)
    assert bench.core.done
    assert bench.core.refusals == {"briscola/link.silent": 1}


@pytest.mark.parametrize(
    ("end", "result"),
    [
        (EndGame(1), {"winner": "p1", "scores": {}, "left": "p2"}),
        (EndGame(2), {"winner": "p2", "scores": {}, "left": "p1"}),
        (EndGame(NOBODY), {"winner": None, "scores": {}, "left": "p1"}),
    ],
)
def test_a_game_that_breaks_off_has_a_winner_and_no_scores(end: Word, result: dict[str, object]) -> None:
    bench = begin()
    turn = bench.turn
    assert words(bench.tell(end)) == [Ack(5)]
    assert bench.of(Finished)[0].result == {"games": [result]}
    assert bench.core.done
    bench.core.act(turn, Card(SPADE, 1), bench.now)
    assert bench.said() == [], "the turn has lapsed"
    assert words(bench.tell(end)) == [Ack(5)], "the ACK may have been lost"
    assert words(bench.tell(GiveCard(DECK[5]))) == [Error(Code.NO_GAME)]
    assert bench.tell(Ack(1)) == bench.tell(Error(7)) == []


def test_after_a_game_the_client_searches_again_and_still_acknowledges_the_end() -> None:
    bench = begin(games=2)
    assert words(bench.tell(EndGame(1))) == [Ack(5), Search(1)]
    assert words(bench.tell(EndGame(1))) == [Ack(5)]
    bench.tell(Ack(1))
    assert words(bench.tell(Init(COPPE, 7, True, 2))) == [Ack(1)], "the next INIT may equal the last"


def test_an_early_end_like_the_last_one_is_taken_for_a_late_copy_while_one_may_live() -> None:
    bench = begin(games=2)
    bench.tell(EndGame(1))
    bench.tell(Init(COPPE, 6, True, 2))
    assert bench.tell(EndGame(1)) == []
    assert bench.tell(GiveCard(Card(SPADE, 1))) == [("server", Ack(2))]
    assert bench.tell(Init(COPPE, 7, True, 2)) == [], "the last game's INIT"
    bench.wait(COPY_LIFE_S + 1)
    assert bench.tell(EndGame(1)) == [("server", Ack(3))]
    assert bench.core.done
    assert bench.core.refusals == {}


def test_a_server_that_names_the_wrong_winner_is_noted_and_its_word_stands() -> None:
    net = network(GAME, 1)
    server_core = net.cores["server"]
    outputs = server_core.data_to_send

    def lie(now: float) -> list[Output]:
        lies: list[Output] = []
        for output in outputs(now):
            assert isinstance(output, Send)
            word = decode(output.data)
            other = EndGame(3 - word.player) if isinstance(word, EndGame) else word
            lies.append(Send(output.peer, other.encode()))
        return lies

    server_core.data_to_send = lie  # type: ignore[method-assign]
    results: dict[str, Any] = net.run()
    assert net.cores["p1"].refusals == net.cores["p2"].refusals == {"briscola/end.winner": 1}
    truth, told = (results[seat]["games"][0]["winner"] for seat in ("server", "p1"))
    assert truth != told


def test_a_client_keeps_the_words_in_order_when_an_ack_is_lost() -> None:
    """Two cards in a row without a word of the server in between: after the stock is gone."""
    bench = begin(first=False)
    bench.tell(EnemyCard(Card(SPADE, 4)))
    bench.core.act(bench.turn, Card(SPADE, 1), bench.now)
    assert words(bench.said()) == [UseCard(Card(SPADE, 1))]
    bench.tell(GiveCard(Card(DENARI, 2)))
    bench.core.act(bench.turn, Card(SPADE, 2), bench.now)
    assert bench.said() == [], "the first is not acknowledged yet"
    assert words(bench.wait(1.0)) == [UseCard(Card(SPADE, 1))]
    assert words(bench.tell(Ack(2))) == [UseCard(Card(SPADE, 2))]
    sent = [event.message for event in bench.of(Sent)]
    assert sent == [Search(1), UseCard(Card(SPADE, 1)), UseCard(Card(SPADE, 2))]
