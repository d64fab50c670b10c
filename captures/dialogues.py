"""Messages that are cut from a stream: tic-tac-toe, hold'em, Connect Four. One dialogue a connection.

Behind a gap, and where a capture began too late, a direction is read on where a message surely begins:
tic-tac-toe's place in the stream tells, hold'em's next segment that begins as a message does. Bytes before
that are shown as cut, never guessed at. A WebSocket shows no such place: behind a gap it is read no more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from captures.seen import Reading, cut, refused
from dissectors.websocket import Binary, Broken, Observer, Text
from nodes.connect4 import messages as connect4
from nodes.connect4.meaning import meaning as meaning_of_line
from nodes.core import RemoteProtocolError
from nodes.holdem import messages as holdem
from nodes.holdem.meaning import meaning as meaning_of_json
from nodes.holdem.transport import PREFIX, length_of, parse
from nodes.tictactoe.meaning import meaning as meaning_of_board
from nodes.tictactoe.messages import MESSAGE_BYTES, Move, State

if TYPE_CHECKING:
    from collections.abc import Callable

    from dissectors.websocket import Event
    from nodes.core import Json

DATA_SHOWN_MAX = 256  # of bytes that are no message


class Dialogue(Protocol):
    """Both directions of a connection."""

    def feed(self, from_client: bool, data: bytes, began: bool) -> list[Reading]:
        """Read the next bytes of one direction, which is `began` if it is known from its first byte."""

    def lost(self, from_client: bool, missing: int, began: bool) -> list[Reading]:
        """So many bytes of this direction are not in the capture."""

    def end(self, from_client: bool) -> list[Reading]:
        """Nothing more comes of this direction."""


class _Side:
    """One direction, cut into messages. `_size` says how long the message is that `_held` begins."""

    def __init__(self, read: Callable[[bytes], Reading], began: bool) -> None:
        self._read = read
        self._trusted = began
        self._held = bytearray()
        self._skip = 0  # bytes of a message that began in a gap

    def feed(self, data: bytes) -> list[Reading]:
        found: list[Reading] = []
        if self._skip:
            part, data = data[: self._skip], data[self._skip :]
            self._skip -= len(part)
            found.append(cut(f"the last {len(part)} bytes of a message, most of it lost", part))
        if not data:
            return found
        if not self._trusted:
            if not self._begins(data):
                return [*found, _unknown(data)]
            self._trusted = True
        self._held += data
        at = 0
        while self._trusted:
            try:
                size = self._size(at)
            except RemoteProtocolError as error:
                found.append(refused(error.check, error.text, bytes(self._held[at : at + DATA_SHOWN_MAX])))
                self._trusted = False
                at = len(self._held)
                break
            if size is None or len(self._held) - at < size:
                break
            found.append(self._read(bytes(self._held[at : at + size])))
            at += size
        del self._held[:at]
        return found

    def lost(self, missing: int) -> list[Reading]:
        self._skip = self._after(missing)
        return self._drop("most of it lost")

    def end(self) -> list[Reading]:
        self._trusted = False
        return self._drop("and then nothing more")

    def _drop(self, why: str) -> list[Reading]:
        held = bytes(self._held)
        self._held.clear()
        return (
            [cut(f"the first {len(held)} bytes of a message, {why}", held[:DATA_SHOWN_MAX])] if held else []
        )

    def _begins(self, data: bytes) -> bool:
        """Whether this segment surely begins with a message."""
        raise NotImplementedError

    def _size(self, at: int) -> int | None:
        raise NotImplementedError

    def _after(self, missing: int) -> int:
        """How many bytes behind a gap belong to a message that began before or in it."""
        raise NotImplementedError


class _Twelves(_Side):
    """Tic-tac-toe: messages of one size, so that the place in the stream tells where each begins."""

    def _begins(self, data: bytes) -> bool:
        # Who writes a message writes it whole.
        return len(data) % MESSAGE_BYTES == 0

    def _size(self, at: int) -> int | None:  # noqa: ARG002
        return MESSAGE_BYTES

    def _after(self, missing: int) -> int:
        return (self._skip - len(self._held) - missing) % MESSAGE_BYTES if self._trusted else 0


class TicTacToe:
    """The direction tells a state from a move."""

    def __init__(self, client: str, server: str) -> None:
        self._client, self._server = client, server
        self._state = b""
        self._sides: dict[bool, _Twelves] = {}

    def feed(self, from_client: bool, data: bytes, began: bool) -> list[Reading]:
        return self._side(from_client, began).feed(data)

    def lost(self, from_client: bool, missing: int, began: bool) -> list[Reading]:
        return self._side(from_client, began).lost(missing)

    def end(self, from_client: bool) -> list[Reading]:
        return self._side(from_client, False).end()

    def _side(self, from_client: bool, began: bool) -> _Twelves:
        if from_client not in self._sides:
            self._sides[from_client] = _Twelves(self._read_move if from_client else self._read_state, began)
        return self._sides[from_client]

    def _read_state(self, data: bytes) -> Reading:
        try:
            state = State.decode(data)
        except RemoteProtocolError as error:
            return refused(error.check, error.text, data)
        self._state = data
        return Reading(state.kind, meaning_of_board(state, self._server, self._client), data, state.fields())

    def _read_move(self, data: bytes) -> Reading:
        try:
            move = Move.decode(data)
        except RemoteProtocolError as error:
            if data == self._state:
                # "A client that sends the final state back on its way out is tolerated."
                state = State.decode(data)
                return Reading(state.kind, f"{self._client} sends the state back", data, state.fields())
            return refused(error.check, error.text, data)
        return Reading(move.kind, meaning_of_board(move, self._client, self._server), data, move.fields())


class _Prefixed(_Side):
    """Hold'em: a length, then as many bytes of JSON."""

    def _begins(self, data: bytes) -> bool:
        try:
            length_of(data[:PREFIX])
        except RemoteProtocolError:
            return False
        return data[PREFIX : PREFIX + 1] == b"{"

    def _size(self, at: int) -> int | None:
        if len(self._held) - at < PREFIX:
            return None
        return PREFIX + length_of(self._held[at : at + PREFIX])

    def _after(self, missing: int) -> int:
        if self._trusted and self._skip >= missing:
            return self._skip - missing
        size = self._size(0) if self._trusted and not self._skip else None
        if size is not None and size - len(self._held) >= missing:
            return size - len(self._held) - missing
        self._trusted = False  # a message began in the gap, and its length is not known
        return 0


class Holdem:
    """JSON, with all its keys; those the codec does not know come after those it does."""

    def __init__(self, client: str, server: str) -> None:
        self._names = {True: (client, server), False: (server, client)}
        self._sides: dict[bool, _Prefixed] = {}

    def feed(self, from_client: bool, data: bytes, began: bool) -> list[Reading]:
        return self._side(from_client, began).feed(data)

    def lost(self, from_client: bool, missing: int, began: bool) -> list[Reading]:
        return self._side(from_client, began).lost(missing)

    def end(self, from_client: bool) -> list[Reading]:
        return self._side(from_client, False).end()

    def _side(self, from_client: bool, began: bool) -> _Prefixed:
        if from_client not in self._sides:
            src, dst = self._names[from_client]
            self._sides[from_client] = _Prefixed(lambda data: _read_json(data, src, dst), began)
        return self._sides[from_client]


def _read_json(data: bytes, src: str, dst: str) -> Reading:
    body = data[PREFIX:]
    fields: dict[str, Json] = {"length": len(body)}
    try:
        content = parse(body)
    except RemoteProtocolError as error:
        return refused(error.check, error.text, data, fields)
    try:
        message = holdem.decode(body)
    except RemoteProtocolError as error:
        return refused(error.check, error.text, data, fields | content)
    fields |= message.fields()
    fields |= {key: value for key, value in content.items() if key not in fields}
    return Reading(message.kind, meaning_of_json(message, src, dst), data, fields)


class Connect4:
    """A WebSocket's texts. What the WebSocket itself does wrong is refused by RFC 6455's own sections."""

    def __init__(self, client: str, server: str) -> None:
        self._names = {True: (client, server), False: (server, client)}
        self._observer = Observer()

    def feed(self, from_client: bool, data: bytes, began: bool) -> list[Reading]:  # noqa: ARG002 - it sees
        return self._read(self._observer.feed(from_client, data))

    def lost(self, from_client: bool, missing: int, began: bool) -> list[Reading]:  # noqa: ARG002
        return self._read(self._observer.lost(from_client))

    def end(self, from_client: bool) -> list[Reading]:  # noqa: ARG002 - a WebSocket says itself that it ends
        return []

    def _read(self, events: list[Event]) -> list[Reading]:
        found = []
        for event in events:
            match event:
                case Text():
                    found.append(_read_line(event.data, *self._names[event.from_client]))
                case Binary():
                    text = "a binary message, where all are texts"
                    found.append(refused("connect4/line", text, event.data[:DATA_SHOWN_MAX]))
                case Broken():
                    found.append(refused(event.check, event.text, event.data))
        return found


def _read_line(data: bytes, src: str, dst: str) -> Reading:
    try:
        message = connect4.decode(data)
    except RemoteProtocolError as error:
        return refused(error.check, error.text, data)
    return Reading(message.kind, meaning_of_line(message, src, dst), data, message.fields())


def _unknown(data: bytes) -> Reading:
    return cut(f"{len(data)} bytes, and where a message begins is not known", data[:DATA_SHOWN_MAX])


DIALOGUES: dict[str, Callable[[str, str], Dialogue]] = {
    "tictactoe": TicTacToe,
    "holdem": Holdem,
    "connect4": Connect4,
}
