"""Section 9 and protocols.md: the rules, against tables and against thousands of random hands."""

from __future__ import annotations

from random import Random

import pytest

from nodes.hearts.checks import CHECKS
from nodes.hearts.rules import (
    ACROSS,
    BITS,
    DECK,
    HOLD,
    LEFT,
    POINTS,
    RIGHT,
    Ace,
    Hand,
    Match,
    Stage,
    as_cards,
    as_set,
    is_card,
    label,
)
from tests.hearts.helpers import SUITED, card, cards, shuffled


def table(*hands: str, plays: str = "", leader: int = 0, tricks: int = 1, broken: bool = False,
          ace: Ace = "high") -> Hand:  # fmt: skip
    """A hand in the middle of its tricks. `plays` lie on the table, from `leader` on."""
    hand = Hand(HOLD, ace)
    for seat in range(4):
        text = hands[seat] if seat < len(hands) else None
        hand.deal(seat, cards(text) if text is not None else None)
    hand.stage = Stage.TRICK
    hand.turn = leader
    hand.tricks = tricks
    hand.broken = broken
    if tricks:
        hand.plays += [(0, card("2C"))] * 4 * tricks  # which they were does not matter
        hand.played |= BITS[card("2C")]
    for offset, word in enumerate(plays.split()):
        hand.play((leader + offset) % 4, card(word))
    return hand


def check_of(hand: Hand, seat: int, word: str) -> str | None:
    illegal = hand.why_not_play(seat, card(word))
    if illegal is None:
        return None
    assert illegal.check in CHECKS
    return illegal.check


def legal(hand: Hand, seat: int) -> set[int]:
    return set(as_cards(hand.legal(seat)))


def test_there_are_52_cards_and_26_points() -> None:
    assert len(set(DECK)) == 52
    assert sum(POINTS[each] for each in DECK) == 26
    assert POINTS[card("QS")] == 13
    assert label(cards("QS 10H AD 2C")) == "Q♠ 10♥ A♦ 2♣"
    assert label(card("KS")) == "K♠"


@pytest.mark.parametrize("value", [0, 14, 15, 16, 0x3E, 0x40, 256, -1, "QS", None, 3.0])
def test_what_is_no_card_is_not_taken_for_one(value: object) -> None:
    assert not is_card(value)


def test_cards_as_a_set_come_back_sorted() -> None:
    assert as_cards(as_set(cards("QS 2C AD"))) == cards("AD 2C QS")


@pytest.mark.parametrize(
    ("direction", "targets"),
    [(LEFT, [1, 2, 3, 0]), (RIGHT, [3, 0, 1, 2]), (ACROSS, [2, 3, 0, 1])],
)
def test_left_is_the_next_id_right_the_one_before_across_two_away(direction: int, targets: list[int]) -> None:
    assert [Hand(direction).target(seat) for seat in range(4)] == targets


def dealt(direction: int = LEFT) -> Hand:
    hand = Hand(direction)
    for seat in range(4):
        assert hand.stage is Stage.DEALING
        hand.deal(seat, SUITED[seat])
    assert hand.stage is Stage.DEALT
    return hand


def test_cards_are_passed_in_order_and_join_the_hand_when_the_tricks_begin() -> None:
    hand = dealt()
    hand.start_passing()
    for seat in range(4):
        assert hand.passer == seat
        hand.pass_cards(seat, SUITED[seat][:3])
    assert hand.stage is Stage.PASSED
    assert hand.holds[1] == as_set(SUITED[1][3:])
    hand.start_tricks()
    assert hand.holds[1] == as_set(SUITED[1][3:] + SUITED[0][:3])
    assert hand.turn == 2, "2♣ went to the left"


def test_with_hold_nobody_passes() -> None:
    hand = dealt(HOLD)
    hand.start_passing()
    assert hand.stage is Stage.PASSED
    hand.start_tricks()
    assert hand.turn == 1


@pytest.mark.parametrize(
    ("seat", "chosen", "check"),
    [
        (0, "AD 2D 3D", None),
        (1, "AC 2C 3C", "hearts/8.turn"),
        (0, "AD 2D", "hearts/9.pass"),
        (0, "AD 2D 3D 4D", "hearts/9.pass"),
        (0, "AD 2D 2D", "hearts/9.pass"),
        (0, "AD 2D 3C", "hearts/9.held"),
    ],
)
def test_three_different_cards_of_ones_own_are_passed_in_turn(
    seat: int, chosen: str, check: str | None
) -> None:
    hand = dealt()
    hand.start_passing()
    illegal = hand.why_not_pass(seat, cards(chosen))
    assert (illegal and illegal.check) == check


def test_no_card_is_passed_before_the_phase_begins() -> None:
    illegal = dealt().why_not_pass(0, cards("AD 2D 3D"))
    assert illegal is not None
    assert illegal.check == "hearts/8.order"


def test_cards_just_received_may_be_passed_on_by_others_but_not_by_our_own_players() -> None:
    hand = dealt()
    hand.start_passing()
    hand.pass_cards(0, cards("AD 2D 3D"))
    on = cards("AD AC 2C")
    assert hand.why_not_pass(1, on) is None
    illegal = hand.why_not_pass(1, on, of_dealt=True)
    assert illegal is not None
    assert illegal.check == "hearts/9.held"
    hand.pass_cards(1, on)
    assert hand.holds[1] == as_set(SUITED[1]) & ~as_set(on)
    assert hand.incoming[1] == as_set(cards("2D 3D"))
    assert hand.incoming[2] == as_set(on)


def test_cards_we_may_not_look_at_are_only_counted() -> None:
    hand = Hand(LEFT)
    for seat in range(4):
        hand.deal(seat, SUITED[seat] if seat == 3 else None)
    hand.start_passing()
    for seat in range(2):
        assert hand.why_not_pass(seat, None) is None
        hand.pass_cards(seat, None)
    mine = hand.why_not_pass(2, cards("2S AH 2H"))
    assert mine is not None
    assert mine.check == "hearts/9.held", "m2 cannot pass a card that lies in our hand"
    assert hand.why_not_pass(2, cards("AH 2H 3H")) is None
    hand.pass_cards(2, cards("AH 2H 3H"))
    hand.pass_cards(3, SUITED[3][:3])
    hand.start_tricks()
    assert hand.holds == [None, None, None, as_set(SUITED[3][3:]) | as_set(cards("AH 2H 3H"))]
    assert hand.turn is None, "somebody else has 2♣"
    assert check_of(hand, 3, "KS") == "hearts/8.turn"
    assert check_of(hand, 0, "3C") == "hearts/9.first-lead"
    assert check_of(hand, 0, "2C") is None


@pytest.mark.parametrize(
    ("held", "plays", "tricks", "broken", "allowed"),
    [
        # the first lead
        ("2C 5C AH QS", "", 0, False, "2C"),
        # the first trick: follow; no points while anything else can be played
        ("5C 9C AH QS", "2C", 0, False, "5C 9C"),
        ("5D AH QS", "2C", 0, False, "5D"),
        ("2H AH QS", "2C", 0, False, "2H AH QS"),
        ("QS KS", "2C", 0, False, "KS"),
        # following is compulsory, and anything goes without the suit
        ("5D 9D AH QS", "2D", 1, False, "5D 9D"),
        ("5C AH QS", "2D", 1, False, "5C AH QS"),
        # hearts are led once broken, or when there is nothing else
        ("5C AH QS", "", 1, False, "5C QS"),
        ("5C AH QS", "", 1, True, "5C AH QS"),
        ("2H AH", "", 1, False, "2H AH"),
    ],
)
def test_the_legal_cards(held: str, plays: str, tricks: int, broken: bool, allowed: str) -> None:
    leader = 3 if plays else 0
    hand = table(held, plays=plays, leader=leader, tricks=tricks, broken=broken)
    assert legal(hand, 0) == set(cards(allowed))
    for each in cards(held):
        assert (hand.why_not_play(0, each) is None) == (each in cards(allowed))


@pytest.mark.parametrize(
    ("held", "plays", "tricks", "word", "check"),
    [
        ("2C 5C", "", 0, "5C", "hearts/9.first-lead"),
        ("5C QS", "2C", 0, "QS", "hearts/9.follow"),
        ("5D QS", "2C", 0, "QS", "hearts/9.first-trick"),
        ("5D QS", "2D", 1, "QS", "hearts/9.follow"),
        ("5D AH", "", 1, "AH", "hearts/9.hearts"),
        ("5D AH", "", 1, "KH", "hearts/9.held"),
        ("5D AH", "2D", 1, "2D", "hearts/9.held"),
        ("5D AH", "", 1, "2C", "hearts/9.held"),
    ],
)
def test_an_illegal_play_is_told_why(held: str, plays: str, tricks: int, word: str, check: str) -> None:
    hand = table(held, plays=plays, leader=3 if plays else 0, tricks=tricks)
    assert check_of(hand, 0, word) == check


def test_a_view_tells_the_same_as_the_hand() -> None:
    match = Match()
    match.hand = table("5D QS", plays="2C", leader=3, tricks=0)
    why = match.view(0).why_not(card("QS"))
    assert why == match.hand.why_not_play(0, card("QS"))
    match.hand = table("5D AH")
    assert match.view(0).why_not(card("AH")) == match.hand.why_not_play(0, card("AH"))
    assert match.view(0).why_not(card("5D")) is None


def test_who_is_not_in_turn_does_not_play() -> None:
    hand = table("5D", "6D", plays="2D", leader=3)
    assert check_of(hand, 1, "6D") == "hearts/8.turn"
    hand.stage = Stage.TRICK_FULL
    assert check_of(hand, 0, "5D") == "hearts/8.order"


def test_an_unknown_hand_gives_itself_away_by_a_card_of_ours_or_a_suit_it_did_not_follow() -> None:
    hand = table("5D KC", plays="2D 3C 4D 9D", leader=1)
    hand.finish_trick()
    hand.turn = 2
    assert check_of(hand, 2, "KC") == "hearts/9.held"
    assert check_of(hand, 2, "6D") == "hearts/9.follow"
    assert check_of(hand, 2, "4D") == "hearts/9.held"
    assert check_of(hand, 2, "4C") is None


@pytest.mark.parametrize(
    ("plays", "leader", "ace", "winner", "points"),
    [
        ("2C 3C 4C 5C", 0, "high", 3, 0),
        ("5C AC KC 2C", 0, "high", 1, 0),
        ("5C AC KC 2C", 0, "low", 2, 0),
        ("5C AD KH QS", 2, "high", 2, 14),
        ("2H 3H AH KH", 1, "high", 3, 4),
        ("2H 3H AH KH", 1, "low", 0, 4),
        ("KS QS AS 2D", 3, "high", 1, 13),
    ],
)
def test_the_highest_of_the_suit_led_takes_the_trick(
    plays: str, leader: int, ace: Ace, winner: int, points: int
) -> None:
    hand = table(plays=plays, leader=leader, ace=ace)
    assert hand.stage is Stage.TRICK_FULL
    order = tuple(((leader + i) % 4, card(word)) for i, word in enumerate(plays.split()))
    assert hand.finish_trick() == (winner, order, points)
    assert hand.turn == winner
    assert hand.points[winner] == points


@pytest.mark.parametrize(("word", "broken"), [("2H", True), ("QS", False), ("5D", False)])
def test_hearts_are_broken_by_a_heart_and_not_by_the_queen_of_spades(word: str, broken: bool) -> None:
    assert table(plays=f"2D {word}", leader=3).broken is broken


def test_the_hand_is_full_after_thirteen_tricks() -> None:
    hand = table(plays="2D 3D 4D 5D", tricks=12)
    hand.finish_trick()
    assert hand.stage is Stage.HAND_FULL
    assert hand.turn is None


@pytest.mark.parametrize(
    ("taken", "points", "moon"),
    [
        ((5, 8, 13, 0), (5, 8, 13, 0), None),
        ((0, 26, 0, 0), (26, 0, 26, 26), 1),
        ((26, 0, 0, 0), (0, 26, 26, 26), 0),
    ],
)
def test_who_takes_everything_has_none_and_the_others_26(
    taken: tuple[int, ...], points: tuple[int, ...], moon: int | None
) -> None:
    match = Match()
    match.hand.points = list(taken)
    assert match.finish_hand() == (points, points, moon)


@pytest.mark.parametrize(
    ("totals", "taken", "over", "winner"),
    [
        ((50, 60, 70, 80), (5, 8, 13, 0), False, 0),
        ((50, 60, 70, 99), (25, 0, 0, 1), True, 1),
        ((50, 60, 70, 99), (26, 0, 0, 0), True, 0),
        ((99, 40, 40, 40), (1, 25, 0, 0), True, 2),
        ((74, 74, 74, 0), (0, 0, 0, 26), True, 3),
        ((74, 0, 0, 0), (25, 0, 0, 1), False, 1),
    ],
)
def test_at_100_the_lowest_total_wins_and_ties_go_to_the_lowest_id(
    totals: tuple[int, ...], taken: tuple[int, ...], over: bool, winner: int
) -> None:
    match = Match()
    match.start()
    match.totals = list(totals)
    match.hand.points = list(taken)
    match.finish_hand()
    assert (match.hand.stage is Stage.OVER) is over
    assert match.winner == winner


def test_before_it_starts_a_match_is_idle() -> None:
    assert Match().hand.stage is Stage.IDLE


def test_directions_go_round_by_hand_the_first_is_left() -> None:
    match = Match()
    match.start()
    seen: list[int] = []
    for _ in range(6):
        assert match.hand.stage is Stage.DEALING
        seen.append(match.hand.direction)
        match.finish_hand()
    assert seen == [LEFT, RIGHT, ACROSS, HOLD, LEFT, RIGHT]


def test_a_view_holds_nothing_of_other_hands() -> None:
    match = Match()
    hand = match.hand = dealt()
    hand.start_passing()
    hand.pass_cards(0, SUITED[0][:3])
    view = match.view(1)
    assert view.kind == "pass"
    assert view.hand == view.legal == tuple(SUITED[1])
    assert view.received == ()
    assert view.target == 2
    for seat in range(1, 4):
        hand.pass_cards(seat, SUITED[seat][:3])
    hand.start_tricks()
    view = match.view(2)
    assert view.kind == "play"
    assert view.legal == cards("2C")
    assert view.received == tuple(SUITED[1][:3])
    assert view.passed == tuple(SUITED[2][:3])


@pytest.mark.parametrize("ace", ["high", "low"])
def test_in_any_random_hand_13_tricks_share_26_points_and_52_cards(ace: Ace) -> None:
    """Four followers who know one hand each, and one who knows all, agree on every random hand."""
    rng = Random(f"hands/{ace}")
    for number in range(600):
        hands = shuffled(rng)
        followers = [Hand(number % 4, ace) for _ in range(5)]
        for seat, mine in enumerate(hands):
            for me, follower in enumerate(followers):
                follower.deal(seat, mine if me in (seat, 4) else None)
        for follower in followers:
            follower.start_passing()
        full = followers[4]
        while full.stage is Stage.PASSING:
            seat = full.passer
            chosen = rng.sample(as_cards(full.holds[seat] or 0), 3)
            for me, follower in enumerate(followers):
                shown = chosen if me in (seat, full.target(seat), 4) else None
                assert follower.why_not_pass(seat, shown) is None
                follower.pass_cards(seat, shown)
        for follower in followers:
            follower.start_tricks()
        points = 0
        while full.stage is not Stage.HAND_FULL:
            turn = full.turn
            assert turn is not None
            chosen_card = rng.choice(as_cards(full.legal(turn)))
            for follower in followers:
                assert follower.turn in (turn, None)
                assert follower.why_not_play(turn, chosen_card) is None
                follower.play(turn, chosen_card)
            if full.stage is Stage.TRICK_FULL:
                results = {follower.finish_trick() for follower in followers}
                assert len(results) == 1
                points += results.pop().points
        assert points == sum(full.points) == 26
        assert full.tricks == 13
        assert sorted(each for _, each in full.plays) == list(DECK)
        assert full.holds == [0, 0, 0, 0]
        for seat, mine in enumerate(hands):
            played = {each for who, each in full.plays if who == seat}
            assert len(played) == 13
            assert played == set(as_cards(as_set(mine) & ~full.passed[seat] | full.incoming[seat]))
