"""Sections 6 to 8: one machine under test, and whole games of four."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.core import Finished, Happened, LocalProtocolError, Received, Refused, Turn
from nodes.dialect import parse
from nodes.game import NAMES, load
from nodes.hearts.checks import CHECKS
from nodes.hearts.dialect import Dialect
from nodes.hearts.messages import (
    DealHand,
    Frame,
    GameOver,
    GameStart,
    HandSummary,
    PassCards,
    PlayCard,
    StartPhase,
    TokenPass,
    TrickSummary,
    decode,
)
from nodes.hearts.roles import BOOT_REPEAT_S, Node
from nodes.hearts.rules import DECK, HOLD, Stage
from nodes.memory import Network, Stalled, network
from tests.hearts.helpers import SUITED, Bench, card, cards

if TYPE_CHECKING:
    from nodes.core import Event, Json

GAME = load("hearts")
KNOBS = {
    "hold": ("announce", "skip"),
    "after_fourth": ("to-dealer", "keep", "next"),
    "first_lead": ("dealer", "walk"),
    "ace": ("high", "low"),
}
DIALECTS = [
    parse(Dialect, [f"{knob}={value}" for knob, value in zip(KNOBS, values, strict=True)])
    for values in itertools.product(*KNOBS.values())
]


def names(frames: list[Frame]) -> list[str]:
    return [frame.NAME for frame in frames]


def application(net: Network) -> list[bytes]:
    """What each machine originated, without the hops in between."""
    return [data for source, _, data in net.sent if source == f"m{data[1]}"]


def refusals(net: Network) -> list[Event]:
    return [event for events in net.events.values() for event in events if isinstance(event, Refused)]


# Whole games


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda d: ",".join(dataclasses.astuple(d)))
def test_every_dialect_plays_a_whole_game_on_which_all_four_agree(dialect: Dialect) -> None:
    net = network(GAME, 11, dialect=dialect, bots={"node": "random"})
    results = net.run()
    assert set(results) == {"m0", "m1", "m2", "m3"}
    assert all(result == results["m0"] for result in results.values())
    games = results["m0"]["games"]
    assert isinstance(games, list)
    assert len(games) == 1
    for game in games:
        assert isinstance(game, dict)
        scores = game["scores"]
        assert isinstance(scores, dict)
        lowest = min(scores.values(), key=_number)
        assert game["winner"] == next(name for name in sorted(scores) if scores[name] == lowest)
        assert max(_number(score) for score in scores.values()) >= 100
    assert not refusals(net)
    assert not any(core.refusals for core in net.cores.values())


def _number(value: Json) -> int:
    assert isinstance(value, int)
    return value


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others() -> None:
    runs = []
    for seed in (7, 7, 8):
        net = network(GAME, seed)
        net.run()
        runs.append(net.sent)
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


def test_every_message_goes_around_once_and_seq_counts_on_over_games() -> None:
    net = network(GAME, 5, games=2)
    results = net.run()
    assert all(result == results["m0"] for result in results.values())
    assert len(cast("list[Json]", results["m0"]["games"])) == 2
    originated = application(net)
    hops: dict[bytes, int] = {}
    for origin in range(4):
        seqs = [data[3] for data in originated if data[1] == origin]
        assert seqs == [n % 256 for n in range(len(seqs))]
        assert len(seqs) > 256
    for _, _, data in net.sent:
        hops[data] = hops.get(data, 0) + 1
    assert all(count % 4 == 0 for count in hops.values())
    assert len(net.sent) == 4 * len(originated)
    assert [data[0] for data in originated].count(GameStart.TYPE) == 2


def test_at_any_time_one_machine_at_most_has_the_token_and_only_it_acts() -> None:
    """Seen from the wire: an action or a pass comes only from the one whom the last pass named."""
    for dialect in DIALECTS[::2]:  # the ace changes nothing here
        net = network(GAME, 3, dialect=dialect, bots={"node": "random"})
        net.run()
        holder, cards_down = 0, 0
        for frame in map(decode, application(net)):
            if isinstance(frame, PlayCard):
                cards_down += 1
            elif isinstance(frame, TrickSummary):
                cards_down = 0
                if dialect.after_fourth == "keep":
                    holder = 0  # M0 announces without having been given it
            assert frame.origin == holder
            if isinstance(frame, TokenPass):
                assert not (dialect.after_fourth == "keep" and cards_down == 4)
                holder = frame.owner


def test_a_message_is_sent_only_after_the_last_of_its_origin_returned() -> None:
    net = network(GAME, 3)
    net.run()
    on_the_ring: dict[int, bytes] = {}
    for source, target, data in net.sent:
        if source == f"m{data[1]}":
            assert data[1] not in on_the_ring
            on_the_ring[data[1]] = data
        if target == f"m{data[1]}":
            assert on_the_ring.pop(data[1]) == data


@pytest.mark.parametrize("lost", [0, 1, 5, 17, 100, 400])
def test_the_literal_class_stops_for_good_at_a_lost_datagram(lost: int) -> None:
    """But for the very first: GAME_START is repeated until the ring is whole."""
    net = network(GAME, 3)
    carry = net._carry
    count = 0

    def lossy(name: str, output: object) -> None:
        nonlocal count
        count += 1
        if count != lost + 1:
            carry(name, output)  # type: ignore[arg-type]

    net._carry = lossy  # type: ignore[method-assign]
    if lost <= 3:
        assert len(net.run()) == 4
    else:
        with pytest.raises(Stalled):
            net.run()


def test_every_datagram_delivered_twice_changes_nothing() -> None:
    """The copies of a repeat die with their origin; four hops deep there are sixteen of each."""
    plain = network(GAME, 3)
    results = plain.run()
    net = network(GAME, 3)
    deliver = net._deliver
    seen: dict[tuple[str, bytes], int] = {}

    def twice(name: str, peer: str, data: bytes | None) -> None:
        assert data is not None
        times = seen[name, data] = seen.get((name, data), 0) + 1
        deliver(name, peer, data)
        if times % 2:
            deliver(name, peer, data)

    net._deliver = twice  # type: ignore[method-assign]
    assert net.run() == results
    turns = [event for event in net.events["m2"] if isinstance(event, Turn)]
    assert len(turns) == len([event for event in plain.events["m2"] if isinstance(event, Turn)])


def test_an_endless_series_is_never_done_and_keeps_no_results() -> None:
    net = network(GAME, 1, games=0, bots={"node": "random"})
    told = 0

    class Enough(Exception):
        pass

    drain = net._drain

    def watch(name: str) -> None:
        nonlocal told
        drain(name)
        told += sum(isinstance(e, Happened) and e.kind == "game" for e in net.events["m0"])
        net.events["m0"].clear()
        if told == 2:
            raise Enough

    net._drain = watch  # type: ignore[method-assign]
    with pytest.raises(Enough):
        net.run()
    assert not any(isinstance(event, Finished) for event in net.events["m1"])
    assert not any(core.done for core in net.cores.values())


# The start


def test_m0_repeats_its_first_game_start_and_nothing_else() -> None:
    bench = Bench(0)
    [first] = bench.sends()
    assert first == GameStart().encode()
    assert bench.node.timer() == bench.now + BOOT_REPEAT_S
    bench.now += BOOT_REPEAT_S
    bench.node.handle_timer(bench.now)
    assert bench.sends() == [first]
    bench.give(first)
    [deal] = bench.sends()
    assert decode(deal).NAME == "DEAL_HAND"
    assert bench.node.timer() is None
    bench.give(first)  # the repeat comes round too
    assert bench.sends() == []
    assert not bench.refused()


@pytest.mark.parametrize("me", [1, 2, 3])
def test_the_others_wait(me: int) -> None:
    bench = Bench(me)
    assert bench.sends() == []
    assert bench.node.timer() is None


def test_m0_deals_52_cards_announces_the_direction_and_gives_itself_the_token() -> None:
    bench = Bench(0)
    said = bench.loop()
    assert names(said) == ["GAME_START", *["DEAL_HAND"] * 4, "START_PHASE", "TOKEN_PASS"]
    hands = [frame for frame in said if isinstance(frame, DealHand)]
    assert [frame.dest for frame in hands] == [0, 1, 2, 3]
    assert sorted(b"".join(frame.cards for frame in hands)) == list(DECK)
    assert said[-2:] == [StartPhase(0, 0, seq=5), TokenPass(0, seq=6)]
    view = bench.turn().view
    assert view.hand == tuple(hands[0].cards)


def test_the_self_addressed_token_takes_effect_once_on_return() -> None:
    bench = Bench(0)
    while decode(data := bench.sends()[0]).NAME != "TOKEN_PASS":
        bench.give(data)
    assert bench.turns() == 0
    bench.give(data)
    assert bench.turns() == 1
    bench.give(data)
    assert bench.turns() == 1


# A machine that is not M0


def test_a_machine_takes_only_the_cards_addressed_to_it() -> None:
    bench = Bench(2)
    bench.deal()
    assert [held is not None for held in bench.node.match.hand.holds] == [False, False, True, False]
    assert bench.received() == ["GAME_START", *["DEAL_HAND"] * 4]
    assert bench.kinds() == ["start", "deal"]


def test_with_the_token_it_passes_three_cards_and_then_the_token() -> None:
    bench = Bench(1)
    bench.deal()
    bench.hear(StartPhase(0, 0), 0)
    bench.hear(PassCards(SUITED[0][:3], dest=1), 0)
    assert bench.hear(TokenPass(1), 0) == []
    turn = bench.turn()
    assert turn.seat == "m1"
    assert (turn.view.kind, turn.view.target) == ("pass", 2)
    said = bench.act(cards("KC QC JC"))
    assert said == [PassCards(bytes(cards("KC QC JC")), origin=1, dest=2), TokenPass(2, origin=1, seq=1)]


def test_an_action_leaves_the_token_with_us_until_it_has_returned() -> None:
    bench = Bench(1)
    bench.deal()
    bench.hear(StartPhase(0, 0), 0)
    bench.hear(PassCards(SUITED[0][:3], dest=1), 0)
    bench.hear(TokenPass(1), 0)
    bench.node.act(bench.turn(), cards("KC QC JC"), bench.now)
    [passed] = bench.sends()
    assert decode(passed).NAME == "PASS_CARDS"
    bench.give(passed)
    [token] = bench.sends()
    assert decode(token) == TokenPass(2, origin=1, seq=1)


@pytest.mark.parametrize("dest", [0xFF, 1])
def test_a_token_may_be_addressed_to_all_or_to_its_owner(dest: int) -> None:
    bench = in_tricks()
    bench.hear(TokenPass(1, dest=dest), 0)
    assert bench.turn().view.kind == "play"


def in_tricks(me: int = 1, dialect: Dialect | None = None) -> Bench:
    """The fourth hand (nothing is passed) with each machine holding one suit; m1 leads."""
    bench = Bench(me, dialect)
    bench.hear(GameStart(), 0)
    bench.node.match.hand.direction = HOLD
    for seat, dealt in enumerate(SUITED):
        bench.hear(DealHand(dealt, dest=seat), 0)
    bench.hear(StartPhase(1), 0)
    assert bench.node.match.hand.stage is Stage.TRICK
    return bench


def test_with_the_token_it_plays_a_card_and_passes_the_token_on() -> None:
    bench = in_tricks()
    bench.hear(TokenPass(1), 0)
    assert bench.turn().view.legal == cards("2C")
    said = bench.act(card("2C"))
    assert said == [PlayCard(card("2C"), origin=1), TokenPass(2, origin=1, seq=1)]


@pytest.mark.parametrize(
    ("after_fourth", "said"),
    [("to-dealer", [TokenPass(0, origin=1, seq=1)]), ("keep", []), ("next", [TokenPass(2, origin=1, seq=1)])],
)
def test_what_the_fourth_player_does_with_the_token(after_fourth: str, said: list[Frame]) -> None:
    bench = in_tricks(1, parse(Dialect, [f"after_fourth={after_fourth}"]))
    hand = bench.node.match.hand
    hand.turn, hand.tricks = 2, 1
    hand.plays.append((0, card("2C")))
    for seat, word in ((2, "2H"), (3, "2S"), (0, "2D")):
        bench.hear(PlayCard(card(word)), seat)
    bench.hear(TokenPass(1), 0)
    assert bench.act(card("5C")) == [PlayCard(card("5C"), origin=1), *said]
    trick = TrickSummary(2, ((2, card("2H")), (3, card("2S")), (0, card("2D")), (1, card("5C"))), 1)
    bench.hear(trick, 0)
    assert not bench.refused()
    assert hand.turn == 2


def test_a_token_that_walks_is_handed_on_by_who_has_nothing_to_do() -> None:
    walk = in_tricks(2, Dialect(first_lead="walk"))
    assert walk.hear(TokenPass(2), 1) == [TokenPass(3, origin=2)]
    around = in_tricks(2, Dialect(after_fourth="next"))
    for seat, word in ((1, "2C"),):
        around.hear(PlayCard(card(word)), seat)
    around.hear(TokenPass(2), 1)
    around.act(card("2H"))
    around.hear(PlayCard(card("2S")), 3)
    around.hear(PlayCard(card("2D")), 0)
    assert around.hear(TokenPass(2), 1) == [TokenPass(3, origin=2, seq=2)]
    assert not walk.refused()
    assert not around.refused()


def test_a_message_is_told_before_what_it_led_to() -> None:
    bench = in_tricks()
    bench.events.clear()
    bench.hear(TokenPass(1), 0)
    assert [type(event) for event in bench.events] == [Received, Turn]


def test_m0_starts_with_the_token() -> None:
    bench = Bench(0)
    bench.hear(TokenPass(0), 3)
    [refused] = [event for event in bench.events if isinstance(event, Refused)]
    assert (refused.check, refused.text) == ("hearts/6.token", "m0 has the token already")


def test_act_refuses_an_illegal_choice_and_the_turn_stays_open() -> None:
    bench = Bench(1)
    bench.deal()
    bench.hear(StartPhase(0, 0), 0)
    bench.hear(PassCards(SUITED[0][:3], dest=1), 0)
    bench.hear(TokenPass(1), 0)
    for choice, check in [
        (cards("KC QC"), "hearts/9.pass"),
        (cards("KC KC QC"), "hearts/9.pass"),
        (cards("KC QC KS"), "hearts/9.held"),
        (cards("KC QC AD"), "hearts/9.held"),  # just received, not to be known yet
        (card("KC"), "hearts/9.pass"),
        ("KCQ", "hearts/9.pass"),
        ((1, 2, 900), "hearts/9.pass"),
        (None, "hearts/9.pass"),
    ]:
        with pytest.raises(LocalProtocolError) as caught:
            bench.act(choice)
        assert caught.value.check == check
    assert bench.sends() == []
    assert names(bench.act(list(cards("KC QC JC")))) == ["PASS_CARDS", "TOKEN_PASS"]


@pytest.mark.parametrize(
    ("choice", "check"),
    [(None, "hearts/5.card"), ((18,), "hearts/5.card"), (0, "hearts/5.card"), (1000, "hearts/5.card"),
     (card("3C"), "hearts/9.first-lead"), (card("KS"), "hearts/9.held")],
)  # fmt: skip
def test_act_refuses_an_illegal_card(choice: object, check: str) -> None:
    bench = in_tricks()
    bench.hear(TokenPass(1), 0)
    with pytest.raises(LocalProtocolError) as caught:
        bench.act(choice)
    assert caught.value.check == check
    assert bench.sends() == []


def test_a_turn_is_answered_once() -> None:
    bench = in_tricks()
    bench.hear(TokenPass(1), 0)
    turn = bench.turn()
    bench.act(card("2C"))
    bench.node.act(turn, card("3C"), bench.now)
    assert bench.sends() == []


# What is refused: forwarded, counted, and nothing changes


def refusal(bench: Bench, frame: Frame, origin: int) -> str:
    """The one check that this frame breaks; the machine says nothing of its own."""
    match = bench.node.match
    before = (
        match.hand.stage,
        list(match.hand.holds),
        list(match.hand.plays),
        match.hand.passer,
        bench.turns(),
    )
    known = len(bench.refused())
    heard = len(bench.received())
    assert bench.hear(frame, origin) == []
    after = (
        match.hand.stage,
        list(match.hand.holds),
        list(match.hand.plays),
        match.hand.passer,
        bench.turns(),
    )
    assert before == after
    assert len(bench.received()) == heard
    [check] = bench.refused()[known:]
    assert check in CHECKS
    assert bench.node.refusals[check] >= 1
    return check


DEALER_FRAMES: list[Frame] = [
    GameStart(),
    DealHand(SUITED[0], dest=1),
    StartPhase(1),
    TrickSummary(0, ((0, 1), (1, 2), (2, 3), (3, 4)), 0),
    HandSummary((0, 0, 0, 26), (0, 0, 0, 26), 255),
    GameOver(0, (0, 0, 0, 100)),
]


@pytest.mark.parametrize("frame", DEALER_FRAMES, ids=lambda frame: frame.NAME)
def test_only_m0_coordinates(frame: Frame) -> None:
    assert refusal(Bench(1), frame, 2) == "hearts/2.dealer"
    assert refusal(in_tricks(), frame, 3) == "hearts/2.dealer"


@pytest.mark.parametrize("frame", DEALER_FRAMES, ids=lambda frame: frame.NAME)
def test_what_does_not_belong_to_this_point_of_the_game_is_refused(frame: Frame) -> None:
    frame.dest = 1 if isinstance(frame, DealHand) else 0xFF
    assert refusal(in_tricks(), frame, 0) == "hearts/8.order"


@pytest.mark.parametrize(
    ("frame", "origin"),
    [
        (GameStart(dest=1), 0),
        (DealHand(SUITED[1]), 0),
        (StartPhase(1, dest=1), 0),
        (PlayCard(card("2C"), dest=1), 2),
        (PassCards(SUITED[0][:3]), 0),
        (TokenPass(1, dest=2), 0),
    ],
)
def test_a_message_goes_to_whom_its_type_says(frame: Frame, origin: int) -> None:
    assert refusal(Bench(1), frame, origin) == "hearts/4.dest"


def test_passed_cards_go_where_the_direction_says() -> None:
    bench = Bench(3)
    bench.deal()
    bench.hear(StartPhase(0, 0), 0)
    assert refusal(bench, PassCards(SUITED[0][:3], dest=2), 0) == "hearts/4.dest"


def test_passes_out_of_turn_or_of_anothers_cards_are_refused() -> None:
    bench = Bench(3)
    bench.deal()
    assert refusal(bench, PassCards(SUITED[0][:3], dest=1), 0) == "hearts/8.order"
    bench.hear(StartPhase(0, 0), 0)
    assert refusal(bench, PassCards(SUITED[1][:3], dest=2), 1) == "hearts/8.turn"
    for seat in (0, 1):
        bench.hear(PassCards(SUITED[seat][:3], dest=seat + 1), seat)
    assert refusal(bench, PassCards(bytes(cards("AH 2H KS")), dest=3), 2) == "hearts/9.held"


def test_plays_out_of_turn_or_against_the_rules_are_refused() -> None:
    bench = in_tricks(3)
    assert refusal(bench, PlayCard(card("3C")), 1) == "hearts/9.first-lead"
    bench.hear(PlayCard(card("2C")), 1)
    assert refusal(bench, PlayCard(card("2D")), 0) == "hearts/8.turn"
    assert refusal(bench, PlayCard(card("2S")), 2) == "hearts/9.held"


def test_a_hand_is_dealt_once() -> None:
    bench = Bench(1)
    bench.hear(GameStart(), 0)
    bench.hear(DealHand(SUITED[1], dest=1), 0)
    assert refusal(bench, DealHand(SUITED[2], dest=1), 0) == "hearts/8.dealt"


@pytest.mark.parametrize(
    ("frame", "check"),
    [
        (StartPhase(0, 1), "hearts/8.direction"),
        (StartPhase(0, 9), "hearts/8.direction"),
        (StartPhase(1), "hearts/8.order"),
        (StartPhase(2), "hearts/4.phase"),
        (StartPhase(7, 7), "hearts/4.phase"),
    ],
)
def test_the_phase_and_direction_are_those_of_this_hand(frame: StartPhase, check: str) -> None:
    bench = Bench(1)
    bench.deal()
    assert refusal(bench, frame, 0) == check


def test_passing_does_not_begin_twice() -> None:
    bench = Bench(1)
    bench.deal()
    bench.pass_three()
    assert refusal(bench, StartPhase(0, 0), 0) == "hearts/8.order"
    assert refusal(bench, StartPhase(2), 0) == "hearts/4.phase"
    bench.hear(StartPhase(1), 0)
    assert bench.kinds()[-1] == "tricks"


def test_a_token_is_taken_only_by_who_has_use_for_it_and_has_none() -> None:
    bench = Bench(1)
    assert refusal(bench, TokenPass(4), 0) == "hearts/4.owner"
    assert refusal(bench, TokenPass(1), 0) == "hearts/6.token"
    bench.hear(TokenPass(3), 0)
    bench.deal()
    bench.hear(StartPhase(0, 0), 0)
    assert refusal(bench, TokenPass(1), 0) == "hearts/6.token"
    bench.hear(PassCards(SUITED[0][:3], dest=1), 0)
    bench.hear(TokenPass(1), 0)
    assert bench.turns() == 1
    assert refusal(bench, TokenPass(1), 2) == "hearts/6.token"
    assert bench.turns() == 1


@pytest.mark.parametrize("dialect", [Dialect(), Dialect(after_fourth="keep")])
def test_a_token_for_who_does_not_hold_two_of_clubs_is_refused(dialect: Dialect) -> None:
    assert refusal(in_tricks(2, dialect), TokenPass(2), 0) == "hearts/6.token"


def test_anothers_token_never_clears_ours() -> None:
    bench = in_tricks()
    bench.hear(TokenPass(1), 0)
    bench.hear(TokenPass(3), 2)
    assert names(bench.act(card("2C"))) == ["PLAY_CARD", "TOKEN_PASS"]


# Divergence: reported, never patched over


def full_trick(me: int = 3) -> tuple[Bench, tuple[tuple[int, int], ...]]:
    bench = in_tricks(me)
    plays = tuple((seat, card(word)) for seat, word in ((1, "2C"), (2, "2H"), (3, "2S"), (0, "2D")))
    for seat, each in plays:
        if seat == me:
            bench.hear(TokenPass(me), seat - 1)
            bench.act(each)
        else:
            bench.hear(PlayCard(each), seat)
    return bench, plays


@pytest.mark.parametrize("wrong", ["winner", "plays", "points"])
def test_a_trick_summary_that_differs_is_reported_and_ours_is_kept(wrong: str) -> None:
    bench, plays = full_trick()
    frame = {
        "winner": TrickSummary(2, plays, 1),
        "plays": TrickSummary(1, (*plays[:3], (2, card("2D"))), 1),
        "points": TrickSummary(1, plays, 2),
    }[wrong]
    bench.hear(frame, 0)
    assert bench.refused() == ["hearts/8.trick"]
    hand = bench.node.match.hand
    assert (hand.tricks, hand.turn, hand.points) == (1, 1, [0, 1, 0, 0])


def test_a_trick_summary_that_agrees_is_taken() -> None:
    bench, plays = full_trick()
    bench.hear(TrickSummary(1, plays, 1), 0)
    assert bench.refused() == []
    assert bench.kinds()[-1] == "trick"


def at_the_end(points: list[int], totals: list[int], games: int = 1) -> Bench:
    """All thirteen tricks are over; `points` were taken in them."""
    bench = Bench(2, games=games)
    bench.hear(GameStart(), 0)
    match = bench.node.match
    match.totals = totals
    match.hand.points = points
    match.hand.stage = Stage.HAND_FULL
    return bench


@pytest.mark.parametrize(
    "frame",
    [
        HandSummary((4, 9, 13, 0), (14, 29, 43, 40), 255),
        HandSummary((5, 8, 13, 0), (15, 28, 43, 41), 255),
        HandSummary((5, 8, 13, 0), (15, 28, 43, 40), 3),
    ],
)
def test_a_hand_summary_that_differs_is_reported_and_ours_is_kept(frame: HandSummary) -> None:
    bench = at_the_end([5, 8, 13, 0], [10, 20, 30, 40])
    bench.hear(frame, 0)
    assert bench.refused() == ["hearts/8.hand"]
    assert bench.node.match.totals == [15, 28, 43, 40]


def test_a_moon_is_told_by_name() -> None:
    bench = at_the_end([0, 26, 0, 0], [10, 20, 30, 40])
    bench.hear(HandSummary((26, 0, 26, 26), (36, 20, 56, 66), 1), 0)
    assert bench.refused() == []
    [hand] = [event for event in bench.events if isinstance(event, Happened) and event.kind == "hand"]
    assert "m1 shot the moon" in hand.text
    assert hand.fields["moon"] == "m1"


def test_the_game_ends_with_game_over_and_what_comes_later_is_only_forwarded() -> None:
    bench = at_the_end([5, 8, 13, 0], [90, 20, 30, 95])
    bench.hear(HandSummary((5, 8, 13, 0), (95, 28, 43, 95), 255), 0)
    assert not bench.node.done
    bench = at_the_end([5, 8, 13, 0], [95, 20, 30, 40])
    bench.hear(HandSummary((5, 8, 13, 0), (100, 28, 43, 40), 255), 0)
    assert not bench.node.done
    bench.hear(GameOver(1, (100, 28, 43, 40)), 0)
    assert bench.node.done
    [end] = bench.finished()
    scores = {"m0": 100, "m1": 28, "m2": 43, "m3": 40}
    assert end.result == {"games": [{"winner": "m1", "scores": scores, "hands": 1}]}
    events = len(bench.events)
    bench.hear(GameStart(), 0)
    assert len(bench.events) == events
    assert not bench.refused()


@pytest.mark.parametrize("frame", [GameOver(2, (100, 28, 43, 40)), GameOver(1, (100, 28, 43, 41))])
def test_a_game_over_that_differs_is_reported_and_ours_is_told(frame: GameOver) -> None:
    bench = at_the_end([5, 8, 13, 0], [95, 20, 30, 40])
    bench.hear(HandSummary((5, 8, 13, 0), (100, 28, 43, 40), 255), 0)
    bench.hear(frame, 0)
    assert bench.refused() == ["hearts/8.over"]
    [end] = bench.finished()
    games = end.result["games"]
    assert isinstance(games, list)
    assert isinstance(games[0], dict)
    assert games[0]["winner"] == "m1"


def test_a_game_over_that_no_total_explains_is_refused() -> None:
    bench = in_tricks()
    assert refusal(bench, GameOver(0, (0, 0, 0, 100)), 0) == "hearts/8.order"
    assert not bench.node.done


# Hostile bytes


@pytest.mark.parametrize(
    "data",
    [b"", b"\x00", b"\x02\x00\xff\x00", b"\x02\x00\xff\x00\x05", b"\xff" * 300, b"\x02\x04\xff\x00\x00",
     bytes.fromhex("0600ff000100"), bytes.fromhex("05000100033c3d3c")],
)  # fmt: skip
def test_a_malformed_frame_is_counted_and_not_forwarded(data: bytes) -> None:
    bench = in_tricks()
    bench.sends()
    bench.give(data)
    assert bench.sends() == []
    [check] = bench.refused()
    assert check in CHECKS
    assert bench.node.refusals == {check: 1}


@settings(deadline=None, max_examples=100)
@given(
    st.integers(0, 3),
    st.lists(
        st.binary(max_size=24)
        | st.builds(
            lambda kind, origin, dest, seq, rest: bytes((kind, origin, dest, seq, len(rest))) + rest,
            st.integers(1, 9), st.integers(0, 3), st.sampled_from([0, 1, 2, 3, 255]), st.integers(0, 4),
            st.binary(max_size=2) | st.sampled_from([SUITED[0], SUITED[1], SUITED[0][:3], SUITED[3][:3]]),
        ),
        max_size=30,
    ),
)  # fmt: skip
def test_no_bytes_raise_out_of_a_machine(me: int, datagrams: list[bytes]) -> None:
    bench = Bench(me)
    for data in datagrams:
        bench.give(data)
        bench.sends()
    assert all(check in CHECKS for check in bench.refused())


@settings(deadline=None, max_examples=8)
@given(st.integers(0, 2**32), st.integers(0, 3), st.lists(st.binary(max_size=8), min_size=1, max_size=6))
def test_garbage_between_the_frames_of_a_game_disturbs_nothing(
    seed: int, victim: int, garbage: list[bytes]
) -> None:
    net = network(GAME, seed % 5)
    deliver = net._deliver
    junk = itertools.cycle(bytes((0, *piece)) for piece in garbage)  # type 0 is never a message

    def noisy(name: str, peer: str, data: bytes | None) -> None:
        if name == f"m{victim}":
            net.cores[name].receive(next(junk), "prev", net.now)
        deliver(name, peer, data)

    net._deliver = noisy  # type: ignore[method-assign]
    assert net.run() == _clean(seed % 5)
    assert set(net.cores[f"m{victim}"].refusals) <= set(CHECKS)


def _clean(seed: int, known: dict[int, dict[str, dict[str, Json]]] = {}) -> dict[str, dict[str, Json]]:  # noqa: B006
    if seed not in known:
        known[seed] = network(GAME, seed).run()
    return known[seed]


some = st.permutations(list(DECK)).map(bytes)
FORGED: st.SearchStrategy[Frame] = st.one_of(
    st.builds(TokenPass, st.integers(0, 3)),
    st.builds(GameStart),
    st.builds(DealHand, some.map(lambda deck: deck[:13]), dest=st.integers(0, 3)),
    st.builds(StartPhase, st.just(0), st.integers(0, 3)),
    st.builds(StartPhase, st.just(1)),
    st.builds(PassCards, some.map(lambda deck: deck[:3]), dest=st.integers(0, 3)),
    st.builds(PlayCard, st.sampled_from(list(DECK))),
    st.builds(TrickSummary, st.integers(0, 3), st.just(((0, 1), (1, 2), (2, 3), (3, 4))), st.integers(0, 26)),
    st.builds(HandSummary, st.just((0, 0, 0, 26)), st.just((0, 0, 0, 100)), st.just(255)),
    st.builds(GameOver, st.integers(0, 3), st.just((0, 0, 0, 100))),
)  # fmt: skip


@settings(deadline=None, max_examples=40)
@given(
    st.integers(0, 3),
    st.lists(st.tuples(st.integers(0, 1500), st.integers(0, 3), FORGED), min_size=1, max_size=8),
)
def test_a_forger_who_knows_every_seq_may_stop_the_game_but_breaks_no_machine(
    victim: int, forgeries: list[tuple[int, int, Frame]]
) -> None:
    net = network(GAME, 4)
    deliver = net._deliver
    at: dict[int, list[tuple[int, Frame]]] = {}
    for when, origin, frame in forgeries:
        at.setdefault(when, []).append((origin, frame))
    count = 0

    def forging(name: str, peer: str, data: bytes | None) -> None:
        nonlocal count
        count += 1
        for origin, frame in at.pop(count, []):
            node = net.cores[f"m{victim}"]
            assert isinstance(node, Node)
            frame.origin = origin
            frame.seq = node._ring._expected[origin]
            deliver(f"m{victim}", "prev", frame.encode())
        deliver(name, peer, data)

    net._deliver = forging  # type: ignore[method-assign]
    with contextlib.suppress(Stalled):
        net.run()
    for core in net.cores.values():
        assert set(core.refusals) <= set(CHECKS)


# The whole


def test_hearts_is_one_of_the_house_and_every_knob_has_its_default() -> None:
    assert GAME.name in NAMES
    assert parse(Dialect, []) == Dialect("announce", "to-dealer", "dealer", "high")
    assert parse(Dialect, ["hold=skip", "after-fourth=next", "first-lead=walk", "ace=low"]) == Dialect(
        "skip", "next", "walk", "low"
    )


def test_every_check_is_documented_in_the_words_of_a_text() -> None:
    for check, clause in CHECKS.items():
        assert check.startswith("hearts/")
        assert clause.clause
        assert clause.means.endswith(".")
