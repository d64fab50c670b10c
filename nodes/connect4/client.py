"""The client: registers under its seat's name, answers every genmove, and checks what it is told."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from nodes.connect4.messages import (
    Connect,
    Connected,
    EndGame,
    GenMove,
    NewGame,
    NotConnected,
    PlayMove,
    decode,
    is_user,
)
from nodes.connect4.rules import OTHER, WIN, BadBoard, Board, View, outcome
from nodes.core import (
    Close,
    Core,
    Finished,
    Happened,
    LocalProtocolError,
    Open,
    Received,
    RemoteProtocolError,
    Send,
    Sent,
    Turn,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nodes.connect4.rules import Battle, Color, Status
    from nodes.core import Message, Peer
    from nodes.game import Setup

ANSWER_S = 30.0  # from connect to connected or not-connected
SILENCE_S = 900.0  # without a word from the server, in the middle of a game
RETRY_S = 1.0
TRIES_MAX = 30  # connections opened before giving up on a server that never finished a game
GAMES_REMEMBERED_MAX = 200_000
SERVER: Peer = "server"


class Client(Core):
    """One player's side of the protocol; who decides is asked by a Turn."""

    def __init__(self, setup: Setup) -> None:
        super().__init__()
        self._name = setup.seat.name
        if not is_user(self._name):
            raise LocalProtocolError(
                "connect4/user", f"'{self._name}' is no name here: use 1 to 32 letters, digits, '-' or '_'"
            )
        self._state: Literal["retry", "opening", "asking", "idle", "playing", "over"] = "retry"
        self._tries = 0
        self._deadline: float | None = None
        self._turn: Turn | None = None
        self._players: dict[Color, str] = {}
        self._color: Color = "R"
        self._asked = Board()  # as the server last showed it
        self._board = Board()  # with our own answer on it
        self._time_tenths: int | None = None
        self._games: deque[tuple[str, str, Status, Battle]] = deque(maxlen=GAMES_REMEMBERED_MAX)

    def start(self, now: float) -> None:  # noqa: ARG002
        self._open()

    def connected(self, peer: Peer, now: float) -> None:  # noqa: ARG002
        if self._state == "opening":
            self._state = "asking"
            self._deadline = now + ANSWER_S
            self._send(Connect(self._name))

    def disconnected(self, peer: Peer, now: float) -> None:  # noqa: ARG002
        if self._state not in ("over", "retry"):
            self._lost(now)

    def garbled(self, peer: Peer, text: str, now: float) -> None:  # noqa: ARG002
        self._refuse(peer, RemoteProtocolError("connect4/line", text))

    def receive(self, data: bytes, peer: Peer, now: float) -> None:
        try:
            message = decode(data)
            handler = self._HANDLERS.get((self._state, type(message)))
            if handler is None:
                raise RemoteProtocolError("connect4/order", f"not what may come when {self._state}")
            handler(self, message, now)
        except RemoteProtocolError as error:
            self._refuse(peer, error, data)

    def timer(self) -> float | None:
        return self._deadline

    def handle_timer(self, now: float) -> None:
        if self._deadline is None or self._deadline > now:
            return
        if self._state == "retry":
            self._open()
            return
        text = f"no word from the server for {SILENCE_S if self._state == 'playing' else ANSWER_S:.0f} s"
        self._refuse(SERVER, RemoteProtocolError("connect4/silence", text))
        self._outputs.append(Close(SERVER))
        self._lost(now)

    def act(self, turn: Turn, choice: Any, now: float) -> None:  # noqa: ARG002
        if turn is not self._turn:
            return  # the game ended, or the server asked anew
        if type(choice) is not int or choice not in turn.view.legal:
            legal = ", ".join(map(str, turn.view.legal))
            raise LocalProtocolError(
                "connect4/column", f"{choice!r} cannot be played; columns with room: {legal}"
            )
        self._turn = None
        self._board = self._asked.play(choice)
        self._send(PlayMove(choice))
        self._moved(self._name, self._color, choice)

    def _accepted(self, message: Connected, now: float) -> None:  # noqa: ARG002
        self._hear(message)
        self._state = "idle"
        self._deadline = None
        self._tell("registered", f"{self._name} is registered and waits for a game", player=self._name)

    def _rejected(self, message: NotConnected, now: float) -> None:  # noqa: ARG002
        self._hear(message)
        self._tell(
            "rejected",
            f"the server does not take '{self._name}': {message.info or 'no reason given'}",
            player=self._name,
        )
        self._outputs.append(Close(SERVER))
        self._finish()

    def _new_game(self, message: NewGame, now: float) -> None:
        if (message.red == self._name) == (message.yellow == self._name):
            text = f"a game of {message.red} and {message.yellow} is not one of {self._name}"
            raise RemoteProtocolError("connect4/newgame.mine", text)
        if self._state == "playing":
            # The old game can only be over; to refuse the new one would be to lose it too.
            self._complain("connect4/newgame.early", "a new game before the last one's endgame", message)
        self._hear(message)
        self._state = "playing"
        self._deadline = now + SILENCE_S
        self._turn = None
        self._players = {"R": message.red, "Y": message.yellow}
        self._color = "R" if message.red == self._name else "Y"
        self._asked = self._board = Board()
        self._time_tenths = None
        self._tell(
            "game",
            f"{message.red} (R) meets {message.yellow} (Y)",
            red=message.red,
            yellow=message.yellow,
        )

    def _gen_move(self, message: GenMove, now: float) -> None:
        self._deadline = now + SILENCE_S
        board = self._told(message)
        legal = board.legal()
        if board.to_move != self._color or not legal:
            raise RemoteProtocolError("connect4/genmove.turn", f"no move of {self._color} on this board")
        # What follows is untrue, but a move is asked for all the same, and our clock runs.
        status = board.status()
        if message.status not in (None, status):
            self._complain("connect4/status.board", f"the board says {status}", message)
        if self._board.to_move == self._color:
            if board != self._board:
                self._complain("connect4/board.step", "not the board we were left with", message)
        else:
            column = self._board.ply_to(board)
            if column is None:
                self._complain("connect4/board.step", "not one ply from the last board", message)
            else:
                self._moved(self._players[OTHER[self._color]], OTHER[self._color], column)
        if self._time_tenths is not None and message.time_tenths > self._time_tenths:
            self._complain("connect4/time.left", "our clock went up", message)
        self._hear(message)
        self._time_tenths = message.time_tenths
        self._asked = self._board = board
        opponent = self._players[OTHER[self._color]]
        view = View(board, self._color, opponent, message.time_tenths / 10, legal)
        self._turn = Turn(self._name, view)
        self._events.append(self._turn)

    def _end_game(self, message: EndGame, now: float) -> None:  # noqa: ARG002
        board = self._told(message)
        status, battle = message.status, message.battlestatus
        if status in ("PlayR", "PlayY"):
            raise RemoteProtocolError("connect4/endgame.status", f"{status} ends no game")
        # The server is the judge: what follows is told, and the game is over as it says.
        if battle == "Ok" and status != board.status():
            self._complain("connect4/status.board", f"the board says {board.status()}", message)
        if battle != "Ok" and status == "Tie":
            self._complain("connect4/endgame.battle", f"nobody wins by {battle}", message)
        if battle == "Disconnected" and status == WIN[OTHER[self._color]]:
            self._complain("connect4/endgame.battle", "we are still connected", message)
        last = self._board.ply_to(board) if self._board.to_move != self._color else None
        if last is not None:
            self._moved(self._players[OTHER[self._color]], OTHER[self._color], last)
        elif board not in (self._board, self._asked):  # our last answer may have come too late
            self._complain("connect4/board.step", "not the board we know, nor one ply on", message)
        self._hear(message)
        self._state = "idle"
        self._deadline = None
        self._turn = None
        red, yellow = self._players["R"], self._players["Y"]
        self._games.append((red, yellow, status, battle))
        result = outcome(red, yellow, status, battle)
        how = "" if battle == "Ok" else f" ({battle})"
        self._tell(
            "end",
            f"{result['winner'] or 'nobody'} wins {red} (R) – {yellow} (Y){how}",
            board=message.board,
            **result,
        )

    _HANDLERS: ClassVar[Mapping[tuple[str, type], Callable[..., None]]] = {
        ("asking", Connected): _accepted,
        ("asking", NotConnected): _rejected,
        ("idle", NewGame): _new_game,
        ("playing", NewGame): _new_game,
        ("playing", GenMove): _gen_move,
        ("playing", EndGame): _end_game,
    }

    def _told(self, message: GenMove | EndGame) -> Board:
        """The board a message shows, if it is one, and the message meant for our colour."""
        if message.color != self._color:
            raise RemoteProtocolError("connect4/color.mine", f"we play {self._color}, not {message.color}")
        try:
            return Board.from_text(message.board)
        except BadBoard as error:
            raise RemoteProtocolError("connect4/board.possible", str(error)) from None

    def _open(self) -> None:
        self._state = "opening"
        self._deadline = None
        self._tries += 1
        self._outputs.append(Open(SERVER))

    def _lost(self, now: float) -> None:
        """No connection any more. After a game that is the end; before, the server may yet come up."""
        self._turn = None
        if self._games or self._tries >= TRIES_MAX:
            self._finish()
            return
        self._state = "retry"
        self._deadline = now + RETRY_S

    def _finish(self) -> None:
        self._state = "over"
        self._deadline = None
        self._events.append(Finished({"games": [outcome(*game) for game in self._games]}))
        self.done = True

    def _moved(self, player: str, color: Color, column: int) -> None:
        self._tell(
            "move", f"{player} ({color}) plays column {column}", player=player, color=color, move=column
        )

    def _hear(self, message: Message) -> None:
        self._events.append(Received(SERVER, message))

    def _complain(self, check: str, text: str, message: Message) -> None:
        self._refuse(SERVER, RemoteProtocolError(check, text), message.encode())

    def _send(self, message: Message) -> None:
        self._events.append(Sent(SERVER, message))
        self._outputs.append(Send(SERVER, message.encode()))

    def _tell(self, kind: str, text: str, **fields: Any) -> None:
        self._events.append(Happened(kind, text, fields))
