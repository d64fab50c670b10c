"""Makes the captures of this folder, by playing: `python -m captures.samples.make [NAME …]`.

Every machine is a real process on its own loopback address, every frame one that the kernel carried.
Errors are sent by captures.samples.intruders over ordinary sockets. What a node refused, its log tells; that
becomes a packet comment on the very frame. Recording from the kernel needs CAP_NET_RAW (root has it).
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from captures.blocks import Interface, Names, Packet, Section
from captures.messages import read
from captures.pcapng import Writer
from captures.reader import load as load_capture
from captures.samples import intruders
from nodes import __version__
from nodes.game import Game, load
from nodes.holdem.transport import PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
SUBNET = "127.0.77"  # addresses are the same in every making
EPOCH_NS = 1_600_000_000 * 10**9  # when every sample begins
PATIENCE_S = 60.0
SETTLE_S = 0.3  # for the last frames
LOG_ROUNDING_NS = 1000  # logs tell microseconds


@dataclass(frozen=True, slots=True)
class Sample:
    """One capture. `checks` are the ids that decoding it shows."""

    name: str  # the file's, without its endings
    game: str
    shows: str
    make: Callable[[Stage], None]
    checks: tuple[str, ...] = ()
    zipped: bool = False

    @property
    def file(self) -> Path:
        return FOLDER / f"{self.name}.pcapng{'.gz' if self.zipped else ''}"


class Stage:
    """The machines of one sample and their recorder. Leaving it ends all it started."""

    def __init__(self, game: Game, folder: Path) -> None:
        self.game = game
        self.folder = folder
        self.capture = folder / "raw.pcapng"
        self._children: list[subprocess.Popen[bytes]] = []
        self._seats: list[str] = []

    def record(self, links: Sequence[str], seats: Sequence[str]) -> None:
        """Begin to record: links are `m0→m1` or `p1↔server`."""
        line = [sys.executable, "-P", "-m", "captures.record", "--out", str(self.capture)]
        for link in links:
            arrow = "→" if "→" in link else "↔"
            here, there = link.split(arrow)
            sign = ">" if arrow == "→" else "<>"
            line += ["--link", f"{link}={self.host(here)}{sign}{self.host(there)}"]
        for seat in seats:
            line += ["--node", f"{seat}={self.host(seat)}"]
        recorder = self._spawn(line)
        assert recorder.stdout is not None
        if recorder.stdout.readline().strip() != b"ready":
            raise SystemExit("samples are recorded from the kernel, which needs CAP_NET_RAW: be root")

    def host(self, seat: str) -> str:
        """Each seat's address: m0 is .10, the server .10, p1 .11, who is none of the game .99."""
        if seat == "server":
            return f"{SUBNET}.10"
        number = {"m": 10, "p": 10}.get(seat[0], 99)
        return f"{SUBNET}.{number + int(seat[1:])}" if seat[1:].isdigit() else f"{SUBNET}.{number}"

    def where(self, seat: str) -> str:
        return f"{self.host(seat)}:{self.game.port}"

    def node(self, seat: str, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a node and wait until it listens."""
        self._seats.append(seat)
        line = [sys.executable, "-P", "-m", "nodes", self.game.name, *arguments]
        for key, value in self.game.seeded.items():
            line += ["-D", f"{key}={value}"]
        line += ["--quiet", "--until-eof", "--log", str(self.folder / f"{seat}.jsonl")]
        child = self._spawn(line)
        assert child.stdout is not None
        if "client" not in arguments and b"listening" not in child.stdout.readline():
            raise SystemExit(f"{seat} did not start")
        return child

    def finish(self) -> None:
        """Wait until every node has played to its end, then end the recorder."""
        recorder, *nodes = self._children
        for child in nodes:
            if child.wait(PATIENCE_S):
                raise SystemExit(f"a node of {self.game.name} ended with exit code {child.returncode}")
        time.sleep(SETTLE_S)
        recorder.communicate(timeout=PATIENCE_S)

    def stop(self) -> None:
        """End all nodes by closing their input, then the recorder."""
        time.sleep(SETTLE_S)
        recorder, *nodes = self._children
        for child in [*nodes, recorder]:
            child.communicate(timeout=PATIENCE_S)

    def close(self) -> None:
        for child in self._children:
            if child.poll() is None:
                child.kill()
                child.communicate()

    def refusals(self) -> list[tuple[str, int, str, bytes]]:
        """What the nodes refused: seat, when, why, and the bytes."""
        found = []
        for seat in self._seats:
            with (self.folder / f"{seat}.jsonl").open(encoding="utf-8") as lines:
                for line in lines:
                    entry = json.loads(line)
                    if entry["event"] == "refused":
                        why = f"{seat} refuses this: {entry['text']} [{entry['check']}]"
                        time_ns = int(entry["t"] * 1e9) + LOG_ROUNDING_NS
                        found.append((seat, time_ns, why, bytes.fromhex(entry["data"])))
        return found

    def _spawn(self, line: list[str]) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
        child = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        self._children.append(child)
        return child


def whole_ring(stage: Stage, *options: str) -> None:
    """Four machines play Hearts to the end."""
    seats = [seat.name for seat in stage.game.seats(4)]
    stage.record([f"{here}→{there}" for here, there in stage.game.links(4)], seats)
    # Whoever deals speaks first, when all others listen.
    for index in (1, 2, 3, 0):
        after = stage.where(seats[(index + 1) % 4])
        line = ("--id", str(index), "--listen", stage.where(seats[index]), "--next", after)
        stage.node(seats[index], *line, *options)
    stage.finish()


def whole_star(stage: Stage, players: int, games: int = 1) -> None:
    """A server and its clients play to the end."""
    stage.record(
        [f"{here}↔{there}" for here, there in stage.game.links(players)],
        [seat.name for seat in stage.game.seats(players)],
    )
    options = ("--seed", "7", "--players", str(players), "--games", str(games))
    stage.node("server", "server", "--listen", stage.where("server"), *options)
    for number in range(players):
        seat = f"p{number + 1}"
        bind = ("--connect", stage.where("server"), "--bind", f"{stage.host(seat)}:0")
        stage.node(seat, "client", *bind, "--name", seat, "--id", str(number), *options)
    stage.finish()


def errors_ring(stage: Stage) -> None:
    """One machine of a ring and somebody who sends it nonsense."""
    stage.record(["intruder→m1", "m1→m2"], ["m1", "m2", "intruder"])
    stage.node("m1", "--id", "1", "--listen", stage.where("m1"), "--next", stage.where("m2"), "--seed", "7")
    intruders.hearts(stage.host("intruder"), stage.host("m1"), stage.host("m2"), stage.game.port)
    stage.stop()


def errors_star(stage: Stage, *options: str) -> None:
    """A server and two who break its rules."""
    stage.record(["p1↔server", "p2↔server"], ["server", "p1", "p2"])
    stage.node("server", "server", "--listen", stage.where("server"), "--seed", "7", *options)
    intruder = {
        "briscola": intruders.briscola,
        "tictactoe": intruders.tictactoe,
        "holdem": intruders.holdem,
        "connect4": intruders.connect4,
    }[stage.game.name]
    intruder(stage.host("server"), stage.host("p1"), stage.host("p2"), stage.game.port)
    stage.stop()


HEAD = """\
# Samples

Real captures of all five games, recorded by the kernel while real nodes played on the loopback. Names of
nodes and links are in the files; where a node refused a frame, a packet comment on it says why.

    wiretable decode captures/samples/hearts.pcapng.gz --filter 'hop == 1'
    wiretable decode captures/samples/holdem-errors.pcapng

| file | frames | messages | what it shows | checks its bytes break |
|---|---:|---:|---|---|"""
FOOT = """
`python -m captures.samples.make` makes them anew (as root, for it records from the kernel), and this page
with them; names after it make only those. Addresses, names and seeds are fixed, and times begin at the same
moment; TCP's sequence numbers and the clients' ports are the kernel's choice."""

SAMPLES = (
    Sample(
        "hearts",
        "hearts",
        "a whole game: 8 hands in which all four directions of passing come twice",
        lambda stage: whole_ring(stage, "--seed", "1"),
        zipped=True,
    ),
    Sample("briscola", "briscola", "a whole game of 20 tricks", lambda stage: whole_star(stage, 2)),
    Sample(
        "tictactoe",
        "tictactoe",
        "a whole game against the perfect server",
        lambda stage: whole_star(stage, 1),
    ),
    Sample(
        "holdem",
        "holdem",
        "three hands between three players",
        lambda stage: whole_star(stage, 3, games=3),
    ),
    Sample(
        "connect4",
        "connect4",
        "two players meet twice, each once in red",
        lambda stage: whole_star(stage, 2, games=2),
    ),
    Sample(
        "hearts-errors",
        "hearts",
        "frames that m1 takes off the ring for what they are, then two that it passes on and refuses itself: "
        "a card played before there is a game, and a number out of sequence",
        errors_ring,
        (
            "hearts/3.header",
            "hearts/3.len",
            "hearts/4.type",
            "hearts/3.origin",
            "hearts/3.dest",
            "hearts/4.payload",
            "hearts/5.card",
            "hearts/5.twice",
        ),
    ),
    Sample(
        "briscola-errors",
        "briscola",
        "broken words and the ERR each draws; an id in use; a word repeated because nobody acknowledged it; "
        "a card out of turn and one the player does not hold",
        errors_star,
        (
            "briscola/size",
            "briscola/search.id",
            "briscola/card.number",
            "briscola/card.unused",
            "briscola/end.player",
        ),
    ),
    Sample(
        "tictactoe-errors",
        "tictactoe",
        "moves that are rejected (no cell, more than a move, an occupied cell), and a message cut short",
        errors_star,
        ("tictactoe/move.1", "tictactoe/move.3"),
    ),
    Sample(
        "holdem-errors",
        "holdem",
        "a length that cannot be, bytes that are no JSON, messages that are none; then a hand with an action "
        "out of turn, and one with an action out of range",
        lambda stage: errors_star(stage, "--players", "2"),
        ("holdem/frame.len", "holdem/frame.json", "holdem/info", "holdem/connect.name"),
    ),
    Sample(
        "connect4-errors",
        "connect4",
        "lines that the grammar does not have, a bad name, a move out of turn, a binary message, and a frame "
        "that is not masked",
        lambda stage: errors_star(stage, "--players", "2"),
        ("connect4/message", "connect4/move", "connect4/user", "connect4/line", "websocket/5.1.unmasked"),
    ),
)


def make(sample: Sample) -> None:
    """Make one sample anew."""
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(load(sample.game), Path(folder))
        with contextlib.closing(stage):
            sample.make(stage)
        write(sample, stage)


def write(sample: Sample, stage: Stage) -> None:
    """Put the capture where it belongs, with what the nodes refused as comments and a fixed beginning."""
    comments = _comments(stage)
    blocks = load_capture(stage.capture).blocks
    shift_ns = EPOCH_NS - next(block.time_ns for block in blocks if isinstance(block, Packet))
    raw = stage.folder / "sample.pcapng"
    section = Section(
        application=f"Wiretable {__version__}", comments=(f"{stage.game.title}: {sample.shows}",)
    )
    number = 0
    with raw.open("wb") as stream, Writer(stream, section) as writer:
        for block in blocks:
            if isinstance(block, Interface | Names):
                writer.write(block)
            elif isinstance(block, Packet):
                number += 1
                writer.packet(
                    block.interface, block.time_ns + shift_ns, block.data, block.direction,
                    tuple(comments[number]), block.original_length,
                )  # fmt: skip
    data = raw.read_bytes()
    sample.file.write_bytes(gzip.compress(data, mtime=0) if sample.zipped else data)


def _comments(stage: Stage) -> dict[int, list[str]]:
    """What each frame's receiver said of it, by the frame's number."""
    found: dict[int, list[str]] = defaultdict(list)
    messages = list(read(stage.capture))
    for seat, time_ns, why, data in stage.refusals():
        fitting = [
            seen
            for seen in messages
            if seen.dst == seat
            and seen.time_ns <= time_ns
            and data in (seen.data[: len(data)], seen.data[PREFIX:][: len(data)])
        ]
        if data and fitting:  # the last before it was refused
            found[fitting[-1].frame].append(why)
            messages.remove(fitting[-1])
    return found


def index() -> str:
    """The page that says what each sample shows."""
    lines = [HEAD]
    for sample in SAMPLES:
        messages = read(sample.file)
        count = sum(1 for _ in messages)
        checks = ", ".join(f"`{check}`" for check in sample.checks) or "none"
        lines.append(f"| {sample.file.name} | {messages.frames} | {count} | {sample.shows} | {checks} |")
    lines.append(FOOT)
    return "\n".join(lines) + "\n"


def main(names: Sequence[str]) -> int:
    unknown = set(names) - {sample.name for sample in SAMPLES}
    if unknown:
        print(f"no sample is called {', '.join(sorted(unknown))}; there are: "
              f"{', '.join(sample.name for sample in SAMPLES)}", file=sys.stderr)  # fmt: skip
        return 2
    for sample in SAMPLES:
        if not names or sample.name in names:
            make(sample)
            print(f"{sample.file.relative_to(ROOT)}: {sample.file.stat().st_size} bytes")
    (FOLDER / "README.md").write_text(index(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
