"""Do all machines of a run tell the same result?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from labs.plan import Plan


def disagreements(plan: Plan, results: Mapping[str, dict[str, Any]]) -> list[str]:
    """One sentence for every seat whose result is not its neighbours'. Empty: all agree.

    On the ring everybody saw everything, so all four must tell the same. In a star the server
    saw all games and a client its own: each of the client's must be one of the server's.
    """
    if not results:
        return []
    teller, *others = results
    known = results[teller]["games"]
    found = []
    for seat in others:
        told = results[seat]["games"]
        if plan.game.topology == "ring":
            agrees = told == known
        else:
            shared = plan.game.shared
            rest = [[game[key] for key in shared] for game in known]
            agrees = all(_take(rest, [game[key] for key in shared]) for game in told)
        if not agrees:
            found.append(f"{seat} and {teller} do not agree on the result: see their logs")
    return found


def _take(games: list[list[Any]], game: list[Any]) -> bool:
    """Strike the game off the list; False when it is not there."""
    if game not in games:
        return False
    games.remove(game)
    return True
