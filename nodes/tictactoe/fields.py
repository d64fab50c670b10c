"""The names of tic-tac-toe's fields: the state's from the text's indexes, the move's one character."""

from __future__ import annotations

from nodes.tictactoe.messages import GIVES_UP, REJECTED, VALID
from nodes.tictactoe.rules import BLANK
from nodes.vocabulary import Field

FIELDS = {
    "status": Field("text", "[0]", {VALID: "valid", REJECTED: "rejected", GIVES_UP: "gives-up"}),
    "winner": Field("text", "[1]: who has won", {"X": "server", "O": "client", "E": "tie", BLANK: "nobody"}),
    "count": Field("integer", "[2]: the number of the ply"),
    "board": Field("text", "[3-11]: nine cells, row by row from the top left"),
    "choice": Field("text", "[3] of a move: a cell, or d to give up", {"d": "resign", "D": "resign"}),
}
