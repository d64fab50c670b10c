"""The rules of Hearts, once: who must play, what is legal and why not, who wins, what it costs.

A card is the byte of section 5, `suit << 4 | value`; a set of cards is an integer with bit `card`
set, so that following a hand costs a few machine words. A `Hand` follows one hand from what is
public plus whichever hands its owner knows: a player knows its own, the dealer and a reader of a
capture all four.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

SEATS = 4
HAND_SIZE = 13
PASS_SIZE = 3
TRICKS = 13
MOON_POINTS = 26
GAME_POINTS = 100

DIAMONDS, CLUBS, HEARTS, SPADES = range(4)
SYMBOLS = "♦♣♥♠"
VALUES = ("", "A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K")

DECK = bytes(suit << 4 | value for suit in range(4) for value in range(1, 14))
TWO_OF_CLUBS = CLUBS << 4 | 2
QUEEN_OF_SPADES = SPADES << 4 | 12

LEFT, RIGHT, ACROSS, HOLD = range(4)
DIRECTIONS = ("left", "right", "across", "hold")
# How far along the ring the cards go, by direction.
STEPS = (1, 3, 2, 0)

BITS = [1 << card for card in range(64)]
SUIT_SETS = [0x3FFE << 16 * suit for suit in range(4)]
HEART_SET = SUIT_SETS[HEARTS]
POINT_SET = HEART_SET | BITS[QUEEN_OF_SPADES]
POINTS = bytes(13 if card == QUEEN_OF_SPADES else int(card >> 4 == HEARTS) for card in range(64))
LABELS = [VALUES[card & 15] + SYMBOLS[card >> 4] if card in DECK else "" for card in range(64)]
SEAT_NAMES = ("m0", "m1", "m2", "m3")

Ace = Literal["high", "low"]
RANKS: dict[Ace, bytes] = {
    "high": bytes(14 if card & 15 == 1 else card & 15 for card in range(64)),
    "low": bytes(card & 15 for card in range(64)),
}


def as_set(cards: Iterable[int]) -> int:
    """Cards as one integer."""
    bits = 0
    for card in cards:
        bits |= BITS[card]
    return bits


def as_cards(bits: int) -> tuple[int, ...]:
    """The cards of a set, by suit and value."""
    return tuple(card for card in DECK if bits >> card & 1)


def label(cards: int | Iterable[int]) -> str:
    """`Q♠`, or `2♣ Q♠` for several."""
    return LABELS[cards] if isinstance(cards, int) else " ".join(LABELS[card] for card in cards)


def is_card(value: object) -> bool:
    """Whether this is the byte of a card."""
    return isinstance(value, int) and 0 < value < 64 and value in DECK


class Illegal(NamedTuple):
    """Why something is not allowed: the id of the check, and a sentence for people."""

    check: str
    text: str


class Stage(Enum):
    """Where a hand stands. The value completes the sentence "this message does not fit while …"."""

    IDLE = "no game has been started"
    DEALING = "the cards are being dealt"
    DEALT = "the dealt cards wait for START_PHASE"
    PASSING = "cards are being passed"
    PASSED = "the passed cards wait for START_PHASE"
    TRICK = "a trick is being played"
    TRICK_FULL = "the fourth card lies and TRICK_SUMMARY is due"
    HAND_FULL = "the thirteenth trick is over and HAND_SUMMARY is due"
    OVER = "somebody has reached 100 points and GAME_OVER is due"


class Trick(NamedTuple):
    """A finished trick."""

    winner: int
    plays: tuple[tuple[int, int], ...]  # (seat, card), in the order they fell
    points: int


class Score(NamedTuple):
    """A finished hand. `moon` is who took everything, if anyone did."""

    points: tuple[int, ...]
    totals: tuple[int, ...]
    moon: int | None


@dataclass(slots=True)
class View:
    """All that one seat may know when it must choose, and its legal choices."""

    seat: int
    kind: Literal["pass", "play"]
    hand: tuple[int, ...]
    legal: tuple[int, ...]  # "play": choose one; "pass": choose three, as a tuple
    direction: int
    target: int  # who gets the cards we pass
    passed: tuple[int, ...]
    received: tuple[int, ...]
    trick: tuple[tuple[int, int], ...]  # (seat, card) on the table, the leader first
    plays: tuple[tuple[int, int], ...]  # all of this hand, the table included
    voids: tuple[int, ...]  # by seat, the sets of cards it has shown not to have (whole suits)
    broken: bool
    points: tuple[int, ...]  # taken in this hand, by seat
    totals: tuple[int, ...]
    hand_number: int  # from 0
    ranks: bytes  # by card; the dialect's ace is in it

    def why_not(self, card: int) -> Illegal | None:
        """Why this card is not a legal choice now."""
        led = self.trick[0][1] >> 4 if self.trick else None
        return _why_not_of(as_set(self.hand), as_set(self.legal), self.seat, card, led)


def _why_not_of(held: int, legal: int, seat: int, card: int, led: int | None) -> Illegal | None:
    """Why a card is not among the legal ones of a known hand. `led` is the suit on the table, if any."""
    bit = BITS[card]
    if bit & legal:
        return None
    if not bit & held:
        return Illegal("hearts/9.held", f"m{seat} does not hold {LABELS[card]}")
    instead = f"m{seat} can play {label(as_cards(legal))}"
    if led is not None and legal & SUIT_SETS[led]:
        return Illegal("hearts/9.follow", f"{SYMBOLS[led]} was led and must be followed; {instead}")
    if led is not None:
        return Illegal("hearts/9.first-trick", f"no points may fall in the first trick; {instead}")
    if legal == BITS[TWO_OF_CLUBS]:
        return Illegal("hearts/9.first-lead", "the first card of a hand is 2♣")
    return Illegal("hearts/9.hearts", f"hearts are not broken yet, so none can be led; {instead}")


class Hand:
    """One hand, from the deal to its last trick.

    The methods that change it trust their caller; `why_not_pass` and `why_not_play` say beforehand
    what is wrong. `holds[seat]` is None where that hand is not known to us.
    """

    __slots__ = (
        "_best", "_ranks", "_winner", "broken", "dealt", "direction", "holds", "incoming", "passed", "passer",
        "played", "plays", "points", "stage", "trick", "tricks", "turn", "voids",
    )  # fmt: skip

    def __init__(self, direction: int = LEFT, ace: Ace = "high") -> None:
        self.stage = Stage.DEALING
        self.direction = direction
        self.dealt = [False] * SEATS
        self.holds: list[int | None] = [None] * SEATS
        self.passer = 0
        self.passed = [0] * SEATS
        self.incoming = [0] * SEATS
        self.turn: int | None = None  # None: the holder of 2♣, whoever that is
        self.trick: list[tuple[int, int]] = []
        self.plays: list[tuple[int, int]] = []
        self.played = 0
        self.voids = [0] * SEATS
        self.broken = False
        self.points = [0] * SEATS
        self.tricks = 0
        self._ranks = RANKS[ace]
        self._best = 0
        self._winner = 0

    def deal(self, seat: int, cards: Iterable[int] | None) -> None:
        """This seat has its cards; None if we may not look at them."""
        self.dealt[seat] = True
        if cards is not None:
            self.holds[seat] = as_set(cards)
        if all(self.dealt):
            self.stage = Stage.DEALT

    def start_passing(self) -> None:
        """The direction was announced; with `hold` there is nothing to do."""
        self.stage = Stage.PASSED if self.direction == HOLD else Stage.PASSING

    def target(self, seat: int) -> int:
        """Who gets this seat's cards."""
        return (seat + STEPS[self.direction]) % SEATS

    def why_not_pass(
        self, seat: int, cards: Iterable[int] | None, *, of_dealt: bool = False
    ) -> Illegal | None:
        """Why this seat may not pass these cards now (None: some cards we may not look at).

        The text does not say whether cards just received may be passed on. We let others do it, and ask
        of our own players to choose among the cards dealt (`of_dealt`), as at a real table.
        """
        if self.stage is not Stage.PASSING:
            return Illegal("hearts/8.order", f"no card can be passed while {self.stage.value}")
        if seat != self.passer:
            return Illegal("hearts/8.turn", f"it is m{self.passer} who passes now, not m{seat}")
        if cards is None:
            return None
        chosen = tuple(cards)
        if len(chosen) != PASS_SIZE or len(set(chosen)) != PASS_SIZE:
            return Illegal("hearts/9.pass", "exactly three different cards are passed")
        bits = as_set(chosen)
        held = self.holds[seat]
        if held is None:
            wrong = bits & self._elsewhere(seat)
        else:
            wrong = bits & ~(held if of_dealt else held | self.incoming[seat])
        if wrong:
            return Illegal("hearts/9.held", f"m{seat} does not hold {label(as_cards(wrong))}")
        return None

    def pass_cards(self, seat: int, cards: Iterable[int] | None) -> None:
        """The cards leave one hand; they join the other when the tricks begin."""
        if cards is not None:
            bits = as_set(cards)
            target = self.target(seat)
            self.passed[seat] = bits
            self.incoming[target] |= bits
            # A machine may pass on what it received, so the cards may lie in either place.
            self.incoming[seat] &= ~bits
            held = self.holds[seat]
            if held is not None:
                self.holds[seat] = held & ~bits
        self.passer += 1
        if self.passer == SEATS:
            self.stage = Stage.PASSED

    def start_tricks(self) -> None:
        """All cards are where they belong; the holder of 2♣ leads."""
        for seat, held in enumerate(self.holds):
            if held is not None:
                self.holds[seat] = held = held | self.incoming[seat]
                if held & BITS[TWO_OF_CLUBS]:
                    self.turn = seat
        self.stage = Stage.TRICK

    def legal(self, seat: int) -> int:
        """The set this seat may play from, were it its turn. Its hand must be known."""
        held = self.holds[seat] or 0
        if not self.plays:
            return held & BITS[TWO_OF_CLUBS]
        if not self.trick:
            return held if self.broken else held & ~HEART_SET or held
        follow = held & SUIT_SETS[self.trick[0][1] >> 4]
        if follow:
            return follow
        return held if self.tricks else held & ~POINT_SET or held

    def why_not_play(self, seat: int, card: int) -> Illegal | None:
        """Why this seat may not play this card now; None if, as far as we can know, it may."""
        if self.stage is not Stage.TRICK:
            return Illegal("hearts/8.order", f"no card can be played while {self.stage.value}")
        if seat != self.turn and (self.turn is not None or self.holds[seat] is not None):
            whose = "the holder of 2♣ leads" if self.turn is None else f"it is m{self.turn}'s turn"
            return Illegal("hearts/8.turn", f"{whose}, not m{seat}'s")
        if BITS[card] & self.played:
            return Illegal("hearts/9.held", f"{LABELS[card]} was played before in this hand")
        held = self.holds[seat]
        if held is not None:
            led = self.trick[0][1] >> 4 if self.trick else None
            return _why_not_of(held, self.legal(seat), seat, card, led)
        if not self.plays and card != TWO_OF_CLUBS:
            return Illegal("hearts/9.first-lead", f"the first card of a hand is 2♣, not {LABELS[card]}")
        # A hand we do not know can still give itself away.
        if BITS[card] & self._elsewhere(seat):
            return Illegal("hearts/9.held", f"m{seat} does not hold {LABELS[card]}: another hand has it")
        if BITS[card] & self.voids[seat]:
            text = f"m{seat} plays {LABELS[card]} but did not follow {SYMBOLS[card >> 4]} before"
            return Illegal("hearts/9.follow", text)
        return None

    def play(self, seat: int, card: int) -> None:
        """The card lies on the table."""
        bit = BITS[card]
        suit = card >> 4
        trick = self.trick
        if not trick:
            self._best, self._winner = self._ranks[card], seat
        elif suit != (led := trick[0][1] >> 4):
            self.voids[seat] |= SUIT_SETS[led]
        elif self._ranks[card] > self._best:
            self._best, self._winner = self._ranks[card], seat
        trick.append((seat, card))
        self.plays.append((seat, card))
        self.played |= bit
        if suit == HEARTS:
            self.broken = True
        held = self.holds[seat]
        if held is not None:
            self.holds[seat] = held & ~bit
        if len(trick) == SEATS:
            self.stage = Stage.TRICK_FULL
            self.turn = None
        else:
            self.turn = (seat + 1) & 3

    def result(self) -> Trick:
        """The trick on the table, once it has four cards."""
        return Trick(self._winner, tuple(self.trick), sum([POINTS[card] for _, card in self.trick]))

    def finish_trick(self) -> Trick:
        """Take the trick off the table; its winner leads next."""
        trick = self.result()
        self.points[trick.winner] += trick.points
        self.trick = []
        self.tricks += 1
        if self.tricks == TRICKS:
            self.stage = Stage.HAND_FULL
        else:
            self.stage = Stage.TRICK
            self.turn = trick.winner
        return trick

    def _elsewhere(self, seat: int) -> int:
        """The cards we know another seat to hold."""
        bits = 0
        for other, held in enumerate(self.holds):
            if other != seat and held is not None:
                bits |= held
        return bits


class Match:
    """A game: hands until somebody has 100 points. Its stage is `hand.stage`."""

    __slots__ = ("_ace", "hand", "hands", "totals")

    def __init__(self, ace: Ace = "high") -> None:
        self._ace = ace
        self.hands = 0  # finished
        self.totals = [0] * SEATS
        self.hand = Hand(LEFT, ace)
        self.hand.stage = Stage.IDLE

    def start(self) -> None:
        """The first hand may be dealt."""
        self.hand.stage = Stage.DEALING

    def score(self) -> Score:
        """What the hand that was just played costs, and the totals with it."""
        points = list(self.hand.points)
        moon = points.index(MOON_POINTS) if MOON_POINTS in points else None
        if moon is not None:
            points = [0 if seat == moon else MOON_POINTS for seat in range(SEATS)]
        totals = [total + more for total, more in zip(self.totals, points, strict=True)]
        return Score(tuple(points), tuple(totals), moon)

    def finish_hand(self) -> Score:
        """Write the hand down. A new one follows, or the game is over."""
        score = self.score()
        self.totals = list(score.totals)
        self.hands += 1
        if max(self.totals) >= GAME_POINTS:
            self.hand.stage = Stage.OVER
        else:
            self.hand = Hand(self.hands % SEATS, self._ace)
        return score

    @property
    def winner(self) -> int:
        """Who has the least; the lowest id among equals."""
        return self.totals.index(min(self.totals))

    def view(self, seat: int) -> View:
        """What this seat, whose turn it is, may know. Nothing of other hands is in it."""
        hand = self.hand
        passing = hand.stage is Stage.PASSING
        held = as_cards(hand.holds[seat] or 0)
        return View(
            seat=seat,
            kind="pass" if passing else "play",
            hand=held,
            legal=held if passing else as_cards(hand.legal(seat)),
            direction=hand.direction,
            target=hand.target(seat),
            passed=as_cards(hand.passed[seat]),
            # Cards are chosen before those of the neighbour are seen.
            received=() if passing else as_cards(hand.incoming[seat]),
            trick=tuple(hand.trick),
            plays=tuple(hand.plays),
            voids=tuple(hand.voids),
            broken=hand.broken,
            points=tuple(hand.points),
            totals=tuple(self.totals),
            hand_number=self.hands,
            ranks=RANKS[self._ace],
        )
