# scapy.contrib.description = Texas hold'em: length prefix and JSON over TCP
# scapy.contrib.status = loads

r"""Texas hold'em for Scapy: the length, and one layer a message kind.

    ┌────────────────────┬──────────────────────┐
    │ length  4, LE, int │ JSON  `length` bytes │
    └────────────────────┴──────────────────────┘

    info      layer          fields
    connect   HoldemConnect  name room_number game_number room_id bots
    ready     HoldemReady    status
    action    HoldemAction   action
    state     HoldemState    position action_position legal_actions raise_range private_card public_card
                             players action_history
    result    HoldemResult   player_card public_card action_history players
    error     HoldemError    text
    success   HoldemSuccess  text
    another   HoldemOther    —

A field is the value of its key, whatever that is; None where the key is absent, NULL where it is null.
Keys the text does not know are in `extra`. Objects inside are Records, whose keys are attributes too:

    >>> frame = Holdem()/HoldemAction(action="r300")
    >>> bytes(frame)
    b'$\x00\x00\x00{"action": "r300", "info": "action"}'
    >>> HoldemState(players=[{"name": "p0"}]).players[0].name
    'p0'

What was read is built as it was read until a field is changed; then `del frame.length`, or the old
length stands. Bytes that are no JSON object are HoldemBroken, with the check they fail and why; a
message of which only a part is there is HoldemFragment. Nothing raises.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

from scapy.fields import Field, LESignedIntField, StrField
from scapy.layers.inet import TCP
from scapy.packet import Packet, bind_bottom_up, bind_layers
from scapy.volatile import RandNum, RandString, VolatileValue

from dissectors.malformed import Malformed, NoteField
from nodes.core import RemoteProtocolError
from nodes.holdem.fields import FIELDS
from nodes.holdem.meaning import meaning
from nodes.holdem.messages import CARDS, decode, symbol
from nodes.holdem.transport import LENGTH_MAX, LENGTH_MIN, PREFIX, Frames, parse

if TYPE_CHECKING:
    from typing import Self

    from nodes.holdem.messages import AnyMessage

PORT = 2333
_RANDOM_TEXT_LENGTH_MAX = 40
_RANDOM_NUMBER_MAX = 20_000


class _Null:
    """A key that is there and null, told apart from one that is not there."""

    def __repr__(self) -> str:
        return "NULL"

    def __bool__(self) -> bool:
        return False


NULL = _Null()


class Record(dict[str, Any]):
    """A JSON object: `player.name` is `player["name"]`."""

    __slots__ = ()

    def __getattr__(self, key: str) -> Any:
        try:
            return self[key]
        except KeyError:
            raise AttributeError(f"this object has no {key!r}; it has {', '.join(self)}") from None

    def __setattr__(self, key: str, value: Any) -> None:
        self[key] = value


def _records(value: Any) -> Any:
    """A copy in which every object is a Record. The codec limits how deep it can be."""
    if isinstance(value, list | tuple):
        return [_records(one) for one in value]
    if isinstance(value, dict):
        return Record((key, _records(one)) for key, one in value.items())
    return value


class JsonField(Field[Any, Any]):
    """The value of a key. Scapy must not take a list for a choice of values: hence `islist`."""

    __slots__ = ["vocabulary"]
    islist = 1

    def __init__(self, name: str, default: Any) -> None:
        super().__init__(name, default)
        self.vocabulary = FIELDS.get(name)

    def any2i(self, pkt: Packet | None, x: Any) -> Any:
        return _records(x)

    def do_copy(self, x: Any) -> Any:
        return _records(x)

    def i2repr(self, pkt: Packet | None, x: Any) -> str:
        return "(absent)" if x is None else repr(x)

    def randval(self) -> Any:
        sort = self.vocabulary.sort if self.vocabulary else None
        if sort == "text":
            return RandString(RandNum(0, _RANDOM_TEXT_LENGTH_MAX))
        return RandNum(-1, _RANDOM_NUMBER_MAX) if sort in ("integer", "number") else None


class CardsField(JsonField):
    """Cards, by seat or not: as people write them if that is what they are."""

    def i2repr(self, pkt: Packet | None, x: Any) -> str:
        if isinstance(x, list) and x:
            if all(isinstance(card, str) and card in CARDS for card in x):
                return " ".join(map(symbol, x))
            if all(isinstance(cards, list) for cards in x):
                return " | ".join(self.i2repr(pkt, cards) if cards else "—" for cards in x)
        return super().i2repr(pkt, x)


class PlayersField(JsonField):
    """The players, a line each."""

    def i2repr(self, pkt: Packet | None, x: Any) -> str:
        if isinstance(x, list) and x and all(isinstance(player, Record) for player in x):
            return "\n".join(
                " ".join(f"{key}={value!r}" for key, value in player.items()) or "{}" for player in x
            )
        return super().i2repr(pkt, x)


class HistoryField(JsonField):
    """The actions, a line a street: `0 call, 1 r300`."""

    def i2repr(self, pkt: Packet | None, x: Any) -> str:
        if isinstance(x, list) and x and all(isinstance(street, list) for street in x):
            return "\n".join(", ".join(map(_entry, street)) or "—" for street in x)
        return super().i2repr(pkt, x)


class ExtraField(JsonField):
    """The keys the text does not know, with their values."""

    def any2i(self, pkt: Packet | None, x: Any) -> Any:
        return _records(dict(x or {}))

    def i2repr(self, pkt: Packet | None, x: Any) -> str:
        return repr(x) if x else "(none)"

    def randval(self) -> Any:
        return None


def _entry(played: Any) -> str:
    if isinstance(played, Record) and set(played) <= {"position", "action", "timestamp"}:
        action = played.get("action")
        if isinstance(action, str) and action.isprintable():
            return f"{played.get('position')!r} {action}"
    return repr(played)


def _plain(value: Any) -> Any:
    """What json cannot write: the bytes that Scapy's random strings are."""
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


class _Judged(Packet):
    """A layer that knows whether a node's codec would take it."""

    def refusal(self) -> RemoteProtocolError | None:
        """Why a node would refuse this, or None."""
        try:
            self.decoded()
        except RemoteProtocolError as error:
            return error
        return None

    def decoded(self) -> AnyMessage:
        """The message as a node reads it; raises RemoteProtocolError."""
        return decode(self.do_build())

    @property
    def check(self) -> str | None:
        """The id of the check that this fails; None where a node would take it."""
        error = self.refusal()
        return error.check if error else None


class HoldemMessage(_Judged):
    """What all kinds share: the fields are keys of one JSON object."""

    __slots__ = ["player"]
    INFO: ClassVar[str]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.player = "the player"  # who is at the other end of the server, if the session knows
        super().__init__(*args, **kwargs)

    def __init_subclass__(cls) -> None:
        cls.dispatch_hook = classmethod(_broken_or)  # type: ignore[attr-defined] # Scapy wants it in each

    def copy(self) -> Self:
        clone = super().copy()
        clone.player = self.player
        return clone

    def do_dissect(self, s: bytes) -> bytes:
        found = parse(s)
        for field in self.fields_desc[:-1]:
            value = found.pop(field.name, None) if field.name in found else _ABSENT
            self.fields[field.name] = None if value is _ABSENT else NULL if value is None else _records(value)
        self.fields["extra"] = _records(found)
        self.raw_packet_cache = s
        self.explicit = 1
        return b""

    def json_object(self) -> dict[str, Any]:
        """The object as it goes on the wire."""
        values = ((field.name, self.getfieldval(field.name)) for field in self.fields_desc[:-1])
        known = {name: None if value is NULL else value for name, value in values if value is not None}
        return {**known, **self.getfieldval("extra")}

    def self_build(self) -> bytes:
        kept = self.raw_packet_cache
        if kept is not None:
            # A list or an object inside may have been changed, and Scapy was not told. As text, for 1 and
            # true are equal; by key, for their order may be another.
            now, then = self.json_object(), parse(kept)
            if now.keys() == then.keys() and all(repr(now[key]) == repr(then[key]) for key in now):
                return kept
            self.raw_packet_cache = None
        return json.dumps(self.json_object(), default=_plain).encode("ascii")

    def _command(self, json: bool = False) -> list[tuple[str, Any]]:
        """For command() and json(). Scapy's own leaves out an empty list and calls what is named command."""
        if json:
            values = ((field.name, self.getfieldval(field.name)) for field in self.fields_desc)
            return [(name, None if value is NULL else value) for name, value in values]
        return [
            (name, value.command() if isinstance(value, VolatileValue) else repr(value))
            for name, value in self.fields.items()
        ]

    def extract_padding(self, s: bytes) -> tuple[bytes, bytes | None]:
        return b"", s

    def mysummary(self) -> str:
        ends = ("the server", self.player) if isinstance(self, FROM_SERVER) else (self.player, "the server")
        try:
            return meaning(self.decoded(), *ends)
        except RemoteProtocolError as error:
            return f"{self.INFO}, refused: {error}"


_ABSENT = object()


def _broken_or(
    cls: type[Packet], /, _pkt: bytes = b"", *_: Any, _underlayer: Packet | None = None, **__: Any
) -> type[Packet]:
    if _pkt and not isinstance(_underlayer, Holdem):  # which has looked
        try:
            parse(_pkt)
        except RemoteProtocolError:
            return HoldemBroken
    return cls


class HoldemConnect(HoldemMessage):
    """A player asks for a seat in a room.

    Scapy calls a layer's title `name`, too. Here it is the player's, but to whoever prints the title.
    """

    __slots__ = ["titled"]
    INFO = "connect"
    fields_desc = [
        JsonField("info", INFO),
        JsonField("name", "scapy"),
        JsonField("room_number", 2),
        JsonField("game_number", 1),
        JsonField("room_id", None),
        JsonField("bots", None),
        ExtraField("extra", {}),
    ]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.titled = True
        super().__init__(*args, **kwargs)
        self.titled = False

    def _show_or_dump(self, *args: Any, **kwargs: Any) -> Any:
        self.titled = True
        try:
            return super()._show_or_dump(*args, **kwargs)
        finally:
            self.titled = False

    def _get_name(self) -> Any:
        return type(self).__name__ if self.titled else self.getfieldval("name")

    def _set_name(self, name: Any) -> None:
        if not self.titled:
            self.setfieldval("name", name)


# After the class: of a name in its body Scapy makes the title.
HoldemConnect.name = property(HoldemConnect._get_name, HoldemConnect._set_name)  # type: ignore[assignment]


class HoldemReady(HoldemMessage):
    """Before the second and each further hand."""

    INFO = "ready"
    fields_desc = [JsonField("info", INFO), JsonField("status", "start"), ExtraField("extra", {})]


class HoldemAction(HoldemMessage):
    """One action: call, check, fold, or r and the total for this street."""

    INFO = "action"
    fields_desc = [JsonField("action", "call"), JsonField("info", INFO), ExtraField("extra", {})]


class HoldemState(HoldemMessage):
    """The table as one seat may see it."""

    INFO = "state"
    fields_desc = [
        JsonField("position", 0),
        JsonField("action_position", 0),
        JsonField("legal_actions", []),
        JsonField("raise_range", []),
        CardsField("private_card", []),
        CardsField("public_card", []),
        PlayersField("players", []),
        HistoryField("action_history", []),
        JsonField("info", INFO),
        ExtraField("extra", {}),
    ]


class HoldemResult(HoldemMessage):
    """How a hand ended."""

    INFO = "result"
    fields_desc = [
        CardsField("player_card", []),
        CardsField("public_card", []),
        HistoryField("action_history", []),
        PlayersField("players", []),
        JsonField("info", INFO),
        ExtraField("extra", {}),
    ]


class HoldemError(HoldemMessage):
    """The server refuses something."""

    INFO = "error"
    fields_desc = [JsonField("info", INFO), JsonField("text", ""), ExtraField("extra", {})]


class HoldemSuccess(HoldemMessage):
    """The match is over."""

    INFO = "success"
    fields_desc = [JsonField("info", INFO), JsonField("text", ""), ExtraField("extra", {})]


class HoldemOther(HoldemMessage):
    """A JSON object whose info is none of the text's."""

    INFO = "unknown info"
    fields_desc = [JsonField("info", None), ExtraField("extra", {})]


KINDS: dict[str, type[HoldemMessage]] = {
    kind.INFO: kind
    for kind in (
        HoldemConnect,
        HoldemReady,
        HoldemAction,
        HoldemState,
        HoldemResult,
        HoldemError,
        HoldemSuccess,
    )
}
FROM_SERVER = (HoldemState, HoldemResult, HoldemError, HoldemSuccess)


class HoldemBroken(Malformed):
    """What is no JSON object, or follows a length that cannot be: the bytes, the check, and why."""

    name = "HoldemBroken"
    fields_desc = [NoteField("check", None), NoteField("reason", None), StrField("load", b"")]

    def do_dissect(self, s: bytes) -> bytes:
        rest = super().do_dissect(s)
        try:
            if isinstance(self.underlayer, Holdem):
                self.underlayer.frames()
            decode(s)
        except RemoteProtocolError as error:
            self.fields["check"], self.fields["reason"] = error.check, error.text
        return rest

    def mysummary(self) -> str:
        return f"broken: {self.reason} [{self.check}]"


class HoldemFragment(Packet):
    """A part of a message. `sniff(offline=…, session=GameSession)` puts the parts together."""

    name = "HoldemFragment"
    fields_desc = [StrField("load", b"")]

    def mysummary(self) -> str:
        return f"{len(self.load)} bytes, part of a message"


class Holdem(_Judged):
    """The length, and how much of what follows is its message."""

    name = "Holdem"
    fields_desc = [LESignedIntField("length", None)]  # type: ignore[arg-type] # computed

    @classmethod
    def dispatch_hook(cls, _pkt: bytes = b"", *_: Any, **__: Any) -> type[Packet]:
        return HoldemFragment if 0 < len(_pkt) < PREFIX else cls

    @classmethod
    def tcp_reassemble(cls, data: bytes, metadata: dict[str, Any], session: dict[str, Any]) -> Packet | None:
        """The first message of the stream, or None while it is not whole."""
        needed = PREFIX
        if len(data) >= PREFIX:
            length = int.from_bytes(data[:PREFIX], "little", signed=True)
            needed += length if LENGTH_MIN <= length <= LENGTH_MAX else 0
        if data and (len(data) >= needed or metadata.get("tcp_end")):
            frame = cls(data)
            message = frame.payload
            if isinstance(message, HoldemMessage):
                # Who plays is said once a connection.
                if isinstance(message, HoldemConnect) and isinstance(message.name, str):
                    session["player"] = message.name
                message.player = session.get("player", message.player)
            return frame
        metadata["tcp_min_len"] = needed
        return None

    @classmethod
    def tcp_resync(
        cls, pending: bytes, missing: int, from_client: bool, session: dict[str, Any]
    ) -> int | None:
        """For GameSession: how much behind a gap still belongs to the message in which it began."""
        if len(pending) < PREFIX:
            return None
        rest = PREFIX + int.from_bytes(pending[:PREFIX], "little", signed=True) - len(pending) - missing
        return rest if rest >= 0 else None

    @classmethod
    def tcp_begins(cls, data: bytes) -> bool:
        """For GameSession: a message may begin where a possible length is, and an object after it."""
        length = int.from_bytes(data[:PREFIX], "little", signed=True)
        return LENGTH_MIN <= length <= LENGTH_MAX and data[PREFIX : PREFIX + 1] == b"{"

    def extract_padding(self, s: bytes) -> tuple[bytes, bytes | None]:
        if not LENGTH_MIN <= self.length <= LENGTH_MAX:
            return s, None  # nobody knows where the next one begins
        return s[: self.length], s[self.length :]

    def guess_payload_class(self, payload: bytes) -> type[Packet]:
        try:
            if not self.frames():
                return HoldemFragment
            info = parse(payload).get("info")
        except RemoteProtocolError:
            return HoldemBroken
        return KINDS.get(info, HoldemOther) if isinstance(info, str) else HoldemOther

    def frames(self) -> bool:
        """Whether the message is whole; raises RemoteProtocolError where the length cannot be."""
        frames = Frames()
        frames.feed(self.original)
        return frames.take() is not None

    def post_build(self, pkt: bytes, pay: bytes) -> bytes:
        if self.length is None:
            pkt = len(pay).to_bytes(PREFIX, "little", signed=True)
        return pkt + pay

    def decoded(self) -> AnyMessage:
        frames = Frames()
        frames.feed(self.do_build())
        body = frames.take()
        if body is None or len(frames):
            raise RemoteProtocolError(
                "holdem/frame.len", f"the length says {self.length}, and there are {len(self.payload)} bytes"
            )
        return decode(body)

    def hashret(self) -> bytes:
        return b"holdem"

    def answers(self, other: Packet) -> int:
        """What a server says answers what a player says, and the other way round."""
        if not isinstance(other, Holdem):
            return 0
        return int(isinstance(self.payload, FROM_SERVER) != isinstance(other.payload, FROM_SERVER))

    def mysummary(self) -> str:
        return f"Holdem {self.length} bytes"


bind_bottom_up(TCP, Holdem, sport=PORT)
bind_bottom_up(TCP, Holdem, dport=PORT)
bind_layers(TCP, Holdem, dport=PORT)
