"""The real terminal behind nodes.terminal.Terminal."""

from __future__ import annotations

from rich.console import Console

from nodes.terminal import Leave


class ConsoleTerminal:
    """A person at this process's own terminal. NO_COLOR and a pipe turn colours off."""

    def __init__(self) -> None:
        self._console = Console(highlight=False)

    def show(self, markup: str) -> None:
        self._console.print(markup)

    def ask(self, prompt: str) -> str:
        try:
            answer = self._console.input(f"[bold]{prompt}[/bold] ").strip()
        except (EOFError, KeyboardInterrupt):
            raise Leave from None
        if answer.lower() in {"quit", "exit"}:
            raise Leave
        return answer
