"""Briscola, as the rest of the house sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodes.briscola.bots import BOTS
from nodes.briscola.checks import CHECKS
from nodes.briscola.client import Client
from nodes.briscola.dialect import Dialect
from nodes.briscola.human import Person
from nodes.briscola.server import Server
from nodes.game import Game

if TYPE_CHECKING:
    from nodes.core import Core
    from nodes.game import Setup


def core(setup: Setup) -> Core:
    """The end that this seat is."""
    return Server(setup) if setup.seat.role == "server" else Client(setup)


GAME = Game(
    name="briscola",
    title="Briscola (SBGP)",
    topology="star",
    transport="udp",
    port=47200,
    dialect=Dialect,
    players=range(2, 65, 2),
    default_players=2,
    default_games=1,
    core=core,
    bots=BOTS,
    default_bots={"client": "sensible"},
    human=Person,
    checks=CHECKS,
)
