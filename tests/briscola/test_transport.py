"""Stop-and-wait: repeats, counts, and a network that loses, doubles and delays."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from nodes.briscola.checks import CHECKS
from nodes.briscola.dialect import Dialect
from nodes.briscola.game import GAME
from nodes.briscola.messages import Ack, EndGame, EnemyCard, GiveCard, Init, Search, UseCard, Word
from nodes.briscola.rules import DECK
from nodes.briscola.transport import (
    COPY_LIFE_S,
    NO_GAME_MIN,
    RTO_MAX_S,
    RTO_MIN_S,
    RTO_START_S,
    TRIES_MAX,
    InLink,
    OutLink,
)
from nodes.core import Received, RemoteProtocolError, Sent
from nodes.game import Setup, bot_rng_for, rng_for
from nodes.memory import network
from tests.briscola.lossy import LossyNetwork

if TYPE_CHECKING:
    from nodes.briscola.dialect import AckStyle

A, B, C = (UseCard(card) for card in DECK[:3])


def polled(out: OutLink, now: float) -> tuple[Word, bool]:
    due = out.poll(now)
    assert due is not None
    return due


def test_one_word_is_under_way_at_a_time() -> None:
    out = OutLink("lenient")
    assert out.idle
    assert out.poll(0.0) is None
    out.push(A)
    out.push(B)
    assert not out.idle
    assert polled(out, 0.0) == (A, True)
    assert out.poll(0.1) is None
    assert out.acknowledged(Ack(1), 0.2)
    assert polled(out, 0.2) == (B, True)
    assert out.acknowledged(Ack(2), 0.3)
    assert out.idle
    assert out.timer is None


def test_an_unacknowledged_word_is_repeated_ever_more_slowly_and_then_given_up() -> None:
    out = OutLink("lenient")
    out.push(A)
    assert polled(out, 0.0) == (A, True)
    waits, last = [], 0.0
    while not out.gone:
        at = out.timer
        assert at is not None
        waits.append(at - last)
        last = at
        due = out.poll(at)
        assert due == (A, False) or out.gone
    assert waits[:3] == [RTO_START_S, 2.0, RTO_MAX_S]
    assert waits[3:] == [RTO_MAX_S] * (TRIES_MAX - 3)
    assert out.timer is None
    assert out.poll(1e9) is None


def test_an_ack_with_another_count_is_a_late_one() -> None:
    out = OutLink("lenient")
    for word in (A, B):
        out.push(word)
    out.poll(0.0)
    assert not out.acknowledged(Ack(2), 0.1)
    assert out.acknowledged(Ack(1), 0.1)
    assert not out.acknowledged(Ack(1), 0.1), "nothing is under way"
    out.poll(0.2)
    assert not out.acknowledged(Ack(1), 0.3), "the second ACK of word 1 is not for word 2"
    assert out.waiting


def test_the_count_has_seven_bits() -> None:
    out, inn = OutLink("counted"), InLink("counted", 0.0)
    for i in range(300):
        out.push(Ack(i))  # any 300 different words
        out.poll(0.0)
        ack = inn.accept(Ack(i))
        assert ack.count == (i + 1) & 0x7F
        assert out.acknowledged(ack, 0.0)


@pytest.mark.parametrize("style", ["lenient", "bare"])
def test_a_bare_ack_is_taken_from_one_who_does_not_count(style: AckStyle) -> None:
    out = OutLink(style)
    for word in (A, B, C):
        out.push(word)
        out.poll(0.0)
        assert out.acknowledged(Ack(0), 0.0)


def test_a_bare_ack_is_not_believed_from_one_who_counts() -> None:
    out = OutLink("lenient")
    out.push(A)
    out.poll(0.0)
    assert out.acknowledged(Ack(1), 0.0)
    out.push(B)
    out.poll(0.0)
    assert not out.acknowledged(Ack(0), 0.0)
    assert out.acknowledged(Ack(2), 0.0)


def test_a_bare_ack_is_refused_where_the_knob_says_so() -> None:
    out = OutLink("counted")
    out.push(A)
    out.poll(0.0)
    with pytest.raises(RemoteProtocolError) as caught:
        out.acknowledged(Ack(0), 0.0)
    assert caught.value.check == "briscola/ack.bare"
    assert caught.value.check in CHECKS
    assert caught.value.reply_hint is None
    assert out.waiting


def test_the_wait_follows_the_round_trip_within_its_limits() -> None:
    out = OutLink("lenient")

    def trip(start: float, rtt_s: float) -> float:
        out.push(A)
        out.poll(start)
        assert out.timer is not None
        waited = out.timer - start
        assert out.acknowledged(Ack(out.count & 0x7F), start + rtt_s)
        return waited

    assert trip(0.0, 0.0) == RTO_START_S
    assert trip(10.0, 0.001) == RTO_MIN_S
    assert trip(20.0, 0.9) == RTO_MIN_S
    assert RTO_MIN_S < trip(30.0, 0.9) < RTO_MAX_S
    for i in range(10):
        trip(100.0 + i * 10, 3.0)
    assert trip(300.0, 0.0) == RTO_MAX_S


def test_a_repeated_word_is_no_measure() -> None:
    out = OutLink("lenient")
    out.push(A)
    out.poll(0.0)
    out.poll(1.0)
    assert out.acknowledged(Ack(1), 2.9)
    out.push(B)
    out.poll(5.0)
    assert out.timer == 5.0 + RTO_START_S


def test_a_single_no_game_may_be_late_and_a_second_is_believed() -> None:
    out = OutLink("lenient")
    assert not out.disowned(), "nothing is under way"
    out.push(A)
    out.push(B)
    out.poll(0.0)
    assert not out.disowned()
    out.implied()
    out.poll(0.0)
    assert [out.disowned() for _ in range(NO_GAME_MIN)] == [False, True], "each word counts anew"


def test_a_repeat_is_acknowledged_again_with_its_own_count_and_a_new_word_is_not_a_repeat() -> None:
    inn = InLink("lenient", 0.0)
    assert inn.so_far() == Ack(0)
    assert inn.repeated(A) is None
    assert inn.accept(A) == Ack(1)
    assert inn.accept(B) == Ack(2)
    assert inn.repeated(A) == Ack(1)
    assert inn.repeated(B) == Ack(2)
    assert inn.so_far() == Ack(2)
    assert not inn.late(A, 0.0)


def test_a_new_session_counts_from_one_and_knows_the_copies_of_the_last() -> None:
    inn = InLink("lenient", 0.0, before=(old := InLink("lenient", 0.0)))
    assert not inn.late(A, 0.0)
    old.accept(A)
    inn = InLink("lenient", 5.0, before=old)
    assert inn.late(A, 5.0 + COPY_LIFE_S)
    assert not inn.late(A, 6.0 + COPY_LIFE_S), "no copy lives that long"
    assert inn.repeated(A) is None
    assert inn.accept(A) == Ack(1)


def test_a_bare_speaker_acknowledges_with_0000() -> None:
    inn = InLink("bare", 0.0)
    assert inn.accept(A) == inn.repeated(A) == inn.so_far() == Ack(0)


@pytest.mark.parametrize("seed", range(5))
def test_no_two_words_of_one_direction_are_equal_within_a_game(seed: int) -> None:
    """What the recognition of repeats rests on."""
    net = network(GAME, seed, bots={"client": "random"})
    net.run()
    for seat in ("p1", "p2"):
        said = [event.message for event in net.events[seat] if isinstance(event, Sent)]
        heard = [event.message for event in net.events[seat] if isinstance(event, Received)]
        assert len(set(said)) == len(said) == 1 + 20
        assert len(set(heard)) == len(heard) == 1 + 20 + 20 + 1
        assert [type(word) for word in heard[:4]] == [Init, GiveCard, GiveCard, GiveCard]
        assert isinstance(said[0], Search)
        assert sum(isinstance(word, EnemyCard) for word in heard) == 20
        assert isinstance(heard[-1], EndGame)


def test_nothing_is_repeated_on_a_healthy_network() -> None:
    net = network(GAME, 3, games=2)
    net.run()
    for seat, core in net.cores.items():
        assert core.refusals == {}
        sent = [event for event in net.events[seat] if isinstance(event, Sent)]
        words = [data for name, _, data in net.sent if name == seat and data[0] >> 5 != 0]
        assert len(words) == len(sent)


def lossy(seed: int, players: int, games: int, *, loss: float, double: float, delay_max_s: float,
          ack: AckStyle = "lenient") -> LossyNetwork:  # fmt: skip
    seats = GAME.seats(players)
    return LossyNetwork(
        {
            seat.name: GAME.core(Setup(seat, Dialect(ack), rng_for(seed, seat.name), players, games))
            for seat in seats
        },
        {seat.name: GAME.bots["random"](bot_rng_for(seed, seat.name)) for seat in seats[1:]},
        Random(seed),
        loss=loss,
        double=double,
        delay_s=(0.0, delay_max_s),
    )


@pytest.mark.parametrize("delay_max_s", [0.02, 0.4, 1.5])
@pytest.mark.parametrize("block", range(4))
def test_thirty_per_cent_loss_and_doubling_change_nothing_in_the_game(block: int, delay_max_s: float) -> None:
    for seed in range(block * 12, block * 12 + 12):
        net = lossy(seed, 2, 2, loss=0.3, double=0.3, delay_max_s=delay_max_s)
        results = net.run()
        assert net.lost > 50
        assert results == network(GAME, seed, games=2, bots={"client": "random"}).run()
        for seat, core in net.cores.items():
            # A client that is done has left; the ACK of its last END_G may be lost for ever.
            assert set(core.refusals) <= ({"briscola/link.silent"} if seat == "server" else set())


@pytest.mark.parametrize("seed", range(6))
def test_two_games_at_once_survive_loss_too(seed: int) -> None:
    results = lossy(seed, 4, 2, loss=0.3, double=0.3, delay_max_s=0.3, ack="counted").run()
    assert results == network(GAME, seed, players=4, games=2, bots={"client": "random"}).run()


@pytest.mark.parametrize("cut_after", [1, 2, 5, 9, 20, 60])
def test_a_client_that_falls_silent_at_any_point_loses_to_the_one_who_stayed(cut_after: int) -> None:
    net = lossy(9, 2, 1, loss=0.1, double=0.1, delay_max_s=0.05)
    core = net.cores["p1"]
    received = core.receive

    def count(data: bytes, peer: str, now: float) -> None:
        received(data, peer, now)
        count.seen += 1  # type: ignore[attr-defined]
        if count.seen == cut_after:  # type: ignore[attr-defined]
            net.cut.add("p1")

    count.seen = 0  # type: ignore[attr-defined]
    core.receive = count  # type: ignore[method-assign]
    results = net.run()
    assert results["server"] == results["p2"] == {"games": [{"winner": "p2", "scores": {}, "left": "p1"}]}
