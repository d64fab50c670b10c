"""Who speaks when, and what both roles share. server.py and client.py are the two state machines.

    server                                client
      │ ◀──────────── connects ─────────────│
      │ State, the empty board ────────────▶│
      │ ◀──────────────────────────── Move  │   O, who always begins
      │ State, with O and X on it ─────────▶│   one reply covers both plies
      │             …                       │
      │ State, with the winner ────────────▶│
      │ ─────────────  closes  ────────────▶│

A game ends by a `line`, a `tie`, because one side `resigned`, or because one side `left`; then
nobody wins it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from nodes.core import Core, Happened, LocalProtocolError, Send, Sent
from nodes.tictactoe.messages import RESIGN
from nodes.tictactoe.rules import free, outcome

if TYPE_CHECKING:
    from nodes.core import Json, Message, Peer, Turn
    from nodes.game import Setup
    from nodes.tictactoe.dialect import Dialect
    from nodes.tictactoe.rules import Board, Mark

SERVER: Peer = "server"  # what a client calls its peer, and the server's name in results
CLIENT = "client"  # what the server calls its opponents in results: the wire has no names

CLIENTS_MAX = 256
PIPELINE_MAX = 8  # messages a client may send ahead of its turn
REJECTED_MAX = 20  # in a row
THINK_S = 300.0  # for the other side to speak when it is its turn
LINGER_S = 5.0  # for the server to close after the final state


@dataclass(frozen=True, slots=True)
class View:
    """What a player is asked about. The answer is one of `legal`: a free cell, or d to give up."""

    board: Board
    mark: Mark  # the one asked; the server has X, a client O
    opponent: str  # for people; a server plays many at once
    peer: Peer
    # A client numbers its games from 0. On the server it is always 0: which client was first is
    # chance, and must not change what a seeded bot plays.
    game: int = 0

    @property
    def legal(self) -> tuple[str, ...]:
        return (*free(self.board), RESIGN)


class Ending(NamedTuple):
    """How a game ended, and whose it is."""

    how: Literal["line", "tie", "resigned", "left"]
    mark: Mark | None

    def result(self, client: str) -> dict[str, Json]:
        """One entry of Finished: `client` is what the speaker calls the client."""
        return {
            "winner": {"X": SERVER, "O": client, None: None}[self.mark],
            "mark": self.mark,
            "scores": {SERVER: int(self.mark == "X"), client: int(self.mark == "O")},
            "end": self.how,
        }

    def text(self, client: str) -> str:
        if self.mark is None:
            return "a tie" if self == TIE else "not finished, nobody wins"
        winner, loser = (SERVER, client) if self.mark == "X" else (client, SERVER)
        return f"{self.mark} ({winner}) wins" + (f", {loser} gave up" if self.how == "resigned" else "")


TIE = Ending("tie", None)
LEFT = Ending("left", None)


def ending(board: Board) -> Ending | None:
    """How the marks on the board ended the game, or None."""
    match outcome(board):
        case None:
            return None
        case "E":
            return TIE
        case mark:
            return Ending("line", mark)


class Role(Core):
    """What both sides do alike."""

    def __init__(self, setup: Setup) -> None:
        super().__init__()
        self._dialect: Dialect = setup.dialect
        self._goal = setup.games * (setup.players if setup.seat.role == "server" else 1)  # 0: no end
        self._results: list[dict[str, Json]] = []

    def _say(self, peer: Peer, message: Message) -> None:
        self._outputs.append(Send(peer, message.encode()))
        self._events.append(Sent(peer, message))

    def _tell(self, kind: str, text: str, **fields: Json) -> None:
        self._events.append(Happened(kind, text, fields))

    def _record(self, end: Ending, client: str) -> None:
        if self._goal:  # a side that plays for ever reports no total, and must not gather one
            self._results.append(end.result(client))

    def _check(self, turn: Turn, choice: Any) -> None:
        if choice not in turn.view.legal:
            raise LocalProtocolError(
                "tictactoe/move.3", f"{choice!r} is not possible; choose one of {' '.join(turn.view.legal)}"
            )
