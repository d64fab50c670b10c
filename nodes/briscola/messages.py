"""The words of SBGP: two bytes each, big-endian.

    +-------+-------------+---------------+
    | o o o | s s n n n n | i i i i i i i |
    +-------+-------------+---------------+
      op      suit number   info

    op 0 ACK     info = count of the word it answers (0: bare)
       1 INIT    suit, number = the briscola (number 0: suit only); info = first<<6 | player
       2 GIV_C   suit, number
       3 ENM_C   suit, number
       4 END_G   info = player (0x7F: a draw)
       5 SEARCH  info = player
       6 USE_C   suit, number
       7 ERR     info = code

"`y` sono i 7 bit sono riservati per informazioni ed eventuali estensioni del protocollo": where a
word has no use for info, it is sent as 0 and not looked at (though kept, for whoever reads a capture).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, ClassVar

from nodes.briscola.rules import Card
from nodes.core import RemoteProtocolError

if TYPE_CHECKING:
    from collections.abc import Callable

    from nodes.core import Json

WORD_SIZE = 2
INFO_MASK = 0x7F
ID_MAX = 63
NOBODY = 0x7F  # END_G of a draw
NUMBER_MAX = 10


class Op(IntEnum):
    ACK = 0
    INIT = 1
    GIV_C = 2
    ENM_C = 3
    END_G = 4
    SEARCH = 5
    USE_C = 6
    ERR = 7


class Code(IntEnum):
    """ERR's info. "Non ancora implementata" in the text; the list is protocols.md's."""

    MALFORMED = 1
    UNKNOWN_OP = 2
    ID_IN_USE = 3
    NOT_YOUR_TURN = 4
    NOT_YOUR_CARD = 5
    NO_SUCH_CARD = 6
    NO_GAME = 7
    OPPONENT_LEFT = 8
    SERVER_FULL = 9


def pack(op: int, card: int, info: int) -> bytes:
    """Any word, sensible or not."""
    return (op << 13 | card << 7 | info).to_bytes(WORD_SIZE, "big")


def card_id(card: Card) -> int:
    """The text's `id_carta`: `s s n n n n`."""
    return card.suit << 4 | card.number


class Word(ABC):
    """One message. Its fields are named as in the dissectors, the checks and the logs."""

    __slots__ = ()
    op: ClassVar[Op]

    @abstractmethod
    def _bits(self) -> tuple[int, int]:
        """card and info."""

    @abstractmethod
    def _values(self) -> dict[str, Json]:
        """The fields after `op`."""

    def encode(self) -> bytes:
        return pack(self.op, *self._bits())

    @property
    def kind(self) -> str:
        return self.op.name

    def fields(self) -> dict[str, Json]:
        """The three parts of the word, then what they mean for this operation."""
        card, info = self._bits()
        return {"op": int(self.op), "card": card, "info": info, **self._values()}


@dataclass(frozen=True, slots=True)
class Ack(Word):
    """in risposta ai messaggi"""

    count: int = 0
    op = Op.ACK

    def _bits(self) -> tuple[int, int]:
        return 0, self.count

    def _values(self) -> dict[str, Json]:
        return {"count": self.count}


@dataclass(frozen=True, slots=True)
class Init(Word):
    """avvio della partita `id_carta` indica la briscola"""

    suit: int
    number: int  # 0: the suit only
    first: bool
    player: int  # the other one
    op = Op.INIT

    @property
    def card(self) -> Card | None:
        return Card(self.suit, self.number) if self.number else None

    def _bits(self) -> tuple[int, int]:
        return self.suit << 4 | self.number, self.first << 6 | self.player

    def _values(self) -> dict[str, Json]:
        return {"suit": self.suit, "number": self.number, "first": self.first, "player": self.player}


@dataclass(frozen=True, slots=True)
class _CardWord(Word):
    card: Card
    info: int = field(default=0, compare=False)  # not looked at, so two words may differ in it

    def _bits(self) -> tuple[int, int]:
        return card_id(self.card), self.info

    def _values(self) -> dict[str, Json]:
        return {"suit": self.card.suit, "number": self.card.number}


@dataclass(frozen=True, slots=True)
class GiveCard(_CardWord):
    """dà una carta al giocatore"""

    op = Op.GIV_C


@dataclass(frozen=True, slots=True)
class EnemyCard(_CardWord):
    """il nemico ha giocato una certa carta"""

    op = Op.ENM_C


@dataclass(frozen=True, slots=True)
class UseCard(_CardWord):
    """utente gioca la carta"""

    op = Op.USE_C


@dataclass(frozen=True, slots=True)
class _PlayerWord(Word):
    player: int

    def _bits(self) -> tuple[int, int]:
        return 0, self.player

    def _values(self) -> dict[str, Json]:
        return {"player": self.player}


@dataclass(frozen=True, slots=True)
class EndGame(_PlayerWord):
    """partita terminata con `id_player` vincente"""

    op = Op.END_G


@dataclass(frozen=True, slots=True)
class Search(_PlayerWord):
    """informa il server di voler giocare"""

    op = Op.SEARCH


@dataclass(frozen=True, slots=True)
class Error(Word):
    """The other side refused something. A code that is not in `Code` is kept as it came."""

    code: int
    op = Op.ERR

    def _bits(self) -> tuple[int, int]:
        return 0, self.code

    def _values(self) -> dict[str, Json]:
        return {"code": self.code}


def decode(data: bytes) -> Word:
    """One datagram. Raises RemoteProtocolError, with the ERR to answer unless it was an ACK or an ERR."""
    if len(data) != WORD_SIZE:
        # "datagram di lunghezza fissa di 2 byte"
        raise RemoteProtocolError(
            "briscola/size",
            f"a datagram of {len(data)} bytes, where a word has {WORD_SIZE}",
            Error(Code.MALFORMED),
        )
    word = int.from_bytes(data, "big")
    return _DECODERS[Op(word >> 13)](word >> 7 & 0x3F, word & INFO_MASK)


def _ack(card: int, info: int) -> Word:
    _no_card(Op.ACK, card, None)
    return Ack(info)


def _init(card: int, info: int) -> Word:
    # "0 riservato ad indicare il segno": the briscola may be told by its suit alone
    if card & 0xF:
        _card(Op.INIT, card)
    return Init(card >> 4, card & 0xF, bool(info >> 6), info & ID_MAX)


def _give(card: int, info: int) -> Word:
    return GiveCard(_card(Op.GIV_C, card), info)


def _enemy(card: int, info: int) -> Word:
    return EnemyCard(_card(Op.ENM_C, card), info)


def _use(card: int, info: int) -> Word:
    return UseCard(_card(Op.USE_C, card), info)


def _end(card: int, info: int) -> Word:
    _no_card(Op.END_G, card, Error(Code.MALFORMED))
    if info > ID_MAX and info != NOBODY:
        raise RemoteProtocolError(
            "briscola/end.player",
            f"END_G names player {info}; ids are 0 to {ID_MAX}, 127 is a draw",
            Error(Code.MALFORMED),
        )
    return EndGame(info)


def _search(card: int, info: int) -> Word:
    _no_card(Op.SEARCH, card, Error(Code.MALFORMED))
    if info > ID_MAX:
        raise RemoteProtocolError(
            "briscola/search.id", f"SEARCH by player {info}; ids are 0 to {ID_MAX}", Error(Code.MALFORMED)
        )
    return Search(info)


def _err(card: int, info: int) -> Word:
    _no_card(Op.ERR, card, None)
    return Error(info)


def _card(op: Op, card: int) -> Card:
    suit, number = card >> 4, card & 0xF
    if not 1 <= number <= NUMBER_MAX:
        raise RemoteProtocolError(
            "briscola/card.number",
            f"{op.name} names card number {number}; a card has 1 to {NUMBER_MAX}",
            Error(Code.NO_SUCH_CARD),
        )
    return Card(suit, number)


def _no_card(op: Op, card: int, reply: Error | None) -> None:
    if card:
        raise RemoteProtocolError(
            "briscola/card.unused", f"{op.name} names no card, yet its card bits are {card:06b}", reply
        )


_DECODERS: dict[Op, Callable[[int, int], Word]] = {
    Op.ACK: _ack,
    Op.INIT: _init,
    Op.GIV_C: _give,
    Op.ENM_C: _enemy,
    Op.END_G: _end,
    Op.SEARCH: _search,
    Op.USE_C: _use,
    Op.ERR: _err,
}
