"""The two roles, one file each: server.py pairs, asks and judges; client.py answers.

server's view of a client                        client's view of the server

  new ──connect──▶ idle ◀────endgame────┐          opening ─▶ asking ──connected──▶ idle
                    │                   │             ▲         │                   │  ▲
                 newgame                │           retry ◀─────┘              newgame endgame
                    ▼                   │                                           ▼  │
                 waiting ──genmove──▶ thinking                                     playing
                    ▲◀────playmove──────┘                                      (genmove, playmove)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodes.connect4.client import Client
from nodes.connect4.server import Server

if TYPE_CHECKING:
    from nodes.core import Core
    from nodes.game import Setup


def role(setup: Setup) -> Core:
    """The core that this seat runs."""
    return Server(setup) if setup.seat.role == "server" else Client(setup)
