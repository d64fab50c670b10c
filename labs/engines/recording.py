"""The capture of a run: from the kernel where that is permitted, else from the shells' own tapes."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any, Literal

from captures.kernel import EXIT_NOT_PERMITTED
from captures.links import Link, parse_link
from captures.tapes import merge
from labs.engines.processes import end, python, spawn

if TYPE_CHECKING:
    from collections.abc import Mapping

    from labs.folder import RunFolder
    from labs.plan import Plan
    from nodes.address import Address

Wanted = Literal["auto", "kernel", "shells", "off"]


class RecordingError(Exception):
    """The capture that was asked for is not to be had. The text says why."""


class Recording:
    """Starts before the first frame, ends after the last."""

    def __init__(self, plan: Plan, folder: RunFolder, addresses: Mapping[str, Address]) -> None:
        self._plan = plan
        self._folder = folder
        self._addresses = addresses
        self._recorder: subprocess.Popen[bytes] | None = None
        # Whether an address alone tells the seat; else ports do.
        self.by_address = len({there.host for there in addresses.values()}) == len(addresses)
        self.source: Literal["kernel", "shells", "off"] = "off"
        self.notes: dict[str, Any] = {"source": "off"}  # for run.json
        self._why = "as asked"

    def start(self, wanted: Wanted) -> None:
        """Begin. Raises RecordingError only where `kernel` was insisted on."""
        if wanted == "off":
            return
        if wanted == "shells" or not self.by_address:
            self.source = "shells"
            if wanted != "shells":
                self._why = "This host has one loopback address only."
            return
        line = [*python(), "-m", "captures.record", "--out", str(self._folder.capture)]
        for link in self.links:
            line += ["--link", str(link)]
        for name, there in self._addresses.items():
            line += ["--node", f"{name}={there.host}"]
        recorder = spawn(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self._recorder = recorder  # an interruption from here on ends it
        assert recorder.stdout is not None
        if recorder.stdout.readline().strip() == b"ready":
            self.source = "kernel"
            return
        self._recorder = None
        _, complaint = recorder.communicate()
        reason = complaint.decode(errors="replace").strip()
        if wanted == "kernel" or recorder.returncode != EXIT_NOT_PERMITTED:
            raise RecordingError(f"no capture from the kernel: {reason} Try --capture shells.")
        self.source, self._why = "shells", reason

    @property
    def links(self) -> list[Link]:
        """The run's links: one way on the ring, both ways between a client and its server."""
        return [self._link(here, there) for here, there in self._plan.links]

    def stop(self) -> None:
        """End, and note what there is."""
        if self.source == "shells":
            tapes = [tape for seat in self._plan.seats if (tape := self._folder.tape(seat.name)).exists()]
            names = {there.host: name for name, there in self._addresses.items()} if self.by_address else {}
            merged = merge(tapes, self._folder.capture, self.links, names)
            for tape in tapes:
                tape.unlink()
            self._note(f"{merged.frames} frames, told by the shells: {self._why}")
        elif self._recorder is not None:
            recorder, self._recorder = self._recorder, None
            code = end(recorder)
            assert recorder.stdout is not None
            said = recorder.stdout.read().decode(errors="replace").strip()
            self._note(said or f"the recorder ended with exit code {code}")

    def _note(self, text: str) -> None:
        self.notes = {"source": self.source, "file": self._folder.capture.name, "text": text}

    def _link(self, here: str, there: str) -> Link:
        a, b = self._addresses[here], self._addresses[there]
        if self._plan.game.topology == "ring":
            ends = f"{a.host}>{b.host}" if self.by_address else f"{a}>{b}"
            return parse_link(f"{here}→{there}={ends}")
        ends = f"{a.host}<>{b.host}" if self.by_address else f"{a}<>{b}"
        return parse_link(f"{here}↔{there}={ends}")
