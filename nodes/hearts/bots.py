"""Who plays Hearts by itself: `random`, and `sensible`, who tries not to take points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodes.core import Player
from nodes.hearts.rules import (
    HEARTS,
    PASS_SIZE,
    POINT_SET,
    POINTS,
    QUEEN_OF_SPADES,
    SEATS,
    SPADES,
    SUIT_SETS,
    as_set,
)

if TYPE_CHECKING:
    from random import Random

    from nodes.hearts.rules import View


class RandomPlayer(Player):
    """Any legal choice."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def choose(self, view: View) -> tuple[int, ...] | int:
        if view.kind == "pass":
            return tuple(self._rng.sample(view.legal, PASS_SIZE))
        return self._rng.choice(view.legal)


class SensiblePlayer(Player):
    """Passes what is dangerous, ducks under the winner, and gives points away when it cannot follow."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def choose(self, view: View) -> tuple[int, ...] | int:
        if view.kind == "pass":
            return self._pass(view)
        if len(view.legal) == 1:
            return view.legal[0]
        if not view.trick:
            return self._lead(view)
        if view.legal[0] >> 4 == view.trick[0][1] >> 4:
            return self._follow(view)
        return self._discard(view)

    def _pass(self, view: View) -> tuple[int, ...]:
        ranks = view.ranks
        lengths = [sum(card >> 4 == suit for card in view.hand) for suit in range(4)]
        low_spades = sum(card >> 4 == SPADES and card < QUEEN_OF_SPADES for card in view.hand)

        def danger(card: int) -> float:
            suit = card >> 4
            if suit == SPADES:
                # The queen and what lies above her are safe only behind enough small spades.
                above = card == QUEEN_OF_SPADES or ranks[card] > ranks[QUEEN_OF_SPADES]
                return (40.0 if low_spades < 4 else 2.0) + ranks[card] if above else 0.0
            # High cards of a short suit are sure to take a trick, and a void is a place for discards.
            return ranks[card] + 2.0 * (6 - lengths[suit]) + (3.0 if suit == HEARTS else 0.0)

        return tuple(sorted(view.legal, key=danger)[-PASS_SIZE:])

    def _lead(self, view: View) -> int:
        ranks = view.ranks
        seen = as_set(card for _, card in view.plays) | as_set(view.hand)
        queen_out = not seen >> QUEEN_OF_SPADES & 1

        def risk(card: int) -> float:
            suit = card >> 4
            unseen = SUIT_SETS[suit] & ~seen
            lower = sum(unseen >> (suit << 4 | value) & 1 and ranks[suit << 4 | value] < ranks[card]
                        for value in range(1, 14))  # fmt: skip
            higher = unseen.bit_count() - lower
            score = float(lower)
            if not higher:
                score += 8.0  # nobody can take the trick from us; with nobody following, points rain
            if card == QUEEN_OF_SPADES:
                score += 30.0
            elif suit == SPADES and queen_out:
                # Small spades draw the queen out; the king and the ace may catch her.
                score += 20.0 if ranks[card] > ranks[QUEEN_OF_SPADES] else -2.0
            elif suit == HEARTS:
                score += 1.0
            return score + 0.01 * self._rng.random()

        return min(view.legal, key=risk)

    def _follow(self, view: View) -> int:
        ranks = view.ranks
        suit = view.trick[0][1] >> 4
        best = max(ranks[card] for _, card in view.trick if card >> 4 == suit)
        if QUEEN_OF_SPADES in view.legal and ranks[QUEEN_OF_SPADES] < best:
            return QUEEN_OF_SPADES
        cards = sorted((card for card in view.legal if card != QUEEN_OF_SPADES), key=lambda card: ranks[card])
        under = [card for card in cards if ranks[card] < best]
        first = len(view.plays) == len(view.trick)
        last = len(view.trick) == SEATS - 1
        # The first trick carries no points, and who plays last sees whether there are any.
        free = first or (last and not any(POINTS[card] for _, card in view.trick))
        if under and not free:
            return under[-1]
        # What takes the trick anyway may as well be high; else somebody may still go above a low card.
        return cards[-1] if free or last else cards[0]

    def _discard(self, view: View) -> int:
        ranks = view.ranks
        if QUEEN_OF_SPADES in view.legal:
            return QUEEN_OF_SPADES
        played = as_set(card for _, card in view.plays)
        queen_out = not played >> QUEEN_OF_SPADES & 1
        lengths = [sum(card >> 4 == suit for card in view.hand) for suit in range(4)]

        def burden(card: int) -> float:
            suit = card >> 4
            weight = float(ranks[card])
            if suit == SPADES and queen_out and ranks[card] > ranks[QUEEN_OF_SPADES]:
                weight += 20.0
            if 1 << card & POINT_SET:
                weight += 8.0
            return weight - 0.5 * lengths[suit] + 0.01 * self._rng.random()

        return max(view.legal, key=burden)
