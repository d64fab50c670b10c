"""No-limit Texas hold'em. pokerkit referees: hands, betting, pots; here is which hold'em it is.

Importing pokerkit costs about 160 ms, so only the server's side imports this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pokerkit import (
    Automation,
    BettingStructure,
    Card,
    Deck,
    Mode,
    Opening,
    StandardHighHand,
    State,
    Street,
)
from pokerkit.state import Pot

from nodes.holdem.dialect import Dialect

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from random import Random

STACK = 20_000
SMALL_BLIND, BIG_BLIND = 50, 100
RAISES_MAX = 4  # a street
DECK = tuple(repr(card) for card in Deck.STANDARD)


class _Referee(State):
    """pokerkit's state, but for what unruly players break and for its use of the global generator."""

    def get_dealable_cards(self, *_: object, **__: object) -> Iterator[Card]:
        """The deck as it lies: 52 cards are enough for ten, so mucked ones are never shuffled back in."""
        yield from self.deck_cards

    def verify_folding(self) -> None:
        """Whoever is to act may fold, even where a check is free: the text lists both as legal."""

    @property
    def pots(self) -> Iterator[Pot]:
        """A pot whose every contributor has folded goes to those still in, never nowhere."""
        pots = list(super().pots)
        live = tuple(i for i in self.player_indices if self.statuses[i])
        if pots and len(live) == 1:
            pots = [Pot(0, sum(pot.unraked_amount for pot in pots), live)]
        while pots and not pots[-1].player_indices:
            orphan = pots.pop()
            pots[-1].unraked_amount += orphan.unraked_amount
        yield from pots


class Hand:
    """One hand. Seats are positions: 0 posts the small blind, 1 the big one."""

    def __init__(self, stacks: Sequence[int], deck: Sequence[str], dialect: Dialect | None = None) -> None:
        self._dialect = dialect or Dialect()
        self.size = len(stacks)
        self.total_money = tuple(stacks)
        self.private_card = tuple(tuple(deck[2 * i : 2 * i + 2]) for i in range(self.size))
        # (position, action, timestamp), a list for each street dealt so far
        self.action_history: list[list[tuple[int, str, str]]] = [[]]
        self.folded: set[int] = set()
        self._board = tuple(deck[2 * self.size : 2 * self.size + 5])
        self._paid_in = [0] * self.size
        # pokerkit sits a heads-up pair the other way round: its player 1 has the small blind.
        self._index = (1, 0) if self.size == 2 else tuple(range(self.size))
        self._state = self._referee(deck)
        self._run()

    def _referee(self, deck: Sequence[str]) -> _Referee:
        cap = RAISES_MAX if self._dialect.raises == "capped" else None
        streets = tuple(
            Street(False, hole, board, False, Opening.POSITION, BIG_BLIND, cap)
            for hole, board in (((False, False), 0), ((), 3), ((), 1), ((), 1))
        )
        state = _Referee(
            (
                Automation.ANTE_POSTING,
                Automation.BET_COLLECTION,
                Automation.HOLE_CARDS_SHOWING_OR_MUCKING,
                Automation.HAND_KILLING,
                Automation.CHIPS_PULLING,
            ),
            (),  # type: ignore[arg-type] # an empty deck, or pokerkit shuffles it with the global generator
            (StandardHighHand,),
            streets,
            BettingStructure.NO_LIMIT,
            True,
            0,
            (SMALL_BLIND, BIG_BLIND),
            0,
            [self.total_money[i] for i in self._index],
            self.size,
            mode=Mode.TOURNAMENT,
        )
        state.deck_cards.extend(card for name in deck for card in Card.parse(name))
        while state.can_post_blind_or_straddle():  # only now: dealing begins after it and counts the deck
            state.post_blind_or_straddle()
        for seat in range(self.size):
            state.deal_hole("".join(self.private_card[seat]), self._index[seat])
        return state

    @property
    def actor(self) -> int:
        """The position to act, or -1 when the hand is over."""
        actor = self._state.actor_index
        return -1 if actor is None else self._index[actor]

    @property
    def public_card(self) -> tuple[str, ...]:
        return tuple(repr(card) for cards in self._state.board_cards for card in cards)

    @property
    def legal_actions(self) -> tuple[str, ...]:
        """What the actor may do; "call和check必定只有一个有效"."""
        if self.actor < 0:
            return ()
        match_bet = "call" if self._state.checking_or_calling_amount else "check"
        return ("fold", match_bet, "raise") if self.raise_range else ("fold", match_bet)

    @property
    def raise_range(self) -> tuple[int, ...]:
        """The least and the greatest total of this street the actor may raise to, or ()."""
        low = self._state.min_completion_betting_or_raising_to_amount
        high = self._state.max_completion_betting_or_raising_to_amount
        return () if low is None or high is None else (low, high)

    def money_left(self, seat: int) -> int:
        """The stack; once the hand is over, winnings are in it."""
        return self._state.stacks[self._index[seat]]

    def money_unwon(self, seat: int) -> int:
        """The stack as it was before the pots were paid out."""
        return self.total_money[seat] - self._paid_in[seat]

    def win_money(self, seat: int) -> int:
        return self.money_left(seat) - self.total_money[seat]

    def act(self, word: str, amount: int = 0, timestamp: str = "") -> None:
        """Let the actor do one of its legal actions; a raise names the total for this street."""
        if word == "fold":
            self.fold(self.actor, timestamp)
            return
        self.action_history[-1].append((self.actor, f"r{amount}" if word == "raise" else word, timestamp))
        if word == "raise":
            self._state.complete_bet_or_raise_to(amount)
        else:
            self._state.check_or_call()
        self._run()

    def fold(self, seat: int, timestamp: str = "") -> bool:
        """Fold a seat, in turn or not. False: it has folded already, or is all in with nothing to give up."""
        state, index = self._state, self._index[seat]
        if self.actor < 0 or seat in self.folded or not state.stacks[index]:
            return False
        if index in state.actor_indices:
            state.actor_indices.remove(index)
        state.actor_indices.appendleft(index)
        self.action_history[-1].append((seat, "fold", timestamp))
        self.folded.add(seat)
        state.fold()
        self._run()
        return True

    def _run(self) -> None:
        """Deal and pay until somebody has to decide, or the hand is over."""
        state = self._state
        while state.status:
            if state.can_deal_board():
                self._deal_board()
            elif state.can_push_chips():
                self._pay()
            elif self._nothing_to_decide():
                state.check_or_call()
            else:
                return

    def _deal_board(self) -> None:
        state = self._state
        dealt = len(state.board_cards)
        self.action_history.append([])
        state.deal_board("".join(self._board[dealt : max(3, dealt + 1)]))
        if self._dialect.first_to_act == "from-1" and self.size > 2 and self.actor == 0:
            state.actor_indices.rotate(-1)

    def _pay(self) -> None:
        state = self._state
        self._paid_in = [self.total_money[i] - state.stacks[self._index[i]] for i in range(self.size)]
        while state.can_push_chips():
            state.push_chips()

    def _nothing_to_decide(self) -> bool:
        """The last one with chips, all others out or all in, and no bet to meet."""
        state = self._state
        return state.checking_or_calling_amount == 0 and not any(
            state.statuses[i] and state.stacks[i] for i in state.player_indices if i != state.actor_index
        )


class Match:
    """Several hands between the same players: who sits where, and with how much."""

    def __init__(self, names: Sequence[str], rng: Random, dialect: Dialect) -> None:
        # Sorted, so that nothing depends on who arrived first.
        self._names = tuple(sorted(names))
        self._rng = rng
        self._dialect = dialect
        self._purses = dict.fromkeys(self._names, STACK)
        self.dealt = 0
        self.seats: tuple[str, ...] = self._names  # names by position

    def deal(self) -> Hand:
        """The next hand. The big blind becomes the small blind, and so on round the table."""
        shift = self.dealt % len(self._names) if self._dialect.seats == "rotate" else 0
        self.seats = self._names[shift:] + self._names[:shift]
        self.dealt += 1
        deck = list(DECK)
        self._rng.shuffle(deck)
        return Hand([self._purses[name] for name in self.seats], deck, self._dialect)

    def settle(self, hand: Hand) -> None:
        """Carry the stacks over, if the dialect says so. Who has nothing left buys in anew."""
        if self._dialect.stacks == "carry-over":
            self._purses = {name: hand.money_left(i) or STACK for i, name in enumerate(self.seats)}
