# scapy.contrib.description = Connect Four ("Puissance 4"): text messages in WebSocket frames
# scapy.contrib.status = loads

"""Connect Four: the seven messages of the ABNF, each a layer under a WebSocket text.

  words           0              1      2       3        4
  Connect         connect        user
  Connected       connected      info …
  NotConnected    not-connected  info …
  NewGame         newgame        red    yellow
  GenMove         genmove        board  color   status   time      status may be missing
  PlayMove        playmove       move
  EndGame         endgame        board  color   status   battlestatus

between words one space, after the last one `end`: CRLF, a bare LF, or nothing.

    WebSocket(mask=1) / PlayMove(move=3)
    Connect4(b"playmove 3\\r\\n")                is a PlayMove

Whether a line is a message is the codec's to say: `check` is the id of the check it fails, or None.
A line with the right number of words keeps them as fields even where one of them is wrong; any other
is Malformed.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

from scapy.fields import Field, StrField
from scapy.packet import Packet, bind_bottom_up, bind_top_down
from scapy.volatile import RandBin, RandNum, VolatileValue

from dissectors.malformed import Malformed
from dissectors.websocket import WebSocket
from nodes.connect4.fields import FIELDS
from nodes.connect4.messages import decode
from nodes.core import RemoteProtocolError

COLUMNS = 7
CELLS = 42
_NUMBER = re.compile(r"0|[1-9][0-9]*")
_TENTHS = re.compile(r"[0-9]*\.[0-9]")


class WordField(Field[Any, Any]):
    """One word. None: it is missing."""

    def any2i(self, pkt: Packet | None, x: Any) -> Any:
        return self.value(x.decode("latin-1")) if isinstance(x, bytes) else x

    def value(self, word: str) -> Any:
        """What a word of the wire stands for."""
        return word

    def word(self, x: Any) -> str:
        """The word that stands for a value."""
        return str(x)

    def i2m(self, pkt: Packet | None, x: Any) -> bytes:
        return self.word(x).encode("latin-1", "replace")

    def i2repr(self, pkt: Packet | None, x: Any) -> str:
        name = FIELDS[self.name].name_of(x)
        return str(x) if name == str(x) else f"{x} ({name})"

    def randval(self) -> VolatileValue[Any]:
        return RandBin()


class MoveField(WordField):
    """A column: a number, unless the wire has something else there."""

    def value(self, word: str) -> int | str:
        return int(word) if _NUMBER.fullmatch(word) else word

    def randval(self) -> VolatileValue[Any]:
        return RandNum(0, COLUMNS)


class TimeField(WordField):
    """Seconds, with one decimal on the wire."""

    def value(self, word: str) -> float | str:
        return int(word.replace(".", "")) / 10 if _TENTHS.fullmatch(word) else word

    def word(self, x: Any) -> str:
        if not isinstance(x, int | float):
            return str(x)
        whole, tenth = divmod(round(x * 10), 10)
        return f"{whole}.{tenth}"


class BoardField(WordField):
    """42 cells; show() draws them as the players see them."""

    def i2repr(self, pkt: Packet | None, x: Any) -> str:
        return drawn(str(x)) if getattr(pkt, "drawing", False) else str(x)


def drawn(board: str) -> str:
    """The board with its top row first, as it stands on a table."""
    rows = [board[at : at + COLUMNS] for at in range(0, len(board), COLUMNS)]
    return "".join(f"\n{' '.join(row)}" for row in reversed(rows))


class InfoField(WordField):
    """All words that are left."""


def split(data: bytes) -> tuple[str, bytes]:
    """A line and its end, whatever the line holds."""
    line = data
    if data.endswith(b"\r\n"):
        line = data[:-2]
    elif data.endswith(b"\n"):
        line = data[:-1].rstrip(b" ")
    return line.decode("latin-1"), data[len(line) :]


def check_of(data: bytes) -> str | None:
    """The id of the check that this text fails, by the codec of the nodes."""
    try:
        decode(data)
    except RemoteProtocolError as error:
        return error.check
    return None


class Connect4(Packet):
    """What all messages share: words, then the end of the line."""

    name = "Connect Four"
    match_subclass = True  # pkt[Connect4] is whichever message it is
    __slots__ = ["drawing", "who"]

    WORDS: ClassVar[tuple[int, ...]] = ()  # how many may follow the first; none given: any number

    @classmethod
    def dispatch_hook(cls, _pkt: bytes = b"", *_: Any, **__: Any) -> type[Packet]:
        if not _pkt:
            return cls
        keyword, *words = split(_pkt)[0].split(" ")
        found = MESSAGES.get(keyword)
        return found if found and (not found.WORDS or len(words) in found.WORDS) else BadLine

    @property
    def check(self) -> str | None:
        """The id of the first check that this line fails; None where a node would take it."""
        return check_of(bytes(self))

    @classmethod
    def words(cls) -> list[WordField]:
        """The fields between the first word and the line's end."""
        return [field for field in cls.fields_desc[1:] if isinstance(field, WordField)]

    @classmethod
    def present(cls, count: int) -> list[WordField]:
        """Those that so many words after the first stand for."""
        return cls.words()

    def do_dissect(self, s: bytes) -> bytes:
        line, end = split(s)
        keyword, *words = line.split(" ")
        fields = self.present(len(words))
        if len(words) > len(fields):
            last = len(fields) - 1
            words[last:] = [" ".join(words[last:])]
        self.fields = {"type": keyword, **{field.name: None for field in self.words()}, "end": end}
        for field, word in zip(fields, words, strict=False):
            self.fields[field.name] = field.value(word)
        self.raw_packet_cache = s
        self.explicit = 1
        return b""

    def self_build(self) -> bytes:
        if self.raw_packet_cache is not None:
            return bytes(self.raw_packet_cache)
        words = [
            field.i2m(self, value)
            for field in (self.fieldtype["type"], *self.words())
            if (value := self.getfieldval(field.name)) is not None
            and not (value == "" and isinstance(field, InfoField))
        ]
        return b" ".join(words) + bytes(self.end)

    def heard(self, memory: dict[str, str], from_client: bool) -> None:
        """Remember who is at the other end of this connection, and say so in the summary."""
        self.who = f"{memory['user']} ({memory['color']})" if "color" in memory else memory.get("user", "")

    def copy(self) -> Any:
        clone = super().copy()
        clone.who = getattr(self, "who", "")  # Scapy copies what is put under another layer
        return clone

    def says(self, who: str) -> str:
        """The message in a few words, as said to or by the client."""
        return ""

    def mysummary(self) -> str:
        who = getattr(self, "who", "") or "the client"
        refused = self.check
        return self.says(who) + (f" (refused: {refused})" if refused else "")

    def _show_or_dump(self, *args: Any, **kargs: Any) -> Any:
        self.drawing = True
        try:
            return super()._show_or_dump(*args, **kargs)
        finally:
            self.drawing = False

    def hashret(self) -> bytes:
        return b"connect4"


def _line(keyword: str, *fields: WordField) -> Any:
    return [WordField("type", keyword), *fields, StrField("end", b"\r\n")]


class Connect(Connect4):
    name = "Connect Four connect"
    fields_desc = _line("connect", WordField("user", "scapy"))
    WORDS = (1,)

    def heard(self, memory: dict[str, str], from_client: bool) -> None:
        if from_client and self.check is None:
            memory.clear()
            memory["user"] = self.user
        super().heard(memory, from_client)

    def says(self, who: str) -> str:
        return f"{self.user} asks to play"


class Connected(Connect4):
    name = "Connect Four connected"
    fields_desc = _line("connected", InfoField("info", ""))

    def do_dissect(self, s: bytes) -> bytes:
        rest = super().do_dissect(s)
        self.fields["info"] = self.fields["info"] or ""
        return rest

    def answers(self, other: Packet) -> int:
        return int(isinstance(other, Connect))

    def says(self, who: str) -> str:
        return f"{who} is let in" + (f": {self.info}" if self.info else "")


class NotConnected(Connected):
    name = "Connect Four not-connected"
    fields_desc = _line("not-connected", InfoField("info", ""))

    def says(self, who: str) -> str:
        return f"{who} is turned away" + (f": {self.info}" if self.info else "")


class NewGame(Connect4):
    name = "Connect Four newgame"
    fields_desc = _line("newgame", WordField("red", "red"), WordField("yellow", "yellow"))
    WORDS = (2,)

    def heard(self, memory: dict[str, str], from_client: bool) -> None:
        if not from_client and self.check is None:
            memory.pop("color", None)
            color = {self.yellow: "Y", self.red: "R"}.get(memory.get("user", ""))
            if color:
                memory["color"] = color
        super().heard(memory, from_client)

    def says(self, who: str) -> str:
        return f"{self.red} (R) meets {self.yellow} (Y)"


class _Clock(Connect4):
    """Scapy stamps every packet with its own `time`; here the name is the clock's."""

    @property
    def time(self) -> Any:
        return self.getfieldval("time")

    @time.setter
    def time(self, value: Any) -> None:
        try:
            object.__getattribute__(self, "fields")
        except AttributeError:
            return  # the stamp of a packet that is being made
        if value != self.getfieldval("time"):
            self.setfieldval("time", value)


class GenMove(_Clock):
    name = "Connect Four genmove"
    fields_desc = _line(
        "genmove",
        BoardField("board", "." * CELLS),
        WordField("color", "R"),
        WordField("status", "PlayR"),
        TimeField("time", 42.0),
    )
    WORDS = (3, 4)

    @classmethod
    def present(cls, count: int) -> list[WordField]:
        # The form of the examples has no status.
        return [field for field in cls.words() if count != 3 or field.name != "status"]

    def answers(self, other: Packet) -> int:
        return int(isinstance(other, PlayMove))

    def says(self, who: str) -> str:
        return f"{who} is to move, {self.time} s left"


class PlayMove(Connect4):
    name = "Connect Four playmove"
    fields_desc = _line("playmove", MoveField("move", 0))
    WORDS = (1,)

    def answers(self, other: Packet) -> int:
        return int(isinstance(other, GenMove))

    def says(self, who: str) -> str:
        return f"{who} plays column {self.move}"


class EndGame(Connect4):
    name = "Connect Four endgame"
    fields_desc = _line(
        "endgame",
        BoardField("board", "." * CELLS),
        WordField("color", "R"),
        WordField("status", "Tie"),
        WordField("battlestatus", "Ok"),
    )
    WORDS = (4,)

    def answers(self, other: Packet) -> int:
        return int(isinstance(other, PlayMove))

    def says(self, who: str) -> str:
        ending = "" if self.battlestatus == "Ok" else f", {self.battlestatus}"
        return f"the game of {who} is over: {self.status}{ending}"


MESSAGES: dict[str, type[Connect4]] = {
    "connect": Connect,
    "connected": Connected,
    "not-connected": NotConnected,
    "newgame": NewGame,
    "genmove": GenMove,
    "playmove": PlayMove,
    "endgame": EndGame,
}


class BadLine(Malformed):
    """A text that is none of the seven, by its first word or by how many there are."""

    def do_dissect(self, s: bytes) -> bytes:
        rest: bytes = super().do_dissect(s)
        self.fields["check"] = check_of(s)
        return rest


bind_bottom_up(WebSocket, Connect4, opcode=1, fin=1, rsv1=0)
for _message in MESSAGES.values():
    bind_top_down(WebSocket, _message, opcode=1)
