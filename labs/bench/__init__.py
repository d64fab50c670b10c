"""`wiretable bench`: every figure beside a peer that was measured in the same run.

A row is a file of this folder with `measure(quick) -> list[Figure]`; ROWS lists them. To add one,
write the file and name it there.
"""

from __future__ import annotations

import importlib
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

ROWS = ("ring_hop", "websocket_server", "hearts_in_memory", "scapy_layers", "columns")


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure. `ratio` is ours ÷ the peer's; `limit` what it must not cross."""

    row: str
    what: str
    unit: str
    ours: float
    peer: str = ""
    peers: float | None = None
    limit: float | None = None
    better: Literal["less", "more"] = "less"

    @property
    def ratio(self) -> float | None:
        return None if not self.peers else self.ours / self.peers

    @property
    def met(self) -> bool | None:
        """Whether the limit holds; None where there is none."""
        if self.limit is None or self.ratio is None:
            return None
        return self.ratio <= self.limit if self.better == "less" else self.ratio >= self.limit

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"ratio": self.ratio, "met": self.met}


class UnknownRowError(ValueError):
    """No such row. The text lists them."""


def measure(rows: Sequence[str], *, quick: bool, progress: Console) -> list[Figure]:
    """Measure the rows named, or all."""
    unknown = [row for row in rows if row not in ROWS]
    if unknown:
        raise UnknownRowError(f"no row is called '{unknown[0]}'; rows are: {', '.join(ROWS)}")
    figures: list[Figure] = []
    for row in rows or ROWS:
        with progress.status(f"measuring {row} …"):
            figures += importlib.import_module(f"labs.bench.{row}").measure(quick)
    return figures


def show(console: Console, figures: Sequence[Figure]) -> None:
    """The table."""
    from rich.table import Table

    table = Table("figure", "ours", "peer", "", "ratio", "limit", show_edge=False, pad_edge=False)
    for column in (1, 3, 4, 5):
        table.columns[column].justify = "right"
    for figure in figures:
        sign = "≤" if figure.better == "less" else "≥"
        colour = {True: "green", False: "red", None: ""}[figure.met]
        ratio = "" if figure.ratio is None else f"{figure.ratio:.2f}"
        table.add_row(
            f"{figure.what}, {figure.unit}",
            f"{figure.ours:,.1f}",
            figure.peer,
            "" if figure.peers is None else f"{figure.peers:,.1f}",
            f"[{colour}]{ratio}[/{colour}]" if colour else ratio,
            "" if figure.limit is None else f"{sign} {figure.limit:g}",
        )
    console.print(table)
