"""A table without a wire, and a machine whose neighbours are played by the test."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from nodes.core import Finished, Happened, Received, Refused, Send, Sent, Turn
from nodes.hearts.dialect import Dialect
from nodes.hearts.messages import DealHand, Frame, GameStart, PassCards, StartPhase, TokenPass, decode
from nodes.hearts.roles import Node
from nodes.hearts.rules import CLUBS, DECK, DIAMONDS, HEARTS, SPADES, Match, Stage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nodes.core import Event, Player

# Each machine a suit: m1 has the clubs, and so leads.
SUITS = (DIAMONDS, CLUBS, HEARTS, SPADES)
SUITED = [bytes(card for card in DECK if card >> 4 == suit) for suit in SUITS]


def cards(text: str) -> tuple[int, ...]:
    """`QS 10H` as cards."""
    values = ("", "A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K")
    return tuple("DCHS".index(word[-1]) << 4 | values.index(word[:-1]) for word in text.split())


def card(text: str) -> int:
    """`QS` as a card."""
    return cards(text)[0]


def shuffled(rng: Random) -> list[bytes]:
    """Four hands."""
    deck = list(DECK)
    rng.shuffle(deck)
    return [bytes(sorted(deck[seat * 13 : seat * 13 + 13])) for seat in range(4)]


def play_hand(match: Match, players: Sequence[Player], rng: Random) -> tuple[int, ...]:
    """One hand at one table, all hands known; the points of it."""
    hand = match.hand
    for seat, dealt in enumerate(shuffled(rng)):
        hand.deal(seat, dealt)
    hand.start_passing()
    while hand.stage is Stage.PASSING:
        seat = hand.passer
        chosen = players[seat].choose(match.view(seat))
        assert hand.why_not_pass(seat, chosen, of_dealt=True) is None
        hand.pass_cards(seat, chosen)
    hand.start_tricks()
    while hand.stage is not Stage.HAND_FULL:
        while hand.stage is Stage.TRICK:
            turn = hand.turn
            assert turn is not None
            chosen = players[turn].choose(match.view(turn))
            assert hand.why_not_play(turn, chosen) is None
            hand.play(turn, chosen)
        hand.finish_trick()
    return match.finish_hand().points


class Bench:
    """One machine under test; the test is all the others, and the wire."""

    def __init__(self, me: int, dialect: Dialect | None = None, games: int = 1) -> None:
        self.node = Node(me, dialect or Dialect(), Random(1), games)
        self.me = me
        self.now = 100.0
        self.events: list[Event] = []
        self.seqs = [0, 0, 0, 0]
        self.node.start(self.now)

    def sends(self) -> list[bytes]:
        """What it sent since the last call."""
        outputs = self.node.data_to_send(self.now)
        assert all(isinstance(output, Send) and output.peer == "next" for output in outputs)
        return [output.data for output in outputs if isinstance(output, Send)]

    def give(self, data: bytes) -> None:
        """A datagram arrives."""
        self.node.receive(data, "prev", self.now)
        while (event := self.node.next_event()) is not None:
            self.events.append(event)

    def hear(self, frame: Frame, origin: int) -> list[Frame]:
        """Another machine originates this; what our machine says of its own besides forwarding it."""
        frame.origin = origin
        frame.seq = self.seqs[origin]
        self.seqs[origin] = (frame.seq + 1) % 256
        data = frame.encode()
        self.sends()
        self.give(data)
        sent = self.sends()
        assert sent.count(data) == 1, "a well-formed frame is always forwarded"
        return self.loop([other for other in sent if other != data])

    def loop(self, sent: list[bytes] | None = None) -> list[Frame]:
        """All its own messages come back, one after the other."""
        said: list[Frame] = []
        waiting = self.sends() if sent is None else sent
        while waiting:
            data = waiting.pop(0)
            said.append(decode(data))
            self.give(data)
            waiting += self.sends()
        return said

    def act(self, choice: object) -> list[Frame]:
        """Answer the open turn."""
        self.node.act(self.turn(), choice, self.now)
        return self.loop()

    def turn(self) -> Turn:
        """The last question asked."""
        return [event for event in self.events if isinstance(event, Turn)][-1]

    def turns(self) -> int:
        """How many questions were asked."""
        return sum(isinstance(event, Turn) for event in self.events)

    def refused(self) -> list[str]:
        """The check ids so far."""
        return [event.check for event in self.events if isinstance(event, Refused)]

    def kinds(self) -> list[str]:
        """The story's kinds so far."""
        return [event.kind for event in self.events if isinstance(event, Happened)]

    def received(self) -> list[str]:
        """Names of the messages that were acted on."""
        return [
            event.message.NAME
            for event in self.events
            if isinstance(event, Received) and isinstance(event.message, Frame)
        ]

    def originated(self) -> list[str]:
        """Names of the messages it originated, as told."""
        return [
            event.message.NAME
            for event in self.events
            if isinstance(event, Sent) and isinstance(event.message, Frame)
        ]

    def finished(self) -> list[Finished]:
        """The end, if it came."""
        return [event for event in self.events if isinstance(event, Finished)]

    def deal(self, hands: Sequence[bytes] = SUITED) -> None:
        """A game begins and the cards are dealt (for a machine that is not M0)."""
        self.hear(GameStart(), 0)
        for seat, dealt in enumerate(hands):
            self.hear(DealHand(dealt, dest=seat), 0)

    def pass_three(self, hands: Sequence[bytes] = SUITED) -> None:
        """Everybody passes the three lowest cards to the left, ours too."""
        self.hear(StartPhase(0, 0), 0)
        for seat in range(4):
            if seat == self.me:
                self.hear(TokenPass(seat), (seat - 1) % 4)
                self.act(tuple(hands[seat][:3]))
            else:
                self.hear(PassCards(hands[seat][:3], dest=(seat + 1) % 4), seat)
