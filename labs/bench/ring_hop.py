"""A hop of our Hearts node beside a hop of the barest forwarder Python can write.

Both rings are four processes with one message under way at a time. Ours plays whole games with
random bots, no log and no capture; the same seed in memory tells how many messages that takes, so
nothing need be counted while the clock runs. The bare ring then carries as many.
"""

from __future__ import annotations

import json
import socket
import subprocess
import time
from statistics import median

from labs.bench import Figure
from labs.engines import loopback
from labs.engines.processes import end, python, spawn
from nodes.game import load
from nodes.memory import network

SEED = 7
HOPS = 4
FRAME = bytes.fromhex("0600ff110121")  # a PLAY_CARD, so that the bare ring carries as much

FORWARDER = """
import socket, sys
here, there = ((host, int(port)) for host, port in (end.rsplit(":", 1) for end in sys.argv[1:3]))
ring = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
ring.bind(here)
print("ready", flush=True)
while True:
    data, _ = ring.recvfrom(2048)
    if data == b"end":
        break
    ring.sendto(data, there)
"""


def measure(quick: bool) -> list[Figure]:
    games = 2 if quick else 8
    hearts = load("hearts")
    memory = network(hearts, SEED, games=games, bots={"node": "random"})
    memory.run()
    hops = len(memory.sent)
    # The rings take turns, and the middle round of each counts: where the kernel puts four processes on
    # its cores makes a bare hop cost anything from 12 to 20 µs, and that is luck.
    rounds = 3 if quick else 7
    ours, bare = [], []
    for _ in range(rounds):
        bare.append(_bare_ring(hops // HOPS) / hops)
        ours.append(_our_ring(games) / hops)
    return [
        Figure(
            row="ring_hop",
            what="ring hop (literal, no journal)",
            unit="µs",
            ours=median(ours) * 1e6,
            peer="bare blocking-socket forwarder",
            peers=median(bare) * 1e6,
            limit=2.0,
        )
    ]


def _our_ring(games: int) -> float:
    """Seconds from M0's first word, that it listens, to its last."""
    hearts = load("hearts")
    places = loopback.reserve(hearts, hearts.seats(4))
    nodes = []
    try:
        names = list(places.by_seat)
        for index in (1, 2, 3, 0):
            here, after = (str(places.by_seat[names[(index + step) % 4]]) for step in (0, 1))
            line = ["hearts", "--id", str(index), "--listen", here, "--next", after, "--games", str(games)]
            line += ["--seed", str(SEED), "--bot", "random", "--json", "--quiet", "--until-eof"]
            node = spawn([*python(), "-m", "nodes", *line], stdout=subprocess.PIPE)
            nodes.append(node)
            assert node.stdout is not None
            began = json.loads(node.stdout.readline())["t"]
        dealer = nodes[-1].stdout
        assert dealer is not None
        return float(json.loads(dealer.readline())["t"]) - float(began)
    finally:
        for node in nodes:
            end(node)
        places.release()


def _bare_ring(laps: int) -> float:
    """Seconds for as many laps around three forwarders and ourselves."""
    hearts = load("hearts")
    places = loopback.reserve(hearts, hearts.seats(4))
    ends = list(places.by_seat.values())
    forwarders = []
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ring:
            ring.bind(ends[0])
            for here, after in zip(ends[1:], [*ends[2:], ends[0]], strict=True):
                line = [*python(), "-c", FORWARDER, str(here), str(after)]
                forwarder = spawn(line, stdout=subprocess.PIPE)
                forwarders.append(forwarder)
                assert forwarder.stdout is not None
                forwarder.stdout.readline()
            began = time.perf_counter()
            for _ in range(laps):
                ring.sendto(FRAME, ends[1])
                ring.recvfrom(2048)
            took = time.perf_counter() - began
            for there in ends[1:]:
                ring.sendto(b"end", there)
        return took
    finally:
        for forwarder in forwarders:
            end(forwarder)
        places.release()
