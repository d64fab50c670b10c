"""What one machine of the ring does: follow every message, act when it has the token, and as M0 lead.

Every message takes effect exactly once: another's when it arrives new, our own when it is back, and so
when all four machines have seen it. Only our token is given up at once, when we pass it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn

from nodes.core import Core, Finished, Happened, LocalProtocolError, Received, RemoteProtocolError, Turn
from nodes.hearts.messages import (
    BROADCAST,
    NO_MOON,
    PASSING,
    TRICKS,
    DealHand,
    Frame,
    GameOver,
    GameStart,
    HandSummary,
    PassCards,
    PlayCard,
    StartPhase,
    TokenPass,
    TrickSummary,
)
from nodes.hearts.rules import (
    DECK,
    DIRECTIONS,
    HAND_SIZE,
    HOLD,
    LABELS,
    SEAT_NAMES,
    SEATS,
    Match,
    Stage,
    as_cards,
    is_card,
    label,
)
from nodes.hearts.transport import Ring

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from nodes.core import Json, Output, Peer
    from nodes.hearts.dialect import Dialect
    from nodes.hearts.rules import Score

DEALER = 0

# The text knows no repeats. But four machines of a real ring do not start at the same instant, so M0
# repeats its first GAME_START, and nothing else, until it has returned once.
BOOT_REPEAT_S = 0.5


class Node(Core):
    """Machine `me` of the ring; machine 0 also deals and keeps the score."""

    def __init__(self, me: int, dialect: Dialect, rng: Random, games: int = 1) -> None:
        super().__init__()
        self.me = me
        self.name = SEAT_NAMES[me]
        self.match = Match(dialect.ace)
        self._dialect = dialect
        self._rng = rng
        self._games = games
        self._game = 1  # the number of the current one
        self._results: list[Json] = []
        self._ring = Ring(me, self._events)
        self._token = me == DEALER  # "M0 inicia com o bastão."
        self._turn: Turn | None = None

    def start(self, now: float) -> None:
        if self.me == DEALER:
            self._ring.send(GameStart(), now, repeat_every_s=BOOT_REPEAT_S)

    def receive(self, data: bytes, peer: Peer, now: float) -> None:
        try:
            frame = self._ring.receive(data, now)
            if frame is None or self.done:
                return
            accept, stages, dealer_only, dest = _ACCEPT[type(frame)]
            if dealer_only and frame.origin != DEALER:
                _refuse("hearts/2.dealer", f"{frame.NAME} is for m0 to send, not m{frame.origin}")
            if dest != "any" and (frame.dest == BROADCAST) != (dest == "all"):
                _refuse("hearts/4.dest", f"{frame.NAME} does not go to {_dest_name(frame.dest)}")
            if stages and self.match.hand.stage not in stages:
                _refuse("hearts/8.order", f"{frame.NAME} does not fit while {self.match.hand.stage.value}")
            before = len(self._events)
            accept(self, frame, now)
            if frame.origin != self.me:
                self._events.insert(before, Received(peer, frame))  # told before what it led to
        except RemoteProtocolError as error:
            self._refuse(peer, error, data)

    def act(self, turn: Turn, choice: Any, now: float) -> None:
        if turn is not self._turn:
            return
        hand = self.match.hand
        frame: Frame
        if hand.stage is Stage.PASSING:
            if not (isinstance(choice, tuple | list | bytes) and all(is_card(card) for card in choice)):
                raise LocalProtocolError("hearts/9.pass", "exactly three different cards are passed")
            illegal = hand.why_not_pass(self.me, choice, of_dealt=True)
            frame = PassCards(bytes(choice), dest=hand.target(self.me))
        else:
            if not is_card(choice):
                raise LocalProtocolError("hearts/5.card", f"{choice!r} is no card")
            illegal = hand.why_not_play(self.me, choice)
            frame = PlayCard(choice)
        if illegal:
            raise LocalProtocolError(*illegal)
        self._turn = None
        self._ring.send(frame, now)

    def timer(self) -> float | None:
        return self._ring.timer()

    def handle_timer(self, now: float) -> None:
        self._ring.handle_timer(now)

    def data_to_send(self, now: float) -> list[Output]:  # noqa: ARG002
        return self._ring.datagrams_to_send()

    def _tell(self, kind: str, text: str, **fields: Json) -> None:
        self._events.append(Happened(kind, text, fields))

    def _start_game(self, _frame: GameStart, now: float) -> None:
        self.match.start()
        self._tell("start", f"game {self._game} begins", game=self._game)
        if self.me == DEALER:
            self._deal(now)

    def _deal(self, now: float) -> None:
        """All of step 3, and the first token: the ring sends one after the other."""
        deck = list(DECK)
        self._rng.shuffle(deck)
        for seat in range(SEATS):
            cards = deck[seat * HAND_SIZE : (seat + 1) * HAND_SIZE]
            self._ring.send(DealHand(bytes(sorted(cards)), dest=seat), now)
        direction = self.match.hand.direction
        if direction == HOLD and self._dialect.hold == "skip":
            self._ring.send(StartPhase(TRICKS), now)
        else:
            self._ring.send(StartPhase(PASSING, direction), now)

    def _take_hand(self, frame: DealHand, _now: float) -> None:
        hand = self.match.hand
        if hand.dealt[frame.dest]:
            _refuse("hearts/8.dealt", f"m{frame.dest} was dealt its cards before")
        # "Se DESTINO_ID == ID_DA_MAQUINA … processa o payload": others' cards cross this machine, but
        # only the one who dealt them may know them.
        hand.deal(frame.dest, frame.cards if self.me in (frame.dest, DEALER) else None)
        if frame.dest == self.me:
            self._tell("deal", f"{self.name} is dealt {label(frame.cards)}", cards=list(frame.cards))

    def _start_phase(self, frame: StartPhase, now: float) -> None:
        hand = self.match.hand
        if frame.phase == PASSING and hand.stage is Stage.DEALT:
            if frame.direction != hand.direction:
                ours = f"{hand.direction}, {DIRECTIONS[hand.direction]}"
                _refuse("hearts/8.direction", f"direction {frame.direction} instead of {ours}")
            hand.start_passing()
            hold = hand.direction == HOLD
            text = "no cards are passed" if hold else f"three cards are passed {DIRECTIONS[hand.direction]}"
            self._tell("passing", f"hand {self.match.hands + 1}: {text}", direction=hand.direction)
            if self.me == DEALER and hold:
                self._ring.send(StartPhase(TRICKS), now)
            elif self.me == DEALER:
                self._pass_token(DEALER, now)  # "M0 passa o bastão para M0 (primeiro a passar)."
        elif frame.phase == TRICKS and (hand.stage is Stage.PASSED or hand.direction == HOLD):
            hand.start_tricks()
            received = as_cards(hand.incoming[self.me])
            text = f"; {self.name} received {label(received)}" if received else ""
            self._tell("tricks", f"the tricks begin{text}", received=list(received))
            if self.me == DEALER:
                leader = hand.turn if self._dialect.first_lead == "dealer" else DEALER
                assert leader is not None, "the dealer knows where 2♣ is"
                self._pass_token(leader, now)
        elif frame.phase in (PASSING, TRICKS):
            _refuse("hearts/8.order", f"phase {frame.phase} does not begin while {hand.stage.value}")
        else:
            _refuse("hearts/4.phase", f"there is no phase {frame.phase}")

    def _take_passed(self, frame: PassCards, now: float) -> None:
        hand = self.match.hand
        origin, dest = frame.origin, frame.dest
        cards = frame.cards if self.me in (origin, dest, DEALER) else None
        illegal = hand.why_not_pass(origin, cards)
        if illegal:
            _refuse(*illegal)
        if dest != hand.target(origin):
            wanted = f"m{hand.target(origin)}, {DIRECTIONS[hand.direction]}"
            _refuse("hearts/4.dest", f"m{origin} passes to {wanted}, not to m{dest}")
        hand.pass_cards(origin, cards)
        what = label(frame.cards) if origin == self.me else "three cards"
        player, to = SEAT_NAMES[origin], SEAT_NAMES[dest]
        self._tell("pass", f"{player} passes {what} to {to}", player=player, to=to)
        if origin == self.me:
            self._pass_token((self.me + 1) % SEATS, now)

    def _take_token(self, frame: TokenPass, now: float) -> None:
        owner = frame.owner
        if owner >= SEATS:
            _refuse("hearts/4.owner", f"there is no machine {owner} to own the token")
        if frame.dest not in (BROADCAST, owner):
            _refuse("hearts/4.dest", f"a token for m{owner} does not go to m{frame.dest}")
        # Another's token never touches ours: only the machine it names can judge it, since that
        # machine may already have acted on it by the time a slower copy passes here.
        if owner == self.me:
            if self._token:
                _refuse("hearts/6.token", f"{self.name} has the token already")
            self._use_token(now)

    def _use_token(self, now: float) -> None:
        """Do what the holder of the token must do now; refuse the token if that is nothing."""
        hand = self.match.hand
        stage = hand.stage
        dealer = self.me == DEALER
        dialect = self._dialect
        mine = hand.passer if stage is Stage.PASSING else hand.turn if stage is Stage.TRICK else None
        if mine == self.me:
            self._token = True
            self._turn = Turn(self.name, self.match.view(self.me))
            self._events.append(self._turn)
        elif stage is Stage.PASSED and dealer:
            self._token = True
            self._ring.send(StartPhase(TRICKS), now)
        elif stage is Stage.TRICK_FULL and dealer and dialect.after_fourth != "keep":
            self._announce_trick(now)
        elif (stage is Stage.TRICK and not hand.plays and dialect.first_lead == "walk") or (
            stage is Stage.TRICK_FULL and dialect.after_fourth == "next"
        ):
            self._pass_token((self.me + 1) % SEATS, now)
        else:
            _refuse("hearts/6.token", f"{self.name} has no use for the token while {stage.value}")

    def _pass_token(self, owner: int, now: float) -> None:
        self._token = False
        self._ring.send(TokenPass(owner), now)

    def _take_card(self, frame: PlayCard, now: float) -> None:
        hand = self.match.hand
        origin, card = frame.origin, frame.card
        illegal = hand.why_not_play(origin, card)
        if illegal:
            _refuse(*illegal)
        hand.play(origin, card)
        name = SEAT_NAMES[origin]
        self._events.append(Happened("play", f"{name} plays {LABELS[card]}", {"player": name, "card": card}))
        full = hand.stage is Stage.TRICK_FULL
        after_fourth = self._dialect.after_fourth
        if origin == self.me:
            if full and after_fourth == "keep":
                self._token = False  # M0 announces, and gives the token to the winner
            elif full and after_fourth == "to-dealer":
                self._pass_token(DEALER, now)
            else:
                self._pass_token((self.me + 1) % SEATS, now)
        if full and after_fourth == "keep" and self.me == DEALER:
            self._announce_trick(now)

    def _announce_trick(self, now: float) -> None:
        self._token = True
        trick = self.match.hand.result()
        self._ring.send(TrickSummary(trick.winner, trick.plays, trick.points), now)

    def _take_trick(self, frame: TrickSummary, now: float) -> None:
        trick = self.match.hand.finish_trick()
        winner = SEAT_NAMES[trick.winner]
        shown = label(card for _, card in trick.plays)
        self._tell(
            "trick",
            f"{winner} takes {shown}: {trick.points} points",
            winner=winner,
            points=trick.points,
        )
        if self.me == DEALER:
            if self.match.hand.stage is Stage.HAND_FULL:
                score = self.match.score()
                self._ring.send(HandSummary(score.points, score.totals, _moon_byte(score)), now)
            else:
                self._pass_token(trick.winner, now)
        if (frame.winner, frame.plays, frame.points) != trick:
            _refuse("hearts/8.trick", f"m0 tells of another trick than {winner} taking {shown}")

    def _take_score(self, frame: HandSummary, now: float) -> None:
        score = self.match.finish_hand()
        points = ", ".join(f"{name} {n}" for name, n in zip(SEAT_NAMES, score.points, strict=True))
        totals = ", ".join(f"{name} {n}" for name, n in zip(SEAT_NAMES, score.totals, strict=True))
        moon = "" if score.moon is None else f"m{score.moon} shot the moon; "
        self._tell(
            "hand",
            f"hand {self.match.hands}: {moon}points {points}; totals {totals}",
            hand=self.match.hands,
            points=_by_name(score.points),
            totals=_by_name(score.totals),
            moon=None if score.moon is None else SEAT_NAMES[score.moon],
        )
        if self.me == DEALER:
            if self.match.hand.stage is Stage.OVER:
                self._ring.send(GameOver(self.match.winner, score.totals), now)
            else:
                self._deal(now)
        if (frame.points, frame.totals, frame.moon) != (score.points, score.totals, _moon_byte(score)):
            _refuse("hearts/8.hand", f"m0 tells of another score than points {points}; totals {totals}")

    def _end_game(self, frame: GameOver, now: float) -> None:
        match = self.match
        winner = SEAT_NAMES[match.winner]
        scores = _by_name(tuple(match.totals))
        result: dict[str, Json] = {"winner": winner, "scores": scores, "hands": match.hands}
        self._tell("game", f"game {self._game}: {winner} wins after {match.hands} hands", **result)
        if self._games:  # with no end in sight, results are told and not kept
            self._results.append(result)
        self._game += 1
        self.match = Match(self._dialect.ace)
        if self._game > self._games > 0:
            self._events.append(Finished({"games": self._results}))
            self.done = True
        elif self.me == DEALER:
            self._ring.send(GameStart(), now)
        if (frame.winner, frame.totals) != (match.winner, tuple(match.totals)):
            _refuse("hearts/8.over", f"m0 tells of another end than {winner} winning with {scores}")


class _Accept(NamedTuple):
    """How a message is taken: by whom, when, from whom, for whom."""

    accept: Callable[[Any, Any, float], None]
    stages: tuple[Stage, ...]  # empty: the rules judge
    dealer_only: bool
    dest: Literal["all", "one", "any"]


_ACCEPT: dict[type[Frame], _Accept] = {
    TokenPass: _Accept(Node._take_token, (), False, "any"),
    GameStart: _Accept(Node._start_game, (Stage.IDLE,), True, "all"),
    DealHand: _Accept(Node._take_hand, (Stage.DEALING,), True, "one"),
    StartPhase: _Accept(Node._start_phase, (Stage.DEALT, Stage.PASSED), True, "all"),
    PassCards: _Accept(Node._take_passed, (), False, "one"),
    PlayCard: _Accept(Node._take_card, (), False, "all"),
    TrickSummary: _Accept(Node._take_trick, (Stage.TRICK_FULL,), True, "all"),
    HandSummary: _Accept(Node._take_score, (Stage.HAND_FULL,), True, "all"),
    GameOver: _Accept(Node._end_game, (Stage.OVER,), True, "all"),
}


def _refuse(check: str, text: str) -> NoReturn:
    raise RemoteProtocolError(check, text)


def _dest_name(dest: int) -> str:
    return "all" if dest == BROADCAST else f"m{dest}"


def _moon_byte(score: Score) -> int:
    return NO_MOON if score.moon is None else score.moon


def _by_name(values: tuple[int, ...]) -> dict[str, Json]:
    return {name: values[seat] for seat, name in enumerate(SEAT_NAMES)}
