"""The bytes: one state from the server, one move from the client, 12 ASCII characters each.

         0      1      2     3 4 5 6 7 8 9 10 11
State  status winner count  board, cells 1 to 9
Move   ·      ·      ·     choice · · · · · · · ·      (· is a blank)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nodes.core import RemoteProtocolError
from nodes.tictactoe.rules import BLANK, CELLS, outcome

if TYPE_CHECKING:
    from nodes.core import Json
    from nodes.tictactoe.dialect import Dialect
    from nodes.tictactoe.rules import Board

MESSAGE_BYTES = 12

VALID = "1"
REJECTED = "0"
GIVES_UP = "d"
STATUSES = VALID + REJECTED + GIVES_UP
WINNERS = "XOE" + BLANK
RESIGN = "d"
CHOICE_AT = 3


@dataclass(frozen=True, slots=True)
class State:
    """ESTADO DE JOGO: what the server says."""

    status: str  # [0] 1: your move was valid; 0: rejected, nothing changed; d: the server gives up
    winner: str  # [1] X, O, E (tie), or blank while the game goes on
    count: int  # [2] how many plies, see the knob `plies`
    board: Board  # [3-11]

    @classmethod
    def of(cls, board: Board, dialect: Dialect, status: str = VALID, winner: str | None = None) -> State:
        """What a server says of this board. A resignation names the winner; else the board does."""
        count = 1 + board.count("X") if dialect.plies == "server" else 9 - board.count(BLANK)
        return cls(status, winner or outcome(board) or BLANK, count, board)

    @property
    def kind(self) -> str:
        return "state"

    def encode(self) -> bytes:
        return f"{self.status}{self.winner}{self.count}{self.board}".encode("ascii")

    @classmethod
    def decode(cls, data: bytes) -> State:
        """Read what a server sent. Whether it is true is for the client to judge."""
        text = _text(data)
        status, winner, count, board = text[0], text[1], text[2], text[3:]
        if status not in STATUSES:
            raise RemoteProtocolError("tictactoe/state.0", f"byte 0 is {status!r}, not 1, 0 or d")
        if winner not in WINNERS:
            raise RemoteProtocolError("tictactoe/state.1", f"byte 1 is {winner!r}, not X, O, E or blank")
        if count not in "0123456789":
            raise RemoteProtocolError("tictactoe/state.2", f"byte 2 is {count!r}, not a digit")
        if board.strip("XO" + BLANK):
            raise RemoteProtocolError("tictactoe/state.3", f"cells {board!r} are not all X, O or blank")
        return cls(status, winner, int(count), board)

    def fields(self) -> dict[str, Json]:
        return {"status": self.status, "winner": self.winner, "count": self.count, "board": self.board}


@dataclass(frozen=True, slots=True)
class Move:
    """JOGADA: what the client says."""

    choice: str  # [3] a cell, 1 to 9, or d (D): the client gives up

    @property
    def resigns(self) -> bool:
        return self.choice.lower() == RESIGN

    @property
    def kind(self) -> str:
        return "move"

    def encode(self) -> bytes:
        return self.choice.rjust(CHOICE_AT + 1).ljust(MESSAGE_BYTES).encode("ascii")

    @classmethod
    def decode(cls, data: bytes) -> Move:
        """Read what a client sent. Whether the cell is free is for the server to judge."""
        text = _text(data)
        choice = text[CHOICE_AT]
        if text[:CHOICE_AT].strip(BLANK) or text[CHOICE_AT + 1 :].strip(BLANK):
            raise RemoteProtocolError("tictactoe/move.1", "a move is blank but for index 3")
        if choice not in CELLS and choice.lower() != RESIGN:
            raise RemoteProtocolError("tictactoe/move.3", f"index 3 is {choice!r}, not 1 to 9, d or D")
        return cls(choice)

    def fields(self) -> dict[str, Json]:
        return {"choice": self.choice}


def _text(data: bytes) -> str:
    if len(data) != MESSAGE_BYTES:
        raise RemoteProtocolError("tictactoe/start.2", f"{len(data)} bytes, not {MESSAGE_BYTES}")
    return data.decode("latin-1")  # one character a byte, whatever came
