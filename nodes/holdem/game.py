"""Texas hold'em, as the rest of the house sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodes.game import Game
from nodes.holdem.bots import BOTS
from nodes.holdem.checks import CHECKS
from nodes.holdem.client import Client
from nodes.holdem.dialect import Dialect
from nodes.holdem.human import Person
from nodes.holdem.messages import PLAYERS_MAX, PLAYERS_MIN

if TYPE_CHECKING:
    from nodes.core import Core
    from nodes.game import Setup


def core(setup: Setup) -> Core:
    """The state machine for a seat."""
    if setup.seat.role == "client":
        return Client(setup)
    # The server's rules bring pokerkit with them, whose import a client need not wait for.
    from nodes.holdem.server import Server

    return Server(setup)


GAME = Game(
    name="holdem",
    title="Texas hold'em",
    topology="star",
    transport="tcp",
    port=2333,
    dialect=Dialect,
    players=range(PLAYERS_MIN, PLAYERS_MAX + 1),
    default_players=3,
    default_games=10,
    core=core,
    bots=BOTS,
    default_bots={"client": "sensible"},
    human=Person,
    checks=CHECKS,
    seeded={"clock": "logical"},
    unhurried={"thinking_s": "600"},
)
