"""What was seen: recording and reading captures."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from captures.blocks import (
    Block,
    CaptureError,
    Damaged,
    Direction,
    ForeignFile,
    Interface,
    Names,
    Other,
    Packet,
    Section,
    Statistics,
    Truncated,
)
from captures.kernel import EXIT_NOT_PERMITTED
from captures.links import End, Link, parse_link
from captures.pcapng import Writer
from captures.reader import Capture, load, read_blocks
from captures.tapes import Merged, merge

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from captures.batches import Chunks, Table

__all__ = [
    "EXIT_NOT_PERMITTED",
    "Block",
    "Capture",
    "CaptureError",
    "Damaged",
    "Direction",
    "End",
    "ForeignFile",
    "Interface",
    "Link",
    "Merged",
    "Names",
    "Other",
    "Packet",
    "Section",
    "Statistics",
    "Truncated",
    "Writer",
    "chunks",
    "load",
    "merge",
    "parse_link",
    "read_blocks",
    "table",
]


# Who records a run needs no numpy, so it is imported by those who ask for columns.
def table(where: Path | str | BinaryIO, *, ports: Mapping[str, int] | None = None) -> Table:
    """All columns of a capture: see captures.columns."""
    from captures import batches

    return batches.table(where, ports=ports)


def chunks(where: Path | str | BinaryIO, *, ports: Mapping[str, int] | None = None) -> Chunks:
    """The same a piece at a time, in bounded memory."""
    from captures import batches

    return batches.Chunks(where, ports=ports)
