"""The bots play legal cards, and the sensible one plays better."""

from __future__ import annotations

from random import Random

import pytest

from nodes.briscola.bots import BOTS, SensibleBot
from nodes.briscola.game import GAME
from nodes.briscola.rules import DECK, Card, Deal, View

DENARI, SPADE, COPPE, BASTONI = range(4)


def view(
    hand: list[Card], led: Card | None = None, *, stock: int = 20, unseen: list[Card] | None = None
) -> View:
    return View(
        me="p1",
        opponent="p2",
        hand=tuple(hand),
        led=led,
        trump_suit=COPPE,
        trump_card=Card(COPPE, 7),
        stock=stock,
        points=(0, 0),
        trick=5,
        unseen=tuple(unseen or (card for card in DECK if card not in hand and card != led)),
    )


def play(names: tuple[str, str], seed: int) -> Deal:
    """One game without a network."""
    rng = Random(seed)
    deck = list(DECK)
    rng.shuffle(deck)
    deal = Deal(deck, seed % 2)
    bots = [BOTS[name](Random(f"{seed}/{side}")) for side, name in enumerate(names)]
    while not deal.over:
        deal.deal()
        side = deal.to_move
        assert side is not None
        choice = bots[side].choose(deal.view(side, ["p1", "p2"]))
        deal.play(side, choice)
    return deal


def test_the_game_offers_random_and_sensible() -> None:
    assert set(GAME.bots) == {"random", "sensible"}
    assert GAME.default_bots == {"client": "sensible"}


def test_sensible_beats_random_clearly() -> None:
    games = [play(("sensible", "random"), seed) for seed in range(200)]
    wins = sum(game.winner == 0 for game in games)
    assert wins > 160
    assert sum(game.points[0] for game in games) / len(games) > 75


@pytest.mark.parametrize("name", ["random", "sensible"])
def test_a_bot_plays_the_same_from_the_same_seed(name: str) -> None:
    first, second = (play((name, name), 11) for _ in range(2))
    assert first.points == second.points


@pytest.mark.parametrize(
    ("hand", "led", "choice"),
    [
        # throws a liscio, keeps briscole and loads
        ([Card(SPADE, 1), Card(DENARI, 2), Card(COPPE, 4)], None, Card(DENARI, 2)),
        # a briscola takes a load
        ([Card(DENARI, 4), Card(DENARI, 2), Card(COPPE, 4)], Card(SPADE, 1), Card(COPPE, 4)),
        # the smaller briscola is enough
        ([Card(COPPE, 1), Card(DENARI, 2), Card(COPPE, 4)], Card(SPADE, 1), Card(COPPE, 4)),
        # a load takes its own suit
        ([Card(SPADE, 1), Card(DENARI, 2), Card(COPPE, 4)], Card(SPADE, 10), Card(SPADE, 1)),
        # nothing is at stake: no briscola
        ([Card(DENARI, 4), Card(COPPE, 5), Card(COPPE, 4)], Card(SPADE, 2), Card(DENARI, 4)),
        # a load that cannot take is not thrown in
        ([Card(DENARI, 1), Card(BASTONI, 6), Card(SPADE, 3)], Card(COPPE, 2), Card(BASTONI, 6)),
    ],
)
def test_sensible_does_what_one_would(hand: list[Card], led: Card | None, choice: Card) -> None:
    assert SensibleBot(Random(1)).choose(view(hand, led)) == choice


def test_the_last_tricks_are_played_perfectly() -> None:
    """The opponent holds 4♥ and 3♠. The ace falls to the briscola, but then ours takes the three."""
    hand = [Card(COPPE, 2), Card(DENARI, 1)]
    seen = view(hand, stock=0, unseen=[Card(COPPE, 4), Card(SPADE, 3)])
    assert SensibleBot(Random(1)).choose(seen) == Card(DENARI, 1)
    # Answering: the ace of spade is taken now, for nothing will stop it later but the briscola.
    seen = view([Card(COPPE, 2), Card(DENARI, 1)], Card(SPADE, 1), stock=0, unseen=[Card(DENARI, 2)])
    assert SensibleBot(Random(1)).choose(seen) == Card(COPPE, 2)
    seen = view([Card(COPPE, 2)], stock=0, unseen=[Card(DENARI, 2)])
    assert SensibleBot(Random(1)).choose(seen) == Card(COPPE, 2)
