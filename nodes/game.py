"""What shells, engines and commands know of a game: one `GAME` object in each folder's game.py."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any, Literal, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nodes.core import Check, Core, Player
    from nodes.terminal import Terminal

NAMES = ("hearts", "briscola", "tictactoe", "holdem", "connect4")


@dataclass(frozen=True, slots=True)
class Seat:
    """One machine of a topology."""

    name: str  # "m0" … "m3", "server", "p1", "p2" …
    role: Literal["node", "server", "client"]
    index: int  # ring id; a client's number, from 0


@dataclass(frozen=True, slots=True)
class Setup:
    """All a core is built from."""

    seat: Seat
    dialect: Any
    rng: Random  # this seat's own generator
    players: int  # how many take part
    games: int = 1  # how many are to be played; 0: until stopped


@dataclass(frozen=True, slots=True)
class Game:
    """One game, as the rest of the house sees it."""

    name: str
    title: str
    topology: Literal["ring", "star"]
    transport: Literal["udp", "tcp", "websocket"]
    port: int
    dialect: type
    players: range  # how many may take part
    default_players: int
    default_games: int
    core: Callable[[Setup], Core]
    bots: Mapping[str, Callable[[Random], Player]]
    default_bots: Mapping[str, str]  # role → bot; a role that is not here takes no decisions
    human: Callable[[Terminal], Player]
    checks: Mapping[str, Check]
    # What both ends of a client/server game know of its result, and must agree on.
    shared: tuple[str, ...] = ("winner", "scores")
    # Dialect settings and the number of players for a game with a person, who must not be hurried.
    unhurried: Mapping[str, str] = field(default_factory=dict)
    play_players: int | None = None
    # Dialect settings that a seeded run adds, so that nothing on the wire depends on real time.
    seeded: Mapping[str, str] = field(default_factory=dict)

    def seats(self, players: int) -> list[Seat]:
        """The machines of this topology, the one that must be up first at the front."""
        if self.topology == "ring":
            return [Seat(f"m{i}", "node", i) for i in range(4)]
        return [Seat("server", "server", 0), *(Seat(f"p{i + 1}", "client", i) for i in range(players))]

    def links(self, players: int) -> list[tuple[str, str]]:
        """Who is wired to whom: (m0, m1) … around the ring, (p1, server) … in a star."""
        names = [seat.name for seat in self.seats(players)]
        if self.topology == "ring":
            return [(name, names[(i + 1) % 4]) for i, name in enumerate(names)]
        return [(name, "server") for name in names[1:]]


def load(name: str) -> Game:
    """The game of that name. Its modules (and their libraries) are imported only now."""
    return cast("Game", importlib.import_module(f"nodes.{name}.game").GAME)


def numbers(players: range) -> str:
    """How many may take part, in words."""
    if len(players) == 1:
        return str(players[0])
    step = f" (in steps of {players.step})" if players.step > 1 else ""
    return f"{players[0]} to {players[-1]}{step}"


def rng_for(seed: int, seat: str) -> Random:
    """Each seat draws from its own stream, so that no seat's draws shift another's."""
    return Random(f"wiretable/{seed}/{seat}")


def bot_rng_for(seed: int, seat: str) -> Random:
    """The bot's stream is not its core's: a person in the seat leaves the deal unchanged."""
    return Random(f"wiretable/{seed}/{seat}/bot")
