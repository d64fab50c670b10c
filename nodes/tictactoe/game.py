"""Tic-tac-toe, as the rest of the house sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodes.game import Game
from nodes.tictactoe.bots import BOTS
from nodes.tictactoe.checks import CHECKS
from nodes.tictactoe.client import Client
from nodes.tictactoe.dialect import Dialect
from nodes.tictactoe.human import Person
from nodes.tictactoe.roles import CLIENTS_MAX
from nodes.tictactoe.server import Server

if TYPE_CHECKING:
    from nodes.core import Core
    from nodes.game import Setup

PLAYERS_MAX = 64
assert PLAYERS_MAX <= CLIENTS_MAX


def core(setup: Setup) -> Core:
    """The state machine for a seat."""
    return Server(setup) if setup.seat.role == "server" else Client(setup)


GAME = Game(
    name="tictactoe",
    title="Tic-tac-toe (Bom Velhinho)",
    topology="star",
    transport="tcp",
    port=6666,
    dialect=Dialect,
    players=range(1, PLAYERS_MAX + 1),
    default_players=1,
    default_games=1,
    core=core,
    bots=BOTS,
    default_bots={"server": "perfect", "client": "random"},
    human=Person,
    checks=CHECKS,
    shared=("mark", "end"),
)
