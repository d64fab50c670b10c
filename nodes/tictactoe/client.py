"""The client: O, one connection a game."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from nodes.core import Close, Finished, Open, Received, RemoteProtocolError, Turn
from nodes.tictactoe.messages import GIVES_UP, REJECTED, RESIGN, VALID, Move, State
from nodes.tictactoe.roles import (
    LEFT,
    LINGER_S,
    REJECTED_MAX,
    SERVER,
    THINK_S,
    TIE,
    Ending,
    Role,
    View,
    ending,
)
from nodes.tictactoe.rules import BLANK, EMPTY, at, free, outcome, play
from nodes.tictactoe.transport import Chunks

if TYPE_CHECKING:
    from nodes.core import Peer
    from nodes.game import Setup
    from nodes.tictactoe.dialect import Dialect
    from nodes.tictactoe.rules import Board


class Phase(Enum):
    """Where a client is in its current game."""

    DIALLING = auto()
    GREETING = auto()  # connected; the first state is to come
    THINKING = auto()  # its player is to choose
    WAITING = auto()  # its move is out; the answer is to come
    OVER = auto()  # the final state is here; the server is to close
    DONE = auto()


class Client(Role):
    """Plays O, one connection a game, and believes no state that the rules do not bear out."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self._name = setup.seat.name
        self._phase = Phase.DIALLING
        self._game = -1
        self._board = EMPTY
        self._choice: str | None = None  # its last move, None before the first
        self._rejected = 0
        self._turn: Turn | None = None
        self._deadline: float | None = None
        self._chunks = Chunks()

    def start(self, now: float) -> None:  # noqa: ARG002
        self._dial()

    def connected(self, peer: Peer, now: float) -> None:  # noqa: ARG002
        self._phase = Phase.GREETING
        self._chunks = Chunks()
        self._deadline = now + THINK_S

    def receive(self, data: bytes, peer: Peer, now: float) -> None:
        for chunk in self._chunks.feed(data):
            handler = _ON_STATE.get(self._phase)
            if handler is None:
                return  # the game is over; nothing depends on what a server says now
            try:
                handler(self, State.decode(chunk), now)
            except RemoteProtocolError as error:
                self._refuse(peer, error, chunk)
                self._give_up(error.text)

    def disconnected(self, peer: Peer, now: float) -> None:  # noqa: ARG002
        if self._phase is Phase.OVER:
            self._next()
        elif self._phase is not Phase.DONE:
            self._cut_off(peer)

    def act(self, turn: Turn, choice: Any, now: float) -> None:
        if turn is not self._turn:
            return
        self._check(turn, choice)
        self._turn = None
        self._choice = choice
        self._phase = Phase.WAITING
        self._deadline = now + THINK_S
        self._say(SERVER, Move(choice))

    def timer(self) -> float | None:
        return self._deadline

    def handle_timer(self, now: float) -> None:
        if self._deadline is None or now < self._deadline:
            return
        if self._phase is Phase.OVER:  # the original program closes only when its person presses Enter
            self._outputs.append(Close(SERVER))
            self._next()
            return
        text = f"nothing from the server in {THINK_S:.0f} s"
        self._refuse(SERVER, RemoteProtocolError("tictactoe/limit.time", text))
        self._give_up(text)

    def _greeted(self, state: State, now: float) -> None:  # noqa: ARG002
        if state != State.of(EMPTY, self._dialect):
            raise RemoteProtocolError(
                "tictactoe/start.1",
                f"the first state is {state.encode()!r}, not {State.of(EMPTY, self._dialect).encode()!r}; "
                "if only the count differs, try the other value of the knob plies",
            )
        self._events.append(Received(SERVER, state))
        self._ask()

    def _unasked(self, state: State, now: float) -> None:  # noqa: ARG002
        raise RemoteProtocolError("tictactoe/start.3", "the server sent a state out of turn")

    def _answered(self, state: State, now: float) -> None:
        assert self._choice is not None
        board, end = judge(state, self._board, self._choice, self._dialect)
        rejected = end is None and board == self._board
        self._rejected = self._rejected + 1 if rejected else 0
        if self._rejected >= REJECTED_MAX:
            raise RemoteProtocolError("tictactoe/move.3", f"{REJECTED_MAX} legal moves rejected in a row")
        self._events.append(Received(SERVER, state))
        if rejected:
            self._tell("rejected", f"the server rejects {self._choice}", cell=self._choice)
        else:
            text = " and ".join(_steps(self._name, self._board, board)) or f"{self._name} gives up"
            self._tell("move", text, board=board)
        self._board = board
        if end:
            self._end(end)
            self._phase = Phase.OVER
            self._deadline = now + LINGER_S
        else:
            self._ask()

    def _ask(self) -> None:
        self._phase = Phase.THINKING
        self._deadline = None
        self._turn = Turn(self._name, View(self._board, "O", SERVER, SERVER, self._game))
        self._events.append(self._turn)

    def _cut_off(self, peer: Peer) -> None:
        """The server closed before the final state."""
        try:
            self._chunks.close()
        except RemoteProtocolError as error:
            self._refuse(peer, error)
        if self._choice is None:
            self._tell("left", "the server closed before the first move: it is full, or plays another game")
            self._finish()
        else:
            self._tell("left", "the server closed before the end of the game")
            self._end(self._unfinished())
            self._next()

    def _give_up(self, text: str) -> None:
        """The server cannot be played with: leave this game, and begin no other."""
        self._outputs.append(Close(SERVER))
        self._tell("left", f"{self._name} leaves the server: {text}")
        if self._choice is not None:
            self._end(self._unfinished())
        self._finish()

    def _unfinished(self) -> Ending:
        """How a game ended whose final state never came. The original program answers no resignation."""
        return Ending("resigned", "X") if self._choice == RESIGN else LEFT

    def _end(self, end: Ending) -> None:
        text = f"game {self._game + 1}: {end.text(self._name)}"
        self._tell("game", text, board=self._board, **end.result(self._name))
        self._record(end, self._name)

    def _next(self) -> None:
        if self._game + 1 == self._goal:
            self._finish()
        else:
            self._dial()

    def _dial(self) -> None:
        self._phase = Phase.DIALLING
        self._game += 1
        self._board = EMPTY
        self._choice = None
        self._rejected = 0
        self._turn = None
        self._deadline = None
        self._outputs.append(Open(SERVER))

    def _finish(self) -> None:
        self._phase = Phase.DONE
        self._turn = None
        self._deadline = None
        self._events.append(Finished({"games": list(self._results)}))
        self.done = True


_ON_STATE = {
    Phase.GREETING: Client._greeted,
    Phase.THINKING: Client._unasked,
    Phase.WAITING: Client._answered,
}


# What a server can get wrong in an answer, the worst first: field, and the clause it breaks.
_CLAUSES = (
    ("board", "tictactoe/state.3"),
    ("status", "tictactoe/state.0"),
    ("winner", "tictactoe/state.1"),
    ("count", "tictactoe/state.2"),
)


def judge(state: State, board: Board, choice: str, dialect: Dialect) -> tuple[Board, Ending | None]:
    """Check the server's answer to `choice` on `board`: the board now, and the end if that was it.

    The same board and no end means that the move was rejected. A lie raises RemoteProtocolError.
    """
    before = State.of(board, dialect)
    if state.status == REJECTED or (dialect.plies == "server" and state == before):
        # "o estado de jogo não é atualizado pelo servidor e sua resposta apenas defini esse caracter"
        if replace(state, status=VALID) != before:
            raise RemoteProtocolError("tictactoe/state.0", "a rejected move changed the state")
        return board, None
    right, end = _right_answer(state, board, choice, dialect)
    for name, check in _CLAUSES:
        said, truth = getattr(state, name), getattr(right, name)
        if said != truth:
            raise RemoteProtocolError(check, f"the server says {name} {said!r}, by the rules it is {truth!r}")
    return right.board, end


def _right_answer(state: State, board: Board, choice: str, dialect: Dialect) -> tuple[State, Ending | None]:
    """What the server should say to `choice`; where it decides something itself, as it did in `state`."""
    if choice == RESIGN:
        return State.of(board, dialect, winner="X"), Ending("resigned", "X")
    board = play(board, choice)
    if outcome(board) is None and state.status == GIVES_UP:
        # The text does not say whether a resignation also names the winner: both are right.
        winner = BLANK if state.winner == BLANK else "O"
        return State.of(board, dialect, GIVES_UP, winner), Ending("resigned", "O")
    if outcome(board) is None:
        if state.board not in [play(board, cell) for cell in free(board)]:
            raise RemoteProtocolError("tictactoe/state.3", f"{state.board!r} is not {board!r} and one X")
        board = state.board
    end = ending(board)
    if end == TIE and dialect.plies == "server" and state.winner == BLANK:
        return State.of(board, dialect, winner=BLANK), end
    return State.of(board, dialect), end


def _steps(client: str, before: Board, after: Board) -> list[str]:
    """Who marked what between two boards, O first."""
    new = {at(after, cell): cell for cell in free(before) if at(after, cell) != BLANK}
    return [f"{who} marks {new[mark]}" for mark, who in (("O", client), ("X", SERVER)) if mark in new]
