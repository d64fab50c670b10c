"""Connect Four as the rest of the house sees it."""

from __future__ import annotations

from nodes.connect4.bots import BOTS
from nodes.connect4.checks import CHECKS
from nodes.connect4.dialect import Dialect
from nodes.connect4.human import Person
from nodes.connect4.roles import role
from nodes.game import Game

GAME = Game(
    name="connect4",
    title="Connect Four (Puissance 4)",
    topology="star",
    transport="websocket",
    port=3000,
    dialect=Dialect,
    players=range(2, 401),
    default_players=3,
    default_games=2,
    core=role,
    bots=BOTS,
    default_bots={"client": "search"},
    human=Person,
    checks=CHECKS,
    seeded={"clock": "logical", "pairing": "rounds"},
    unhurried={"clock_s": "600"},
    play_players=2,
)
