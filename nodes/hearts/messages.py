"""The bytes of Hearts, section 3: one frame a datagram.

    byte  0     1       2     3    4    5 …
          type  origin  dest  seq  len  payload

One class a type, named after the text's TIPO_MSG. `origin` and `seq` are stamped by the link layer when
the frame is sent. What decodes is well-formed, not yet legal in the game: see roles.py for that.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from nodes.core import RemoteProtocolError
from nodes.hearts.rules import DECK, HAND_SIZE, PASS_SIZE, SEATS

if TYPE_CHECKING:
    from collections.abc import Callable

    from nodes.core import Json

BROADCAST = 0xFF
NO_MOON = 0xFF
HEADER_SIZE = 5
SEQ_COUNT = 256

PASSING, TRICKS = 0, 1  # FASE

_CARDS = frozenset(DECK)
_DESTS = frozenset((0, 1, 2, 3, BROADCAST))


@dataclass(slots=True)
class Frame:
    """The header, and what all types share."""

    TYPE: ClassVar[int]
    NAME: ClassVar[str]

    dest: int = field(default=BROADCAST, kw_only=True)
    origin: int = field(default=0, kw_only=True)
    seq: int = field(default=0, kw_only=True)

    @property
    def kind(self) -> str:
        return self.NAME

    def payload(self) -> bytes:
        """The bytes after the header."""
        return b""

    def encode(self) -> bytes:
        """The whole datagram."""
        payload = self.payload()
        return bytes((self.TYPE, self.origin, self.dest, self.seq, len(payload))) + payload

    def fields(self) -> dict[str, Json]:
        """Every field by the name it has everywhere; cards are their bytes."""
        fields: dict[str, Json] = {
            "type": self.TYPE,
            "origin": self.origin,
            "dest": self.dest,
            "seq": self.seq,
            "len": len(self.payload()),
        }
        fields.update(self.content())
        return fields

    def content(self) -> dict[str, Json]:
        """The payload's fields."""
        return {}


@dataclass(slots=True)
class TokenPass(Frame):
    """The token goes to `owner` (ID_NOVO_DONO_TOKEN)."""

    TYPE = 1
    NAME = "TOKEN_PASS"
    owner: int

    def payload(self) -> bytes:
        return bytes((self.owner,))

    def content(self) -> dict[str, Json]:
        return {"owner": self.owner}


@dataclass(slots=True)
class GameStart(Frame):
    """M0 starts a game."""

    TYPE = 2
    NAME = "GAME_START"


@dataclass(slots=True)
class DealHand(Frame):
    """Thirteen cards for `dest` (CARTAS_DA_MAO)."""

    TYPE = 3
    NAME = "DEAL_HAND"
    cards: bytes

    def payload(self) -> bytes:
        return self.cards

    def content(self) -> dict[str, Json]:
        return {"cards": list(self.cards)}


@dataclass(slots=True)
class StartPhase(Frame):
    """Passing begins (FASE 0, with its SENTIDO_PASSAGEM), or the tricks do (FASE 1, alone)."""

    TYPE = 4
    NAME = "START_PHASE"
    phase: int
    direction: int | None = None

    def payload(self) -> bytes:
        return bytes((self.phase,) if self.direction is None else (self.phase, self.direction))

    def content(self) -> dict[str, Json]:
        if self.direction is None:
            return {"phase": self.phase}
        return {"phase": self.phase, "direction": self.direction}


@dataclass(slots=True)
class PassCards(Frame):
    """Three cards for `dest` (CARTAS_PASSADAS)."""

    TYPE = 5
    NAME = "PASS_CARDS"
    cards: bytes

    def payload(self) -> bytes:
        return self.cards

    def content(self) -> dict[str, Json]:
        return {"cards": list(self.cards)}


@dataclass(slots=True)
class PlayCard(Frame):
    """One card on the table (CARTA_JOGADA)."""

    TYPE = 6
    NAME = "PLAY_CARD"
    card: int

    def payload(self) -> bytes:
        return bytes((self.card,))

    def content(self) -> dict[str, Json]:
        return {"card": self.card}


@dataclass(slots=True)
class TrickSummary(Frame):
    """Who won the trick, its cards in the order they fell, and its points."""

    TYPE = 7
    NAME = "TRICK_SUMMARY"
    winner: int
    plays: tuple[tuple[int, int], ...]  # (ID_JOGADOR, CARTA) four times
    points: int

    def payload(self) -> bytes:
        flat = [byte for play in self.plays for byte in play]
        return bytes((self.winner, *flat, self.points))

    def content(self) -> dict[str, Json]:
        return {
            "winner": self.winner,
            "players": [player for player, _ in self.plays],
            "cards": [card for _, card in self.plays],
            "points": self.points,
        }


@dataclass(slots=True)
class HandSummary(Frame):
    """What the hand cost each, the totals, and who shot the moon (0xFF: nobody)."""

    TYPE = 8
    NAME = "HAND_SUMMARY"
    points: tuple[int, ...]
    totals: tuple[int, ...]
    moon: int

    def payload(self) -> bytes:
        return bytes((*self.points, *self.totals, self.moon))

    def content(self) -> dict[str, Json]:
        return {"points": list(self.points), "totals": list(self.totals), "moon": self.moon}


@dataclass(slots=True)
class GameOver(Frame):
    """Who won, and the final totals."""

    TYPE = 9
    NAME = "GAME_OVER"
    winner: int
    totals: tuple[int, ...]

    def payload(self) -> bytes:
        return bytes((self.winner, *self.totals))

    def content(self) -> dict[str, Json]:
        return {"winner": self.winner, "totals": list(self.totals)}


TYPES: tuple[type[Frame], ...] = (
    TokenPass, GameStart, DealHand, StartPhase, PassCards, PlayCard, TrickSummary, HandSummary, GameOver,
)  # fmt: skip
NAMES = {cls.TYPE: cls.NAME for cls in TYPES}

# Bytes of payload by type; START_PHASE has one or two.
SIZES: dict[int, tuple[int, ...]] = {
    TokenPass.TYPE: (1,),
    GameStart.TYPE: (0,),
    DealHand.TYPE: (HAND_SIZE,),
    StartPhase.TYPE: (1, 2),
    PassCards.TYPE: (PASS_SIZE,),
    PlayCard.TYPE: (1,),
    TrickSummary.TYPE: (2 + 2 * SEATS,),
    HandSummary.TYPE: (2 * SEATS + 1,),
    GameOver.TYPE: (1 + SEATS,),
}


def decode(data: bytes) -> Frame:
    """The frame in this datagram, or RemoteProtocolError with the clause it breaks."""
    if len(data) < HEADER_SIZE:
        raise RemoteProtocolError("hearts/3.header", f"{len(data)} bytes are less than a header")
    kind, origin, dest, seq, size = data[:HEADER_SIZE]
    if len(data) != HEADER_SIZE + size:
        raise RemoteProtocolError(
            "hearts/3.len", f"len says {size} bytes of payload, there are {len(data) - HEADER_SIZE}"
        )
    if kind not in SIZES:
        raise RemoteProtocolError("hearts/4.type", f"there is no type 0x{kind:02x}")
    if origin >= SEATS:
        raise RemoteProtocolError("hearts/3.origin", f"there is no machine {origin} to have sent this")
    if dest not in _DESTS:
        raise RemoteProtocolError("hearts/3.dest", f"there is no machine {dest} to send this to")
    if size not in SIZES[kind]:
        raise RemoteProtocolError("hearts/4.payload", f"{NAMES[kind]} does not have {size} bytes of payload")
    return _PARSERS[kind](data, dest, origin, seq)


def _check_cards(cards: bytes) -> bytes:
    if not _CARDS.issuperset(cards):
        wrong = next(card for card in cards if card not in _CARDS)
        raise RemoteProtocolError("hearts/5.card", f"0x{wrong:02x} is no card")
    if len(set(cards)) != len(cards):
        raise RemoteProtocolError("hearts/5.twice", "a card is in this frame twice")
    return cards


def _token_pass(data: bytes, dest: int, origin: int, seq: int) -> Frame:
    return TokenPass(data[5], dest=dest, origin=origin, seq=seq)


def _game_start(_data: bytes, dest: int, origin: int, seq: int) -> Frame:
    return GameStart(dest=dest, origin=origin, seq=seq)


def _deal_hand(data: bytes, dest: int, origin: int, seq: int) -> Frame:
    return DealHand(_check_cards(data[5:]), dest=dest, origin=origin, seq=seq)


def _start_phase(data: bytes, dest: int, origin: int, seq: int) -> Frame:
    phase, *rest = data[5:]
    if phase in (PASSING, TRICKS) and len(rest) != (phase == PASSING):
        raise RemoteProtocolError(
            "hearts/4.payload", "START_PHASE has a direction for passing (00 dir) and none for tricks (01)"
        )
    return StartPhase(phase, rest[0] if rest else None, dest=dest, origin=origin, seq=seq)


def _pass_cards(data: bytes, dest: int, origin: int, seq: int) -> Frame:
    return PassCards(_check_cards(data[5:]), dest=dest, origin=origin, seq=seq)


def _play_card(data: bytes, dest: int, origin: int, seq: int) -> Frame:
    card = data[5]
    if card not in _CARDS:
        raise RemoteProtocolError("hearts/5.card", f"0x{card:02x} is no card")
    return PlayCard(card, dest=dest, origin=origin, seq=seq)


def _trick_summary(data: bytes, dest: int, origin: int, seq: int) -> Frame:
    cards = _check_cards(data[7:14:2])
    plays = tuple(zip(data[6:14:2], cards, strict=True))
    return TrickSummary(data[5], plays, data[14], dest=dest, origin=origin, seq=seq)


def _hand_summary(data: bytes, dest: int, origin: int, seq: int) -> Frame:
    return HandSummary(tuple(data[5:9]), tuple(data[9:13]), data[13], dest=dest, origin=origin, seq=seq)


def _game_over(data: bytes, dest: int, origin: int, seq: int) -> Frame:
    return GameOver(data[5], tuple(data[6:10]), dest=dest, origin=origin, seq=seq)


_PARSERS: dict[int, Callable[[bytes, int, int, int], Frame]] = {
    TokenPass.TYPE: _token_pass,
    GameStart.TYPE: _game_start,
    DealHand.TYPE: _deal_hand,
    StartPhase.TYPE: _start_phase,
    PassCards.TYPE: _pass_cards,
    PlayCard.TYPE: _play_card,
    TrickSummary.TYPE: _trick_summary,
    HandSummary.TYPE: _hand_summary,
    GameOver.TYPE: _game_over,
}
