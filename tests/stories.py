"""A whole game, as meaning() tells it."""

from __future__ import annotations

import importlib

from nodes.core import Sent
from nodes.game import load
from nodes.memory import network


def told(name: str, seed: int = 7) -> list[str]:
    """Play a game in memory; one sentence for every message that was sent."""
    meaning = importlib.import_module(f"nodes.{name}.meaning").meaning
    played = network(load(name), seed=seed)
    played.run()
    return [
        meaning(event.message, seat, "other")
        for seat, events in played.events.items()
        for event in events
        if isinstance(event, Sent)
    ]
