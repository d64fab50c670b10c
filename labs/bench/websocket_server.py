"""Our Connect Four server beside an echo server of the same library.

In both a client waits for one message and answers with one. 400 clients, so 200 games at once.
The load comes from one process for both; what counts is how many messages a second of the
server's own processor time buys, and how many a second of the clock.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import socket
import subprocess
import time

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from labs.bench import Figure
from labs.engines import loopback
from labs.engines.processes import end, python, spawn
from nodes.game import Seat, load

CLIENTS = 400
COLUMNS = "0123456"
BOARD = "." * 42
REQUEST = f"genmove {BOARD} R PlayR 42.0\r\n"  # the echo carries as many bytes each way
LISTEN_TRIES = 200
LISTEN_PAUSE_S = 0.05
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")

ECHO = """
import asyncio, sys
from websockets.asyncio.server import serve
async def echo(connection):
    async for message in connection:
        await connection.send("genmove " + "." * 42 + " R PlayR 42.0\\r\\n")
async def main():
    host, port = sys.argv[1].rsplit(":", 1)
    async with serve(echo, host, int(port), ping_interval=30, max_size=4096, compression=None):
        await asyncio.Future()
asyncio.run(main())
"""


def measure(quick: bool) -> list[Figure]:
    seconds = 2.0 if quick else 6.0
    connect4 = load("connect4")
    places = loopback.reserve(connect4, [Seat("server", "server", 0)])
    there = str(places.by_seat["server"])
    server = [*python(), "-m", "nodes", "connect4", "server", "--listen", there]
    server += ["--players", str(CLIENTS), "--games", "1000", "--quiet", "--until-eof"]
    try:
        echo_wall, echo_cpu = _load([*python(), "-c", ECHO, there], there, seconds, plays=False)
        our_wall, our_cpu = _load(server, there, seconds, plays=True)
    finally:
        places.release()
    row, peer = "websocket_server", "bare websockets echo server"
    games = CLIENTS // 2
    return [
        Figure(
            row,
            f"Connect Four server, {games} games at once",
            "messages/s",
            our_wall,
            peer,
            echo_wall,
            0.4,
            "more",
        ),
        Figure(
            row, "the same by the server's own CPU", "messages/CPU s", our_cpu, peer, echo_cpu, 0.4, "more"
        ),
    ]


def _load(line: list[str], there: str, seconds: float, *, plays: bool) -> tuple[float, float]:
    """Messages a second of the clock, and of the server's processor."""
    server = spawn(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _await_listening(there)
        return asyncio.run(_clients(there, server, seconds, plays=plays))
    finally:
        server.kill()
        end(server)


def _await_listening(there: str) -> None:
    host, _, port = there.rpartition(":")
    for _ in range(LISTEN_TRIES):
        with contextlib.suppress(OSError), socket.create_connection((host, int(port))):
            return
        time.sleep(LISTEN_PAUSE_S)
    raise TimeoutError(f"the server at {there} does not listen")


async def _clients(
    there: str, server: subprocess.Popen[bytes], seconds: float, *, plays: bool
) -> tuple[float, float]:
    counts = [0]
    stop = asyncio.Event()
    ready = asyncio.Semaphore(0)
    clients = [
        asyncio.create_task(_client(f"ws://{there}/", number, counts, ready, stop, plays=plays))
        for number in range(CLIENTS)
    ]
    for _ in clients:
        await ready.acquire()
    counts[0], began, cpu = 0, time.perf_counter(), _cpu_s(server.pid)
    await asyncio.sleep(seconds)
    count, took, used = counts[0], time.perf_counter() - began, _cpu_s(server.pid) - cpu
    stop.set()
    server.kill()  # ends all connections at once; 800 closing handshakes prove nothing
    await asyncio.gather(*clients, return_exceptions=True)
    return count / took, count / used


async def _client(
    uri: str, number: int, counts: list[int], ready: asyncio.Semaphore, stop: asyncio.Event, *, plays: bool
) -> None:
    """Answers every message; counts both."""
    draw = random.Random(number)
    with contextlib.suppress(ConnectionClosed):
        async with connect(uri, proxy=None, ping_interval=None, open_timeout=60) as connection:
            await connection.send(f"connect c{number}\r\n")
            await connection.recv()
            ready.release()
            if not plays:
                await connection.send("playmove 3\r\n")
            while not stop.is_set():
                words = str(await connection.recv()).split()
                counts[0] += 1
                if words[0] != "genmove":
                    continue
                free = [column for column in COLUMNS if words[1][35 + int(column)] == "."]
                await connection.send(f"playmove {draw.choice(free)}\r\n")
                counts[0] += 1


def _cpu_s(pid: int) -> float:
    """Processor seconds a process has used, user and system."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / CLOCK_TICKS
