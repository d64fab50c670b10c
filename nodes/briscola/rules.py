"""Briscola for two: cards, tricks, draws and points. The only place where a rule is written.

One `Table` serves whoever looks at it: the server sees both hands, a client has the other
hand hidden. `Deal` is the table of the one who also holds the deck.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SUITS = ("denari", "spade", "coppe", "bastoni")
SUIT_SYMBOLS = "♦♠♥♣"
NUMBERS = ("asso", "due", "tre", "quattro", "cinque", "sei", "sette", "fante", "cavallo", "re")
NUMBER_SYMBOLS = ("A", "2", "3", "4", "5", "6", "7", "F", "C", "R")

# "A 3 K C F 7 6 5 4 2; points 11 10 4 3 2"
STRENGTH = {number: i for i, number in enumerate((2, 4, 5, 6, 7, 8, 9, 10, 3, 1))}
POINTS = {1: 11, 3: 10, 10: 4, 9: 3, 8: 2}
POINTS_TOTAL = 120
HAND_SIZE = 3
TRICKS = 20

Side = int  # 0 or 1
Problem = Literal["turn", "card"]


@dataclass(frozen=True, slots=True, order=True)
class Card:
    """`suit` 0–3 and `number` 1–10, as the text numbers them."""

    suit: int
    number: int

    @property
    def points(self) -> int:
        return POINTS.get(self.number, 0)

    @property
    def strength(self) -> int:
        return STRENGTH[self.number]

    @property
    def name(self) -> str:
        """As one says it: asso di spade."""
        return f"{NUMBERS[self.number - 1]} di {SUITS[self.suit]}"

    def __str__(self) -> str:
        return f"{NUMBER_SYMBOLS[self.number - 1]}{SUIT_SYMBOLS[self.suit]}"


DECK = tuple(Card(suit, number) for suit in range(4) for number in range(1, 11))


def answer_wins(lead: Card, answer: Card, trump_suit: int) -> bool:
    """Whether the second card of a trick takes it."""
    if answer.suit == lead.suit:
        return answer.strength > lead.strength
    return answer.suit == trump_suit


@dataclass(frozen=True, slots=True)
class Trick:
    """Two cards, and whose they are now."""

    lead: Card
    answer: Card
    winner: Side
    points: int


@dataclass(frozen=True, slots=True)
class View:
    """All that the player to move may know."""

    me: str
    opponent: str
    hand: tuple[Card, ...]
    led: Card | None  # the opponent's card on the table; None: we lead
    trump_suit: int
    trump_card: Card | None  # the turned-up card; None where INIT told the suit only
    stock: int  # cards left to draw, the turned-up one included
    points: tuple[int, int]  # mine, the opponent's
    trick: int  # 1 … 20
    unseen: tuple[Card, ...]  # neither in my hand nor played; with no stock, the opponent's hand

    @property
    def legal(self) -> tuple[Card, ...]:
        """There is no duty to follow suit."""
        return self.hand


class Table:
    """One game as seen from one chair: both hands, or one of them hidden."""

    def __init__(
        self, trump_suit: int, trump_card: Card | None, leader: Side, hidden: Side | None = None
    ) -> None:
        self.trump_suit = trump_suit
        self.trump_card = trump_card
        self.leader = leader
        self.hands: tuple[list[Card], list[Card]] = ([], [])  # the hidden one stays empty
        self.stock = len(DECK)
        self.led: Card | None = None
        self.played: set[Card] = set()
        self.points = [0, 0]
        self.tricks = 0
        self._hidden = hidden
        self._due = deque((leader, 1 - leader) * HAND_SIZE)
        self._draw_hidden()

    @property
    def over(self) -> bool:
        return self.tricks == TRICKS

    @property
    def winner(self) -> Side | None:
        """Who has more points; None at 60–60."""
        mine, theirs = self.points
        return None if mine == theirs else int(theirs > mine)

    @property
    def to_draw(self) -> Side | None:
        """Who takes the next card of the stock, if one is due."""
        return self._due[0] if self._due else None

    @property
    def to_move(self) -> Side | None:
        """Whose turn it is to play; None while cards are due and after the last trick."""
        if self._due or self.over:
            return None
        return self.leader if self.led is None else 1 - self.leader

    def draw_problem(self, side: Side, card: Card) -> Problem | None:
        """What speaks against that side drawing that card."""
        if self.to_draw != side:
            return "turn"
        known = card in self.played or card in self.hands[side] or card in self.hands[1 - side]
        return "card" if known or not self._drawn_in_order(card) else None

    def draw(self, side: Side, card: Card) -> None:
        """The next card of the stock goes to that side."""
        assert self.draw_problem(side, card) is None
        self.hands[side].append(card)
        self._take_due()
        self._draw_hidden()

    def play_problem(self, side: Side, card: Card) -> Problem | None:
        """What speaks against that side playing that card."""
        if self.to_move != side:
            return "turn"
        if side != self._hidden:
            return None if card in self.hands[side] else "card"
        in_stock = self.stock > 0 and card == self.trump_card
        return "card" if in_stock or card in self.played or card in self.hands[1 - side] else None

    def play(self, side: Side, card: Card) -> Trick | None:
        """A card falls; the trick, if it was the second one."""
        assert self.play_problem(side, card) is None
        if side != self._hidden:
            self.hands[side].remove(card)
        self.played.add(card)
        if self.led is None:
            self.led = card
            return None
        winner = side if answer_wins(self.led, card, self.trump_suit) else self.leader
        trick = Trick(self.led, card, winner, self.led.points + card.points)
        self.points[winner] += trick.points
        self.tricks += 1
        self.leader, self.led = winner, None
        if self.stock:
            self._due.extend((winner, 1 - winner))  # "winner of the trick draws first and leads"
            self._draw_hidden()
        return trick

    def view(self, side: Side, names: Sequence[str]) -> View:
        """What the player on that side may know."""
        hand = self.hands[side]
        return View(
            me=names[side],
            opponent=names[1 - side],
            hand=tuple(sorted(hand)),
            led=self.led,
            trump_suit=self.trump_suit,
            trump_card=self.trump_card,
            stock=self.stock,
            points=(self.points[side], self.points[1 - side]),
            trick=self.tricks + 1,
            unseen=tuple(card for card in DECK if card not in hand and card not in self.played),
        )

    def _drawn_in_order(self, card: Card) -> bool:
        """ "the briscola card is drawn last": it comes as the last card, and no other does."""
        if self.stock > 1:
            return card != self.trump_card
        return card == self.trump_card or (self.trump_card is None and card.suit == self.trump_suit)

    def _take_due(self) -> None:
        self._due.popleft()
        self.stock -= 1

    def _draw_hidden(self) -> None:
        """Nobody tells us of the hidden hand's draws; they happen when they are due."""
        while self._due and self._due[0] == self._hidden:
            self._take_due()


class Deal(Table):
    """The table of the one who holds the deck; its last card is the briscola."""

    def __init__(self, deck: Iterable[Card], leader: Side) -> None:
        self._deck = deque(deck)
        super().__init__(self._deck[-1].suit, self._deck[-1], leader)

    def deal(self) -> list[tuple[Side, Card]]:
        """Give every card that is due, in order."""
        given = []
        while (side := self.to_draw) is not None:
            card = self._deck.popleft()
            self.draw(side, card)
            given.append((side, card))
        return given
