"""The names of Connect Four's fields: the rules of its ABNF."""

from __future__ import annotations

from nodes.vocabulary import Field

FIELDS = {
    "type": Field("text", "the first word"),
    "user": Field("text", "who connects"),
    "info": Field("text", "what the server adds to its answer"),
    "red": Field("text", "who plays red, and first"),
    "yellow": Field("text", "who plays yellow"),
    "board": Field("text", "42 cells from the bottom row up"),
    "color": Field("text", "couleur du client qui reçoit le message", {"R": "red", "Y": "yellow"}),
    "status": Field("text", "whose turn it is, or who has won"),
    "time": Field("number", "seconds left on the receiver's clock"),
    "move": Field("integer", "numéro de la colonne"),
    "battlestatus": Field("text", "how the game ended: Ok, Timeout, Disconnected"),
}
