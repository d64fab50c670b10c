"""The client: one player in one match, who believes no state or result that does not make sense."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nodes.core import Close, Finished, LocalProtocolError, Open, Received, RemoteProtocolError, Turn
from nodes.holdem.messages import (
    GAMES_MAX,
    Action,
    Connect,
    Error,
    Ready,
    Result,
    State,
    Success,
    decode,
    objection,
)
from nodes.holdem.roles import REFUSALS_MAX, SERVER, Role, View, board, outcome, standing
from nodes.holdem.transport import Frames

if TYPE_CHECKING:
    from collections.abc import Callable

    from nodes.core import Json, Peer
    from nodes.game import Setup
    from nodes.holdem.dialect import Dialect

SILENCE_S = 900.0  # longer than a room may take to fill


class Client(Role):
    """Connects, acts when asked, is ready after every hand but the last."""

    def __init__(self, setup: Setup) -> None:
        super().__init__()
        dialect: Dialect = setup.dialect
        self._name = setup.seat.name
        self._games_wanted = setup.games or GAMES_MAX
        self._wanted = Connect(self._name, setup.players, self._games_wanted, dialect.room_id or None)
        self._frames = Frames()
        self._deadline: float | None = None
        self._refused = 0
        self._turn: Turn | None = None
        self._state: State | None = None  # the last one of the hand in play
        self._result: Result | None = None  # of the last hand
        self._games: list[Json] = []

    def start(self, now: float) -> None:
        self._deadline = now + SILENCE_S
        self._outputs.append(Open(SERVER))

    def connected(self, peer: Peer, now: float) -> None:
        self._deadline = now + SILENCE_S
        self._say(peer, self._wanted)

    def receive(self, data: bytes, peer: Peer, now: float) -> None:
        if self.done:
            return
        self._deadline = now + SILENCE_S
        self._frames.feed(data)
        while not self.done:
            try:
                body = self._frames.take()
            except RemoteProtocolError as error:
                self._refuse(peer, error, data)
                self._finish("the server's framing is lost")
                return
            if body is None:
                return
            self._take(body, peer)

    def disconnected(self, peer: Peer, now: float) -> None:  # noqa: ARG002
        if not self.done:
            self._finish("the server closed the connection", close=False)

    def timer(self) -> float | None:
        return self._deadline

    def handle_timer(self, now: float) -> None:
        if self._deadline is not None and now >= self._deadline:
            silence = RemoteProtocolError(
                "holdem/limit.silence", f"the server said nothing for {SILENCE_S:.0f} s"
            )
            self._refuse(SERVER, silence)
            self._finish(silence.text)

    def act(self, turn: Turn, choice: Any, now: float) -> None:  # noqa: ARG002
        if turn is not self._turn:
            return  # it lapsed: the server has gone on without us
        view: View = turn.view
        complaint = objection(str(choice), view.legal_actions, view.raise_range)
        if complaint:
            raise LocalProtocolError(*complaint)
        self._turn = None
        self._say(SERVER, Action(str(choice)))

    def _take(self, body: bytes, peer: Peer) -> None:
        try:
            message = decode(body)
            handler = _HANDLERS.get(type(message))
            if handler is None:
                raise RemoteProtocolError("holdem/order", f"a server does not send {message.INFO}")
            handler(self, message)
        except RemoteProtocolError as error:
            self._refuse(peer, error, body)
            self._refused += 1
            if self._refused > REFUSALS_MAX:
                self._finish("the server sends too much nonsense")

    def _on_state(self, message: State) -> None:
        if message.players[message.position].name != self._name:
            raise RemoteProtocolError(
                "holdem/state.position", f"seat {message.position} is said to be ours, but bears another name"
            )
        self._events.append(Received(SERVER, message))
        self._turn = None
        before, self._state = self._state, message
        self._tell_news(before, message)
        if message.action_position == message.position:
            view = View(
                self._name,
                message.position,
                message.private_card,
                message.public_card,
                message.legal_actions,
                message.raise_range,
                message.players,
                message.action_history,
            )
            self._turn = Turn(self._name, view)
            self._events.append(self._turn)

    def _tell_news(self, before: State | None, state: State) -> None:
        """What happened since the last state of this hand."""
        if before is None:
            names = ", ".join(player.name for player in state.players)
            self._tell(
                "hand", f"hand {len(self._games) + 1}: {names}; you hold {board(state.private_card)}",
                cards=list(state.private_card),
            )  # fmt: skip
        told = [] if before is None else [len(street) for street in before.action_history]
        for i, street in enumerate(state.action_history):
            for played in street[told[i] if i < len(told) else 0 :]:
                name = state.players[played.position].name if played.position < len(state.players) else "?"
                self._tell("action", f"{name}: {played.action}", name=name, action=played.action)
        if before is not None and len(state.public_card) > len(before.public_card):
            self._tell("street", f"board {board(state.public_card)}", cards=list(state.public_card))

    def _on_result(self, message: Result) -> None:
        wins = [(player.name, player.win_money) for player in message.players]
        if len(dict(wins)) != len(wins) or self._name not in dict(wins):
            raise RemoteProtocolError(
                "holdem/result.form", "the result does not name each player once, and us"
            )
        self._events.append(Received(SERVER, message))
        if self._state is None and message == self._result:
            return  # the result so far, once more, because somebody left
        if round(sum(money for _, money in wins), 2) != 0:
            # The hand is over all the same: complain, and play on.
            self._refuse(SERVER, RemoteProtocolError("holdem/result.sum", "win_money does not add up to 0"))
        self._turn = self._state = None
        self._result = message
        game = outcome(wins)
        self._games.append(game)
        text = f"hand {len(self._games)}, board {board(message.public_card)}: {standing(game)}"
        shown: dict[str, Json] = {
            player.name: list(cards)
            for player, cards in zip(message.players, message.player_card, strict=False)
        }
        self._tell("result", text, **game, player_card=shown, public_card=list(message.public_card))
        if len(self._games) == self._games_wanted:
            self._finish(f"all {self._games_wanted} hands are played")
        else:
            self._say(SERVER, Ready())

    def _on_error(self, message: Error) -> None:
        self._events.append(Received(SERVER, message))
        self._tell("error", f"the server says: {message.text}")
        if self._state is None and not self._games:
            self._finish("the server did not let us in")

    def _on_success(self, message: Success) -> None:
        self._events.append(Received(SERVER, message))
        self._finish(f"the server says: {message.text}")

    def _finish(self, why: str, *, close: bool = True) -> None:
        self._turn = None
        self._deadline = None
        if close:
            self._outputs.append(Close(SERVER))
        self._tell("match", why, games=len(self._games))
        self._events.append(Finished({"games": self._games}))
        self.done = True


_HANDLERS: dict[type, Callable[[Client, Any], None]] = {
    State: Client._on_state,
    Result: Client._on_result,
    Error: Client._on_error,
    Success: Client._on_success,
}
