"""What the bytes are called: Scapy layers for the five protocols.

`import dissectors` binds them to their default ports; `dissectors.listen("hearts", 40001)` to another.
`dissectors.check(packet)` says whether a node would take it, or which check it fails.
"""

from __future__ import annotations

from scapy.layers.inet import TCP, UDP
from scapy.packet import Packet, bind_bottom_up

from dissectors import tictactoe as _tictactoe
from dissectors.briscola import (
    Briscola,
    BriscolaAck,
    BriscolaEnd,
    BriscolaEnemy,
    BriscolaError,
    BriscolaGive,
    BriscolaInit,
    BriscolaSearch,
    BriscolaUse,
)
from dissectors.connect4 import (
    Connect,
    Connect4,
    Connected,
    EndGame,
    GenMove,
    NewGame,
    NotConnected,
    PlayMove,
)
from dissectors.hearts import (
    Card,
    DealHand,
    GameOver,
    GameStart,
    HandSummary,
    Hearts,
    PassCards,
    PlayCard,
    StartPhase,
    TokenPass,
    TrickSummary,
)
from dissectors.holdem import (
    Holdem,
    HoldemAction,
    HoldemBroken,
    HoldemConnect,
    HoldemError,
    HoldemFragment,
    HoldemMessage,
    HoldemOther,
    HoldemReady,
    HoldemResult,
    HoldemState,
    HoldemSuccess,
)
from dissectors.malformed import Malformed, check
from dissectors.sessions import GameSession, StreamGap, Unread
from dissectors.tictactoe import TicTacToe, TicTacToeMove, TicTacToeState
from dissectors.websocket import (
    UpgradeRequest,
    UpgradeResponse,
    WebSocket,
    WebSocketClose,
    WebSocketMessage,
)

__all__ = [
    "Briscola",
    "BriscolaAck",
    "BriscolaEnd",
    "BriscolaEnemy",
    "BriscolaError",
    "BriscolaGive",
    "BriscolaInit",
    "BriscolaSearch",
    "BriscolaUse",
    "Card",
    "Connect",
    "Connect4",
    "Connected",
    "DealHand",
    "EndGame",
    "GameOver",
    "GameSession",
    "GameStart",
    "GenMove",
    "HandSummary",
    "Hearts",
    "Holdem",
    "HoldemAction",
    "HoldemBroken",
    "HoldemConnect",
    "HoldemError",
    "HoldemFragment",
    "HoldemMessage",
    "HoldemOther",
    "HoldemReady",
    "HoldemResult",
    "HoldemState",
    "HoldemSuccess",
    "Malformed",
    "NewGame",
    "NotConnected",
    "PassCards",
    "PlayCard",
    "PlayMove",
    "StartPhase",
    "StreamGap",
    "TicTacToe",
    "TicTacToeMove",
    "TicTacToeState",
    "TokenPass",
    "TrickSummary",
    "Unread",
    "UpgradeRequest",
    "UpgradeResponse",
    "WebSocket",
    "WebSocketClose",
    "WebSocketMessage",
    "check",
    "listen",
]

# What each game's first layer lies on.
_GAMES: dict[str, tuple[type[Packet], type[Packet]]] = {
    "hearts": (UDP, Hearts),
    "briscola": (UDP, Briscola),
    "tictactoe": (TCP, TicTacToe),
    "holdem": (TCP, Holdem),
    "connect4": (TCP, WebSocket),
}


def listen(game: str, port: int) -> None:
    """From now on this port speaks that game too, in both directions."""
    if game not in _GAMES:
        raise ValueError(f"no game is called {game!r}; games are: {', '.join(_GAMES)}")
    below, layer = _GAMES[game]
    bind_bottom_up(below, layer, sport=port)
    bind_bottom_up(below, layer, dport=port)
    if game == "tictactoe":
        _tictactoe.SERVER_PORTS.add(port)  # its messages do not tell who speaks
