"""What is to be run: a game, who sits where, and everything that decides how it goes."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nodes import dialect, game

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nodes.game import Game, Seat

SEED_BITS = 32


class PlanError(ValueError):
    """A run that cannot be. The text says why, and what can."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A run, before anything has been started. The same plan gives the same bytes."""

    game: Game
    seed: int
    players: int
    games: int
    settings: tuple[str, ...]  # dialect, as key=value
    bots: Mapping[str, str] = field(default_factory=dict)  # seat → bot, for every seat that decides
    pace_s: float = 0.0
    person: str | None = None  # the seat a person takes

    @property
    def seats(self) -> list[Seat]:
        return self.game.seats(self.players)

    @property
    def links(self) -> list[tuple[str, str]]:
        return self.game.links(self.players)

    @property
    def dialect(self) -> dict[str, Any]:
        """Every knob and its setting."""
        return dialect.settings(dialect.parse(self.game.dialect, self.settings))


def make(
    name: str,
    *,
    seed: int | None = None,
    players: int | None = None,
    games: int | None = None,
    settings: Sequence[str] = (),
    bots: Sequence[str] = (),
    pace_s: float = 0.0,
    person: str | None = None,
) -> Plan:
    """A plan from what a person typed; what was left open is filled in."""
    played = game.load(name)
    usual = played.default_players if person is None else played.play_players or played.default_players
    count = usual if players is None else players
    if count not in played.players:
        raise PlanError(f"{name} is for {game.numbers(played.players)} players, not {count}")
    # A person's own settings come last, so that they win.
    # Who plays against a person needs real time on the wire, but must leave people the time to think.
    ours = played.seeded if person is None else played.unhurried
    knobs = (*(f"{key}={value}" for key, value in ours.items()), *settings)
    dialect.parse(played.dialect, knobs)
    seats = [seat for seat in played.seats(count) if seat.role in played.default_bots]
    chosen = {seat.name: played.default_bots[seat.role] for seat in seats}
    for bot in bots:
        chosen |= _bots(played, seats, bot)
    if person is not None:
        if person not in chosen:
            raise PlanError(f"nobody can sit at '{person}'; seats are: {', '.join(chosen)}")
        del chosen[person]
    return Plan(
        game=played,
        seed=secrets.randbits(SEED_BITS) if seed is None else seed,
        players=count,
        games=played.default_games if games is None else games,
        settings=knobs,
        bots=chosen,
        pace_s=pace_s,
        person=person,
    )


def _bots(played: Game, seats: list[Seat], text: str) -> dict[str, str]:
    """`random` for every seat, `m1=random` for one."""
    where, equals, name = text.rpartition("=")
    if name not in played.bots:
        raise PlanError(f"{played.name} has no bot '{name}'; it has: {', '.join(played.bots)}")
    names = [seat.name for seat in seats]
    if equals and where not in names:
        raise PlanError(f"there is no seat '{where}' for a bot; seats are: {', '.join(names)}")
    return {where: name} if equals else dict.fromkeys(names, name)
