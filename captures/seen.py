"""One message as a reader of a capture sees it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from captures.filter import reach

if TYPE_CHECKING:
    from nodes.core import Json

MALFORMED, CUT, GAP, COMMENT = "malformed", "cut", "gap", "comment"  # kinds that no game has


@dataclass(slots=True)
class Seen:
    """A message, or what stands in the place of one. `frame` is the one that completed it."""

    frame: int
    time_ns: int
    link: str  # the interface's name, "" if it has none
    hop: int | None  # on the ring: 1 on the link behind its origin, 4 on the way back to it
    game: str  # "" for a comment on a frame of no game
    src: str  # the node's name where it is known, else address and port
    dst: str
    kind: str
    fields: dict[str, Json]
    meaning: str
    check: str | None = None  # the clause that refuses it
    error: str | None = None
    comments: tuple[str, ...] = ()
    data: bytes = b""
    repeat: bool = False  # sent again, or seen again on the same link

    def value(self, name: str, started_ns: int = 0) -> object:
        """What a name of captures.filter stands for; None where this message has no such thing."""
        game, dot, path = name.partition(".")
        if game == self.game:
            return reach(self.fields, path) if dot else True
        match name:
            case "frame.number":
                return self.frame
            case "frame.time":
                return (self.time_ns - started_ns) / 1e9
            case "link" | "hop" | "src" | "dst" | "game" | "kind" | "check":
                return getattr(self, name) or None
            case "repeat":
                return self.repeat
        return None


@dataclass(slots=True)
class Reading:
    """What a decoder makes of some bytes; the rest of a Seen is known by whoever asked."""

    kind: str
    meaning: str
    data: bytes
    fields: dict[str, Json] = field(default_factory=dict)
    check: str | None = None
    error: str | None = None
    hop: int | None = None
    repeat: bool = False


def refused(check: str | None, error: str, data: bytes, fields: dict[str, Json] | None = None) -> Reading:
    """Bytes that are no message."""
    return Reading(MALFORMED, error, data, fields or {}, check, error)


def cut(error: str, data: bytes) -> Reading:
    """A part of a message."""
    return Reading(CUT, error, data, error=error)
