"""`wiretable decode --stats`: a capture in numbers, as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from rich.console import Console

    from captures.stats import GameSummary, Summary, Times

NODES_SHOWN = 12  # of a game with more, the rest share a column
ROWS_SHOWN = 20
_TIMES = {
    "hop": "hop, at",
    "lap": "lap, of",
    "token": "token, held by",
    "ack": "ACK, waited for by",
}


def show_summary(console: Console, summary: Summary) -> None:
    """The whole summary."""
    rate = f", {summary.frames / summary.span_s:,.0f} a second" if summary.span_s else ""
    console.print(f"{summary.frames:,} frames in {summary.span_s:,.3f} s{rate}", highlight=False)
    lost = {link: count for link, count in summary.lost.items() if count}
    if lost:
        text = ", ".join(f"{link or 'a link without a name'} {count:,}" for link, count in lost.items())
        console.print(f"[yellow]lost by the recorder: {escape(text)}[/yellow]", highlight=False)
    for why, count in summary.unread.items():
        console.print(f"{count:,} frames {why}", highlight=False)
    for count, text in (
        (summary.foreign, "packets are of no game"),
        (summary.cut, "messages are not whole in the capture"),
        (summary.gaps, "pieces of streams are missing from the capture"),
    ):
        if count:
            console.print(f"{count:,} {text}", highlight=False)
    console.print()
    for name, game in summary.games.items():
        if game.seen:
            _show_game(console, name, game)
    if summary.problem:
        console.print(f"[red]{escape(summary.problem)}[/red]", highlight=False, soft_wrap=True)


def _show_game(console: Console, name: str, game: GameSummary) -> None:
    console.print(f"[bold]{name}[/bold]: {game.seen:,} messages seen on the links", highlight=False)
    tables = [_kinds(game)] if game.kinds else []
    for head, counter in (("refused, by check", game.refused), ("repeated by", game.repeats)):
        table = _table(head, "messages")
        for what, count in counter.most_common(ROWS_SHOWN):
            table.add_row(escape(what), f"{count:,}")
        tables += [table] * bool(counter)
    for what, head in _TIMES.items():
        nodes = {node: times for node, times in game.times.get(what, {}).items() if times.count}
        table = _table(head, "count", "p50", "p90", "p99", "max")
        for node in sorted(sorted(nodes, key=lambda one: -nodes[one].count)[:ROWS_SHOWN]):
            table.add_row(escape(node), *_times(nodes[node]))
        tables += [table] * bool(nodes)
    for table in tables:
        console.print(table)
        console.print()


def _kinds(game: GameSummary) -> Table:
    """A row a kind, a column a node."""
    kinds = sorted({kind for kind, _ in game.kinds})
    nodes = sorted({node for _, node in game.kinds})
    heads = [escape(node) for node in nodes[:NODES_SHOWN]] + ["others"] * (len(nodes) > NODES_SHOWN)
    table = _table("kind", *heads, "all")
    for kind in kinds:
        counts = [game.kinds[kind, node] for node in nodes]
        shown = counts[:NODES_SHOWN] + ([sum(counts[NODES_SHOWN:])] if len(nodes) > NODES_SHOWN else [])
        table.add_row(kind, *(f"{count:,}" if count else "" for count in shown), f"{sum(counts):,}")
    return table


def _times(times: Times) -> list[str]:
    found = [_duration(times.percentile_ns(percent)) for percent in (50, 90, 99)]
    return [f"{times.count:,}", *found, _duration(times.max_ns)]


def _duration(time_ns: float) -> str:
    """Three digits and a unit."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if time_ns >= size:
            return (
                f"{time_ns / size:.3g} {unit}" if time_ns < 1000 * size else f"{time_ns / size:,.0f} {unit}"
            )
    return f"{time_ns:.0f} ns"


def _table(*heads: str) -> Table:
    table = Table(*heads, show_edge=False, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    return table
