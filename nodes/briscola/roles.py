"""What both ends of SBGP share; each has its own file, server.py and client.py.

    server, one session a peer                        client

      stranger ──SEARCH──▶ waiting                      searching ──INIT──▶ playing
      waiting  ──paired──▶ playing                      playing ──END_G──▶ searching, or done
      playing  ──20 tricks, or one left──▶ over         any ──the server is silent──▶ done
      over     ──END_G acknowledged──▶ stranger
      any      ──silence──▶ stranger

What a word does in a state is in the tables `Server.HANDLERS` and `Client.HANDLERS`. A word without
an entry there belongs to the other direction. How words travel is in transport.py.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from nodes.briscola.messages import ID_MAX, Ack, Code, Error, Word, decode
from nodes.briscola.rules import SUITS, Card, Problem, Side, Table, Trick
from nodes.core import Core, Finished, Happened, Received, RemoteProtocolError, Send, Sent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nodes.briscola.transport import InLink, OutLink
    from nodes.core import Json, Peer
    from nodes.game import Setup


def player_name(player: int) -> str:
    """The seat of that id: 1 is p1. The 64th seat has id 0, for ids end at 63."""
    return f"p{player or ID_MAX + 1}"


class End(Core):
    """A server or a client."""

    def __init__(self, setup: Setup) -> None:
        super().__init__()
        self._setup = setup
        self._ack = setup.dialect.ack
        self._games: dict[int, dict[str, Json]] = {}  # results by the order in which games began

    def receive(self, data: bytes, peer: Peer, now: float) -> None:
        """One datagram. It is acted on, recognised as a copy, or refused with an ERR."""
        try:
            self._word(decode(data), peer, now)
        except RemoteProtocolError as error:
            self._refuse(peer, error, data)
            if isinstance(error.reply_hint, Error):
                self._send(peer, error.reply_hint)

    @abstractmethod
    def _word(self, word: Word, peer: Peer, now: float) -> None:
        """Act on a word, or raise RemoteProtocolError."""

    def _send(self, peer: Peer, word: Word, *, first: bool = True) -> None:
        self._outputs.append(Send(peer, word.encode()))
        if first and not isinstance(word, Ack):
            self._events.append(Sent(peer, word))

    def _flush(self, peer: Peer, out: OutLink, now: float) -> None:
        if (due := out.poll(now)) is not None:
            self._send(peer, due[0], first=due[1])

    def _accept(self, peer: Peer, inn: InLink, word: Word) -> None:
        self._send(peer, inn.accept(word))
        self._events.append(Received(peer, word))

    def _tell(self, kind: str, text: str, **fields: Json) -> None:
        self._events.append(Happened(kind, text, fields))

    def _tell_start(self, table: Table, names: Sequence[str]) -> None:
        card, suit = table.trump_card, SUITS[table.trump_suit]
        trump = f"{card} ({card.name})" if card else suit
        self._tell(
            "start",
            f"{names[0]} and {names[1]} sit down; briscola is {trump}, {names[table.leader]} leads",
            players=list(names),
            briscola=str(card) if card else suit,
            leader=names[table.leader],
        )

    def _tell_play(self, names: Sequence[str], side: Side, card: Card, trick: Trick | None) -> None:
        self._tell("play", f"{names[side]} plays {card}", player=names[side], card=str(card))
        if trick is not None:
            taker = names[trick.winner]
            self._tell(
                "trick",
                f"{taker} takes {trick.lead} {trick.answer}, {trick.points} points",
                player=taker,
                points=trick.points,
            )

    def _end_game(
        self, number: int, table: Table, names: Sequence[str], winner: str | None, left: str | None
    ) -> None:
        """Note a result. A game that broke off has no scores: the two ends may not have seen the same."""
        ranked = sorted(zip(names, table.points, strict=True))
        scores: dict[str, Json] = {} if left else dict(ranked)
        result: dict[str, Json] = {"winner": winner, "scores": scores, "left": left}
        if self._setup.games:  # a game without end keeps no list of results
            self._games[number] = result
        if left:
            text = f"{left} is gone; " + (f"{winner} wins" if winner else "nobody wins")
        else:
            high, low = sorted(table.points, reverse=True)
            text = f"{winner} wins {high}–{low}" if winner else f"a draw, {high}–{low}"
        self._tell("game", text, **result)

    def _finish(self) -> None:
        self._events.append(Finished({"games": [self._games[number] for number in sorted(self._games)]}))
        self.done = True


def wrong_way(word: Word) -> RemoteProtocolError:
    return RemoteProtocolError(
        "briscola/op.direction", f"{word.op.name} goes the other way", Error(Code.UNKNOWN_OP)
    )


def no_game(word: Word) -> RemoteProtocolError:
    return RemoteProtocolError("briscola/game.none", f"{word.op.name} without a game", Error(Code.NO_GAME))


def bad_card(check: str, problem: Problem, text: str) -> RemoteProtocolError:
    code, why = _PROBLEMS[problem]
    return RemoteProtocolError(check, f"{text}: {why}", Error(code))


_PROBLEMS: dict[Problem, tuple[Code, str]] = {
    "turn": (Code.NOT_YOUR_TURN, "it is not the time for it"),
    "card": (Code.NOT_YOUR_CARD, "it cannot be there"),
}
