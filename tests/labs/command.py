"""The `wiretable` command as a test sees it: a real process, its words, and what it leaves behind."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import subprocess
import sys
import termios
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE_S = 60.0  # a bound for what must come to an end, not a measure: two busy cores may take long
PAUSE_S = 0.02
MARK = "WIRETABLE_TEST_MARK"
ESCAPE = "\x1b"

# Makes the terminal the child's own, so that the byte of Ctrl-C becomes a signal.
_OWN_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


@dataclass(frozen=True, slots=True)
class Done:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        return self.out + self.err


@dataclass(slots=True)
class Family:
    """Commands of one test. Their processes carry a mark, and so do those that they start."""

    mark: str = field(default_factory=lambda: uuid.uuid4().hex)

    @property
    def marked(self) -> dict[str, str]:
        """What every process of the family has in its environment."""
        return {"PYTHONPATH": str(ROOT), MARK: self.mark}

    def call(self, *arguments: str, **environment: str) -> Done:
        """Run `wiretable ARGUMENTS` to its end."""
        done = subprocess.run(
            line(*arguments),
            env=self._environment(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start `wiretable ARGUMENTS`; `finish` waits for it."""
        return subprocess.Popen(
            line(*arguments),
            env=self._environment({}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    @contextlib.contextmanager
    def at_terminal(self, *arguments: str, **environment: str) -> Iterator[Screen]:
        """`wiretable ARGUMENTS` at a terminal of its own."""
        ours, theirs = os.openpty()
        termios.tcsetwinsize(theirs, (50, 110))
        child = subprocess.Popen(
            [sys.executable, "-c", _OWN_TERMINAL, *line(*arguments)],
            env=self._environment({"TERM": "xterm-256color", **environment}),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        try:
            yield Screen(child, ours)
        finally:
            if child.poll() is None:
                child.kill()
                child.wait()
            os.close(ours)

    def alive(self) -> dict[int, str]:
        """The command line of every living process with the mark."""
        wanted = f"{MARK}={self.mark}".encode()
        found = {}
        for folder in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if folder.name.isdigit() and wanted in (folder / "environ").read_bytes().split(b"\0"):
                    words = (folder / "cmdline").read_bytes().split(b"\0")
                    if words != [b""]:  # a zombie has none
                        found[int(folder.name)] = b" ".join(words).decode()
        return found

    def find(self, *words: str) -> int | None:
        """The process whose command line has all these words."""
        for pid, text in self.alive().items():
            if all(word in text.split() for word in words):
                return pid
        return None

    def await_gone(self) -> None:
        """Wait until no process is left."""
        until(lambda: not self.alive(), lambda: f"still there: {self.alive()}")

    def end(self) -> None:
        """End whatever a failed test left."""
        for pid in self.alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _environment(self, more: dict[str, str]) -> dict[str, str]:
        plain = {
            name: value
            for name, value in os.environ.items()
            if name
            not in {"NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "TTY_COMPATIBLE", "TTY_INTERACTIVE"}
            and not name.startswith("COV")
        }
        return {**plain, **self.marked, **more}


class Screen:
    """A command at a terminal: what it wrote so far, and a keyboard."""

    def __init__(self, child: subprocess.Popen[bytes], terminal: int) -> None:
        self.child = child
        self._terminal = terminal
        self.raw = ""
        self._seen = 0  # how much of the text earlier questions have used up

    @property
    def text(self) -> str:
        """All that was written, without escape codes."""
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.raw).replace("\r", "")

    def press(self, keys: str) -> None:
        os.write(self._terminal, keys.encode())

    def type(self, answer: str) -> None:
        self.press(answer + "\n")

    def expect(self, pattern: str) -> re.Match[str]:
        """Wait until the text after the last find has this in it."""
        found = self.see(pattern)
        if found is None:
            raise AssertionError(f"ended without {pattern!r}:\n{self.text[-2000:]}")
        return found

    def see(self, pattern: str) -> re.Match[str] | None:
        """The same, or None when the command ends without it."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            found = re.compile(pattern).search(self.text, self._seen)
            if found is not None:
                self._seen = found.end()
                return found
            if not self._read(deadline):
                return None

    def finish(self) -> int:
        """Wait for the end. The exit code."""
        deadline = time.monotonic() + PATIENCE_S
        while self._read(deadline):
            pass
        return self.child.wait(PATIENCE_S)

    def _read(self, deadline: float) -> bool:
        ready, _, _ = select.select([self._terminal], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            raise AssertionError(f"nothing more for {PATIENCE_S:.0f} s:\n{self.text[-2000:]}")
        try:
            data = os.read(self._terminal, 65536)
        except OSError:  # Linux: the last process at the other end is gone
            return False
        self.raw += data.decode(errors="replace")
        return bool(data)


def line(*arguments: str) -> list[str]:
    return [sys.executable, "-P", "-m", "labs", *arguments]


def finish(child: subprocess.Popen[bytes]) -> Done:
    """Wait for the end of what `start` started."""
    out, err = child.communicate(timeout=PATIENCE_S)
    return Done(child.returncode, (out or b"").decode(), err.decode())


def until(true: Callable[[], object], otherwise: Callable[[], str]) -> None:
    """Wait until true() holds, at most the patience of a test."""
    deadline = time.monotonic() + PATIENCE_S
    while not true():
        if time.monotonic() > deadline:
            raise AssertionError(otherwise())
        time.sleep(PAUSE_S)
