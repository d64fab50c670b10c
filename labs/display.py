"""What a person sees while a game runs, and the table at its end."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labs.plan import Plan
    from labs.run import Outcome

STORY_LINES = 6
SKIPPED = {"listening", "finished", "complaint", "turn"}
COARSE = {"hand", "game", "end", "result"}  # told one by one where there is no terminal to redraw
REFRESH_PER_S = 12
GAMES_SHOWN = 20
COLUMNS_MAX = 6


class Display:
    """Redraws a few lines on a terminal; elsewhere writes one line a hand or game."""

    def __init__(self, console: Console, plan: Plan, *, quiet: bool = False) -> None:
        self._console = console
        self._plan = plan
        self._quiet = quiet
        self._teller = plan.seats[0].name  # m0 and servers know the whole story
        self._story: list[str] = []
        self._counts = dict.fromkeys((seat.name for seat in plan.seats), 0)
        self._began = time.monotonic()
        self._spinner = Spinner("dots", text="")
        self._live: Live | None = None

    @contextlib.contextmanager
    def showing(self) -> Iterator[None]:
        """Draw while the block lasts."""
        if self._quiet or not self._console.is_terminal:
            yield
            return
        with Live(
            console=self._console, refresh_per_second=REFRESH_PER_S, transient=True, get_renderable=self._draw
        ) as self._live:
            yield

    def headline(self) -> None:
        """What is about to be played."""
        plan = self._plan
        what = f"[bold]{plan.game.title}[/bold] · {len(plan.seats)} machines · seed {plan.seed}"
        self._console.print(what)

    def hear(self, seat: str, record: dict[str, Any]) -> None:
        """One line of a node's story."""
        self._counts[seat] += 1
        text, event = record.get("text"), record.get("event")
        if event == "refused":
            self._say(
                f"[red]{seat}: refused from {record['peer']}: {escape(str(text))} \\[{record['check']}][/red]"
            )
        elif seat == self._teller and text and event not in SKIPPED:
            self._say(escape(str(text)), coarse=event in COARSE)

    def _say(self, markup: str, *, coarse: bool = True) -> None:
        if self._quiet:
            return
        if self._live is not None:
            self._story = [*self._story, markup][-STORY_LINES:]
        elif coarse:
            self._console.print(markup)

    def _draw(self) -> Group:
        elapsed = time.monotonic() - self._began
        self._spinner.update(text=Text(f"playing … {elapsed:.1f} s  (Ctrl-C ends it)"))
        return Group(*(Text.from_markup(f"  {line}") for line in self._story), self._spinner)


def show_outcome(console: Console, plan: Plan, outcome: Outcome) -> None:
    """The result table, and where everything was left."""
    games: list[dict[str, Any]] = outcome.games
    if games:
        console.print(_table(games, [seat.name for seat in plan.seats]))
    for text in outcome.complaints:
        console.print(f"[red]{escape(text)}[/red]", soft_wrap=True)
    if outcome.refusals:
        total = sum(outcome.refusals.values())
        listed = ", ".join(f"{check} ×{count}" for check, count in sorted(outcome.refusals.items()))
        console.print(f"{total} messages were refused: {listed}", highlight=False)
    if "file" in outcome.capture:
        where = outcome.folder / outcome.capture["file"]
        console.print(f"capture: {where} ({outcome.capture['text']})", highlight=False, soft_wrap=True)
    console.print(
        f"run folder: {outcome.folder}  (again: --seed {plan.seed})", highlight=False, soft_wrap=True
    )


def _table(games: list[dict[str, Any]], seats: list[str]) -> Table:
    """A row a game; where that would be too wide to read, a row a player."""
    scored = list(dict.fromkeys(name for game in games for name in game["scores"]))
    # A server may know its players by other names than ours.
    names = [seat for seat in seats if seat in scored] + [name for name in scored if name not in seats]
    return _by_game(games, names) if len(names) <= COLUMNS_MAX else _by_player(games, names)


def _by_game(games: list[dict[str, Any]], names: list[str]) -> Table:
    table = Table(show_edge=False, pad_edge=False)
    table.add_column("game", justify="right")
    for name in names:
        table.add_column(name, justify="right")
    table.add_column("winner")
    shown = games[-GAMES_SHOWN:]
    if len(shown) < len(games):
        table.title = f"the last {GAMES_SHOWN} of {len(games)}"
    for number, game in enumerate(shown, len(games) - len(shown) + 1):
        scores = [_number(game["scores"].get(name)) for name in names]
        table.add_row(str(number), *scores, f"[bold]{game['winner'] or 'draw'}[/bold]")
    if len(games) > 1:
        table.add_section()
        table.add_row("Σ", *(_number(_total(games, name)) for name in names), "")
    return table


def _by_player(games: list[dict[str, Any]], names: list[str]) -> Table:
    table = Table("player", "games", "won", "score", show_edge=False, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for name in names:
        played = sum(name in game["scores"] for game in games)
        won = sum(game["winner"] == name for game in games)
        table.add_row(name, str(played), str(won), _number(_total(games, name)))
    return table


def _total(games: list[dict[str, Any]], name: str) -> float:
    return sum(game["scores"].get(name) or 0 for game in games)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:g}" if abs(value) < 1e6 else f"{value:,.0f}"
