"""The server: pairs clients by id, deals, checks every card and says who won."""

from __future__ import annotations

from dataclasses import dataclass, field
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
from nodes.briscola.rules import DECK, Deal, Problem, Side
from nodes.briscola.transport import COPY_LIFE_S, InLink, OutLink
from nodes.core import Received, RemoteProtocolError

if TYPE_CHECKING:
    from collections.abc import Callable

    from nodes.core import Peer
    from nodes.game import Setup

PEERS_MAX = 64  # as many as there are ids
PAST_MAX = 64  # peers whose last game is remembered, so that its late copies stay harmless
WAITING_MAX_S = 120.0  # a waiting client is heard at least this often, or it is gone
THINK_MAX_S = 600.0  # for one card

_USE_CHECKS: dict[Problem, str] = {"turn": "briscola/use.turn", "card": "briscola/use.card"}


@dataclass(slots=True, eq=False)
class _Session:
    """One peer, from SEARCH to the ACK of END_G."""

    peer: Peer
    player: int
    out: OutLink
    inn: InLink
    deadline: float  # of the silence, while waiting
    state: str = "waiting"
    match: _Match | None = None
    side: Side = 0
    playing_since: float | None = None  # when INIT was acknowledged: no SEARCH was sent after that
    left_ids: set[int] = field(default_factory=set)  # ids this session had before; their copies may come late


@dataclass(slots=True, eq=False)
class _Match:
    """One game and its two sessions."""

    number: int
    sessions: tuple[_Session, _Session]
    deal: Deal
    deadline: float  # of the player whose turn it is

    @property
    def names(self) -> list[str]:
        return [player_name(session.player) for session in self.sessions]


class Server(End):
    """Pairs clients by id, deals, checks every card and says who won."""

    HANDLERS: ClassVar[dict[tuple[str, type[Word]], Callable[[Server, Any, Peer, float], None]]]

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self._sessions: dict[Peer, _Session] = {}
        self._past: dict[Peer, InLink] = {}
        self._gone: set[int] = set()  # ids that went away and have not come back
        self._started = 0
        self._ended = 0
        self._target = setup.players // 2 * setup.games or None

    def start(self, now: float) -> None:
        """Wait for SEARCH."""

    def timer(self) -> float | None:
        times = [] if self.done else [at for session in self._sessions.values() for at in _times(session)]
        return min(times, default=None)

    def handle_timer(self, now: float) -> None:
        for session in self._by_id():
            self._flush(session.peer, session.out, now)
            if session.out.gone:
                self._vanish(session, "acknowledges nothing", now)
            elif session.state == "waiting" and now >= session.deadline:
                self._vanish(session, "is silent", now)
            elif session.match is not None and now >= session.match.deadline:
                self._too_slow(session.match, now)
        self._check_done()

    def receive(self, data: bytes, peer: Peer, now: float) -> None:
        if not self.done:
            super().receive(data, peer, now)

    def _word(self, word: Word, peer: Peer, now: float) -> None:
        session = self._sessions.get(peer)
        handler = self.HANDLERS.get((session.state if session else "stranger", type(word)))
        if handler is None:
            raise wrong_way(word)
        handler(self, word, peer, now)
        self._check_done()

    def _open(self, word: Search, peer: Peer, now: float) -> None:
        if len(self._sessions) >= PEERS_MAX or self._started == self._target:
            raise RemoteProtocolError(
                "briscola/search.full", "SEARCH, and there is no room left", Error(Code.SERVER_FULL)
            )
        self._check_free(word)
        inn = InLink(self._ack, now, self._past.pop(peer, None))
        self._sessions[peer] = _Session(peer, word.player, OutLink(self._ack), inn, now + WAITING_MAX_S)
        self._gone.discard(word.player)
        self._accept(peer, inn, word)
        self._tell("search", f"{player_name(word.player)} wants to play", player=player_name(word.player))
        self._pair(now)

    def _search_waiting(self, word: Search, peer: Peer, now: float) -> None:
        session = self._sessions[peer]
        session.deadline = now + WAITING_MAX_S
        ack = session.inn.repeated(word)
        if ack is not None:
            self._send(peer, ack)
        elif word.player not in session.left_ids:
            self._check_free(word)
            session.left_ids.add(session.player)
            session.player = word.player
            self._gone.discard(word.player)
            session.inn = InLink(self._ack, now, session.inn)
            self._accept(peer, session.inn, word)

    def _search_playing(self, word: Search, peer: Peer, now: float) -> None:
        session = self._sessions[peer]
        if session.playing_since is not None and now - session.playing_since > COPY_LIFE_S:
            self._vanish(session, "came back and has lost its game", now)
            self._open(word, peer, now)
        elif (ack := session.inn.repeated(word)) is not None:
            self._send(peer, ack)

    def _search_over(self, word: Search, peer: Peer, now: float) -> None:
        """END_G goes first, and an ACK now would open a game that is not there. The client asks again."""

    def _use(self, word: UseCard, peer: Peer, now: float) -> None:
        session = self._sessions[peer]
        match = session.match
        assert match is not None
        if (ack := session.inn.repeated(word)) is not None:
            self._send(peer, ack)
            return
        problem = match.deal.play_problem(session.side, word.card)
        if problem is not None and session.inn.late(word, now):
            return
        if problem is not None:
            who = player_name(session.player)
            raise bad_card(_USE_CHECKS[problem], problem, f"{who} may not play {word.card}")
        self._accept(peer, session.inn, word)
        trick = match.deal.play(session.side, word.card)
        self._tell_play(match.names, session.side, word.card, trick)
        match.sessions[1 - session.side].out.push(EnemyCard(word.card))
        if match.deal.over:
            self._end_match(match, match.deal.winner, None, now)
        else:
            self._go_on(match, now)

    def _use_nowhere(self, word: UseCard, peer: Peer, now: float) -> None:
        session = self._sessions.get(peer)
        inn = session.inn if session else self._past.get(peer)
        ack = inn.repeated(word) if inn else None
        if ack is not None:
            if session:
                self._send(peer, ack)
        elif inn is None or not inn.late(word, now):
            raise no_game(word)

    def _acknowledged(self, word: Ack, peer: Peer, now: float) -> None:
        session = self._sessions[peer]
        if not session.out.acknowledged(word, now):
            return
        if session.state == "playing" and session.playing_since is None:
            session.playing_since = now
        if session.state == "over" and session.out.idle:
            self._forget(session)
        else:
            self._flush(peer, session.out, now)

    def _error(self, word: Error, peer: Peer, now: float) -> None:
        """Of a client's errors only "no game" matters: whom we play with does not know of it."""
        session = self._sessions[peer]
        self._events.append(Received(peer, word))
        self._send(peer, session.inn.so_far())
        if word.code != Code.NO_GAME:
            return
        if session.state == "over":
            self._forget(session)
        elif session.out.disowned():
            self._vanish(session, "knows of no game", now)

    def _ignore(self, word: Word, peer: Peer, now: float) -> None:
        """A stranger's ACK or ERR: the end of something we have forgotten."""

    def _check_free(self, word: Search) -> None:
        if any(session.player == word.player for session in self._sessions.values()):
            raise RemoteProtocolError(
                "briscola/search.taken",
                f"SEARCH by player {word.player}, an id that is in use",
                Error(Code.ID_IN_USE),
            )

    def _by_id(self) -> list[_Session]:
        """In the order of the seats: id 0 is the 64th."""
        return sorted(self._sessions.values(), key=lambda session: (session.player - 1) & ID_MAX)

    def _pair(self, now: float) -> None:
        """Once all expected players wait, neighbours by id play each other, whoever came first."""
        waiting = [session for session in self._by_id() if session.state == "waiting"]
        if len(waiting) < max(2, self._setup.players - len(self._gone)):
            return
        for pair in zip(waiting[::2], waiting[1::2], strict=False):
            if self._started != self._target:
                self._begin(pair, now)

    def _begin(self, pair: tuple[_Session, _Session], now: float) -> None:
        leader = self._setup.rng.randrange(2)
        deck = list(DECK)
        self._setup.rng.shuffle(deck)
        match = _Match(self._started, pair, Deal(deck, leader), now)
        self._started += 1
        for side, session in enumerate(pair):
            session.state, session.match, session.side = "playing", match, side
            trump = deck[-1]
            session.out.push(Init(trump.suit, trump.number, side == leader, pair[1 - side].player))
        self._tell_start(match.deal, match.names)
        self._go_on(match, now)

    def _go_on(self, match: _Match, now: float) -> None:
        for side, card in match.deal.deal():
            match.sessions[side].out.push(GiveCard(card))
        match.deadline = now + THINK_MAX_S
        for session in match.sessions:
            self._flush(session.peer, session.out, now)

    def _end_match(self, match: _Match, winner: Side | None, left: Side | None, now: float) -> None:
        names = match.names
        self._ended += 1
        self._end_game(
            match.number,
            match.deal,
            names,
            None if winner is None else names[winner],
            None if left is None else names[left],
        )
        end = EndGame(NOBODY if winner is None else match.sessions[winner].player)
        for session in match.sessions:
            session.state, session.match = "over", None
            if self._sessions.get(session.peer) is session:
                if left == 1 - session.side:
                    self._send(session.peer, Error(Code.OPPONENT_LEFT))
                session.out.push(end)
                self._flush(session.peer, session.out, now)

    def _too_slow(self, match: _Match, now: float) -> None:
        slow = match.deal.to_move
        assert slow is not None
        session = match.sessions[slow]
        text = f"{player_name(session.player)} has not played for {THINK_MAX_S:.0f} s"
        self._refuse(session.peer, RemoteProtocolError("briscola/use.slow", text))
        self._end_match(match, 1 - slow, slow, now)

    def _vanish(self, session: _Session, why: str, now: float) -> None:
        """A peer is gone: "END_G to the one who stayed"."""
        name = player_name(session.player)
        self._refuse(session.peer, RemoteProtocolError("briscola/link.silent", f"{name} {why}"))
        self._tell("left", f"{name} {why}", player=name)
        self._forget(session)
        self._gone.add(session.player)
        if session.match is not None:
            self._end_match(session.match, 1 - session.side, session.side, now)
        self._pair(now)

    def _forget(self, session: _Session) -> None:
        del self._sessions[session.peer]
        self._past[session.peer] = session.inn
        if len(self._past) > PAST_MAX:
            del self._past[next(iter(self._past))]

    def _check_done(self) -> None:
        settled = all(session.state == "waiting" for session in self._sessions.values())
        if not self.done and self._ended == self._target and settled:
            self._finish()


Server.HANDLERS = {
    ("stranger", Search): Server._open,
    ("waiting", Search): Server._search_waiting,
    ("playing", Search): Server._search_playing,
    ("over", Search): Server._search_over,
    ("stranger", UseCard): Server._use_nowhere,
    ("waiting", UseCard): Server._use_nowhere,
    ("playing", UseCard): Server._use,
    ("over", UseCard): Server._use_nowhere,
    ("stranger", Ack): Server._ignore,
    ("waiting", Ack): Server._acknowledged,
    ("playing", Ack): Server._acknowledged,
    ("over", Ack): Server._acknowledged,
    ("stranger", Error): Server._ignore,
    ("waiting", Error): Server._error,
    ("playing", Error): Server._error,
    ("over", Error): Server._error,
}


def _times(session: _Session) -> list[float]:
    """When this session wants the server's timer."""
    times = [session.out.timer] if session.out.timer is not None else []
    if session.state == "waiting":
        times.append(session.deadline)
    if session.match is not None:
        times.append(session.match.deadline)
    return times
