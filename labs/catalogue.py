"""What there is: games, bots, knobs, and the clause behind every check id."""

from __future__ import annotations

import difflib
from typing import Any

from rich.console import Group
from rich.table import Table

from nodes import dialect, game


def catalogue() -> dict[str, dict[str, Any]]:
    """Every game, as plain data."""
    return {name: _entry(game.load(name)) for name in game.NAMES}


def explained(prefix: str) -> dict[str, dict[str, str]]:
    """The checks whose id is `prefix`; if none is, those that begin so."""
    checks = {
        identity: {"clause": check.clause, "means": check.means}
        for name in game.NAMES
        for identity, check in game.load(name).checks.items()
    }
    if prefix in checks:
        return {prefix: checks[prefix]}
    return {identity: check for identity, check in checks.items() if identity.startswith(prefix)}


def nearest(check: str) -> str:
    """The id that looks most like it."""
    known = list(explained(""))
    return next(iter(difflib.get_close_matches(check, known, n=1, cutoff=0.0)), known[0])


def as_tables() -> Group:
    """The catalogue for a terminal."""
    parts: list[Any] = []
    for name, entry in catalogue().items():
        parts.append(f"[bold]{name}[/bold] — {entry['title']}, {entry['transport']} port {entry['port']}")
        parts.append(f"  players: {entry['players']}; seats: {', '.join(entry['seats'])}")
        parts.append(f"  bots: {', '.join(entry['bots'])}")
        table = Table(box=None, padding=(0, 2), show_header=False)
        for knob, (allowed, default) in entry["knobs"].items():
            shown = {True: "on", False: "off"}[default] if isinstance(default, bool) else default
            table.add_row(knob, allowed, f"default {shown}")
        parts += [table, ""]
    return Group(*parts)


def _entry(played: game.Game) -> dict[str, Any]:
    return {
        "title": played.title,
        "topology": played.topology,
        "transport": played.transport,
        "port": played.port,
        "players": game.numbers(played.players),
        "seats": [seat.name for seat in played.seats(played.default_players)],
        "bots": list(played.bots),
        "knobs": dialect.knobs(played.dialect),
    }
