# scapy.contrib.description = Tic-tac-toe ("Bom Velhinho") over TCP
# scapy.contrib.status = loads

r"""Tic-tac-toe for Scapy: what the server says and what the client says, 12 characters each.

                   0      1      2      3 4 5 6 7 8 9 10 11
    TicTacToeState status winner count  board, cells 1 to 9
    TicTacToeMove  before ·      ·      choice  after · · · ·   (blank but for choice)

Nothing in the bytes says which is which. Where TCP is below, its ports say who speaks: the server sends
states; a client sends moves, or gives the last state back on its way out. Elsewhere a message that is
blank but for index 3 is a move.

Messages follow each other with nothing between: what comes after the twelfth character is Padding, of
which a session (GameSession, or Scapy's TCPSession) makes the next message. Fewer than 12 are Malformed, in
a session only when the connection ends. Nothing raises (see malformed.py).
"""

from __future__ import annotations

from typing import Any

from scapy.config import conf
from scapy.fields import Field
from scapy.layers.inet import TCP
from scapy.packet import Packet, bind_bottom_up, bind_layers

from dissectors.malformed import Malformed
from nodes.tictactoe.fields import FIELDS
from nodes.tictactoe.messages import CHOICE_AT, MESSAGE_BYTES, RESIGN, STATUSES, WINNERS

PORT = 6666
SERVER_PORTS = {PORT}

_DIGITS = "0123456789"
_BLANK = " "


class TextField(Field[Any, Any]):
    """So many characters, one a byte. Shorter text is filled up with blanks, longer text is cut."""

    __slots__ = ["size", "vocabulary"]

    def __init__(self, name: str, default: Any, size: int = 1) -> None:
        self.size = size
        self.vocabulary = FIELDS.get(name)
        super().__init__(name, default, f"{size}s")

    def any2i(self, pkt: Packet | None, x: Any) -> Any:
        if isinstance(x, bytes):
            return x.decode("latin-1")
        if isinstance(x, str) and self.vocabulary and len(x) > self.size:
            return self.vocabulary.value_of(x) or x
        return x

    def i2repr(self, pkt: Packet | None, x: Any) -> str:
        known = self.vocabulary.values.get(x) if self.vocabulary else None
        return repr(x) if known is None else f"{x!r} ({known})"

    def i2m(self, pkt: Packet | None, x: Any) -> bytes:
        text = x if isinstance(x, bytes) else str("" if x is None else x).encode("latin-1", "replace")
        return text[: self.size].ljust(self.size)

    def addfield(self, pkt: Packet, s: Any, val: Any) -> Any:
        return s + self.i2m(pkt, val)

    def getfield(self, pkt: Packet, s: Any) -> Any:
        return s[self.size :], self.m2i(pkt, s[: self.size])

    def m2i(self, pkt: Packet | None, x: Any) -> Any:
        return x.decode("latin-1")


class CountField(TextField):
    """A digit, which is a number; anything else stays the character it is."""

    def m2i(self, pkt: Packet | None, x: Any) -> Any:
        text = super().m2i(pkt, x)
        return int(text) if text in _DIGITS else text


class ShortTicTacToe(Malformed):
    """Less than a message."""

    check = "tictactoe/start.2"


class TicTacToe(Packet):
    """Any 12 characters."""

    match_subclass = True
    fields_desc = [TextField("text", "", MESSAGE_BYTES)]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        # Scapy asks each class for a hook of its own; who names a message wants that one.
        cls.dispatch_hook = classmethod(  # type: ignore[method-assign, assignment]
            lambda cls, _pkt=b"", *_, **__: ShortTicTacToe if 0 < len(_pkt) < MESSAGE_BYTES else cls
        )

    @classmethod
    def dispatch_hook(
        cls, _pkt: bytes = b"", *_: Any, _underlayer: Packet | None = None, **__: Any
    ) -> type[Packet]:
        if not _pkt:
            return cls
        if len(_pkt) < MESSAGE_BYTES:
            return ShortTicTacToe
        text = _pkt[:MESSAGE_BYTES].decode("latin-1")
        from_client = _from_client(_underlayer)
        if from_client is None:
            from_client = _is_blank(text)
        elif from_client and not _is_blank(text):
            from_client = _check_state(text) is not None
        return TicTacToeMove if from_client else TicTacToeState

    @classmethod
    def tcp_reassemble(cls, data: bytes, metadata: dict[str, Any], session: dict[str, Any]) -> Packet | None:
        """The first message of a stream, and what follows it as Padding."""
        if not data or (len(data) < MESSAGE_BYTES and not metadata.get("tcp_end")):
            return None
        original = metadata.get("original")
        below = original and original.getlayer(TCP)
        # Scapy's TCPSession (which alone gives an `ident`) loses its place in the stream when it comes back
        # for more than one message of a segment. So it gets all that are whole at once.
        first = MESSAGE_BYTES if "ident" in metadata else len(data)
        packet = cls(data[:first], _underlayer=below)
        for at in range(first, len(data), MESSAGE_BYTES):
            piece = data[at : at + MESSAGE_BYTES]
            whole = len(piece) == MESSAGE_BYTES
            packet.add_payload(cls(piece, _underlayer=below) if whole else conf.padding_layer(piece))
        return packet

    @classmethod
    def tcp_resync(cls, pending: bytes, missing: int, from_client: bool, session: dict[str, Any]) -> int:
        """For GameSession: all messages are of one size, so one knows where the next begins."""
        return -(len(pending) + missing) % MESSAGE_BYTES

    @classmethod
    def tcp_begins(cls, data: bytes) -> bool:
        """For GameSession: who writes a message writes it whole."""
        return len(data) % MESSAGE_BYTES == 0

    def extract_padding(self, s: bytes) -> tuple[bytes, bytes | None]:
        return b"", s

    @property
    def check(self) -> str | None:
        """The id of the first check that this message fails; None where a node would take it."""
        text = self.self_build().decode("latin-1")
        from_client = _from_client(self.underlayer)
        if from_client is None:
            from_client = isinstance(self, TicTacToeMove)
        return _check_move(text) if from_client else _check_state(text)

    def answers(self, other: Packet) -> int:
        """The two alternate: each message answers the other side's."""
        return int(isinstance(other, TicTacToe) and type(self) is not type(other))

    def mysummary(self) -> str:
        refused = self.check
        return f"TicTacToe {self.told()}" + (f" (refused: {refused})" if refused else "")

    def told(self) -> str:
        """The message in a few words."""
        return repr(self.text)


class TicTacToeState(TicTacToe):
    """ESTADO DE JOGO: what the server says."""

    fields_desc = [
        TextField("status", "1"),
        TextField("winner", _BLANK),
        CountField("count", 0),
        TextField("board", _BLANK * 9, 9),
    ]

    def told(self) -> str:
        board = str(self.board).replace(_BLANK, "·")
        said = f"state {board[:3]}/{board[3:6]}/{board[6:]} ply {self.count}"
        status, winner = (FIELDS[name].name_of(getattr(self, name)) for name in ("status", "winner"))
        return (
            said
            + (f", {status}" if status != "valid" else "")
            + (f", winner: {winner}" if self.winner != _BLANK else "")
        )


class TicTacToeMove(TicTacToe):
    """JOGADA: what the client says."""

    fields_desc = [
        TextField("before", "", CHOICE_AT),
        TextField("choice", "5"),
        TextField("after", "", MESSAGE_BYTES - CHOICE_AT - 1),
    ]

    def told(self) -> str:
        return f"move {FIELDS['choice'].name_of(self.choice)}"


def _from_client(layer: Packet | None) -> bool | None:
    """Who speaks, by the ports of the TCP below; None where there is none, or none of ours."""
    while layer is not None and not isinstance(layer, TCP):
        layer = layer.underlayer
    if layer is None or (layer.dport in SERVER_PORTS) == (layer.sport in SERVER_PORTS):
        return None
    return layer.dport in SERVER_PORTS


def _is_blank(text: str) -> bool:
    """Blank but for index 3."""
    return not (text[:CHOICE_AT] + text[CHOICE_AT + 1 :]).strip(_BLANK)


def _check_move(text: str) -> str | None:
    if not _is_blank(text):
        return "tictactoe/move.1"
    choice = text[CHOICE_AT]
    return None if choice in "123456789" or choice.lower() == RESIGN else "tictactoe/move.3"


def _check_state(text: str) -> str | None:
    if text[0] not in STATUSES:
        return "tictactoe/state.0"
    if text[1] not in WINNERS:
        return "tictactoe/state.1"
    if text[2] not in _DIGITS:
        return "tictactoe/state.2"
    return "tictactoe/state.3" if text[3:].strip("XO" + _BLANK) else None


bind_bottom_up(TCP, TicTacToe, sport=PORT)
bind_bottom_up(TCP, TicTacToe, dport=PORT)
bind_layers(TCP, TicTacToe, dport=PORT)
