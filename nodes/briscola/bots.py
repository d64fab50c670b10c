"""Who plays when nobody sits there: `random`, and `sensible`, who counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodes.briscola.rules import answer_wins
from nodes.core import Player

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from random import Random

    from nodes.briscola.rules import Card, View

LOAD_POINTS = 10  # "carico": an ace or a three


class RandomBot(Player):
    """Any card of the hand."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def choose(self, view: View) -> Card:
        return self._rng.choice(view.legal)


class SensibleBot(Player):
    """Keeps briscole and loads, takes what is worth taking, and plays the last three tricks perfectly."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def choose(self, view: View) -> Card:
        if view.stock == 0:
            return _endgame(view)
        cost = self._lead_cost if view.led is None else self._answer_cost
        best = min(cost(view, card) for card in view.legal)
        return self._rng.choice([card for card in view.legal if cost(view, card) == best])

    def _lead_cost(self, view: View, card: Card) -> float:
        """What leading this card is likely to lose: its points by the chance that they are taken."""
        takers = sum(answer_wins(card, other, view.trump_suit) for other in view.unseen)
        return _keep(view, card) + card.points * min(1.0, 3 * takers / len(view.unseen))

    def _answer_cost(self, view: View, card: Card) -> float:
        """What the trick brings or costs, and what the card would still have been worth."""
        assert view.led is not None
        stake = view.led.points + card.points
        if answer_wins(view.led, card, view.trump_suit):
            return _keep(view, card) - stake
        return _keep(view, card) + stake


def _keep(view: View, card: Card) -> float:
    """What a card is worth in the hand: a briscola takes tricks later, a load falls to one."""
    if card.suit == view.trump_suit:
        return 4.0 + card.strength + (4.0 if card.points >= LOAD_POINTS else 0.0)
    return 0.1 * card.strength


def _endgame(view: View) -> Card:
    """With no stock the opponent's hand is what we have not seen: look at every line to the end."""
    mine, theirs = tuple(view.hand), tuple(view.unseen)
    return max(view.legal, key=lambda card: _gain(mine, theirs, view.led, card, view.trump_suit))


def _gain(mine: tuple[Card, ...], theirs: tuple[Card, ...], led: Card | None, card: Card, trump: int) -> int:
    """My points minus theirs from here on, if I play this card and both go on as well as can be."""
    mine = _without(mine, card)
    if led is None:  # the other side answers, as well as it can
        return -max(_gain(theirs, mine, card, answer, trump) for answer in theirs)
    stake = led.points + card.points
    if answer_wins(led, card, trump):
        return stake + max((_gain(mine, theirs, None, lead, trump) for lead in mine), default=0)
    return -stake - max((_gain(theirs, mine, None, lead, trump) for lead in theirs), default=0)


def _without(hand: tuple[Card, ...], card: Card) -> tuple[Card, ...]:
    return tuple(other for other in hand if other != card)


BOTS: Mapping[str, Callable[[Random], Player]] = {"random": RandomBot, "sensible": SensibleBot}
