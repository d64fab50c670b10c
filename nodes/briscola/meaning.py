"""What a word says, in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodes.briscola.fields import FIELDS
from nodes.briscola.messages import (
    NOBODY,
    Ack,
    EndGame,
    EnemyCard,
    Error,
    GiveCard,
    Init,
    Search,
    UseCard,
)
from nodes.briscola.roles import player_name

if TYPE_CHECKING:
    from nodes.briscola.messages import Word
    from nodes.briscola.rules import Card


def meaning(message: Word, src: str = "the sender", dst: str = "the receiver") -> str:
    """One line for a person: "server: the briscola is 3♥ (tre di coppe), p2 leads"."""
    match message:
        case Ack(count):
            return f"{src} acknowledges {f'word {count}' if count else 'the last word'}"
        case Init():
            card, suit = message.card, FIELDS["suit"].name_of(message.suit)
            trump = f"{card} ({card.name})" if card else suit
            other = player_name(message.player)
            leader, follower = (dst, other) if message.first else (other, dst)
            return f"{src}: the briscola is {trump}, {leader} leads against {follower}"
        case GiveCard(card):
            return f"{src} gives {dst} {card}"
        case EnemyCard(card):
            return f"{src} tells {dst} that the other plays {_worth(card)}"
        case UseCard(card):
            return f"{src} plays {_worth(card)}"
        case EndGame(player):
            how = "a draw" if player == NOBODY else f"{player_name(player)} has won"
            return f"{src}: the game is over, {how}"
        case Search(player):
            seat = player_name(player)
            return f"{src} looks for a game" + ("" if seat == src else f" as {seat}")
        case Error(code):
            name = FIELDS["code"].name_of(code).lower().replace("_", " ")
            return f"{src} refuses: " + (f"code {code}, which is not known" if name.isdigit() else name)
    raise TypeError(f"no meaning for {message!r}")


def _worth(card: Card) -> str:
    return f"{card} — {card.points} points to whoever takes it" if card.points else str(card)
