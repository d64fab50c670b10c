"""The server: registers clients, pairs them, asks for moves, keeps the clocks and judges."""

from __future__ import annotations

from collections import deque
from heapq import heappop, heappush
from itertools import count
from math import floor
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from nodes.connect4.messages import (
    Connect,
    Connected,
    EndGame,
    GenMove,
    NewGame,
    NotConnected,
    PlayMove,
    decode,
)
from nodes.connect4.rules import OTHER, PLAY, WIN, Board, Tournament, outcome
from nodes.core import Close, Core, Finished, Happened, Received, RemoteProtocolError, Send, Sent

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nodes.connect4.dialect import Dialect
    from nodes.connect4.messages import AnyMessage
    from nodes.connect4.rules import Battle, Color, Status
    from nodes.core import Message, Peer
    from nodes.game import Setup

REGISTER_S = 10.0  # from an open connection to its connect
RETURN_S = 5.0  # how long a tournament stands still for somebody who left it
STRIKES_MAX = 20  # ignored messages after which a connection is closed
CONNECTIONS_MAX = 1024
LOGICAL_CHARGE_S = 0.1
GAMES_REMEMBERED_MAX = 200_000

_ROUNDING = 1e-6  # keeps 41.8 from being shown as 41.7 after a few subtractions


class Session:
    """One connection to the server, and whoever registered on it."""

    __slots__ = ("alarm", "color", "deadline", "game", "name", "peer", "state", "strikes")

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.name = ""
        self.state: Literal["new", "idle", "waiting", "thinking"] = "new"
        self.strikes = 0
        self.game: Match | None = None
        self.color: Color = "R"
        self.deadline: float | None = None
        self.alarm: float | None = None  # this session's earliest entry in the server's queue


class Match:
    """One running game: whose clock has what left, and since when the side to move was asked."""

    __slots__ = ("asked_at", "board", "left_s", "number", "sides")

    def __init__(self, number: int, red: Session, yellow: Session, clock_s: float) -> None:
        self.number = number
        self.sides: dict[Color, Session] = {"R": red, "Y": yellow}
        self.left_s: dict[Color, float] = {"R": clock_s, "Y": clock_s}
        self.board = Board()
        self.asked_at = 0.0


class Server(Core):
    """Registers clients, pairs them, and is the only judge of a game."""

    def __init__(self, setup: Setup) -> None:
        super().__init__()
        self._dialect: Dialect = setup.dialect
        self._endless = setup.games == 0
        self._tournament = Tournament(setup.players, setup.games, self._dialect.pairing)
        self._sessions: dict[Peer, Session] = {}
        self._names: dict[str, Session] = {}
        self._games: deque[tuple[int, tuple[str, str, Status, Battle]]] = deque(maxlen=GAMES_REMEMBERED_MAX)
        self._begun = 0
        self._alarms: list[tuple[float, int, Session]] = []
        self._serial = count()
        self._return_by: float | None = None
        self._stirred = False  # somebody came, went or became free: look for pairs

    def start(self, now: float) -> None:
        """Wait for clients."""

    def connected(self, peer: Peer, now: float) -> None:
        if self.done:
            return
        session = self._sessions[peer] = Session(peer)
        if len(self._sessions) > CONNECTIONS_MAX:
            text = f"{CONNECTIONS_MAX} connections are open already"
            self._refuse(peer, RemoteProtocolError("connect4/full", text))
            self._turn_away(session, "server full")
            return
        self._arm(session, now + REGISTER_S)

    def disconnected(self, peer: Peer, now: float) -> None:
        session = self._sessions.get(peer)
        if session is not None:
            self._drop(session)
            self._advance(now)

    def garbled(self, peer: Peer, text: str, now: float) -> None:  # noqa: ARG002
        self._refuse(peer, RemoteProtocolError("connect4/line", text))

    def receive(self, data: bytes, peer: Peer, now: float) -> None:
        session = self._sessions.get(peer)
        if session is None:
            return  # it was on its way when we closed
        try:
            message = decode(data)
            handler = self._HANDLERS.get((session.state, type(message)))
            if handler is None:
                raise _misplaced(session, message)
            handler(self, session, message, now)
        except RemoteProtocolError as error:
            self._refuse(peer, error, data)
            if session.state == "thinking" and error.check in ("connect4/move", "connect4/column"):
                # "si un client joue un coup invalide, le serveur lui redemande de jouer"
                if self._pay(session, self._dialect.penalty_s, now):
                    self._ask(session, now)
            elif session.state == "new" and isinstance(error.reply_hint, NotConnected):
                self._turn_away(session, error.reply_hint.info)
            else:
                self._strike(session)
        if self._stirred:
            self._advance(now)

    def timer(self) -> float | None:
        if self._return_by is not None and (not self._alarms or self._return_by < self._alarms[0][0]):
            return self._return_by
        return self._alarms[0][0] if self._alarms else None

    def handle_timer(self, now: float) -> None:
        while self._alarms and self._alarms[0][0] <= now:
            at, _, session = heappop(self._alarms)
            if session.alarm != at:
                continue
            session.alarm = None
            if session.deadline is None:
                continue
            if session.deadline > now:
                self._arm(session, session.deadline)
            elif session.state == "thinking":
                self._time_out(session)
            else:
                text = f"no connect within {REGISTER_S:.0f} s"
                self._refuse(session.peer, RemoteProtocolError("connect4/register", text))
                self._turn_away(session, "no name in time")
        if self._return_by is not None and self._return_by <= now:
            self._tournament.shrink()
            self._stirred = True
        if self._stirred:
            self._advance(now)

    def _register(self, session: Session, message: Connect, now: float) -> None:  # noqa: ARG002
        name = message.user
        if name in self._names:
            text = f"'{name}' is playing already"
            raise RemoteProtocolError("connect4/user.taken", text, NotConnected("name taken"))
        if self._tournament.full:
            text = "all the seats are taken"
            raise RemoteProtocolError("connect4/full", text, NotConnected("table full"))
        self._events.append(Received(session.peer, message))
        session.name = name
        session.state = "idle"
        session.deadline = None
        self._names[name] = session
        # An info has no "-" or "_", a name may have.
        self._send(session.peer, Connected("hello " + name.replace("-", " ").replace("_", " ")))
        self._tell("registered", f"{name} is here", player=name)
        self._tournament.join(name)
        self._stirred = True

    def _move(self, session: Session, message: PlayMove, now: float) -> None:
        match, column = _match_of(session), message.move
        if not match.board.has_room(column):
            raise RemoteProtocolError("connect4/column", f"column {column} is full")
        if not self._pay(session, 0.0, now):
            return
        self._events.append(Received(session.peer, message))
        match.board = match.board.play(column)
        self._tell(
            "move",
            f"{session.name} ({session.color}) plays column {column}",
            player=session.name,
            color=session.color,
            move=column,
        )
        session.state = "waiting"
        session.deadline = None
        status = match.board.status()
        if status in ("PlayR", "PlayY"):
            self._ask(match.sides[OTHER[session.color]], now)
        else:
            self._end(match, status, "Ok")

    _HANDLERS: ClassVar[Mapping[tuple[str, type], Callable[..., None]]] = {
        ("new", Connect): _register,
        ("thinking", PlayMove): _move,
    }

    def _advance(self, now: float) -> None:
        """Begin what can begin; end when nothing is left to play."""
        self._stirred = False
        for red, yellow in self._tournament.pairs():
            self._begin(self._names[red], self._names[yellow], now)
        if self._tournament.over:
            self._finish()
        elif not self._tournament.waiting:
            self._return_by = None
        elif self._return_by is None:
            self._return_by = now + RETURN_S

    def _begin(self, red: Session, yellow: Session, now: float) -> None:
        match = Match(self._begun, red, yellow, self._dialect.clock_s)
        self._begun += 1
        for color, session in match.sides.items():
            session.game, session.color, session.state = match, color, "waiting"
            self._send(session.peer, NewGame(red.name, yellow.name))
        self._tell("game", f"{red.name} (R) meets {yellow.name} (Y)", red=red.name, yellow=yellow.name)
        self._ask(red, now)

    def _ask(self, session: Session, now: float) -> None:
        match = _match_of(session)
        left_s = match.left_s[session.color]
        status = PLAY[session.color] if self._dialect.genmove == "status" else None
        # protocols.md: "one decimal, rounded down, never negative"; a side with nothing left is not asked.
        tenths = floor(left_s * 10 + _ROUNDING)
        session.state = "thinking"
        match.asked_at = now
        self._send(session.peer, GenMove(match.board.text(), session.color, status, tenths))
        self._arm(session, now + left_s)

    def _pay(self, session: Session, penalty_s: float, now: float) -> bool:
        """Take an answer's time off the clock. False: that was all there was, and the game is over."""
        match = _match_of(session)
        spent_s = LOGICAL_CHARGE_S if self._dialect.clock == "logical" else now - match.asked_at
        match.left_s[session.color] -= spent_s + penalty_s
        if match.left_s[session.color] > 0.0:
            return True
        self._time_out(session)
        return False

    def _time_out(self, session: Session) -> None:
        """ "le joueur timeout perd la partie"."""
        self._end(_match_of(session), WIN[OTHER[session.color]], "Timeout")

    def _end(self, match: Match, status: Status, battle: Battle) -> None:
        text = match.board.text()
        for color, session in match.sides.items():
            session.game, session.state, session.deadline = None, "idle", None
            if session.peer in self._sessions:
                self._send(session.peer, EndGame(text, color, status, battle))
        red, yellow = (session.name for session in match.sides.values())
        result = outcome(red, yellow, status, battle)
        how = "" if battle == "Ok" else f" ({battle})"
        self._tell(
            "end", f"{red} (R) – {yellow} (Y): {result['winner'] or 'nobody'} wins{how}", board=text, **result
        )
        if not self._endless:
            self._games.append((match.number, (red, yellow, status, battle)))
        self._tournament.ended(red, yellow)
        self._stirred = True

    def _strike(self, session: Session) -> None:
        """protocols.md: "ignored and counted, 20 of them close the connection"."""
        session.strikes += 1
        if session.strikes >= STRIKES_MAX:
            text = f"{STRIKES_MAX} messages had to be ignored; the connection is closed"
            self._refuse(session.peer, RemoteProtocolError("connect4/strikes", text))
            self._outputs.append(Close(session.peer))
            self._drop(session)

    def _turn_away(self, session: Session, info: str) -> None:
        self._send(session.peer, NotConnected(info))
        self._outputs.append(Close(session.peer))
        self._drop(session)

    def _drop(self, session: Session) -> None:
        del self._sessions[session.peer]
        session.deadline = None
        if not session.name:
            return
        del self._names[session.name]
        if session.game is not None:
            # "en cas de déconnexion d'un client qui joue, il perd la partie"
            self._end(session.game, WIN[OTHER[session.color]], "Disconnected")
        self._tell("left", f"{session.name} has left", player=session.name)
        self._tournament.leave(session.name)
        self._stirred = True

    def _finish(self) -> None:
        self._outputs.extend(Close(peer) for peer in self._sessions)
        self._sessions.clear()
        self._alarms.clear()
        self._return_by = None
        # In the order they began: which of two games at once ends first is chance.
        self._events.append(Finished({"games": [outcome(*game) for _, game in sorted(self._games)]}))
        self.done = True

    def _arm(self, session: Session, at: float) -> None:
        """Set a session's deadline. The queue gets an entry only if it has none as early: an entry
        that comes up too soon looks at the deadline and goes back, so a move costs no queueing."""
        session.deadline = at
        if session.alarm is None or at < session.alarm:
            session.alarm = at
            heappush(self._alarms, (at, next(self._serial), session))

    def _send(self, peer: Peer, message: Message) -> None:
        self._events.append(Sent(peer, message))
        self._outputs.append(Send(peer, message.encode()))

    def _tell(self, kind: str, text: str, **fields: Any) -> None:
        self._events.append(Happened(kind, text, fields))


def _match_of(session: Session) -> Match:
    assert session.game is not None  # a session that is waiting or thinking is in a game
    return session.game


def _misplaced(session: Session, message: AnyMessage) -> RemoteProtocolError:
    """Which clause a well-formed message breaks by coming now."""
    if isinstance(message, PlayMove):
        if session.state == "new":
            return RemoteProtocolError("connect4/register", "playmove before connect")
        return RemoteProtocolError("connect4/turn", "playmove, but no move was asked for")
    if isinstance(message, Connect):
        return RemoteProtocolError("connect4/connect.again", f"this connection is '{session.name}' already")
    return RemoteProtocolError("connect4/direction", "only a server sends this")
