"""What a message says, in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodes.connect4.fields import FIELDS
from nodes.connect4.messages import (
    Connect,
    Connected,
    EndGame,
    GenMove,
    NewGame,
    NotConnected,
    PlayMove,
)
from nodes.connect4.rules import OTHER, PLAY, WIN

if TYPE_CHECKING:
    from nodes.connect4.messages import AnyMessage

_BATTLES = {"Ok": "", "Timeout": ", on time", "Disconnected": ", by a connection lost"}


def meaning(message: AnyMessage, src: str = "the sender", dst: str = "the receiver") -> str:
    """One line for a person: "p1 (R) is to move, 41.9 s left"."""
    match message:
        case Connect(user):
            return f"{src} asks to play" + ("" if user == src else f" as {user}")
        case Connected(info):
            return f"{src} lets {dst} in" + (f": {info}" if info else "")
        case NotConnected(info):
            return f"{src} turns {dst} away" + (f": {info}" if info else "")
        case NewGame(red, yellow):
            return f"a new game: {red} (R) meets {yellow} (Y), {red} begins"
        case GenMove():
            # The examples of the text have no status; then it is the receiver's turn all the same.
            odd = message.status not in (None, PLAY[message.color])
            status = f" (though the status says {message.status})" if odd else ""
            return f"{dst} ({message.color}) is to move, {message.time_tenths / 10:.1f} s left{status}"
        case PlayMove(move):
            return f"{src} drops a disc into column {move}"
        case EndGame():
            return f"{dst} ({message.color}) {_ending(message)}{_BATTLES[message.battlestatus]}"
    raise TypeError(f"no meaning for {message!r}")


def _ending(message: EndGame) -> str:
    if message.status == WIN[message.color]:
        return "has won"
    if message.status == WIN[OTHER[message.color]]:
        return f"has lost to {FIELDS['color'].name_of(OTHER[message.color])}"
    return "has a tie" if message.status == "Tie" else "stops before the end"
