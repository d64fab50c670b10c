"""A hop through our Hearts node beside a hop through the barest forwarder Python can write.

A hop is what a machine does with another's frame: take it off the wire, and put it on again for the
next. Our node also checks the frame and follows the game by it. Here it is m2 of a whole game: the same
game played in memory says what reaches m2, and what m2 makes of it. We send it all that, one frame after
the other, and time those it only has to hand on; what it does when it is its turn is no hop.

There and back is our own hop and the other process's. Ours is taken to be half of the bare forwarder's
round trip. All share one processor core: on two, a hop costs anything from 8 to 30 µs as the kernel
happens to place the processes, which says nothing of either.
"""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import time
from contextlib import contextmanager
from functools import partial
from statistics import median
from typing import TYPE_CHECKING

from labs.bench import Figure
from labs.engines import loopback
from labs.engines.processes import end, python, spawn
from nodes.game import load
from nodes.memory import Network, network

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nodes.address import Address
    from nodes.core import Peer

SEED = 7
NODE = "m2"
PATIENCE_S = 10

FORWARDER = """
import socket, sys
here, there = ((host, int(port)) for host, port in (end.rsplit(":", 1) for end in sys.argv[1:3]))
ring = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
ring.bind(here)
print("ready", flush=True)
while True:
    data, _ = ring.recvfrom(2048)
    ring.sendto(data, there)
"""

Script = list[tuple[bytes, int]]  # what reaches the node, and how many frames it sends then


def measure(quick: bool) -> list[Figure]:
    games = 2 if quick else 6
    script = _script(games)
    rounds = 3 if quick else 5
    ours, bare = [], []
    with _one_core():
        for _ in range(rounds):  # in turns, so that what else the machine does falls on both
            bare.append(_round_trip_s([(data, 1) for data, _ in script], _forwarder))
            ours.append(_round_trip_s(script, partial(_node, games)))
    hop_s = median(bare) / 2
    return [
        Figure(
            row="ring_hop",
            what="ring hop (literal, no journal)",
            unit="µs",
            ours=(median(ours) - hop_s) * 1e6,
            peer="bare blocking-socket forwarder",
            peers=hop_s * 1e6,
            limit=2.0,
        )
    ]


@contextmanager
def _one_core() -> Iterator[None]:
    """Keep this process and those it starts on one core, where the system lets us."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def _script(games: int) -> Script:
    """Play the games in memory, and note what comes to our node and goes from it."""
    script: Script = []

    class Noting(Network):
        def _deliver(self, name: str, peer: Peer, data: bytes | None) -> None:
            before = len(self.sent)
            super()._deliver(name, peer, data)
            if name == NODE and data is not None:
                script.append((data, len(self.sent) - before))

    hearts = load("hearts")
    played = network(hearts, SEED, games=games, bots={"node": "random"})
    Noting(played.cores, played.players, ring=list(played.cores)).run()
    return script


def _forwarder(here: Address, after: Address) -> list[str]:
    return [*python(), "-c", FORWARDER, str(here), str(after)]


def _node(games: int, here: Address, after: Address) -> list[str]:
    wiring = ["--id", NODE[1:], "--listen", str(here), "--next", str(after)]
    how = ["--games", str(games), "--seed", str(SEED), "--bot", "random", "--json", "--quiet", "--until-eof"]
    return [*python(), "-m", "nodes", "hearts", *wiring, *how]


def _round_trip_s(script: Script, line: Callable[[Address, Address], list[str]]) -> float:
    """The middle time from sending a frame to having it back from the process started with `line`."""
    hearts = load("hearts")
    places = loopback.reserve(hearts, hearts.seats(4))
    us, it = places.by_seat["m0"], places.by_seat[NODE]
    process = spawn(line(it, us), stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        process.stdout.readline()  # it listens
        times = []
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ring:
            ring.bind(us)
            # Not settimeout(), which would cost us a system call a frame and the forwarder none.
            ring.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", PATIENCE_S, 0))
            clock, send, receive = time.perf_counter, ring.sendto, ring.recvfrom
            for data, answers in script:
                began = clock()
                send(data, it)
                for _ in range(answers):
                    back, _ = receive(2048)
                took = clock() - began
                if answers == 1 and back == data:
                    times.append(took)
        return median(times)
    finally:
        end(process)
        places.release()
