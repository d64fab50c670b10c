"""What was seen: recording and reading captures."""

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
    "load",
    "merge",
    "parse_link",
    "read_blocks",
]
