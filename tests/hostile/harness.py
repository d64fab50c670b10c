"""Real node processes, innocent players whose game stands still while others attack, and what to look at."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import socket
import struct
import subprocess
import tempfile
import threading
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from labs.engines.processes import end, python, spawn
from nodes import dialect, memory
from nodes.address import Address
from nodes.core import Close, Finished, Open, Player, Send, Turn
from nodes.game import Seat, Setup, bot_rng_for, load, rng_for
from nodes.log import Log
from nodes.shell import Driver, drain, make_clock
from nodes.udp import UdpShell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

    from nodes.core import Core, Event, Output
    from nodes.game import Game

PATIENCE_S = 60.0  # to wait for what must happen; never to judge how fast it did
POLL_S = 0.002
SEED = 7
ENDED_BY_EOF = 128 + 15  # what --until-eof makes of a closed standard input
RSS_GROWTH_MAX_KIB = 24 << 10  # of a node, whatever is thrown at it
STORY_MAX_LINES = 200_000
FLOOD_BURST = 128  # datagrams; the least receive buffer of a kernel holds more

linux_only = pytest.mark.skipif(
    not Path("/proc/self/fd").is_dir(), reason="these tests look at processes through Linux's /proc"
)


def accept_key(key: bytes) -> bytes:
    """A WebSocket server's answer to a client's key (RFC 6455, 1.3)."""
    return base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())


def eventually(condition: Callable[[], object], what: str) -> None:
    """Wait until it is so."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"it never came to this: {what}"
        time.sleep(POLL_S)


class Node:
    """One `wiretable node` process."""

    def __init__(self, *line: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="hostile-")
        self.log = Path(self._folder.name) / "node.jsonl"
        arguments = [*python(), "-m", "nodes", *line, "--json", "--until-eof", "--log", str(self.log)]
        self.process = spawn(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.story: list[dict[str, Any]] = []
        self.complaints = b""
        self._readers = [
            threading.Thread(target=self._listen, daemon=True),
            threading.Thread(target=self._hear_complaints, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if len(self.story) < STORY_MAX_LINES:
                self.story.append(json.loads(line))

    def _hear_complaints(self) -> None:
        assert self.process.stderr is not None
        self.complaints = self.process.stderr.read()

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def told(self, kind: str) -> list[dict[str, Any]]:
        return [record for record in list(self.story) if record["event"] == kind]

    def await_told(self, kind: str) -> dict[str, Any]:
        eventually(lambda: self.told(kind) or not self.alive, f"the node tells of '{kind}'")
        return self.told(kind)[0]

    @property
    def address(self) -> Address:
        host, _, port = self.await_told("listening")["address"].rpartition(":")
        return Address(host, int(port))

    def records(self, event: str) -> list[dict[str, Any]]:
        """Of the log file: every event of that kind, so far."""
        lines = self.log.read_text(encoding="utf-8").splitlines()
        return [record for record in map(json.loads, lines) if record["event"] == event]

    def refused(self) -> list[str]:
        """The check ids in the log."""
        return [record["check"] for record in self.records("refused")]

    def descriptors(self) -> int:
        return len(list(Path(f"/proc/{self.pid}/fd").iterdir()))

    def rss_kib(self) -> int:
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0])

    def wait(self) -> int:
        """Its exit code, once it ends by itself."""
        code = self.process.wait(PATIENCE_S)
        for reader in self._readers:
            reader.join(PATIENCE_S)
        return code

    def end(self) -> int:
        """Close its standard input; its exit code."""
        end(self.process)
        return self.wait()

    def discard(self) -> None:
        if self.alive:
            self.end()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(OSError):
                assert stream is not None
                stream.close()
        self._folder.cleanup()


class Gated(Player):
    """A bot that stops to think at its n-th decision, until it is let go."""

    def __init__(self, bot: Player, stop_at: int) -> None:
        self._bot = bot
        self._stop_at = stop_at
        self._asked = 0
        self.reached = threading.Event()
        self.go = threading.Event()

    def choose(self, view: Any) -> Any:
        self._asked += 1
        if self._asked == self._stop_at:
            self.reached.set()
            assert self.go.wait(PATIENCE_S * 4), "nobody let the innocent player go on"
        return self._bot.choose(view)


class Place(Protocol):
    """Where an innocent plays."""

    players: int
    dialect: Any
    addresses: dict[str, Address]

    def routes(self, seat: Seat) -> dict[str, Address]: ...


class Innocent:
    """A well-behaved player: our own core on a real socket, on a thread of this process."""

    def __init__(self, game: Game, seat: Seat, arena: Place, *, stop_at: int, games: int) -> None:
        self._game, self._seat, self._arena = game, seat, arena
        setup = Setup(seat, arena.dialect, rng_for(SEED, seat.name), arena.players, games)
        self.core: Core = game.core(setup)
        bot = game.bots[game.default_bots[seat.role]](bot_rng_for(SEED, seat.name))
        self.player = Gated(bot, stop_at)
        self.result: dict[str, Any] | None = None
        self._clock = make_clock()
        runs = {"udp": self._run_udp, "tcp": self._run_tcp, "websocket": self._run_websocket}
        self._thread = threading.Thread(target=runs[game.transport], name=seat.name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def finish(self) -> None:
        self.player.go.set()
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive(), f"{self._seat.name}'s game never ended"

    def _hear(self, event: Event) -> None:
        if isinstance(event, Finished):
            self.result = event.result
        if isinstance(event, Turn):
            self.core.act(event, self.player.choose(event.view), self._clock())

    def _drain(self, carry: Callable[[Output], None]) -> None:
        drain(self.core, self._clock(), carry, self._hear)

    def _run_udp(self) -> None:
        core, hear = self.core, self._hear
        routes = self._arena.routes(self._seat)
        names = {tuple(there): name for name, there in routes.items()}
        ring = self._game.topology == "ring"
        driver = Driver(core, None, Log(self._seat.name))
        driver._hear = hear  # type: ignore[method-assign] # its player is ours
        shell = UdpShell(
            driver,
            self._arena.addresses[self._seat.name] if ring else Address("127.0.0.1", 0),
            routes=routes,
            peer_of=lambda there: "prev" if ring else names.get(there[:2]),
        )
        shell.run()
        shell.close()

    def _run_tcp(self) -> None:
        while not self.core.done:  # one connection after the other, as often as the core dials
            with socket.create_connection(self._arena.routes(self._seat)["server"]) as stream:
                self._serve(stream.sendall, partial(stream.recv, 65536), stream)

    def _run_websocket(self) -> None:
        with connect(f"ws://{self._arena.routes(self._seat)['server']}/", compression=None) as stream:

            def receive() -> bytes:
                try:
                    return str(stream.recv()).encode()
                except ConnectionClosed:
                    return b""

            self._serve(lambda data: stream.send(data.decode()), receive, stream)

    def _serve(self, send: Callable[[bytes], None], receive: Callable[[], bytes], stream: Any) -> None:
        opened = closed = False

        def carry(output: Output) -> None:
            nonlocal opened, closed
            match output:
                case Send(_, data):
                    with contextlib.suppress(ConnectionClosed, ConnectionError):
                        send(data)
                case Open():
                    opened = True
                case Close():
                    closed = True
                    stream.close()

        if not self._begun:
            self._begun = True
            self.core.start(self._clock())
            self._drain(carry)
        self.core.connected("server", self._clock())
        self._drain(carry)
        opened = False
        while not closed and not opened and not self.core.done:
            data = receive()
            if data:
                self.core.receive(data, "server", self._clock())
            else:
                self.core.disconnected("server", self._clock())
                closed = True
            self._drain(carry)

    _begun = False


class Arena:
    """A server process and innocent players who have begun a game and stand still in it."""

    def __init__(
        self,
        name: str,
        *,
        players: int | None = None,
        games: int = 1,
        stop_at: int = 2,
        innocents: int | None = None,
        server_games: int = 0,  # 0: it goes on until it is ended
        settings: tuple[str, ...] = (),
    ) -> None:
        self.game = load(name)
        self.players = players or self.game.default_players
        self.games = games
        knobs = (*(f"{key}={value}" for key, value in self.game.seeded.items()), *settings)
        self.dialect: Any = dialect.parse(self.game.dialect, knobs)
        self.addresses: dict[str, Address] = {}
        line = [name, "server", "--listen", "127.0.0.1:0", "--seed", str(SEED)]
        line += ["--players", str(self.players), "--games", str(server_games)]
        for knob in knobs:
            line += ["--dialect", knob]
        self.server = Node(*line)
        count = self.players if innocents is None else innocents
        self.innocents = [
            Innocent(self.game, seat, self, stop_at=stop_at, games=games)
            for seat in self.game.seats(count)[1:]
        ]

    def routes(self, seat: Seat) -> dict[str, Address]:  # noqa: ARG002 - a ring has another answer
        return {"server": self.server.address}

    def __enter__(self) -> Arena:
        _ = self.server.address
        for innocent in self.innocents:
            innocent.start()
        eventually(
            lambda: any(innocent.player.reached.is_set() for innocent in self.innocents),
            "the innocent game has begun",
        )
        self.descriptors = self.server.descriptors()
        self.rss_kib = self.server.rss_kib()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for innocent in self.innocents:
            innocent.player.go.set()
        self.server.discard()

    def undisturbed(self) -> dict[str, Any]:
        """What each player reports when nobody attacks."""
        quiet = memory.network(
            self.game, SEED, players=len(self.innocents), games=self.games, dialect=self.dialect
        )
        return {name: result for name, result in quiet.run().items() if name != "server"}

    def check(self, *checks: str) -> None:
        """The attack is over: the server is well, has let go of all it held, and has logged these ids."""
        assert self.server.alive
        eventually(
            lambda: self.server.descriptors() <= self.descriptors, "all attacking connections are closed"
        )
        assert self.server.rss_kib() - self.rss_kib < RSS_GROWTH_MAX_KIB
        eventually(
            lambda: set(checks) <= set(self.server.refused()),
            f"{set(checks) - set(self.server.refused())} in the log",
        )
        assert set(self.server.refused()) <= set(self.game.checks)

    def settle(self) -> None:
        """The innocent game goes on to the end it would have had anyway, and nobody saw a traceback."""
        for innocent in self.innocents:
            innocent.player.go.set()
        for innocent in self.innocents:
            innocent.finish()
        told = {i._seat.name: i.result for i in self.innocents}
        assert told == self.undisturbed()
        if self.server.alive:
            assert self.server.end() in (0, ENDED_BY_EOF)
        assert self.server.wait() in (0, ENDED_BY_EOF)
        assert self.server.complaints == b""


class Wire:
    """An attacker's TCP connection."""

    def __init__(self, there: Address | socket.socket, *, receive_buffer: int | None = None) -> None:
        if isinstance(there, socket.socket):
            self.socket = there
            self.socket.settimeout(PATIENCE_S)
            return
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(PATIENCE_S)
        self.socket.connect(there)

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, data: bytes) -> None:
        """As much as the other side takes before it hangs up."""
        with contextlib.suppress(ConnectionError):
            self.socket.sendall(data)

    def receive(self, count: int) -> bytes:
        """Exactly so many bytes; fewer only if the other side closes."""
        data = b""
        with contextlib.suppress(ConnectionError):
            while len(data) < count and (piece := self.socket.recv(count - len(data))):
                data += piece
        return data

    def unread(self) -> int:
        """How many bytes the other side, a process of this machine, has not read yet."""
        here = f":{self.socket.getsockname()[1]:04X}"
        rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        sending = sum(int(row[4].partition(":")[0], 16) for row in rows if row[1].endswith(here))
        waiting = sum(int(row[4].partition(":")[2], 16) for row in rows if row[2].endswith(here))
        return sending + waiting

    def rest(self) -> bytes:
        """All that comes until the other side closes."""
        return self.receive(1 << 30)

    def request(self) -> bytes:
        """A client's opening handshake: its key."""
        head = b""
        while not head.endswith(b"\r\n\r\n") and (byte := self.receive(1)):
            head += byte
        return head.partition(b"Sec-WebSocket-Key: ")[2].partition(b"\r\n")[0]

    def half_close(self) -> None:
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_WR)

    def reset(self) -> None:
        """RST instead of FIN."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


class Listener:
    """A hostile TCP server: takes connections one after the other."""

    def __init__(self) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.socket.settimeout(PATIENCE_S)
        self.address = Address(*self.socket.getsockname()[:2])

    def __enter__(self) -> Listener:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def accept(self) -> Wire:
        return Wire(self.socket.accept()[0])

    def treat(self, handler: Callable[[Wire], object]) -> None:
        """Do the same to whoever comes, until this listener is closed."""

        def run() -> None:
            with contextlib.suppress(OSError):
                while True:
                    with self.accept() as wire, contextlib.suppress(OSError):
                        handler(wire)

        threading.Thread(target=run, daemon=True).start()


class Datagrams:
    """An attacker's UDP socket."""

    def __init__(self, there: Address | None) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.settimeout(PATIENCE_S)
        self.socket.bind(("127.0.0.1", 0))
        self.here = Address(*self.socket.getsockname())
        self.there = there or self.here
        self.name = str(self.here)  # what a server calls us

    def __enter__(self) -> Datagrams:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, data: bytes) -> None:
        self.socket.sendto(data, self.there)

    def receive(self) -> bytes:
        return self.socket.recv(65536)

    def take(self) -> list[bytes]:
        """All that has come by now."""
        taken = []
        self.socket.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                taken.append(self.socket.recv(65536))
        self.socket.settimeout(PATIENCE_S)
        return taken

    def ask(self, data: bytes) -> bytes:
        self.send(data)
        return self.receive()

    def flood(self, datagrams: Iterator[bytes]) -> int:
        """Send all, no faster than the node reads, so that the kernel drops nobody's. How many."""
        sent = 0
        for data in datagrams:
            self.send(data)
            sent += 1
            if sent % FLOOD_BURST == 0:
                eventually(lambda: waiting_bytes(self.there) == 0, "the node reads what it was sent")
        eventually(lambda: waiting_bytes(self.there) == 0, "the node reads what it was sent")
        return sent


def waiting_bytes(there: Address) -> int:
    """What lies in the kernel for the UDP socket at this address."""
    wanted = f"{int.from_bytes(socket.inet_aton(there.host), 'little'):08X}:{there.port:04X}"
    for line in Path("/proc/net/udp").read_text().splitlines()[1:]:
        words = line.split()
        if words[1] == wanted:
            return int(words[4].partition(":")[2], 16)
    raise AssertionError(f"nobody listens at {there}")
