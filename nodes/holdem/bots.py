"""Who plays when no person does. None of them needs the referee, so none waits for its import."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from nodes.core import Player
from nodes.holdem.messages import RANKS, SUITS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

    from nodes.holdem.roles import View

DECK = tuple(rank + suit for rank in RANKS for suit in SUITS)
SAMPLES = 80
RIVALS_MAX = 3  # in a sample; more say little and cost time


class RandomBot(Player):
    """Any legal action, but neither folds for free nor bets the house every other hand."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def choose(self, view: View) -> str:
        draw = self._rng.random()
        if draw < 0.2 and "raise" in view.legal_actions:
            low, high = view.raise_range
            return f"r{min(high, self._rng.randint(low, 3 * low))}"
        if draw < 0.35 and "call" in view.legal_actions:
            return leave(view)
        return stay(view)


class CallerBot(Player):
    """Always checks or calls."""

    def __init__(self, rng: Random) -> None:
        del rng

    def choose(self, view: View) -> str:
        return stay(view)


class SensibleBot(Player):
    """Good cards before the flop, a fair price after it."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def choose(self, view: View) -> str:
        if not view.public_card:
            return self._before_flop(view)
        rivals = len(view.opponents)
        fair = 1 / (rivals + 1)
        chance = equity(view.private_card, view.public_card, rivals, self._rng)
        if chance > min(0.85, fair + 0.25):
            return self._raise(view, 0.7)
        price = view.to_call / max(1, view.pot + view.to_call)
        return stay(view) if not view.to_call or chance > price + 0.05 else leave(view)

    def _before_flop(self, view: View) -> str:
        score = chen(view.private_card)
        price = view.to_call / max(1, view.players[view.position].total_money)
        if score >= 10 and price < 0.1:
            return self._raise(view, 1.0)
        # A score of 20 is a pair of aces; a dear call wants cards that are worth it.
        if score >= 5 + 40 * price or not view.to_call:
            return stay(view)
        return leave(view)

    def _raise(self, view: View, share: float) -> str:
        """Raise by a share of the pot, or as near to it as the range has it."""
        if "raise" not in view.legal_actions:
            return stay(view)
        low, high = view.raise_range
        return f"r{min(high, max(low, low + int(share * view.pot) // 50 * 50))}"


def stay(view: View) -> str:
    """Check where it is free, else call."""
    return "check" if "check" in view.legal_actions else "call"


def leave(view: View) -> str:
    """Fold where the server offers it, as it should."""
    return "fold" if "fold" in view.legal_actions else stay(view)


def chen(cards: Sequence[str]) -> float:
    """Bill Chen's formula for two cards: 20 for a pair of aces, about 0 for seven and two."""
    if len(cards) != 2:
        return 0.0  # a server that shows us no cards
    high, low = sorted((RANKS.index(card[0]) for card in cards), reverse=True)
    points = {12: 10.0, 11: 8.0, 10: 7.0, 9: 6.0}.get(high, (high + 2) / 2)
    if high == low:
        return max(5.0, points * 2)
    gap = high - low - 1
    points -= (0, 1, 2, 4)[gap] if gap < 4 else 5
    points += 1 if gap < 2 and high < 10 else 0  # room for a straight above
    return points + (2 if cards[0][1] == cards[1][1] else 0)


def equity(private: Sequence[str], public: Sequence[str], rivals: int, rng: Random) -> float:
    """How often these cards win against so many unknown hands, by trying."""
    unseen = [card for card in DECK if card not in private and card not in public]
    missing, rivals = 5 - len(public), min(rivals, RIVALS_MAX)
    won = 0.0
    for _ in range(SAMPLES):
        drawn = rng.sample(unseen, missing + 2 * rivals)
        board = [*public, *drawn[:missing]]
        mine = strength([*private, *board])
        best = max((strength([*drawn[i : i + 2], *board]) for i in range(missing, len(drawn), 2)), default=())
        won += 1.0 if mine > best else 0.5 if mine == best else 0.0
    return won / SAMPLES


def strength(cards: Sequence[str]) -> tuple[int, ...]:
    """The best five of these cards, as a tuple that compares as hands do. The referee does not use it."""
    ranks = [RANKS.index(card[0]) for card in cards]
    suit, most = Counter(card[1] for card in cards).most_common(1)[0]
    suited = [RANKS.index(card[0]) for card in cards if card[1] == suit] if most >= 5 else []
    if suited and (top := straight(suited)) >= 0:
        return (8, top)
    groups = sorted(((count, rank) for rank, count in Counter(ranks).items()), reverse=True)
    shape, order = [count for count, _ in groups], [rank for _, rank in groups]
    if shape[0] == 4:
        return (7, order[0], max(order[1:]))
    if shape[:2] in ([3, 3], [3, 2]):
        return (6, *order[:2])
    if suited:
        return (5, *sorted(suited, reverse=True)[:5])
    if (top := straight(ranks)) >= 0:
        return (4, top)
    if shape[0] == 3:
        return (3, *order[:3])
    if shape[:2] == [2, 2]:
        return (2, *order[:2], max(order[2:]))
    return (1, *order[:4]) if shape[0] == 2 else (0, *order[:5])


def straight(ranks: Sequence[int]) -> int:
    """The highest rank of five in a row, the ace counting low too, or -1."""
    have = {*ranks, *([-1] if 12 in ranks else [])}
    return max((top for top in have if have.issuperset(range(top - 4, top))), default=-1)


BOTS: dict[str, Callable[[Random], Player]] = {
    "random": RandomBot,
    "sensible": SensibleBot,
    "caller": CallerBot,
}
