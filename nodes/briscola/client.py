"""The client: searches, plays the cards its player chooses, and searches again until all games are played."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from nodes.briscola.messages import (
    ID_MAX,
    NOBODY,
    Ack,
    Code,
    EndGame,
    EnemyCard,
    Error,
    GiveCard,
    Init,
    Search,
    UseCard,
    Word,
)
from nodes.briscola.roles import End, bad_card, no_game, player_name, wrong_way
from nodes.briscola.rules import Problem, Table
from nodes.briscola.transport import InLink, OutLink
from nodes.core import LocalProtocolError, Received, RemoteProtocolError, Turn

if TYPE_CHECKING:
    from collections.abc import Callable

    from nodes.core import Peer
    from nodes.game import Setup

SEARCH_AGAIN_S = 30.0  # a waiting client says SEARCH again: it is still there
SILENCE_MAX_S = 900.0  # longer than the opponent may think

SERVER = "server"  # the only peer
ME, OPPONENT = 0, 1  # the two sides of the table

_GIVE_CHECKS: dict[Problem, str] = {"turn": "briscola/give.turn", "card": "briscola/give.card"}
_ENEMY_CHECKS: dict[Problem, str] = {"turn": "briscola/enemy.turn", "card": "briscola/enemy.card"}


class Client(End):
    """Searches, plays the cards its player chooses, and searches again until all games are played."""

    HANDLERS: ClassVar[dict[tuple[str, type[Word]], Callable[[Client, Any, float], None]]]

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.player = (setup.seat.index + 1) & ID_MAX
        self._state = "searching"
        self._tried = {self.player}
        self._out = OutLink(self._ack)
        self._inn = InLink(self._ack, 0.0)
        self._table = Table(0, None, ME)
        self._opponent = 0
        self._turn: Turn | None = None
        self._number = 0
        self._deadline: float | None = None  # SEARCH again, or the server has been silent too long

    @property
    def _names(self) -> list[str]:
        return [player_name(self.player), player_name(self._opponent)]

    def start(self, now: float) -> None:
        self._search(now)

    def timer(self) -> float | None:
        times = () if self.done else (self._out.timer, self._deadline)
        return min((at for at in times if at is not None), default=None)

    def handle_timer(self, now: float) -> None:
        if self.done:
            return
        self._flush(SERVER, self._out, now)
        due = self._deadline is not None and now >= self._deadline
        if self._out.gone or (due and self._state == "playing"):
            text = "the server does not answer; see that it runs and can be reached"
            self._refuse(SERVER, RemoteProtocolError("briscola/link.silent", text))
            self._tell("left", text)
            self._leave()
        elif due:
            self._search(now)

    def act(self, turn: Turn, choice: Any, now: float) -> None:
        """Play a card of the hand."""
        if turn is not self._turn:
            return
        if self._table.play_problem(ME, choice) is not None:
            hand = " ".join(map(str, turn.view.hand))
            raise LocalProtocolError("briscola/use.card", f"{choice} is not in your hand: {hand}")
        self._turn = None
        self._deadline = now + SILENCE_MAX_S
        trick = self._table.play(ME, choice)
        self._tell_play(self._names, ME, choice, trick)
        self._out.push(UseCard(choice))
        self._flush(SERVER, self._out, now)
        self._ask()

    def _word(self, word: Word, peer: Peer, now: float) -> None:
        handler = self.HANDLERS.get((self._state, type(word)))
        if handler is None:
            raise wrong_way(word)
        # INIT of the next game may equal the last one's, and no copy outlives a whole game.
        fresh = isinstance(word, Ack | Error) or (self._state == "searching" and isinstance(word, Init))
        ack = None if fresh else self._inn.repeated(word)
        if ack is not None:
            self._send(peer, ack)
            return
        try:
            handler(self, word, now)
        except RemoteProtocolError:
            if not self._inn.late(word, now):
                raise

    def _search(self, now: float) -> None:
        """A new session: SEARCH is word 1, whatever was under way before."""
        self._state = "searching"
        self._deadline = None
        self._out = OutLink(self._ack)
        self._out.push(Search(self.player))
        self._flush(SERVER, self._out, now)

    def _begin(self, word: Init, now: float) -> None:
        if word.player == self.player:
            raise RemoteProtocolError(
                "briscola/init.player",
                f"INIT names player {word.player} as the opponent of itself",
                Error(Code.MALFORMED),
            )
        self._inn = InLink(self._ack, now, self._inn)
        self._out.implied()  # INIT answers SEARCH, even where the ACK was lost
        self._state = "playing"
        self._opponent = word.player
        self._table = Table(word.suit, word.card, ME if word.first else OPPONENT, hidden=OPPONENT)
        self._step(word, now)
        self._tell_start(self._table, self._names)

    def _second_init(self, word: Init, now: float) -> None:  # noqa: ARG002 - a handler's shape
        raise RemoteProtocolError(
            "briscola/init.state", "INIT in the middle of a game", Error(Code.NOT_YOUR_TURN)
        )

    def _give(self, word: GiveCard, now: float) -> None:
        problem = self._table.draw_problem(ME, word.card)
        if problem is not None:
            raise bad_card(_GIVE_CHECKS[problem], problem, f"GIV_C {word.card}")
        self._table.draw(ME, word.card)
        self._step(word, now)
        self._tell(
            "card", f"{self._names[ME]} draws {word.card}", player=self._names[ME], card=str(word.card)
        )
        self._ask()

    def _enemy(self, word: EnemyCard, now: float) -> None:
        problem = self._table.play_problem(OPPONENT, word.card)
        if problem is not None:
            raise bad_card(_ENEMY_CHECKS[problem], problem, f"ENM_C {word.card}")
        trick = self._table.play(OPPONENT, word.card)
        self._step(word, now)
        self._tell_play(self._names, OPPONENT, word.card, trick)
        self._ask()

    def _end(self, word: EndGame, now: float) -> None:
        sides = {self.player: ME, self._opponent: OPPONENT, NOBODY: None}
        if word.player not in sides:
            raise RemoteProtocolError(
                "briscola/end.player",
                f"END_G names player {word.player}, who does not play here",
                Error(Code.MALFORMED),
            )
        if not self._table.over and self._inn.late(word, now):
            return  # the last game's END_G, come late; one that is meant will be repeated
        self._step(word, now)
        winner, table, names = sides[word.player], self._table, self._names
        left = None
        if not table.over:
            left = names[OPPONENT if winner == ME else ME]
        elif table.winner != winner:
            text = f"END_G names player {word.player}; by our count it is {table.points[0]}–{table.points[1]}"
            self._refuse(SERVER, RemoteProtocolError("briscola/end.winner", text))
        self._end_game(self._number, table, names, None if winner is None else names[winner], left)
        self._turn = None
        self._number += 1
        if self._number == self._setup.games:
            self._leave()
        else:
            self._search(now)

    def _nowhere(self, word: Word, now: float) -> None:  # noqa: ARG002 - a handler's shape
        raise no_game(word)

    def _acknowledged(self, word: Ack, now: float) -> None:
        if self._out.acknowledged(word, now):
            if self._state == "searching":
                self._deadline = now + SEARCH_AGAIN_S
            self._flush(SERVER, self._out, now)

    def _error(self, word: Error, now: float) -> None:
        """ERR 4, 5 and 6 change nothing: we play by the rules, so the word is repeated until it is taken."""
        self._events.append(Received(SERVER, word))
        self._send(SERVER, self._inn.so_far())
        self._tell("error", f"the server says: {_meaning(word.code)}", code=word.code)
        if word.code == Code.ID_IN_USE and self._state == "searching" and self._out.waiting:
            self._another_id(now)
        if word.code == Code.NO_GAME and self._state == "playing" and self._out.disowned():
            self._turn = None
            self._tell("left", "the server has lost the game; searching for another")
            self._search(now)

    def _another_id(self, now: float) -> None:
        free = [player for player in range(ID_MAX + 1) if player not in self._tried]
        if not free:
            self._tell("left", "every id is in use; try again when a game is over")
            self._leave()
            return
        self.player = self._setup.rng.choice(free)
        self._tried.add(self.player)
        self._search(now)

    def _ignore(self, word: Word, now: float) -> None:
        """All games are over."""

    def _step(self, word: Word, now: float) -> None:
        self._accept(SERVER, self._inn, word)
        self._deadline = now + SILENCE_MAX_S

    def _ask(self) -> None:
        if self._table.to_move == ME and self._turn is None:
            self._turn = Turn(self._setup.seat.name, self._table.view(ME, self._names))
            self._events.append(self._turn)
            self._deadline = None  # it is not the server who is silent now

    def _leave(self) -> None:
        self._state = "done"
        self._turn = None
        self._finish()


Client.HANDLERS = {
    ("searching", Init): Client._begin,
    ("searching", GiveCard): Client._nowhere,
    ("searching", EnemyCard): Client._nowhere,
    ("searching", EndGame): Client._nowhere,
    ("playing", Init): Client._second_init,
    ("playing", GiveCard): Client._give,
    ("playing", EnemyCard): Client._enemy,
    ("playing", EndGame): Client._end,
    ("done", Init): Client._nowhere,
    ("done", GiveCard): Client._nowhere,
    ("done", EnemyCard): Client._nowhere,
    ("done", EndGame): Client._nowhere,
    ("searching", Ack): Client._acknowledged,
    ("playing", Ack): Client._acknowledged,
    ("done", Ack): Client._ignore,
    ("searching", Error): Client._error,
    ("playing", Error): Client._error,
    ("done", Error): Client._ignore,
}


def _meaning(code: int) -> str:
    known = {item.value: item.name.lower().replace("_", " ") for item in Code}
    return known.get(code, f"error {code}")
