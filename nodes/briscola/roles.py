"""The two ends of SBGP, each in its own file: `Server` and `Client`.

    server, one session a peer                        client

      stranger ──SEARCH──▶ waiting                      searching ──INIT──▶ playing
      waiting  ──paired──▶ playing                      playing ──END_G──▶ searching, or done
      playing  ──20 tricks, or one left──▶ over         any ──the server is silent──▶ done
      over     ──END_G acknowledged──▶ stranger
      any      ──silence──▶ stranger

What a word does in a state is in the tables `Server.HANDLERS` and `Client.HANDLERS`. A word without
an entry there belongs to the other direction. How words travel is in transport.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodes.briscola.client import Client
from nodes.briscola.server import Server

if TYPE_CHECKING:
    from nodes.core import Core
    from nodes.game import Setup

__all__ = ["Client", "Server", "core"]


def core(setup: Setup) -> Core:
    """The end that this seat is."""
    return Server(setup) if setup.seat.role == "server" else Client(setup)
