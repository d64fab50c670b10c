"""The local engine: every machine of a run is a process of this host, on its own loopback address."""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import threading
import time
from typing import TYPE_CHECKING, Any, Literal

from labs.engines import loopback
from labs.engines.processes import end, python, spawn
from labs.engines.recording import Recording

if TYPE_CHECKING:
    from types import TracebackType

    from labs.folder import RunFolder
    from labs.plan import Plan
    from nodes.address import Address
    from nodes.game import Seat

READY_PATIENCE_S = 20.0
STORY_LINE_MAX = 1 << 20

# What comes out of a node: a line of its story, or its exit code at the end.
Told = tuple[str, dict[str, Any] | int]


class EngineError(Exception):
    """The run could not be started, or broke. The text says what happened and what to do."""


class LocalEngine:
    """A context manager: leaving it ends all it started, whatever happened."""

    name = "local"

    def __init__(
        self, plan: Plan, folder: RunFolder, capture: Literal["auto", "kernel", "shells", "off"] = "auto"
    ) -> None:
        self.plan = plan
        self.folder = folder
        self._capture = capture
        self._nodes: dict[str, subprocess.Popen[bytes]] = {}
        self._told: queue.SimpleQueue[Told] = queue.SimpleQueue()
        self._early: list[Told] = []
        self._running: set[str] = set()
        try:
            self._addresses = loopback.reserve(plan.game, plan.seats)
        except loopback.NoAddressError as error:
            raise EngineError(str(error)) from None
        self.recording = Recording(plan, folder, self._addresses.by_seat)

    def __enter__(self) -> LocalEngine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for node in self._nodes.values():
            end(node)
        self.recording.stop()
        self._addresses.release()

    @property
    def addresses(self) -> dict[str, Address]:
        return self._addresses.by_seat

    def where(self, seat: Seat) -> str:
        """A seat's address; a client's port is the kernel's choice."""
        there = self.addresses[seat.name]
        return there.host if seat.role == "client" else str(there)

    @property
    def started(self) -> list[str]:
        """The seats this engine plays; a person's is not among them."""
        return [seat.name for seat in self.plan.seats if seat.name in self._nodes]

    def start(self) -> None:
        """Capture first, then all that only listen, then the one that speaks first."""
        self.recording.start(self._capture)
        first, *rest = self.plan.seats
        if self.plan.game.topology == "ring":
            self._start_all([*rest], [first])
        else:
            self._start_all([first], [*rest])

    def told(self, silence_s: float) -> Told | None:
        """What a node tells next; None when all have ended. TimeoutError after `silence_s` without a word."""
        if not self._running and not self._early:
            return None
        try:
            told = self._early.pop(0) if self._early else self._told.get(timeout=silence_s)
        except queue.Empty:
            raise TimeoutError from None
        if isinstance(told[1], int):
            self._running.discard(told[0])
        return told

    def node_arguments(self, seat: Seat) -> list[str]:
        """The `wiretable node` line for a seat: the very one a person could type."""
        here, game = self.addresses[seat.name], self.plan.game
        if seat.role == "node":
            names = [other.name for other in self.plan.seats]
            after = self.addresses[names[(seat.index + 1) % len(names)]]
            role = ["--id", str(seat.index), "--listen", str(here), "--next", str(after)]
        elif seat.role == "server":
            role = ["server", "--listen", str(here)]
        else:
            bind = here.host if self.recording.by_address else f"{here.host}:0"
            server = str(self.addresses["server"])
            role = [
                "client",
                "--connect",
                server,
                "--bind",
                bind,
                "--name",
                seat.name,
                "--id",
                str(seat.index),
            ]
        line = [game.name, *role, "--seed", str(self.plan.seed)]
        line += ["--games", str(self.plan.games), "--players", str(self.plan.players)]
        for setting in self.plan.settings:
            line += ["--dialect", setting]
        if seat.name in self.plan.bots:
            line += ["--bot", self.plan.bots[seat.name]]
        if self.plan.pace_s:
            line += ["--pace", str(self.plan.pace_s)]
        line += ["--log", str(self.folder.log(seat.name))]
        if self.recording.source == "shells":
            line += ["--tape", str(self.folder.tape(seat.name))]
        return line

    def _start_all(self, listeners: list[Seat], speakers: list[Seat]) -> None:
        for seat in listeners:
            self._start(seat)
        self._await_listening({seat.name for seat in listeners} & self._running)
        for seat in speakers:
            self._start(seat)

    def _start(self, seat: Seat) -> None:
        if seat.name == self.plan.person:
            return  # the person's own process plays it
        line = [*python(), "-m", "nodes", *self.node_arguments(seat), "--json", "--until-eof"]
        node = spawn(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self._nodes[seat.name] = node
        self._running.add(seat.name)
        threading.Thread(
            target=self._listen, args=(seat.name, node), name=f"{seat.name}-story", daemon=True
        ).start()

    def _listen(self, name: str, node: subprocess.Popen[bytes]) -> None:
        assert node.stdout is not None
        assert node.stderr is not None
        for line in iter(lambda: node.stdout.readline(STORY_LINE_MAX), b""):  # type: ignore[union-attr]
            with contextlib.suppress(ValueError):
                self._told.put((name, json.loads(line)))
        complaint = node.stderr.read(STORY_LINE_MAX).decode(errors="replace").strip()
        if complaint:
            self._told.put((name, {"event": "complaint", "text": complaint}))
        self._told.put((name, node.wait()))

    def _await_listening(self, names: set[str]) -> None:
        deadline = time.monotonic() + READY_PATIENCE_S
        while names:
            try:
                told = self._told.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise EngineError(
                    f"{', '.join(sorted(names))} did not start in {READY_PATIENCE_S:.0f} s"
                ) from None
            self._early.append(told)
            name, what = told
            if isinstance(what, int):
                raise EngineError(f"{name} ended before it began (exit code {what}){self._complaint(name)}")
            if what.get("event") == "listening":
                names.discard(name)

    def _complaint(self, name: str) -> str:
        for seat, what in self._early:
            if seat == name and isinstance(what, dict) and what.get("event") == "complaint":
                return f": {what['text']}"
        return ""
