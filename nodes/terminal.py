"""A person's terminal: show a line, ask a question. Colours follow NO_COLOR and whether it is a terminal."""

from __future__ import annotations

from typing import Protocol


class Leave(Exception):
    """The person wants to go: Ctrl-C, Ctrl-D or the word quit."""


class Overtaken(Exception):
    """The question no longer matters: the game went on, and a newer one waits."""


class Terminal(Protocol):
    """What a game's human.py may use. `markup` is rich's console markup."""

    def show(self, markup: str) -> None: ...

    def ask(self, prompt: str) -> str:
        """One line from the person, stripped. Raises Leave, or Overtaken."""
