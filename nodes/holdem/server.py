"""The server: rooms that fill, matches that are played, and strangers who may send anything."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nodes.core import Close, Finished, Received, RemoteProtocolError
from nodes.holdem.messages import (
    Action,
    Connect,
    Error,
    Played,
    PlayerResult,
    PlayerState,
    Ready,
    Result,
    State,
    Success,
    decode,
    meaning,
    objection,
    timestamp,
)
from nodes.holdem.roles import REFUSALS_MAX, Role, board, outcome, standing
from nodes.holdem.rules import Match
from nodes.holdem.transport import Frames

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from nodes.core import Json, Peer
    from nodes.game import Setup
    from nodes.holdem.dialect import Dialect
    from nodes.holdem.messages import AnyMessage
    from nodes.holdem.rules import Hand

CONNECTIONS_MAX = 1024
ROOMS_MAX = 256
BUFFERED_MAX = 16 << 20  # bytes of packets that are not whole yet, all connections together
CONNECT_S = 20.0  # for a connection to send connect
ROOM_S = 600.0  # for a room to fill
READY_S = 120.0  # for all to be ready; people read the result first

# The logical clock starts at the first timestamp of the text's example and steps by its first interval.
LOGICAL_MS = 1_594_061_144_509
LOGICAL_STEP_MS = 6


@dataclass(slots=True, eq=False)
class _Guest:
    """One connection."""

    peer: Peer
    deadline: float  # to send connect
    frames: Frames = field(default_factory=Frames)
    held: int = 0  # bytes in frames, as counted in the server's total
    refused: int = 0
    name: str = ""
    room: _Room | None = None

    @property
    def phase(self) -> str:
        if self.room is None:
            return "lobby"
        if self.room.match is None:
            return "waiting"
        return "playing" if self.room.hand else "between"


@dataclass(slots=True, eq=False)
class _Room:
    """Players who wait for a match, and then play it."""

    wanted: Connect  # what the first of them asked for
    deadline: float
    guests: list[_Guest] = field(default_factory=list)
    match: Match | None = None
    hand: Hand | None = None  # None between hands
    raise_offered: bool = False  # by the last state
    actions: int = 0
    ready: set[str] = field(default_factory=set)
    scored: int = 0
    games: list[Json] = field(default_factory=list)  # outcomes, in the match that was asked for only
    results: dict[str, Result] = field(default_factory=dict)  # the last hand's, by name

    def takes(self, wanted: Connect) -> bool:
        """Those who ask for the same share a room."""
        return self.match is None and (
            (wanted.room_number, wanted.game_number, wanted.room_id)
            == (self.wanted.room_number, self.wanted.game_number, self.wanted.room_id)
        )


class Server(Role):
    """Deals, asks, pays; folds whoever breaks a rule, and disturbs nobody else for it."""

    def __init__(self, setup: Setup) -> None:
        super().__init__()
        self._dialect: Dialect = setup.dialect
        self._rng = setup.rng
        self._asked = (setup.players, setup.games)  # the match after which this server is done
        self._result: dict[str, Json] | None = None
        self._guests: dict[Peer, _Guest] = {}
        self._rooms: list[_Room] = []
        self._held = 0

    def start(self, now: float) -> None:
        """Wait for players."""

    def connected(self, peer: Peer, now: float) -> None:
        if self._result is not None or len(self._guests) >= CONNECTIONS_MAX:
            error = RemoteProtocolError("holdem/limit.connections", "the server takes no more players")
            self._refuse(peer, error)
            self._say(peer, Error(error.text))
            self._outputs.append(Close(peer))
            return
        self._guests[peer] = _Guest(peer, now + CONNECT_S)

    def receive(self, data: bytes, peer: Peer, now: float) -> None:
        guest = self._guests.get(peer)
        if guest is None:
            return  # closed by us; what was still under way counts for nothing
        guest.frames.feed(data)
        while peer in self._guests:
            try:
                body = guest.frames.take()
            except RemoteProtocolError as error:
                self._throw_out(guest, error, data)
                return
            if body is None:
                self._hold(guest)
                return
            self._take(guest, body, now)

    def disconnected(self, peer: Peer, now: float) -> None:  # noqa: ARG002
        guest = self._guests.pop(peer, None)
        if guest is not None:
            self._held -= guest.held
            self._leave(guest, "the connection was lost")

    def timer(self) -> float | None:
        deadlines = [guest.deadline for guest in self._guests.values() if guest.room is None]
        return min([*deadlines, *(room.deadline for room in self._rooms)], default=None)

    def handle_timer(self, now: float) -> None:
        for guest in [g for g in self._guests.values() if g.room is None and g.deadline <= now]:
            late = RemoteProtocolError("holdem/connect.late", f"no connect within {CONNECT_S:.0f} s")
            self._throw_out(guest, late)
        for room in [room for room in self._rooms if room.deadline <= now]:
            self._too_late(room, now)

    def _too_late(self, room: _Room, now: float) -> None:
        if room.hand:
            text = f"no action within {self._dialect.thinking_s:g} s: folded"
            self._object(
                self._actor(room, room.hand), RemoteProtocolError("holdem/action.time", text), b"", now
            )
            return
        check, text = "holdem/ready.late", f"no ready within {READY_S:.0f} s"
        if room.match is None:
            check, text = "holdem/connect.room", f"the room did not fill within {ROOM_S:.0f} s"
        for guest in [guest for guest in room.guests if guest.name not in room.ready]:
            if guest.peer in self._guests:  # the first to be thrown out may end it for all
                self._throw_out(guest, RemoteProtocolError(check, text))

    def _take(self, guest: _Guest, body: bytes, now: float) -> None:
        try:
            message = decode(body)
            handler = _HANDLERS.get((guest.phase, type(message)))
            if handler is None:
                raise RemoteProtocolError(
                    "holdem/order", f"{message.INFO} does not belong here; you are {_WHERE[guest.phase]}"
                )
            handler(self, guest, message, now)
        except RemoteProtocolError as error:
            self._object(guest, error, body, now)

    def _accept(self, guest: _Guest, message: AnyMessage) -> None:
        self._events.append(Received(guest.peer, message))

    def _object(self, guest: _Guest, error: RemoteProtocolError, data: bytes, now: float) -> None:
        """Refuse a message: error; during a hand its sender is folded, and the match goes on for the rest."""
        guest.refused += bool(data)  # being slow is no message
        if guest.refused > REFUSALS_MAX:
            self._refuse(guest.peer, error, data)
            text = f"more than {REFUSALS_MAX} messages were refused"
            self._throw_out(guest, RemoteProtocolError("holdem/limit.refusals", text))
            return
        self._refuse(guest.peer, error, data)
        self._say(guest.peer, Error(error.text))
        room = guest.room
        if room and room.match and room.hand:
            seat, actor = room.match.seats.index(guest.name), room.hand.actor
            if room.hand.fold(seat, self._stamp(room, now)):
                self._tell("action", f"{guest.name} is folded: {error.text}", name=guest.name, action="fold")
                if room.hand.actor != actor:  # else whoever is thinking was asked already
                    self._go_on(room, room.match, room.hand, now)

    def _throw_out(self, guest: _Guest, error: RemoteProtocolError, data: bytes = b"") -> None:
        """Refuse, say why, close."""
        self._refuse(guest.peer, error, data)
        self._say(guest.peer, Error(error.text))
        self._close(guest)
        self._leave(guest, error.text)

    def _hold(self, guest: _Guest) -> None:
        """Count what a connection has us keep."""
        self._held += len(guest.frames) - guest.held
        guest.held = len(guest.frames)
        if self._held > BUFFERED_MAX:
            # Whoever has us keep most goes, not whoever happens to speak: it may have sent one byte.
            most = max(self._guests.values(), key=lambda other: other.held)
            self._throw_out(most, RemoteProtocolError("holdem/limit.buffer", "too much is half-received"))

    def _close(self, guest: _Guest) -> None:
        self._outputs.append(Close(guest.peer))
        self._held -= self._guests.pop(guest.peer).held

    def _leave(self, guest: _Guest, why: str) -> None:
        """A player is gone, or wants to be: the room loses a waiting player, or the match ends."""
        room = guest.room
        if room is None:
            return
        room.guests.remove(guest)
        if room.match:
            self._break_off(room, room.match, f"{guest.name} left ({why}): the match is over")
        elif not room.guests:
            self._rooms.remove(room)

    def _on_connect(self, guest: _Guest, message: Connect, now: float) -> None:
        room = next((room for room in self._rooms if room.takes(message)), None)
        if room and any(other.name == message.name for other in room.guests):
            raise RemoteProtocolError(
                "holdem/connect.twice", f"somebody in this room is called {message.name}; take another name"
            )
        if room is None:
            if len(self._rooms) >= ROOMS_MAX:
                raise RemoteProtocolError("holdem/limit.connections", "all rooms are taken; try again later")
            room = _Room(message, now + ROOM_S)
            self._rooms.append(room)
        self._accept(guest, message)
        guest.name, guest.room = message.name, room
        room.guests.append(guest)
        self._tell("room", f"{guest.name} sits down, {len(room.guests)} of {message.room_number}")
        if len(room.guests) == message.room_number:
            room.match = Match([guest.name for guest in room.guests], self._rng, self._dialect)
            self._deal(room, room.match, now)

    def _on_action(self, guest: _Guest, message: Action, now: float) -> None:
        room = guest.room
        assert room
        assert room.match
        assert room.hand
        hand, action = room.hand, message.action
        if self._actor(room, hand) is not guest:
            raise RemoteProtocolError("holdem/action.turn", f"{action!a} out of turn: it is not yours")
        word, amount = meaning(action)
        if word == "raise" and room.raise_offered and not hand.raise_range:
            # Somebody was folded out of turn since the offer, and nobody is left to answer a raise.
            word = "call"
        elif complaint := objection(action, hand.legal_actions, hand.raise_range):
            raise RemoteProtocolError(*complaint)
        self._accept(guest, message)
        self._tell("action", f"{guest.name}: {action}", name=guest.name, action=action)
        hand.act(word, amount, self._stamp(room, now))
        self._go_on(room, room.match, hand, now)

    def _on_ready(self, guest: _Guest, message: Ready, now: float) -> None:
        room = guest.room
        assert room
        assert room.match
        self._accept(guest, message)
        if message.status == "exit":
            self._close(guest)
            self._leave(guest, "exit")
            return
        room.ready.add(guest.name)
        if len(room.ready) == len(room.guests):
            self._deal(room, room.match, now)

    def _actor(self, room: _Room, hand: Hand) -> _Guest:
        assert room.match
        name = room.match.seats[hand.actor]
        return next(guest for guest in room.guests if guest.name == name)

    def _stamp(self, room: _Room, now: float) -> str:
        step, room.actions = room.actions, room.actions + 1
        if self._dialect.clock == "logical":
            return timestamp(LOGICAL_MS + LOGICAL_STEP_MS * step)
        return timestamp(int(now * 1000))

    def _seated(self, room: _Room, match: Match) -> list[tuple[int, _Guest]]:
        """Those still here, by position."""
        return sorted(((match.seats.index(guest.name), guest) for guest in room.guests), key=lambda s: s[0])

    def _deal(self, room: _Room, match: Match, now: float) -> None:
        room.hand = match.deal()
        self._tell("hand", f"hand {match.dealt}: {', '.join(match.seats)}", hand=match.dealt)
        self._go_on(room, match, room.hand, now)

    def _go_on(self, room: _Room, match: Match, hand: Hand, now: float) -> None:
        """Ask the next player, or end the hand."""
        if hand.actor >= 0 or self._dialect.final_state:
            self._send_states(room, match, hand)
        if hand.actor >= 0:
            room.deadline = now + self._dialect.thinking_s
            return
        for position, guest in self._seated(room, match):
            room.results[guest.name] = message = self._make_result(match, hand, position)
            self._say(guest.peer, message)
        self._score(room, hand, outcome((name, hand.win_money(i)) for i, name in enumerate(match.seats)))
        match.settle(hand)
        room.hand, room.deadline = None, now + READY_S
        room.ready.clear()
        if match.dealt == room.wanted.game_number:
            self._end(room, f"all {match.dealt} hands are played")

    def _score(self, room: _Room, hand: Hand, game: dict[str, Json]) -> None:
        room.scored += 1
        if self._is_asked(room):  # a server that plays for ever must not gather for ever
            room.games.append(game)
        text = f"hand {room.scored}, board {board(hand.public_card)}: {standing(game)}"
        self._tell("result", text, **game)

    def _is_asked(self, room: _Room) -> bool:
        return (room.wanted.room_number, room.wanted.game_number) == self._asked

    def _send_states(self, room: _Room, match: Match, hand: Hand) -> None:
        players = tuple(
            PlayerState(i, hand.money_left(i), hand.total_money[i], name)
            for i, name in enumerate(match.seats)
        )
        legal_actions, raise_range = hand.legal_actions, hand.raise_range
        room.raise_offered = bool(raise_range)
        for position, guest in self._seated(room, match):
            self._say(
                guest.peer,
                State(
                    position,
                    hand.actor,
                    legal_actions,
                    raise_range,
                    hand.private_card[position],
                    hand.public_card,
                    players,
                    _history(hand),
                ),
            )

    def _make_result(self, match: Match, hand: Hand, viewer: int) -> Result:
        """The result as one seat sees it. A hand that was broken off is void: everybody has all back."""
        void = hand.actor >= 0
        left = hand.money_left if self._dialect.result_money == "included" else hand.money_unwon
        hidden = set(range(hand.size)) if void else hand.folded
        return Result(
            tuple(() if i in hidden - {viewer} else cards for i, cards in enumerate(hand.private_card)),
            hand.public_card,
            _history(hand),
            tuple(
                PlayerResult(
                    i,
                    0 if void else hand.win_money(i),
                    hand.total_money[i] if void else left(i),
                    hand.total_money[i],
                    name,
                )
                for i, name in enumerate(match.seats)
            ),
        )

    def _break_off(self, room: _Room, match: Match, why: str) -> None:
        """The others get the result so far: of the hand in play, which is void, or the last one again."""
        for position, guest in self._seated(room, match):
            if room.hand:
                self._say(guest.peer, self._make_result(match, room.hand, position))
            else:
                self._say(guest.peer, room.results[guest.name])
            self._say(guest.peer, Success(why))
        if room.hand:
            self._score(room, room.hand, outcome((name, 0) for name in match.seats))
        self._end(room, why)

    def _end(self, room: _Room, why: str) -> None:
        """Close all connections of a match."""
        for guest in room.guests:
            self._close(guest)
        self._rooms.remove(room)
        self._tell("match", why, games=room.scored)
        if self._result is None and self._is_asked(room):
            self._result = {"games": room.games}
        if self._result is not None and not any(other.match for other in self._rooms):
            self._finish(self._result)

    def _finish(self, result: dict[str, Json]) -> None:
        for guest in list(self._guests.values()):
            self._close(guest)
        self._rooms.clear()
        self._events.append(Finished(result))
        self.done = True


def _history(hand: Hand) -> tuple[tuple[Played, ...], ...]:
    return tuple(tuple(Played(*played) for played in street) for street in hand.action_history)


# What may be said where; anything else is holdem/order.
_HANDLERS: dict[tuple[str, type], Callable[[Server, _Guest, Any, float], None]] = {
    ("lobby", Connect): Server._on_connect,
    ("playing", Action): Server._on_action,
    ("between", Ready): Server._on_ready,
}
_WHERE = {
    "lobby": "not in a room yet",
    "waiting": "waiting for the room to fill",
    "playing": "in a hand",
    "between": "between two hands",
}
