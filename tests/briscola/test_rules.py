"""Forty cards, twenty tricks, a hundred and twenty points."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.briscola.rules import (
    DECK,
    POINTS_TOTAL,
    SUITS,
    TRICKS,
    Card,
    Deal,
    Table,
    answer_wins,
)

DENARI, SPADE, COPPE, BASTONI = range(4)


def shuffled(seed: int) -> list[Card]:
    deck = list(DECK)
    Random(seed).shuffle(deck)
    return deck


def test_the_deck_has_forty_cards_and_a_hundred_and_twenty_points() -> None:
    assert len(set(DECK)) == 40
    assert sum(card.points for card in DECK) == POINTS_TOTAL


def test_the_order_is_ace_three_king_knight_knave_seven_and_down() -> None:
    numbers = sorted(range(1, 11), key=lambda number: Card(COPPE, number).strength, reverse=True)
    assert numbers == [1, 3, 10, 9, 8, 7, 6, 5, 4, 2]
    assert [Card(COPPE, number).points for number in numbers] == [11, 10, 4, 3, 2, 0, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("lead", "answer", "takes"),
    [
        (Card(SPADE, 3), Card(SPADE, 1), True),
        (Card(SPADE, 1), Card(SPADE, 3), False),
        (Card(SPADE, 2), Card(SPADE, 4), True),
        (Card(SPADE, 7), Card(SPADE, 8), True),
        (Card(SPADE, 2), Card(BASTONI, 1), False),
        (Card(SPADE, 1), Card(COPPE, 2), True),
        (Card(COPPE, 2), Card(SPADE, 1), False),
        (Card(COPPE, 2), Card(COPPE, 4), True),
        (Card(COPPE, 4), Card(COPPE, 2), False),
    ],
)
def test_the_higher_of_the_suit_led_takes_unless_a_briscola_fell(
    lead: Card, answer: Card, takes: bool
) -> None:
    assert answer_wins(lead, answer, COPPE) is takes


def test_cards_are_written_and_named_as_in_italy() -> None:
    assert str(Card(SPADE, 1)) == "A♠"
    assert Card(SPADE, 1).name == "asso di spade"
    assert Card(DENARI, 8).name == "fante di denari"
    assert str(Card(BASTONI, 10)) == "R♣"


def test_each_side_gets_three_cards_from_the_leader_on() -> None:
    deal = Deal(shuffled(1), 1)
    assert deal.to_move is None
    assert [side for side, _ in deal.deal()] == [1, 0, 1, 0, 1, 0]
    assert deal.stock == 34
    assert deal.to_move == 1


def test_the_winner_of_a_trick_draws_first_and_leads() -> None:
    deck = shuffled(2)
    deal = Deal(deck, 0)
    deal.deal()
    lead, answer = deal.hands[0][0], deal.hands[1][0]
    assert deal.play(0, lead) is None
    assert deal.led == lead
    assert deal.to_move == 1
    trick = deal.play(1, answer)
    assert trick is not None
    assert trick.winner == int(answer_wins(lead, answer, deck[-1].suit))
    assert deal.points[trick.winner] == trick.points == lead.points + answer.points
    assert deal.to_move is None
    assert [side for side, _ in deal.deal()] == [trick.winner, 1 - trick.winner]
    assert deal.to_move == trick.winner


def test_a_card_out_of_turn_or_not_in_the_hand_is_a_problem() -> None:
    deal = Deal(shuffled(3), 0)
    mine = deal.trump_card
    assert mine is not None
    assert deal.play_problem(0, mine) == "turn", "cards are due first"
    deal.deal()
    assert deal.play_problem(1, deal.hands[1][0]) == "turn"
    assert deal.play_problem(0, deal.hands[1][0]) == "card"
    assert deal.play_problem(0, mine) == "card"
    assert deal.play_problem(0, deal.hands[0][0]) is None
    assert deal.draw_problem(0, mine) == "turn", "nothing is due now"


@pytest.mark.parametrize(("points", "winner"), [([61, 59], 0), ([59, 61], 1), ([60, 60], None)])
def test_more_points_win_and_sixty_all_is_a_draw(points: list[int], winner: int | None) -> None:
    table = Table(COPPE, None, 0)
    table.points = points
    assert table.winner == winner


@settings(deadline=None, max_examples=100)
@given(st.integers(0, 2**32), st.integers(0, 1), st.integers(0, 1), st.booleans())
def test_a_whole_game_seen_from_all_three_chairs(seed: int, leader: int, chair: int, told: bool) -> None:
    """The server and a client with one hand hidden agree at every step; cards and points add up."""
    rng = Random(seed)
    deck = list(DECK)
    rng.shuffle(deck)
    deal = Deal(deck, leader)
    trump = deck[-1]
    mine = Table(trump.suit, trump if told else None, leader, hidden=1 - chair)
    given: list[Card] = []
    fallen: list[Card] = []
    while not deal.over:
        for side, card in deal.deal():
            given.append(card)
            if side == chair:
                assert mine.draw_problem(side, card) is None
                mine.draw(side, card)
        assert mine.stock == deal.stock
        assert mine.to_move == deal.to_move
        mover = deal.to_move
        assert mover is not None
        seen = mine.view(chair, ["a", "b"])
        assert set(deal.hands[1 - chair]) <= set(seen.unseen)
        if not deal.stock:
            assert set(seen.unseen) == set(deal.hands[1 - chair])
        card = rng.choice(deal.hands[mover])
        assert mine.play_problem(mover, card) is None
        assert mine.play(mover, card) == deal.play(mover, card)
        assert mine.play_problem(1 - chair, card) is not None
        fallen.append(card)
        assert mine.points == deal.points
    assert deal.tricks == TRICKS
    assert sum(deal.points) == POINTS_TOTAL
    assert given == deck
    assert sorted(fallen) == sorted(DECK)
    assert given[-1] == trump
    assert deal.to_move is None
    assert mine.over


def client_table(trump: Card | None, mine: list[Card]) -> Table:
    table = Table(COPPE, trump, 1, hidden=1)
    for card in mine:
        table.draw(0, card)
    return table


def test_the_hidden_hand_cannot_play_what_is_elsewhere() -> None:
    trump = Card(COPPE, 7)
    table = client_table(trump, [Card(SPADE, 1), Card(SPADE, 2), Card(SPADE, 3)])
    assert table.play_problem(1, Card(SPADE, 1)) == "card", "it is in our hand"
    assert table.play_problem(1, trump) == "card", "it lies under the stock"
    assert table.play_problem(0, Card(SPADE, 1)) == "turn"
    table.play(1, Card(BASTONI, 2))
    table.play(0, Card(SPADE, 2))
    assert table.leader == 1
    assert table.draw_problem(0, Card(BASTONI, 2)) == "card", "it has been played"
    assert table.draw_problem(0, Card(SPADE, 1)) == "card", "it is in our hand"
    assert table.draw_problem(0, trump) == "card", "it comes last"
    table.draw(0, Card(DENARI, 4))
    assert table.play_problem(1, Card(BASTONI, 2)) == "card", "it has been played"


@pytest.mark.parametrize("trump", [Card(COPPE, 7), None])
def test_the_last_card_of_the_stock_is_the_briscola(trump: Card | None) -> None:
    table = Table(COPPE, trump, 0)
    table.stock = 1
    assert table.draw_problem(0, Card(SPADE, 4)) == "card"
    assert table.draw_problem(0, Card(COPPE, 7)) is None
    assert (table.draw_problem(0, Card(COPPE, 6)) is None) is (trump is None)


def test_a_view_shows_what_the_player_may_know() -> None:
    trump = Card(COPPE, 7)
    table = client_table(trump, [Card(SPADE, 3), Card(SPADE, 2), Card(SPADE, 1)])
    table.play(1, Card(BASTONI, 1))
    view = table.view(0, ["p1", "p2"])
    assert (view.me, view.opponent) == ("p1", "p2")
    assert view.legal == view.hand == (Card(SPADE, 1), Card(SPADE, 2), Card(SPADE, 3))
    assert view.led == Card(BASTONI, 1)
    assert (view.trump_suit, view.trump_card, view.stock) == (COPPE, trump, 34)
    assert (view.points, view.trick) == ((0, 0), 1)
    assert len(view.unseen) == 40 - 3 - 1
    assert SUITS[view.trump_suit] == "coppe"
