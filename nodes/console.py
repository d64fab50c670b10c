"""The real terminal behind nodes.terminal.Terminal."""

from __future__ import annotations

import os
import select
import sys

from rich.console import Console

from nodes.terminal import Leave, Overtaken

READ_MAX = 4096
LINE_MAX = 65_536


def make_console(*, stderr: bool = False) -> Console:
    """A console for people. With NO_COLOR it writes no escape code at all, not even for bold."""
    if os.environ.get("NO_COLOR"):
        return Console(stderr=stderr, highlight=False, force_terminal=False, color_system=None)
    return Console(stderr=stderr, highlight=False)


class ConsoleTerminal:
    """A person at this process's own terminal. NO_COLOR and a pipe turn colours off."""

    def __init__(self) -> None:
        self._console = make_console()
        self._typed = b""
        self._interrupted = os.pipe()

    def interrupt(self) -> None:
        """From another thread: the question being asked no longer matters."""
        os.write(self._interrupted[1], b".")

    def show(self, markup: str) -> None:
        self._console.print(markup.replace("\x1b", "␛"))  # a stranger's name must not steer our terminal

    def ask(self, prompt: str) -> str:
        self._console.print(f"[bold]{prompt.rstrip()}[/bold] ", end="")
        sys.stdout.flush()
        answer = self._line()
        if not os.isatty(0):  # a terminal shows what is typed; a pipe does not
            self._console.print("" if answer is None else answer, markup=False)
        if answer is None or answer.lower() in {"quit", "exit"}:
            raise Leave
        return answer

    def _line(self) -> str | None:
        """One line, stripped; None at the end of the input.

        Not by input(): that holds a lock on standard input while it waits. Where the end of the
        process closes standard input, too, Python aborts ("could not acquire lock").
        """
        while b"\n" not in self._typed and len(self._typed) < LINE_MAX:
            ready, _, _ = select.select([0, self._interrupted[0]], [], [])
            if self._interrupted[0] in ready:
                os.read(self._interrupted[0], READ_MAX)
                self._console.print()
                raise Overtaken
            try:
                data = os.read(0, READ_MAX)
            except OSError:  # the terminal is gone
                data = b""
            if not data:
                return None
            self._typed += data
        line, _, self._typed = self._typed.partition(b"\n")
        return line.decode(errors="replace").strip()
