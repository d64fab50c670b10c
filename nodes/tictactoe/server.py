"""The server: X, against many clients at once."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nodes.core import Close, Finished, Received, RemoteProtocolError, Turn
from nodes.tictactoe.messages import GIVES_UP, REJECTED, RESIGN, Move, State
from nodes.tictactoe.roles import (
    CLIENT,
    CLIENTS_MAX,
    LEFT,
    PIPELINE_MAX,
    REJECTED_MAX,
    SERVER,
    THINK_S,
    Ending,
    Role,
    View,
    ending,
)
from nodes.tictactoe.rules import EMPTY, free, outcome, play
from nodes.tictactoe.transport import Chunks

if TYPE_CHECKING:
    from nodes.core import Peer
    from nodes.game import Setup
    from nodes.tictactoe.rules import Board


@dataclass(slots=True)
class _Table:
    """One client and its game, as the server sees them."""

    peer: Peer
    name: str
    board: Board = EMPTY
    turn: Turn | None = None  # open while the server's player thinks
    deadline: float | None = None  # set while the client is to move
    rejected: int = 0  # moves in a row
    chunks: Chunks = field(default_factory=Chunks)
    pending: deque[bytes] = field(default_factory=deque)  # messages sent ahead


class Server(Role):
    """Plays X against many clients at once, each at a table of its own.

    A game counts once the client has made a valid move: a connection that only looks in is none.
    """

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self._seat = setup.seat.name
        self._alone = setup.players == 1
        self._tables: dict[Peer, _Table] = {}
        self._arrivals = 0

    def start(self, now: float) -> None:
        """Clients come by themselves."""

    def connected(self, peer: Peer, now: float) -> None:
        if self.done:
            self._outputs.append(Close(peer))
            return
        if len(self._tables) >= CLIENTS_MAX:
            self._refuse(peer, RemoteProtocolError("tictactoe/limit.clients", f"{CLIENTS_MAX} are playing"))
            self._outputs.append(Close(peer))
            return
        self._arrivals += 1
        table = self._tables[peer] = _Table(peer, f"client {self._arrivals}")
        self._tell("join", f"{table.name} sits down, from {peer}", client=table.name)
        self._answer(table, now)

    def receive(self, data: bytes, peer: Peer, now: float) -> None:
        table = self._tables.get(peer)
        if table is None:
            return  # "A client that sends the final state back on its way out is tolerated."
        table.pending.extend(table.chunks.feed(data))
        self._read(table, now)

    def disconnected(self, peer: Peer, now: float) -> None:  # noqa: ARG002
        table = self._tables.pop(peer, None)
        if table is None:
            return
        try:
            table.chunks.close()
        except RemoteProtocolError as error:
            self._refuse(peer, error)
        self._left(table)

    def act(self, turn: Turn, choice: Any, now: float) -> None:
        table = self._tables.get(turn.view.peer)
        if table is None or table.turn is not turn:
            return
        self._check(turn, choice)
        table.turn = None
        if choice == RESIGN:
            self._say(table.peer, State.of(table.board, self._dialect, GIVES_UP, "O"))
            self._end(table, Ending("resigned", "O"))
            return
        self._mark(table, choice, SERVER)
        self._answer(table, now)
        self._read(table, now)

    def timer(self) -> float | None:
        return min((t.deadline for t in self._tables.values() if t.deadline is not None), default=None)

    def handle_timer(self, now: float) -> None:
        for table in list(self._tables.values()):
            if table.peer in self._tables and table.deadline is not None and table.deadline <= now:
                self._drop(table, "tictactoe/limit.time", f"no move from {table.name} in {THINK_S:.0f} s")

    def _read(self, table: _Table, now: float) -> None:
        """Take the client's messages in order, as far as it is the client's turn."""
        while table.pending and table.turn is None and table.peer in self._tables:
            self._take(table, table.pending.popleft(), now)
        if len(table.pending) > PIPELINE_MAX and table.peer in self._tables:
            self._drop(table, "tictactoe/limit.pipeline", f"{len(table.pending)} messages ahead of its turn")

    def _take(self, table: _Table, data: bytes, now: float) -> None:
        try:
            move = Move.decode(data)
            if not move.resigns and move.choice not in free(table.board):
                raise RemoteProtocolError("tictactoe/move.3", f"cell {move.choice} is taken")
        except RemoteProtocolError as error:
            self._reject(table, error, data)
            return
        self._events.append(Received(table.peer, move))
        table.rejected = 0
        table.deadline = None
        if move.resigns:
            self._say(table.peer, State.of(table.board, self._dialect, winner="X"))
            self._end(table, Ending("resigned", "X"))
            return
        self._mark(table, move.choice, table.name)
        if outcome(table.board):
            self._answer(table, now)
        else:
            table.turn = Turn(self._seat, View(table.board, "X", table.name, table.peer))
            self._events.append(table.turn)

    def _reject(self, table: _Table, error: RemoteProtocolError, data: bytes) -> None:
        # "o servidor rejeitará a jogada reenviando o mesmo estado de jogo, porém com […] 0"
        self._refuse(table.peer, error, data)
        self._say(table.peer, State.of(table.board, self._dialect, REJECTED))
        table.rejected += 1
        if table.rejected >= REJECTED_MAX:
            self._drop(table, "tictactoe/limit.rejected", f"{table.rejected} rejected moves in a row")

    def _mark(self, table: _Table, cell: str, who: str) -> None:
        table.board = play(table.board, cell)
        text = f"{who} marks {cell}" + (f", against {table.name}" if who == SERVER else "")
        self._tell("move", text, client=table.name, cell=cell, board=table.board)

    def _answer(self, table: _Table, now: float) -> None:
        """Send the state; the client is to move, or the game is over."""
        self._say(table.peer, State.of(table.board, self._dialect))
        end = ending(table.board)
        if end:
            self._end(table, end)
        else:
            table.deadline = now + THINK_S

    def _drop(self, table: _Table, check: str, text: str) -> None:
        self._refuse(table.peer, RemoteProtocolError(check, text))
        self._outputs.append(Close(table.peer))
        del self._tables[table.peer]
        self._left(table)

    def _left(self, table: _Table) -> None:
        """The client is gone, and its table with it."""
        self._tell("left", f"{table.name} is gone", client=table.name)
        if table.board != EMPTY:
            self._over(table, LEFT)

    def _end(self, table: _Table, end: Ending) -> None:
        self._outputs.append(Close(table.peer))
        del self._tables[table.peer]
        self._over(table, end)

    def _over(self, table: _Table, end: Ending) -> None:
        self._tell(
            "game",
            f"the game with {table.name}: {end.text(table.name)}",
            board=table.board,
            **end.result(CLIENT),
        )
        self._record(end, CLIENT)
        if self._goal and len(self._results) == self._goal:
            self._finish()

    def _finish(self) -> None:
        if not self._alone:  # in which order several clients end is chance; the result must not be
            self._results.sort(key=lambda result: (str(result["mark"]), str(result["end"])))
        self._outputs.extend(Close(peer) for peer in self._tables)
        self._tables.clear()
        self._events.append(Finished({"games": list(self._results)}))
        self.done = True
