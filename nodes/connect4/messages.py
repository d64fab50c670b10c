"""The bytes: the seven messages of the ABNF.

message     client → server           server → client
            connect USER              connected [INFO]
            playmove MOVE             not-connected [INFO]
                                      newgame USER USER
                                      genmove BOARD COLOR STATUS TIME
                                      endgame BOARD COLOR STATUS BATTLESTATUS
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

from nodes.connect4.transport import frame, unframe
from nodes.core import RemoteProtocolError

if TYPE_CHECKING:
    from collections.abc import Callable

    from nodes.connect4.rules import Battle, Color, Status
    from nodes.core import Json

USER_MAX = 32


class _Message:
    """What all messages share."""

    __slots__ = ()
    KIND: ClassVar[str]

    @property
    def kind(self) -> str:
        return self.KIND


@dataclass(frozen=True, slots=True)
class Connect(_Message):
    KIND = "connect"
    user: str

    def encode(self) -> bytes:
        return frame(f"connect {self.user}")

    def fields(self) -> dict[str, Json]:
        return {"type": self.KIND, "user": self.user}


@dataclass(frozen=True, slots=True)
class Connected(_Message):
    KIND = "connected"
    info: str = ""

    def encode(self) -> bytes:
        return frame(f"connected {self.info}" if self.info else "connected")

    def fields(self) -> dict[str, Json]:
        return {"type": self.KIND, "info": self.info}


@dataclass(frozen=True, slots=True)
class NotConnected(_Message):
    KIND = "not-connected"
    info: str = ""

    def encode(self) -> bytes:
        return frame(f"not-connected {self.info}" if self.info else "not-connected")

    def fields(self) -> dict[str, Json]:
        return {"type": self.KIND, "info": self.info}


@dataclass(frozen=True, slots=True)
class NewGame(_Message):
    KIND = "newgame"
    red: str
    yellow: str

    def encode(self) -> bytes:
        return frame(f"newgame {self.red} {self.yellow}")

    def fields(self) -> dict[str, Json]:
        return {"type": self.KIND, "red": self.red, "yellow": self.yellow}


@dataclass(frozen=True, slots=True)
class GenMove(_Message):
    KIND = "genmove"
    board: str
    color: Color
    status: Status | None  # None: the form of the examples, without a status
    time_tenths: int  # a whole number of tenths is exact; the wire has one decimal

    def encode(self) -> bytes:
        status = f" {self.status}" if self.status else ""
        whole, tenth = divmod(self.time_tenths, 10)
        return frame(f"genmove {self.board} {self.color}{status} {whole}.{tenth}")

    def fields(self) -> dict[str, Json]:
        return {
            "type": self.KIND,
            "board": self.board,
            "color": self.color,
            "status": self.status,
            "time": self.time_tenths / 10,
        }


@dataclass(frozen=True, slots=True)
class PlayMove(_Message):
    KIND = "playmove"
    move: int

    def encode(self) -> bytes:
        return frame(f"playmove {self.move}")

    def fields(self) -> dict[str, Json]:
        return {"type": self.KIND, "move": self.move}


@dataclass(frozen=True, slots=True)
class EndGame(_Message):
    KIND = "endgame"
    board: str
    color: Color
    status: Status
    battlestatus: Battle

    def encode(self) -> bytes:
        return frame(f"endgame {self.board} {self.color} {self.status} {self.battlestatus}")

    def fields(self) -> dict[str, Json]:
        return {
            "type": self.KIND,
            "board": self.board,
            "color": self.color,
            "status": self.status,
            "battlestatus": self.battlestatus,
        }


AnyMessage = Connect | Connected | NotConnected | NewGame | GenMove | PlayMove | EndGame


@dataclass(frozen=True, slots=True)
class _Rule:
    """One rule of the ABNF that is not a message."""

    check: str
    pattern: re.Pattern[str]

    def read(self, word: str) -> str:
        if not self.pattern.fullmatch(word):
            raise RemoteProtocolError(self.check, f"'{word}' is no {self.check.partition('/')[2]}")
        return word


# "user = *(ALPHA / DIGIT / "-" / "_")"; protocols.md: 1–32 of them.
_USER = _Rule("connect4/user", re.compile(rf"[A-Za-z0-9_-]{{1,{USER_MAX}}}"))
# "info = *(ALPHA / DIGIT / SP)"
_INFO = _Rule("connect4/info", re.compile(r"[A-Za-z0-9 ]*"))
# "board = 42*("." / color)"; protocols.md: exactly 42 cells.
_BOARD = _Rule("connect4/board", re.compile(r"[.RY]{42}"))
# "color = "R" / "Y""
_COLOR = _Rule("connect4/color", re.compile(r"[RY]"))
# "time = *DIGIT "." DIGIT"
_TIME = _Rule("connect4/time", re.compile(r"[0-9]*\.[0-9]"))
# "move = "0" / "1" / "2" / "3" / "4" / "5" / "6""
_MOVE = _Rule("connect4/move", re.compile(r"[0-6]"))
# "status = "WinR" / "WinY" / "Tie" / "PlayR" / "PlayY""
_STATUS = _Rule("connect4/status", re.compile(r"WinR|WinY|Tie|PlayR|PlayY"))
# "battlestatus = "Ok" / "Timeout" / "Disconnected""
_BATTLESTATUS = _Rule("connect4/battlestatus", re.compile(r"Ok|Timeout|Disconnected"))


def is_user(name: str) -> bool:
    """Whether a server would take this name."""
    return _USER.pattern.fullmatch(name) is not None


def decode(data: bytes) -> AnyMessage:
    """One message, or RemoteProtocolError with the id of the rule that was broken."""
    line = unframe(data)
    keyword, space, rest = line.partition(" ")
    reader = _READERS.get(keyword)
    if reader is None:
        raise RemoteProtocolError("connect4/message", f"no message begins with '{keyword}'")
    return reader(rest.split(" ") if space else [])


def _connect(words: list[str]) -> Connect:
    try:
        _count("connect4/connect", words, 1)
        _USER.read(words[0])
    except RemoteProtocolError as error:
        # protocols.md: "a taken or bad name: not-connected …, close".
        error.reply_hint = NotConnected("bad name")
        raise
    return Connect(words[0])


def _connected(words: list[str]) -> Connected:
    return Connected(_INFO.read(" ".join(words)))


def _not_connected(words: list[str]) -> NotConnected:
    return NotConnected(_INFO.read(" ".join(words)))


def _new_game(words: list[str]) -> NewGame:
    _count("connect4/newgame", words, 2)
    return NewGame(_USER.read(words[0]), _USER.read(words[1]))


def _gen_move(words: list[str]) -> GenMove:
    _count("connect4/genmove", words, 3, 4)
    board, color = _BOARD.read(words[0]), _COLOR.read(words[1])
    status = _STATUS.read(words[2]) if len(words) == 4 else None
    time = _TIME.read(words[-1])
    return GenMove(board, cast("Color", color), cast("Status | None", status), int(time.replace(".", "")))


def _play_move(words: list[str]) -> PlayMove:
    _count("connect4/playmove", words, 1)
    return PlayMove(int(_MOVE.read(words[0])))


def _end_game(words: list[str]) -> EndGame:
    _count("connect4/endgame", words, 4)
    return EndGame(
        _BOARD.read(words[0]),
        cast("Color", _COLOR.read(words[1])),
        cast("Status", _STATUS.read(words[2])),
        cast("Battle", _BATTLESTATUS.read(words[3])),
    )


# ABNF's own strings ignore case; every example and every known program writes them exactly so,
# and a board could not tell "r" from "R" otherwise, so we hold to the letters as printed.
_READERS: dict[str, Callable[[list[str]], AnyMessage]] = {
    "connect": _connect,
    "connected": _connected,
    "not-connected": _not_connected,
    "newgame": _new_game,
    "genmove": _gen_move,
    "playmove": _play_move,
    "endgame": _end_game,
}


def _count(check: str, words: list[str], *allowed: int) -> None:
    if len(words) not in allowed:
        wanted = " or ".join(map(str, allowed))
        keyword = check.partition("/")[2]
        raise RemoteProtocolError(check, f"{keyword} takes {wanted} words after it, not {len(words)}")
