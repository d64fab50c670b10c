# scapy.contrib.description = Hearts ("Copas em Rede Anel") on a UDP ring
# scapy.contrib.status = loads

r"""Hearts for Scapy: the header, and one layer a message.

    byte  0     1       2     3    4    5 …
          type  origin  dest  seq  len  payload

    type             payload
    1 TOKEN_PASS     owner
    2 GAME_START     —
    3 DEAL_HAND      13 cards
    4 START_PHASE    phase, and its direction if it is 0 (passing)
    5 PASS_CARDS     3 cards
    6 PLAY_CARD      card
    7 TRICK_SUMMARY  winner, (player, card) four times, points
    8 HAND_SUMMARY   points of m0 … m3, totals of m0 … m3, moon
    9 GAME_OVER      winner, totals of m0 … m3

    a card           0 0 s s v v v v     suit 0 ♦ 1 ♣ 2 ♥ 3 ♠; value 1 A … 11 J 12 Q 13 K

A card is given and shown as people write it, and kept as its byte:

    >>> frame = Hearts(origin=1, seq=17)/PlayCard(card="Q♠")
    >>> bytes(frame).hex()
    '0601ff11013c'
    >>> frame.card
    60

`len` is computed where it is left out. Bytes beyond it are Padding; bytes that are no payload of their
type are Malformed; fewer than a header are Malformed alone. Nothing raises (see malformed.py).

Every Scapy packet has a `direction` of its own, so START_PHASE's is `frame[StartPhase].direction`.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any, ClassVar

from scapy.config import conf
from scapy.fields import BitEnumField, BitField, ByteEnumField, ByteField, Field
from scapy.layers.inet import UDP
from scapy.packet import Packet, bind_bottom_up, bind_layers
from scapy.volatile import RandBin, VolatileValue

from dissectors.malformed import Malformed, malformed
from dissectors.quick import Quick
from nodes.hearts import messages as codec
from nodes.hearts.fields import FIELDS
from nodes.hearts.messages import BROADCAST, HEADER_SIZE, NO_MOON, PASSING, TRICKS

if TYPE_CHECKING:
    from collections.abc import Iterable

PORT = 47123

_SEATS = FIELDS["origin"].values
_DESTS = FIELDS["dest"].values
_LABELS = {int(card): label for card, label in FIELDS["card"].values.items()}
_CARDS = {label: card for card, label in _LABELS.items()}
_DECK = list(_LABELS)
_TWO_OF_CLUBS = _CARDS["2♣"]
_LETTERS = str.maketrans("DCHSdchs", "♦♣♥♠♦♣♥♠")


def card_byte(card: int | str | bytes) -> int:
    """A card's byte: from `Q♠`, `QS` or `qs`, or the byte itself, which may be none of a card."""
    if isinstance(card, int):
        return card
    if isinstance(card, bytes):
        if len(card) == 1:
            return card[0]
    else:
        found = _CARDS.get(card[:-1].upper() + card[-1:].translate(_LETTERS))
        if found is not None:
            return found
    raise ValueError(f"{card!r} is no card; write A♠, 10♦ or QS, or its byte (0x3C is Q♠)")


class CardField(ByteField):
    """One card: `Q♠` to people, a byte to all else."""

    def any2i(self, pkt: Packet | None, x: Any) -> Any:
        if isinstance(x, list):
            return [self.any2i(pkt, one) for one in x]
        return x if x is None or isinstance(x, VolatileValue) else card_byte(x)

    def i2repr(self, pkt: Packet | None, x: Any) -> str:
        return _shown(x)


class BytesField(Field[Any, Any]):
    """So many bytes, each a number of its own. `values` names them as in the vocabulary."""

    __slots__ = ["count", "vocabulary"]
    islist = 1

    def __init__(self, name: str, default: Iterable[int], count: int) -> None:
        self.count = count
        self.vocabulary = FIELDS[name]
        super().__init__(name, list(default), "B")

    def any2i(self, pkt: Packet | None, x: Any) -> Any:
        if x is None or isinstance(x, VolatileValue):
            return x
        return [self._one(one) for one in (x.split() if isinstance(x, str) else x)]

    def _one(self, x: Any) -> int:
        if isinstance(x, str):
            found = self.vocabulary.value_of(x)
            if not isinstance(found, int):
                raise ValueError(f"{self.name} has no value {x!r}")
            return found
        return int(x)

    def i2repr(self, pkt: Packet | None, x: Any) -> str:
        return self.vocabulary.name_of(x) if isinstance(x, list) else str(x)

    def i2m(self, pkt: Packet | None, x: Any) -> bytes:
        return bytes(x or ())

    def i2len(self, pkt: Packet | None, x: Any) -> int:
        return len(self.i2m(pkt, x))

    def addfield(self, pkt: Packet, s: Any, val: Any) -> Any:
        return s + self.i2m(pkt, val)

    def getfield(self, pkt: Packet, s: Any) -> Any:
        return s[self.count :], list(s[: self.count])

    def randval(self) -> Any:
        return RandBin(self.count)


class CardsField(BytesField):
    """Several cards: `2♣ Q♠ A♥`, a list of such or of bytes, or the bytes themselves."""

    def _one(self, x: Any) -> int:
        return card_byte(x)

    def i2repr(self, pkt: Packet | None, x: Any) -> str:
        return " ".join(map(_shown, x)) if isinstance(x, list) else str(x)


class PlayersField(BytesField):
    """Who played each card of a trick. On the wire a card follows each, so this field writes both."""

    def addfield(self, pkt: Packet, s: Any, val: Any) -> Any:
        cards = pkt.fieldtype["cards"].i2m(pkt, pkt.getfieldval("cards"))
        pairs = zip_longest(self.i2m(pkt, val), cards, fillvalue=0)
        return s + bytes(byte for pair in pairs for byte in pair)

    def getfield(self, pkt: Packet, s: Any) -> Any:
        return s, list(s[: 2 * self.count : 2])


class PlayedField(CardsField):
    """The cards of a trick: what PlayersField left between the players."""

    def addfield(self, pkt: Packet, s: Any, val: Any) -> Any:
        return s

    def getfield(self, pkt: Packet, s: Any) -> Any:
        return s[2 * self.count :], list(s[1 : 2 * self.count : 2])


class DirectionField(ByteEnumField):
    """There or not: START_PHASE has a direction for passing and none for tricks."""

    def addfield(self, pkt: Packet, s: Any, val: Any) -> Any:
        return s if val is None else super().addfield(pkt, s, val)

    def getfield(self, pkt: Packet, s: Any) -> Any:
        return super().getfield(pkt, s) if s else (s, None)


def _shown(x: Any) -> str:
    return _LABELS.get(x) or (f"0x{x:02x} (no card)" if isinstance(x, int) else str(x))


def _enum(name: str, default: int) -> ByteEnumField:
    return ByteEnumField(name, default, dict(FIELDS[name].values))  # type: ignore[arg-type]


class Card(Packet):
    """The bits of one card's byte, section 5."""

    fields_desc = [
        BitField("zeros", 0, 2),
        BitEnumField("suit", 1, 2, {0: "diamonds", 1: "clubs", 2: "hearts", 3: "spades"}),
        BitEnumField("value", 2, 4, {1: "A", 11: "J", 12: "Q", 13: "K"}),
    ]

    def mysummary(self) -> str:
        return _shown(bytes(self)[0])

    def extract_padding(self, s: bytes) -> tuple[bytes, bytes | None]:
        return b"", s


class ShortHearts(Malformed):
    """Less than a header."""

    check = "hearts/3.header"


class ShortPayload(Malformed):
    """Less than its type has, when a message is dissected without its header."""

    check = "hearts/4.payload"


class Message(Quick):
    """What all payloads share. Their lengths are the codec's table."""

    TYPE: ClassVar[int]
    SIZES: ClassVar[tuple[int, ...]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.SIZES = codec.SIZES[cls.TYPE]
        least = min(cls.SIZES)

        # Scapy asks each class for a hook of its own, not for an inherited one.
        def dispatch_hook(cls: type[Packet], _pkt: bytes = b"", *_: Any, **__: Any) -> type[Packet]:
            return ShortPayload if 0 < len(_pkt) < least else cls

        cls.dispatch_hook = classmethod(dispatch_hook)  # type: ignore[attr-defined]

    @property
    def check(self) -> str | None:
        """The first check that the payload fails by itself."""
        return None

    def extract_padding(self, s: bytes) -> tuple[bytes, bytes | None]:
        return b"", s

    def told(self) -> str:
        """The payload in a few words."""
        return " ".join(f"{field.name} {self.says(field.name)}" for field in self.fields_desc)

    def says(self, name: str) -> str:
        """A field as people read it."""
        return str(self.fieldtype[name].i2repr(self, self.getfieldval(name)))

    def mysummary(self) -> Any:
        return f"{codec.NAMES[self.TYPE]} {self.told()}".rstrip(), [Hearts]


def _check_cards(cards: list[int]) -> str | None:
    if any(card not in _LABELS for card in cards):
        return "hearts/5.card"
    return "hearts/5.twice" if len(set(cards)) < len(cards) else None


class TokenPass(Message):
    TYPE = codec.TokenPass.TYPE
    fields_desc = [_enum("owner", 0)]

    def told(self) -> str:
        return f"to {self.says('owner')}"


class GameStart(Message):
    TYPE = codec.GameStart.TYPE
    fields_desc: ClassVar[list[Any]] = []


class DealHand(Message):
    TYPE = codec.DealHand.TYPE
    fields_desc = [CardsField("cards", _DECK[:13], 13)]

    @property
    def check(self) -> str | None:
        return _check_cards(self.cards)

    def told(self) -> str:
        return self.says("cards")


class _Direction:
    """Scapy calls the way a packet was sniffed its `direction`. Here the name is the text's."""

    __slots__ = ()

    @property
    def direction(self) -> Any:
        return self.getfieldval("direction")  # type: ignore[attr-defined] # a Packet's

    @direction.setter
    def direction(self, value: Any) -> None:
        if value != self.direction:  # Scapy gives every packet it makes, and every copy, its own
            self.setfieldval("direction", value)  # type: ignore[attr-defined]


class StartPhase(_Direction, Message):
    TYPE = codec.StartPhase.TYPE
    fields_desc = [
        _enum("phase", TRICKS),
        DirectionField("direction", None, dict(FIELDS["direction"].values)),  # type: ignore[arg-type]
    ]

    @property
    def check(self) -> str | None:
        # "SENTIDO_PASSAGEM (1 byte, se FASE=0)"
        fits = self.phase not in (PASSING, TRICKS) or (self.direction is None) == (self.phase == TRICKS)
        return None if fits else "hearts/4.payload"

    def told(self) -> str:
        return (
            self.says("phase") if self.direction is None else f"{self.says('phase')} {self.says('direction')}"
        )


class PassCards(Message):
    TYPE = codec.PassCards.TYPE
    fields_desc = [CardsField("cards", _DECK[:3], 3)]

    @property
    def check(self) -> str | None:
        return _check_cards(self.cards)

    def told(self) -> str:
        return self.says("cards")


class PlayCard(Message):
    TYPE = codec.PlayCard.TYPE
    fields_desc = [CardField("card", _TWO_OF_CLUBS)]

    @property
    def check(self) -> str | None:
        return None if self.card in _LABELS else "hearts/5.card"

    def told(self) -> str:
        return self.says("card")


class TrickSummary(Message):
    TYPE = codec.TrickSummary.TYPE
    fields_desc = [
        _enum("winner", 0),
        PlayersField("players", range(4), 4),
        PlayedField("cards", _DECK[:4], 4),
        ByteField("points", 0),
    ]

    @property
    def check(self) -> str | None:
        return _check_cards(self.cards)

    def told(self) -> str:
        return f"{self.says('cards')} to {self.says('winner')}, {self.points} points"


class HandSummary(Message):
    TYPE = codec.HandSummary.TYPE
    fields_desc = [
        BytesField("points", (0, 0, 0, 0), 4),
        BytesField("totals", (0, 0, 0, 0), 4),
        _enum("moon", NO_MOON),
    ]


class GameOver(Message):
    TYPE = codec.GameOver.TYPE
    fields_desc = [_enum("winner", 0), BytesField("totals", (0, 0, 0, 0), 4)]


MESSAGES: dict[int, type[Message]] = {
    message.TYPE: message
    for message in (
        TokenPass, GameStart, DealHand, StartPhase, PassCards, PlayCard, TrickSummary, HandSummary, GameOver,
    )
}  # fmt: skip


class Hearts(Quick):
    """The header."""

    name = "Hearts"
    fields_desc = [
        _enum("type", 0),
        _enum("origin", 0),
        _enum("dest", BROADCAST),
        ByteField("seq", 0),
        ByteField("len", None),
    ]

    @classmethod
    def dispatch_hook(cls, _pkt: bytes = b"", *_: Any, **__: Any) -> type[Packet]:
        return ShortHearts if 0 < len(_pkt) < HEADER_SIZE else cls

    def dissect(self, s: bytes) -> None:
        kind, origin, dest, seq, size = header = s[:HEADER_SIZE]
        self.take({"type": kind, "origin": origin, "dest": dest, "seq": seq, "len": size}, header)
        end = HEADER_SIZE + size
        self.do_dissect_payload(s[HEADER_SIZE:end])
        if len(s) > end:
            self.add_payload(conf.padding_layer(s[end:]))
        if type(self.payload) is Malformed:
            self.payload.fields["check"] = self.check

    def do_dissect_payload(self, s: bytes) -> None:
        cls = MESSAGES.get(self.fields["type"])
        if cls is not None and len(s) in cls.SIZES:
            message = cls.__new__(cls)  # not cls(…), as nothing is left to dispatch
            message.__init__(s, _internal=1, _underlayer=self)  # type: ignore[misc]
            object.__setattr__(self, "payload", message)
        else:
            self.add_payload(malformed(None, s, self))

    def post_build(self, pkt: bytes, pay: bytes) -> bytes:
        if self.len is None and len(pay) < 256:
            pkt = pkt[:-1] + bytes((len(pay),))
        return pkt + pay

    @property
    def check(self) -> str | None:
        """The id of the first check that this frame fails; None where a node would take it."""
        message = self.payload
        expected = MESSAGES.get(self.type)
        if type(message) is not expected and not isinstance(message, Malformed):
            return Hearts(bytes(self)).check  # built of other parts
        size = len(message)
        if self.len not in (None, size):
            return "hearts/3.len"
        if expected is None:
            return "hearts/4.type"
        if self.origin not in _SEATS:
            return "hearts/3.origin"
        if self.dest not in _DESTS:
            return "hearts/3.dest"
        if isinstance(message, Malformed) or size not in expected.SIZES:
            return "hearts/4.payload"
        return message.check

    def hashret(self) -> bytes:
        return bytes((self.origin, self.seq))

    def answers(self, other: Packet) -> int:
        """A frame that has gone round the ring is its own answer: the implicit ACK."""
        return int(
            isinstance(other, Hearts)
            and (self.origin, self.seq, self.type) == (other.origin, other.seq, other.type)
        )

    def mysummary(self) -> str:
        origin, dest = (self.fieldtype[name].i2repr(self, getattr(self, name)) for name in ("origin", "dest"))
        refused = self.check
        return f"Hearts {origin}→{dest} #{self.seq}" + (f" (refused: {refused})" if refused else "")


for _message in MESSAGES.values():
    bind_layers(Hearts, _message, type=_message.TYPE)
bind_bottom_up(UDP, Hearts, sport=PORT)
bind_bottom_up(UDP, Hearts, dport=PORT)
bind_layers(UDP, Hearts, sport=PORT, dport=PORT)
