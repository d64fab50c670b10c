"""No-limit hold'em against tables, and random hands against invariants."""

from __future__ import annotations

import random
from typing import Literal

import pytest

from nodes.holdem.dialect import Dialect
from nodes.holdem.messages import CARDS
from nodes.holdem.rules import BIG_BLIND, DECK, SMALL_BLIND, STACK, Hand, Match


def deal(*stacks: int, cards: str = "", board: str = "", dialect: Dialect | None = None) -> Hand:
    """A hand with these stacks; given cards lie first (two a seat), then the board, then the rest."""
    wanted = [*cards.split(), *board.split()]
    assert not wanted or len(wanted) == 2 * len(stacks) + 5
    return Hand(stacks, [*wanted, *(card for card in DECK if card not in wanted)], dialect)


def play(hand: Hand, actions: str) -> list[int]:
    """Let the actors do these in turn; who they were."""
    actors = []
    for action in actions.split():
        actors.append(hand.actor)
        if action.startswith("r"):
            low, high = hand.raise_range
            assert low <= int(action[1:]) <= high, action
            hand.act("raise", int(action[1:]))
        else:
            assert action in hand.legal_actions, (action, hand.legal_actions)
            hand.act(action)
    return actors


def wins(hand: Hand) -> list[int]:
    assert hand.actor == -1
    return [hand.win_money(seat) for seat in range(hand.size)]


def test_the_deck_has_every_card_of_the_text_once() -> None:
    assert len(DECK) == 52
    assert set(DECK) == CARDS


def test_seat_0_posts_the_small_blind_and_seat_1_the_big_one() -> None:
    for size in range(2, 11):
        hand = deal(*[STACK] * size)
        left = [hand.money_left(seat) for seat in range(size)]
        assert left == [STACK - SMALL_BLIND, STACK - BIG_BLIND, *[STACK] * (size - 2)]


def test_heads_up_seat_0_acts_first_before_the_flop_and_seat_1_afterwards() -> None:
    hand = deal(STACK, STACK)
    assert play(hand, "call check check check check check check check") == [0, 1, 1, 0, 1, 0, 1, 0]
    assert hand.actor == -1


def test_three_or_more_seat_2_acts_first_before_the_flop_and_seat_0_afterwards() -> None:
    hand = deal(*[STACK] * 4)
    assert play(hand, "call call call check check check check check") == [2, 3, 0, 1, 0, 1, 2, 3]


def test_three_or_more_the_first_live_seat_acts_first() -> None:
    hand = deal(*[STACK] * 4)
    assert play(hand, "call call fold check check") == [2, 3, 0, 1, 1]


@pytest.mark.parametrize(
    ("preflop", "flop"),
    [("call call call check", [1, 2, 3, 0]), ("call call call r200 fold fold call", [1, 0])],
)
def test_from_1_is_a_knob_for_the_order_after_the_flop(preflop: str, flop: list[int]) -> None:
    hand = deal(*[STACK] * 4, dialect=Dialect(first_to_act="from-1"))
    play(hand, preflop)
    assert play(hand, " ".join(["check"] * len(flop))) == flop


def test_from_1_leaves_heads_up_alone() -> None:
    hand = deal(STACK, STACK, dialect=Dialect(first_to_act="from-1"))
    assert play(hand, "call check check check") == [0, 1, 1, 0]


def test_the_big_blind_has_its_option() -> None:
    hand = deal(*[STACK] * 3)
    play(hand, "call call")
    assert hand.actor == 1
    assert hand.legal_actions == ("fold", "check", "raise")
    assert hand.raise_range == (200, STACK)


def test_call_and_check_are_never_both_legal() -> None:
    hand = deal(*[STACK] * 3)
    assert hand.legal_actions == ("fold", "call", "raise")
    play(hand, "call call check")
    assert hand.legal_actions == ("fold", "check", "raise")
    assert hand.raise_range == (BIG_BLIND, STACK - BIG_BLIND)


@pytest.mark.parametrize(
    ("actions", "least"),
    [
        ("", 200),
        ("r200", 300),
        ("r300", 500),
        ("r300 r900", 1500),
        ("r300 r900 call call", 100),
        ("call call check r400", 800),
    ],
)
def test_the_least_raise_is_the_last_full_raise(actions: str, least: int) -> None:
    hand = deal(*[STACK] * 3)
    play(hand, actions)
    assert hand.raise_range[0] == least


def test_a_raise_is_to_a_total_of_the_street_with_blinds_included() -> None:
    hand = deal(STACK, STACK)
    play(hand, "r300")
    assert hand.money_left(0) == STACK - 300
    play(hand, "call r250")
    assert hand.money_left(1) == STACK - 550


def test_a_street_has_four_raises_at_most() -> None:
    hand = deal(STACK, STACK)
    play(hand, "r200 r300 r400 r500")
    assert hand.legal_actions == ("fold", "call")
    assert hand.raise_range == ()
    play(hand, "call r100 r200 r300 r400")
    assert hand.legal_actions == ("fold", "call")


def test_uncapped_is_a_knob() -> None:
    hand = deal(STACK, STACK, dialect=Dialect(raises="uncapped"))
    play(hand, "r200 r300 r400 r500 r600 r700")
    assert "raise" in hand.legal_actions


def test_a_short_all_in_raise_does_not_reopen_the_betting() -> None:
    """Seat 2 raises by 400; seat 0 is all in for 200 more; seat 2 may call that, not raise again."""
    hand = deal(700, STACK, STACK)
    play(hand, "r500 r700 fold")
    assert hand.actor == 2
    assert hand.legal_actions == ("fold", "call")


def test_a_short_all_in_raise_may_be_raised_by_who_has_not_acted() -> None:
    hand = deal(700, STACK, STACK)
    play(hand, "r500 r700")
    assert hand.actor == 1
    assert "raise" in hand.legal_actions


def test_a_full_all_in_raise_reopens_the_betting() -> None:
    hand = deal(900, STACK, STACK)
    play(hand, "r500 r900 call")
    assert hand.actor == 2
    assert "raise" in hand.legal_actions


def test_one_whose_stack_does_not_cover_the_bet_calls_all_in_and_may_not_raise() -> None:
    hand = deal(STACK, 300, STACK)
    play(hand, "r500 fold")
    assert hand.legal_actions == ("fold", "call")
    play(hand, "call")
    assert hand.actor == -1
    assert len(hand.public_card) == 5


BOARD = "2c 7d 9h Jd 3s"


@pytest.mark.parametrize(
    ("stacks", "cards", "actions", "won"),
    [
        # best hand shortest: main pot to it, side pots to the next best
        ((100, 200, 300), "As Ah Ks Kh Qs Qh", "r300 call call", [200, 0, -200]),
        # best hand longest: all
        ((100, 200, 300), "Qs Qh Ks Kh As Ah", "r300 call call", [-100, -200, 300]),
        # the second stack best: the longest has its excess back
        ((100, 200, 300), "Qs Qh As Ah Ks Kh", "r300 call call", [-100, 300, -200]),
        # two share the main pot, one of them the side pot alone
        ((100, 300, 300), "As Kh Ah Ks Qs Qc", "r300 call call", [-100, -300, 400]),
        ((100, 300, 300), "As Kh Ah Ks 8s 8c", "r300 call call", [-100, -300, 400]),
        ((100, 300, 300), "As Kh Ah Ks 4s 5c", "r300 call call", [50, 250, -300]),
        # a folder's chips stay in the pot
        ((STACK,) * 3, "4s 5c As Ah Ks Kh", "r300 fold call check check check check check check",
         [-50, 350, -300]),
    ],
)  # fmt: skip
def test_side_pots(stacks: tuple[int, ...], cards: str, actions: str, won: list[int]) -> None:
    hand = deal(*stacks, cards=cards, board=BOARD)
    play(hand, actions)
    assert wins(hand) == won


@pytest.mark.parametrize(
    ("stacks", "cards", "won"),
    [
        ((STACK, 75, STACK), "As Kh 4s 5c Ah Ks", [38, -75, 37]),
        ((25, STACK, STACK), "4s 5c As Kh Ah Ks", [-25, 13, 12]),
    ],
)
def test_an_odd_chip_goes_to_the_first_seat_after_the_button(
    stacks: tuple[int, ...], cards: str, won: list[int]
) -> None:
    hand = deal(*stacks, cards=cards, board=BOARD)
    while hand.actor >= 0:
        hand.act(hand.legal_actions[1])
    assert wins(hand) == won


def test_the_last_one_in_wins_without_showing() -> None:
    hand = deal(*[STACK] * 3)
    play(hand, "fold fold")
    assert wins(hand) == [-50, 50, 0]
    assert hand.public_card == ()
    assert hand.folded == {0, 2}


def test_the_board_is_completed_when_all_are_all_in() -> None:
    hand = deal(STACK, STACK, cards="As Ah Ks Kh", board=BOARD)
    play(hand, f"r{STACK} call")
    assert wins(hand) == [STACK, -STACK]
    assert hand.public_card == tuple(BOARD.split())
    assert [len(street) for street in hand.action_history] == [2, 0, 0, 0]


def test_money_unwon_is_the_stack_before_the_pots_are_paid() -> None:
    hand = deal(STACK, STACK, cards="As Ah Ks Kh", board=BOARD)
    play(hand, "call check check check check check check check")
    assert [hand.money_unwon(seat) for seat in (0, 1)] == [19900, 19900]
    assert [hand.money_left(seat) for seat in (0, 1)] == [20100, 19900]


def test_the_history_has_a_list_for_each_street_dealt() -> None:
    hand = deal(STACK, STACK)
    play(hand, "call check r100 r300")
    hand.act("call", timestamp="now")
    assert hand.action_history == [
        [(0, "call", ""), (1, "check", "")],
        [(1, "r100", ""), (0, "r300", ""), (1, "call", "now")],
        [],
    ]
    assert len(hand.public_card) == 4


def test_folding_is_legal_even_where_a_check_is_free() -> None:
    hand = deal(*[STACK] * 3)
    play(hand, "call call check fold fold")
    assert wins(hand) == [-100, -100, 200]


def test_a_fold_out_of_turn_takes_effect_at_once_and_asks_nobody_else() -> None:
    hand = deal(*[STACK] * 4)
    assert hand.actor == 2
    assert hand.fold(0, "then")
    assert hand.actor == 2
    assert hand.action_history == [[(0, "fold", "then")]]
    assert not hand.fold(0)
    assert play(hand, "call call check check check check") == [2, 3, 1, 1, 2, 3]


def test_a_fold_out_of_turn_by_one_who_acted_already() -> None:
    hand = deal(*[STACK] * 3)
    play(hand, "r300")
    hand.fold(2)
    assert hand.actor == 0
    play(hand, "call call")
    assert [hand.win_money(i) for i in range(3)] == [-300, -300, -300]
    play(hand, "check check check check check check")
    assert sum(wins(hand)) == 0


def test_one_who_is_all_in_cannot_be_folded() -> None:
    hand = deal(300, STACK, STACK, cards="As Ah Ks Kh Qs Qh", board=BOARD)
    play(hand, "r600 call")
    assert hand.actor == 1
    assert not hand.fold(0)
    play(hand, "fold")
    assert wins(hand) == [400, -100, -300]


def test_nobody_is_asked_who_has_nothing_to_decide() -> None:
    """Seat 0 is all in, seat 1 folds where it could check: seat 2 alone has chips, and the board runs out."""
    hand = deal(300, STACK, STACK, cards="As Ah Ks Kh Qs Qh", board=BOARD)
    play(hand, "r300 call call")
    assert hand.actor == 1
    hand.fold(1)
    assert wins(hand) == [600, -300, -300]


def test_a_side_pot_whose_every_owner_folded_goes_to_those_still_in() -> None:
    """Seat 0 is all in. Seat 1 bets, is folded out of turn, the others fold: seat 0 has all but that bet."""
    hand = deal(300, STACK, STACK, STACK, cards="4s 5c As Ah Ks Kh Qs Qh", board=BOARD)
    play(hand, "r500 call call call r1000")
    hand.fold(1)
    hand.fold(2)
    play(hand, "fold")
    assert wins(hand) == [1500, -500, -500, -500]


@pytest.mark.parametrize(
    ("cards", "won"),
    [("As Ah 4s 5c", [1300, -300]), ("4s 5c As Ah", [-300, 1300]), ("As Kh Ah Ks", [500, 500])],
)
def test_an_orphaned_level_goes_to_the_better_of_those_who_remain(cards: str, won: list[int]) -> None:
    """Two all in for 300 remain; what both who folded had put on top is theirs as well."""
    hand = deal(300, 300, STACK, STACK, cards=f"{cards} Ts Tc Qs Qh", board=BOARD)
    play(hand, "r500 r1000")
    hand.fold(3)
    play(hand, "call call")
    assert hand.actor == 2
    hand.fold(2)
    assert wins(hand) == [*won, -500, -500]


def test_the_last_one_wins_even_with_nothing_in_the_pot() -> None:
    hand = deal(*[STACK] * 3)
    hand.fold(0)
    hand.fold(1)
    assert wins(hand) == [-50, -50, 100]  # the half of the big blind that nobody met goes back
    assert not hand.fold(2)


def test_blinds_may_put_everybody_all_in() -> None:
    hand = deal(30, 60, cards="As Ah Ks Kh", board=BOARD)
    assert wins(hand) == [30, -30]


RAISES: tuple[Literal["capped", "uncapped"], ...] = ("capped", "uncapped")
FIRST: tuple[Literal["from-0", "from-1"], ...] = ("from-0", "from-1")


@pytest.mark.parametrize("seed", range(6))
def test_chips_are_conserved_whatever_is_done(seed: int) -> None:
    """60 hands a seed: any stacks, any legal actions, now and then a fold out of turn."""
    rng = random.Random(seed)
    for _ in range(60):
        stacks = [rng.choice([1, 30, 50, 75, 100, 101, 333, 5000, STACK]) for _ in range(rng.randint(2, 10))]
        deck = list(DECK)
        rng.shuffle(deck)
        hand = Hand(stacks, deck, Dialect(raises=rng.choice(RAISES), first_to_act=rng.choice(FIRST)))
        acted = 0
        while hand.actor >= 0:
            acted += 1
            assert acted < 500
            assert hand.actor not in hand.folded
            assert hand.money_left(hand.actor) > 0
            assert ("call" in hand.legal_actions) != ("check" in hand.legal_actions)
            word = rng.choice(hand.legal_actions)
            if rng.random() < 0.1:
                hand.fold(rng.randrange(len(stacks)))
            elif word == "raise":
                low, high = hand.raise_range
                assert low <= high <= STACK
                hand.act(word, rng.choice([low, high, rng.randint(low, high)]))
            else:
                hand.act(word)
        assert sum(wins(hand)) == 0
        assert sum(map(hand.money_left, range(len(stacks)))) == sum(stacks)
        assert all(win <= sum(stacks) for win in wins(hand))
        assert all(hand.win_money(seat) <= 0 for seat in hand.folded)
        cards = [*hand.public_card, *(card for cards in hand.private_card for card in cards)]
        assert len(set(cards)) == len(cards)


def test_no_hand_draws_from_the_global_generator() -> None:
    before = random.getstate()
    hand = deal(*[STACK] * 3)
    play(hand, "call fold check check check check check check check")
    assert random.getstate() == before


def test_players_sit_by_name_and_move_a_seat_each_hand() -> None:
    match = Match(["c", "a", "b"], random.Random(1), Dialect())
    seats = []
    for _ in range(4):
        match.deal()
        seats.append("".join(match.seats))
    assert seats == ["abc", "bca", "cab", "abc"]
    assert match.dealt == 4


def test_fixed_seats_are_a_knob() -> None:
    match = Match(["b", "a"], random.Random(1), Dialect(seats="fixed"))
    for _ in range(3):
        match.deal()
        assert match.seats == ("a", "b")


@pytest.mark.parametrize(("stacks", "second"), [("reset", (STACK, STACK)), ("carry-over", (20050, 19950))])
def test_stacks_are_reset_each_hand_or_carried_over(
    stacks: Literal["reset", "carry-over"], second: tuple[int, int]
) -> None:
    match = Match(["a", "b"], random.Random(1), Dialect(stacks=stacks))
    hand = match.deal()
    hand.act("fold")
    match.settle(hand)
    assert match.deal().total_money == second


def test_who_has_nothing_left_to_carry_over_buys_in_anew() -> None:
    match = Match(["a", "b"], random.Random(1), Dialect(stacks="carry-over"))
    hand = match.deal()
    hand.act("raise", STACK)
    hand.act("call")
    match.settle(hand)
    assert sorted(match.deal().total_money) == [STACK, 2 * STACK]


def test_the_same_generator_deals_the_same_cards() -> None:
    one, two = (Match(["a", "b"], random.Random(9), Dialect()) for _ in range(2))
    assert [one.deal().private_card for _ in range(3)] == [two.deal().private_card for _ in range(3)]


@pytest.mark.parametrize("thinking_s", [0.0, -1.0, float("nan"), 1e9])
def test_a_thinking_time_out_of_reason_is_no_dialect(thinking_s: float) -> None:
    with pytest.raises(ValueError, match="thinking_s"):
        Dialect(thinking_s=thinking_s)


def test_a_room_id_out_of_reason_is_no_dialect() -> None:
    with pytest.raises(ValueError, match="room_id"):
        Dialect(room_id=-1)
