# scapy.contrib.description = Briscola ("SBGP"), one 16-bit word a UDP datagram
# scapy.contrib.status = loads

r"""Briscola for Scapy: the word, and one layer an operation.

    +-------+-------------+---------------+
    | o o o | s s n n n n | i i i i i i i |
    +-------+-------------+---------------+
      op      suit number   info

    op 0 ACK     BriscolaAck      info = count
       1 INIT    BriscolaInit     suit, number; info = first (1 bit), player (6 bits)
       2 GIV_C   BriscolaGive     suit, number
       3 ENM_C   BriscolaEnemy    suit, number
       4 END_G   BriscolaEnd      info = player (0x7F: a draw)
       5 SEARCH  BriscolaSearch   info = player
       6 USE_C   BriscolaUse      suit, number
       7 ERR     BriscolaError    info = code

Dissecting gives the layer of the operation; `Briscola in packet` is true of all of them, and all have
`card` and `info`, the six and the seven bits as they are. Briscola itself builds any word at all:

    >>> BriscolaUse(card="A♠")
    <BriscolaUse  suit=spade number=asso |>
    >>> bytes(Briscola(op="USE_C", card=0x3F)).hex()
    'df80'

A datagram of one byte is Malformed; bytes after the word are Padding. Nothing raises (see malformed.py).
"""

from __future__ import annotations

from typing import Any

from scapy.fields import BitEnumField, BitField
from scapy.layers.inet import UDP
from scapy.packet import Packet, bind_bottom_up, bind_layers

from dissectors.malformed import Malformed
from nodes.briscola.fields import FIELDS
from nodes.briscola.messages import ID_MAX, NOBODY, NUMBER_MAX, WORD_SIZE, Op

PORT = 47200


def _enum(name: str, default: int, bits: int) -> BitEnumField:
    return BitEnumField(name, default, bits, dict(FIELDS[name].values))  # type: ignore[arg-type]


def _op(op: Op) -> BitEnumField:
    return _enum("op", int(op), 3)


class CardField(BitField):
    """The six bits of a card: `A♠` to people, a number to all else."""

    def any2i(self, pkt: Packet | None, x: Any) -> Any:
        return card_bits(x)

    def i2repr(self, pkt: Packet | None, x: Any) -> str:
        return FIELDS["card"].name_of(x)


def card_bits(card: Any) -> Any:
    """A card's six bits, from `A♠` or from the bits themselves, which may be none of a card."""
    if not isinstance(card, str):
        return card
    found = FIELDS["card"].value_of(card)
    if found is None:
        raise ValueError(f"{card!r} is no card; write A♠ or R♦ (A 2 … 7 F C R; ♦♠♥♣), or its six bits")
    return found


class ShortBriscola(Malformed):
    """Less than a word."""

    check = "briscola/size"


class Briscola(Packet):
    """Any word."""

    match_subclass = True
    fields_desc = [_op(Op.ACK), CardField("card", 0, 6), BitField("info", 0, 7)]

    def __init__(self, *args: Any, **fields: Any) -> None:
        own = {field.name for field in self.fields_desc}
        views = {name: fields.pop(name) for name in ("card", "info") if name in fields and name not in own}
        super().__init__(*args, **fields)
        for name, value in views.items():
            setattr(self, name, value)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        # Scapy asks each class for a hook of its own, not for an inherited one.
        cls.dispatch_hook = Briscola.__dict__["dispatch_hook"]  # type: ignore[method-assign]

    @classmethod
    def dispatch_hook(cls, _pkt: bytes = b"", *_: Any, **__: Any) -> type[Packet]:
        if not _pkt:
            return cls
        return WORDS[Op(_pkt[0] >> 5)] if len(_pkt) >= WORD_SIZE else ShortBriscola

    def extract_padding(self, s: bytes) -> tuple[bytes, bytes | None]:
        return b"", s

    @property
    def check(self) -> str | None:
        """The id of the first check that this word fails; None where a node would take it."""
        op, card, info = self.op, self.card, self.info
        if len(self) != WORD_SIZE:
            return "briscola/size"
        if op in _WITH_CARD:
            number = card & 0xF
            return None if _LEAST.get(op, 1) <= number <= NUMBER_MAX else "briscola/card.number"
        if card:
            return "briscola/card.unused"
        if info > ID_MAX and op == Op.SEARCH:
            return "briscola/search.id"
        if info > ID_MAX and info != NOBODY and op == Op.END_G:
            return "briscola/end.player"
        return None

    def answers(self, other: Packet) -> int:
        """An ACK answers the word before it, and so does the ERR that comes instead of one."""
        answered = isinstance(other, Briscola) and other.op != Op.ACK
        return int(answered and self.op in (Op.ACK, Op.ERR))

    def told(self) -> str:
        """What the bits mean, in a few words."""
        return f"card {self.card:06b} info {self.info}"

    def mysummary(self) -> str:
        refused = self.check
        name = FIELDS["op"].name_of(self.op)
        return f"Briscola {name} {self.told()}" + (f" (refused: {refused})" if refused else "")


class _CardWord(Briscola):
    """Words that name a card."""

    fields_desc = [_op(Op.USE_C), _enum("suit", 0, 2), _enum("number", 1, 4), BitField("info", 0, 7)]

    @property
    def card(self) -> int:
        """The six bits."""
        return int(self.suit << 4 | self.number)

    @card.setter
    def card(self, card: Any) -> None:
        bits = card_bits(card)
        self.suit, self.number = bits >> 4, bits & 0xF

    def told(self) -> str:
        known = FIELDS["card"].values
        return FIELDS["card"].name_of(self.card) if self.card in known else f"no card ({self.card:06b})"


class BriscolaGive(_CardWord):
    op = int(Op.GIV_C)


class BriscolaEnemy(_CardWord):
    op = int(Op.ENM_C)


class BriscolaUse(_CardWord):
    op = int(Op.USE_C)


class BriscolaInit(_CardWord):
    """The briscola (number 0: its suit only), the opponent, and whether who gets this leads."""

    fields_desc = [
        _op(Op.INIT),
        _enum("suit", 0, 2),
        _enum("number", 1, 4),
        BitField("first", 0, 1),
        BitField("player", 0, 6),
    ]

    @property
    def info(self) -> int:
        """The seven bits."""
        return int(self.first << 6 | self.player)

    @info.setter
    def info(self, info: int) -> None:
        self.first, self.player = info >> 6, info & ID_MAX

    def told(self) -> str:
        briscola = super().told() if self.number else FIELDS["suit"].name_of(self.suit)
        return f"briscola {briscola}, against player {self.player}, {'you lead' if self.first else 'second'}"


class _InfoWord(Briscola):
    """Words whose seven bits are one number, and whose card bits are unused. The number comes last."""

    fields_desc = [_op(Op.ACK), CardField("card", 0, 6), BitField("count", 0, 7)]

    @property
    def info(self) -> int:
        """The seven bits."""
        return int(self.getfieldval(self.fields_desc[-1].name))

    @info.setter
    def info(self, info: int) -> None:
        self.setfieldval(self.fields_desc[-1].name, info)

    def told(self) -> str:
        field = self.fields_desc[-1]
        return f"{field.name} {field.i2repr(self, self.info)}"


class BriscolaAck(_InfoWord):
    """The number of the word it answers, 0 where it is not counted."""


class BriscolaEnd(_InfoWord):
    fields_desc = [_op(Op.END_G), CardField("card", 0, 6), _enum("player", NOBODY, 7)]


class BriscolaSearch(_InfoWord):
    fields_desc = [_op(Op.SEARCH), CardField("card", 0, 6), BitField("player", 0, 7)]


class BriscolaError(_InfoWord):
    fields_desc = [_op(Op.ERR), CardField("card", 0, 6), _enum("code", 1, 7)]


WORDS: dict[Op, type[Briscola]] = {
    Op.ACK: BriscolaAck,
    Op.INIT: BriscolaInit,
    Op.GIV_C: BriscolaGive,
    Op.ENM_C: BriscolaEnemy,
    Op.END_G: BriscolaEnd,
    Op.SEARCH: BriscolaSearch,
    Op.USE_C: BriscolaUse,
    Op.ERR: BriscolaError,
}
_WITH_CARD = frozenset(op for op, word in WORDS.items() if issubclass(word, _CardWord))
_LEAST = {Op.INIT: 0}  # "0 riservato ad indicare il segno"

bind_bottom_up(UDP, Briscola, sport=PORT)
bind_bottom_up(UDP, Briscola, dport=PORT)
bind_layers(UDP, Briscola, sport=PORT, dport=PORT)
