"""Hearts, as the rest of the house sees it."""

from __future__ import annotations

from nodes.game import Game, Setup
from nodes.hearts.bots import RandomPlayer, SensiblePlayer
from nodes.hearts.checks import CHECKS
from nodes.hearts.dialect import Dialect
from nodes.hearts.human import Person
from nodes.hearts.roles import Node


def _core(setup: Setup) -> Node:
    return Node(setup.seat.index, setup.dialect, setup.rng, setup.games)


GAME = Game(
    name="hearts",
    title="Hearts (Copas)",
    topology="ring",
    transport="udp",
    port=47123,
    dialect=Dialect,
    players=range(4, 5),
    default_players=4,
    default_games=1,
    core=_core,
    bots={"random": RandomPlayer, "sensible": SensiblePlayer},
    default_bots={"node": "sensible"},
    human=Person,
    checks=CHECKS,
)
