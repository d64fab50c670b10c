"""The bytes: seven JSON messages. Field names are the text's own.

player → server   connect  ready  action
server → player   state  result  error  success
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from nodes.core import RemoteProtocolError
from nodes.holdem.transport import list_of, object_of, parse, refuse, shown, string, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from nodes.core import Json

RANKS = "23456789TJQKA"
SUITS = "cdsh"
CARDS = frozenset(rank + suit for rank in RANKS for suit in SUITS)
ACTIONS = ("fold", "check", "call", "raise")

NAME_MAX = 64
ROOM_ID_LENGTH_MAX = 64
PLAYERS_MIN, PLAYERS_MAX = 2, 10
GAMES_MAX = 10_000
ACTION_LENGTH_MAX = 32
TIMESTAMP_LENGTH_MAX = 64
TEXT_MAX = 1000
STREETS_MAX = 4
STREET_ACTIONS_MAX = 10_000  # uncapped, ten players can raise each other for long
MONEY_MAX = 10**12

_SYMBOLS = {"c": "♣", "d": "♦", "s": "♠", "h": "♥"}
_WORDS = {"fold": "fold", "f": "fold", "check": "check", "call": "call"}
_RAISE = re.compile(r"r([0-9]{1,13})", re.ASCII)  # as many digits as MONEY_MAX has
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def timestamp(milliseconds: int) -> str:
    """Milliseconds since 1970 as the text writes them: 2020-07-06 18:45:44.509."""
    moment = _EPOCH + timedelta(milliseconds=milliseconds)
    return moment.strftime("%Y-%m-%d %H:%M:%S.") + f"{milliseconds % 1000:03d}"


def symbol(card: str) -> str:
    """A card as people write it: Qs is Q♠, Th is 10♥."""
    return card[0].replace("T", "10") + _SYMBOLS[card[1]]


def meaning(action: str) -> tuple[str, int]:
    """What an action string says: ("raise", 300) for r300, ("fold", 0) for fold or f; ("", 0) for nothing.

    "'call'表示call， 'r200'表示加注到200, 'f'表示fold"
    """
    if raised := _RAISE.fullmatch(action):
        return "raise", int(raised[1])
    return _WORDS.get(action, ""), 0


def objection(
    action: str, legal_actions: Sequence[str], raise_range: Sequence[int]
) -> tuple[str, str] | None:
    """Why an action is not one of those offered (check id and text), or None."""
    word, amount = meaning(action)
    if word not in legal_actions:
        return "holdem/action.illegal", f"{action!a} is not legal here; legal are {', '.join(legal_actions)}"
    if word == "raise" and not raise_range[0] <= amount <= raise_range[1]:
        return (
            "holdem/action.range",
            f"{action} is out of range; raise to {raise_range[0]} … {raise_range[1]}",
        )
    return None


class _Object:
    """What all messages share: JSON is ASCII-escaped, because receivers in the wild count characters."""

    __slots__ = ()
    INFO: ClassVar[str]

    @property
    def kind(self) -> str:
        return self.INFO

    def fields(self) -> dict[str, Json]:
        raise NotImplementedError

    def encode(self) -> bytes:
        return json.dumps(self.fields(), allow_nan=False).encode("ascii")


@dataclass(frozen=True, slots=True)
class Connect(_Object):
    """A player asks for a seat in a room of room_number players, for game_number hands."""

    name: str
    room_number: int
    game_number: int
    room_id: int | str | None = None

    INFO = "connect"

    def fields(self) -> dict[str, Json]:
        fields: dict[str, Json] = {
            "info": self.INFO,
            "name": self.name,
            "room_number": self.room_number,
            "game_number": self.game_number,
        }
        # A server that reads room_id reads bots as well; others ignore both.
        return fields if self.room_id is None else {**fields, "room_id": self.room_id, "bots": []}


@dataclass(frozen=True, slots=True)
class Ready(_Object):
    """Before the second and each further hand: start, or exit."""

    status: str = "start"

    INFO = "ready"

    def fields(self) -> dict[str, Json]:
        return {"info": self.INFO, "status": self.status}


@dataclass(frozen=True, slots=True)
class Action(_Object):
    """One action. Whether the string means anything is for the table to judge."""

    action: str

    INFO = "action"

    def fields(self) -> dict[str, Json]:
        return {"action": self.action, "info": self.INFO}


@dataclass(frozen=True, slots=True)
class Played:
    """One entry of action_history."""

    position: int
    action: str
    timestamp: str

    def fields(self) -> dict[str, Json]:
        return {"position": self.position, "action": self.action, "timestamp": self.timestamp}


@dataclass(frozen=True, slots=True)
class PlayerState:
    """A player as a state shows it."""

    position: int
    money_left: int | float
    total_money: int | float
    name: str

    def fields(self) -> dict[str, Json]:
        return {
            "position": self.position,
            "money_left": self.money_left,
            "total_money": self.total_money,
            "name": self.name,
        }


@dataclass(frozen=True, slots=True)
class PlayerResult:
    """A player as a result shows it: both spellings of the money keys are sent."""

    position: int
    win_money: int | float
    money_left: int | float
    total_money: int | float
    name: str

    def fields(self) -> dict[str, Json]:
        return {
            "position": self.position,
            "win_money": self.win_money,
            "moneyLeft": self.money_left,
            "totalMoney": self.total_money,
            "money_left": self.money_left,
            "total_money": self.total_money,
            "name": self.name,
        }


Streets = tuple[tuple[Played, ...], ...]


def _streets(history: Streets) -> list[Json]:
    return [[played.fields() for played in street] for street in history]


@dataclass(frozen=True, slots=True)
class State(_Object):
    """The table as one seat may see it."""

    position: int
    action_position: int
    legal_actions: tuple[str, ...]
    raise_range: tuple[int, ...]
    private_card: tuple[str, ...]
    public_card: tuple[str, ...]
    players: tuple[PlayerState, ...]
    action_history: Streets

    INFO = "state"

    def fields(self) -> dict[str, Json]:
        return {
            "position": self.position,
            "action_position": self.action_position,
            "legal_actions": list(self.legal_actions),
            "raise_range": list(self.raise_range),
            "private_card": list(self.private_card),
            "public_card": list(self.public_card),
            "players": [player.fields() for player in self.players],
            "action_history": _streets(self.action_history),
            "info": self.INFO,
        }


@dataclass(frozen=True, slots=True)
class Result(_Object):
    """How a hand ended. player_card is by seat; a folder's cards are () to the others."""

    player_card: tuple[tuple[str, ...], ...]
    public_card: tuple[str, ...]
    action_history: Streets
    players: tuple[PlayerResult, ...]

    INFO = "result"

    def fields(self) -> dict[str, Json]:
        return {
            "player_card": [list(cards) for cards in self.player_card],
            "public_card": list(self.public_card),
            "action_history": _streets(self.action_history),
            "players": [player.fields() for player in self.players],
            "info": self.INFO,
        }


@dataclass(frozen=True, slots=True)
class Error(_Object):
    """The server refuses something."""

    text: str

    INFO = "error"

    def fields(self) -> dict[str, Json]:
        return {"info": self.INFO, "text": self.text}


@dataclass(frozen=True, slots=True)
class Success(_Object):
    """The match is over."""

    text: str

    INFO = "success"

    def fields(self) -> dict[str, Json]:
        return {"info": self.INFO, "text": self.text}


AnyMessage = Connect | Ready | Action | State | Result | Error | Success


def decode(body: bytes) -> AnyMessage:
    """Read one packet. Raises RemoteProtocolError, whose reply_hint is the error to send."""
    try:
        fields = parse(body)
        info = fields.get("info")
        reader = _READERS.get(info) if isinstance(info, str) else None
        if reader is None:
            refuse("holdem/info", f"info is {shown(info)}, not one of {', '.join(_READERS)}")
        return reader(fields)
    except RemoteProtocolError as error:
        error.reply_hint = Error(error.text)
        raise


def _name(fields: dict[str, Any]) -> str:
    return string(fields.get("name"), 1, NAME_MAX, "holdem/connect.name", "name")


def _read_connect(fields: dict[str, Any]) -> Connect:
    room_id = fields.get("room_id")
    if isinstance(room_id, str):
        string(room_id, 0, ROOM_ID_LENGTH_MAX, "holdem/connect.room_id", "room_id")
    elif room_id is not None:
        room_id = whole(room_id, -MONEY_MAX, MONEY_MAX, "holdem/connect.room_id", "room_id")
    return Connect(
        _name(fields),
        whole(
            fields.get("room_number"), PLAYERS_MIN, PLAYERS_MAX, "holdem/connect.room_number", "room_number"
        ),
        whole(fields.get("game_number"), 1, GAMES_MAX, "holdem/connect.game_number", "game_number"),
        room_id,
    )


def _read_ready(fields: dict[str, Any]) -> Ready:
    status = fields.get("status")
    if status not in ("start", "exit"):
        refuse("holdem/ready.status", f"status is {shown(status)}, not start or exit")
    return Ready(status)


def _read_action(fields: dict[str, Any]) -> Action:
    return Action(string(fields.get("action"), 0, ACTION_LENGTH_MAX, "holdem/action.form", "action"))


def _cards(value: object, length_max: int, what: str) -> tuple[str, ...]:
    cards = list_of(value, length_max, "holdem/card", what)
    for card in cards:
        if not isinstance(card, str) or card not in CARDS:
            refuse("holdem/card", f"{what} holds {shown(card)}, which is no card")
    return tuple(cards)


def _all_different(cards: Iterable[str]) -> None:
    seen = list(cards)
    if len(set(seen)) != len(seen):
        refuse("holdem/card.twice", "a card appears twice")


def _history(value: object) -> Streets:
    return tuple(
        tuple(
            _read_played(object_of(entry, "holdem/history", "an entry of action_history"))
            for entry in list_of(street, STREET_ACTIONS_MAX, "holdem/history", "a street of action_history")
        )
        for street in list_of(value, STREETS_MAX, "holdem/history", "action_history")
    )


def _read_played(entry: dict[str, Any]) -> Played:
    return Played(
        whole(entry.get("position"), 0, PLAYERS_MAX - 1, "holdem/history", "position"),
        # The table of the text spells it acion, its example action.
        string(entry.get("action", entry.get("acion")), 1, ACTION_LENGTH_MAX, "holdem/history", "action"),
        string(entry.get("timestamp", ""), 0, TIMESTAMP_LENGTH_MAX, "holdem/history", "timestamp"),
    )


def _money(player: dict[str, Any], *keys: str) -> int | float:
    """Money under any of its spellings; 100.0 is 100."""
    amounts = [player[key] for key in keys if key in player]
    for amount in amounts:
        if isinstance(amount, bool) or not isinstance(amount, int | float) or not abs(amount) <= MONEY_MAX:
            refuse("holdem/money", f"{keys[0]} is {shown(amount)}, not an amount of money")
    if len(set(amounts)) != 1:
        refuse("holdem/money", f"{keys[0]} is missing, or its two spellings differ")
    amount = amounts[0]
    return int(amount) if math.floor(amount) == amount else amount


def _players(value: object, check: str) -> list[tuple[int, dict[str, Any]]]:
    """The players by seat; "小盲位编号为0，依次增加"."""
    players = [
        object_of(player, check, "a player") for player in list_of(value, PLAYERS_MAX, check, "players")
    ]
    if len(players) < PLAYERS_MIN:
        refuse(check, f"there are {len(players)} players, not {PLAYERS_MIN} to {PLAYERS_MAX}")
    seats = [
        (whole(p.get("position"), 0, len(players) - 1, "holdem/state.position", "position"), p)
        for p in players
    ]
    seats.sort(key=lambda seat: seat[0])
    if [position for position, _ in seats] != list(range(len(players))):
        refuse("holdem/state.position", "two players have the same position")
    return seats


def _read_state(fields: dict[str, Any]) -> State:
    players = tuple(
        PlayerState(
            position,
            _money(player, "money_left", "moneyLeft"),
            _money(player, "total_money", "totalMoney"),
            _name(player),
        )
        for position, player in _players(fields.get("players"), "holdem/state.form")
    )
    last = len(players) - 1
    private_card = _cards(fields.get("private_card"), 2, "private_card")
    public_card = _cards(fields.get("public_card"), 5, "public_card")
    _all_different((*private_card, *public_card))
    action_position = whole(
        fields.get("action_position"), -1, last, "holdem/state.action_position", "action_position"
    )
    legal_actions = _legal_actions(fields.get("legal_actions"), to_act=action_position >= 0)
    return State(
        whole(fields.get("position"), 0, last, "holdem/state.position", "position"),
        action_position,
        legal_actions,
        _raise_range(fields.get("raise_range", []), needed="raise" in legal_actions),
        private_card,
        public_card,
        players,
        _history(fields.get("action_history")),
    )


def _legal_actions(value: object, *, to_act: bool) -> tuple[str, ...]:
    check = "holdem/state.legal_actions"
    actions = list_of(value, len(ACTIONS), check, "legal_actions")
    for action in actions:
        if not isinstance(action, str) or action not in ACTIONS:
            refuse(check, f"legal_actions holds {shown(action)}, not one of {', '.join(ACTIONS)}")
    if len(set(actions)) != len(actions):
        refuse(check, "legal_actions names an action twice")
    if to_act and ("call" in actions) == ("check" in actions):
        refuse(check, "not exactly one of call and check is legal")
    return tuple(actions)


def _raise_range(value: object, *, needed: bool) -> tuple[int, ...]:
    check = "holdem/state.raise_range"
    bounds = tuple(
        whole(x, 0, MONEY_MAX, check, "raise_range") for x in list_of(value, 2, check, "raise_range")
    )
    if len(bounds) == 1 or (needed and not bounds) or list(bounds) != sorted(bounds):
        refuse(check, "raise_range is not two amounts, the least first")
    return bounds


def _read_result(fields: dict[str, Any]) -> Result:
    check = "holdem/result.form"
    players = tuple(
        PlayerResult(
            position,
            _money(player, "win_money"),
            _money(player, "money_left", "moneyLeft"),
            _money(player, "total_money", "totalMoney"),
            _name(player),
        )
        for position, player in _players(fields.get("players"), check)
    )
    player_card = tuple(
        _cards(cards, 2, "player_card")
        for cards in list_of(fields.get("player_card", []), len(players), check, "player_card")
    )
    public_card = _cards(fields.get("public_card"), 5, "public_card")
    _all_different((*public_card, *(card for cards in player_card for card in cards)))
    return Result(player_card, public_card, _history(fields.get("action_history")), players)


def _read_text(fields: dict[str, Any]) -> str:
    return string(fields.get("text", ""), 0, TEXT_MAX, "holdem/text", "text")


_READERS: dict[str, Callable[[dict[str, Any]], AnyMessage]] = {
    Connect.INFO: _read_connect,
    Ready.INFO: _read_ready,
    Action.INFO: _read_action,
    State.INFO: _read_state,
    Result.INFO: _read_result,
    Error.INFO: lambda fields: Error(_read_text(fields)),
    Success.INFO: lambda fields: Success(_read_text(fields)),
}
