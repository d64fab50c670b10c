"""Whole Hearts games with no sockets: what one core of this machine plays in a second."""

from __future__ import annotations

import time

from labs.bench import Figure
from nodes.game import load
from nodes.memory import network


def measure(quick: bool) -> list[Figure]:
    games = 10 if quick else 60
    hearts = load("hearts")
    played = network(hearts, 7, games=games, bots={"node": "random"})
    began = time.process_time()
    played.run()
    took = time.process_time() - began
    return [
        Figure("hearts_in_memory", "Hearts games in memory", "games/s a core", games / took, better="more"),
        Figure(
            "hearts_in_memory", "of it, frames", "frames/s a core", len(played.sent) / took, better="more"
        ),
    ]
