"""Who speaks when, and what both roles share. server.py and client.py are the two state machines.

player                                 server
  │ ── connect ─────────────────────────▶ │   until the room is full
  │ ◀──────────────────────────── state ── │   to every seat, whenever somebody is to act
  │ ── action ──────────────────────────▶ │   from the one whose turn it is
  │                  …                     │
  │ ◀─────────────────────────── result ── │   to every seat, at the end of a hand
  │ ── ready ───────────────────────────▶ │   from every seat; then the next hand
  │                  …                     │
  │ ◀─────────────────────────── closes ── │   after the last result, or once somebody left
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nodes.core import Core, Happened, Send, Sent
from nodes.holdem.messages import symbol
from nodes.holdem.transport import frame

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nodes.core import Json, Message, Peer
    from nodes.holdem.messages import PlayerState, Streets

SERVER: Peer = "server"  # what a client calls its peer

REFUSALS_MAX = 20  # refused messages a connection survives


@dataclass(frozen=True, slots=True)
class View:
    """All that one seat may know when it is to act. The answer is an action: call, check, fold or r300."""

    name: str
    position: int
    private_card: tuple[str, ...]
    public_card: tuple[str, ...]
    legal_actions: tuple[str, ...]
    raise_range: tuple[int, ...]
    players: tuple[PlayerState, ...]
    history: Streets

    @property
    def pot(self) -> int | float:
        """All that was paid in so far, the bets of this street included."""
        return sum(player.total_money - player.money_left for player in self.players)

    @property
    def to_call(self) -> int | float:
        """What it costs to stay in."""
        me = self.players[self.position]
        most = max(player.total_money - player.money_left for player in self.players)
        return min(most - (me.total_money - me.money_left), me.money_left)

    @property
    def opponents(self) -> tuple[PlayerState, ...]:
        """Those of the others who have not folded."""
        folded = {played.position for street in self.history for played in street if played.action == "fold"}
        return tuple(p for p in self.players if p.position != self.position and p.position not in folded)


def outcome(wins: Iterable[tuple[str, int | float]]) -> dict[str, Json]:
    """One entry of Finished: the biggest winner, None where two won the same."""
    scores = dict(sorted(wins))
    best = max(scores.values())
    winners = [name for name, score in scores.items() if score == best]
    return {"winner": winners[0] if len(winners) == 1 else None, "scores": {**scores}}


def standing(game: Mapping[str, Json]) -> str:
    """What each won in an outcome, for a line of text."""
    scores = game["scores"]
    assert isinstance(scores, dict)
    return ", ".join(f"{name} {score:+}" for name, score in scores.items())


def board(cards: Iterable[str]) -> str:
    """Cards as people write them."""
    return " ".join(symbol(card) for card in cards) or "empty"


class Role(Core):
    """What both sides do alike."""

    def _say(self, peer: Peer, message: Message) -> None:
        self._outputs.append(Send(peer, frame(message.encode())))
        self._events.append(Sent(peer, message))

    def _tell(self, kind: str, text: str, **fields: Json) -> None:
        self._events.append(Happened(kind, text, fields))
