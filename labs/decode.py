"""`wiretable decode`: a capture as lines that a person reads, as JSON objects, or as CSV.

A JSON object, one a line, always has these names; CSV has the same as its columns:

    frame     number of the frame that completed the message     time      seconds since the first frame
    time_ns   nanoseconds since 1970                             link      where it was seen
    hop       on the ring, 1 to 4; else null                     game      hearts … connect4
    src, dst  nodes by name, else address and port               kind      PLAY_CARD, genmove, malformed …
    fields    by the one vocabulary, as on the wire              meaning   one line for a person
    check     the clause that refuses it, or null                error     what is wrong, or null
    repeat    whether it was there before                        comments  packet comments
    data      its bytes in hex
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, Protocol

import click
from rich.markup import escape
from rich.table import Column, Table

from captures.blocks import CaptureError
from captures.filter import parse, vocabulary
from captures.messages import read
from captures.seen import COMMENT, CUT, GAP, MALFORMED
from nodes.game import NAMES as GAMES
from nodes.vocabulary import fields_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from captures.filter import Filter
    from captures.messages import Messages, Seen
    from nodes.core import Json
    from nodes.vocabulary import Field

COLUMNS = (
    "frame", "time", "time_ns", "link", "hop", "game", "src", "dst", "kind", "fields", "meaning", "check",
    "error", "repeat", "comments", "data",
)  # fmt: skip
NEWEST = Path("runs/latest")
CAPTURE = "capture.pcapng"
INTERRUPTED = 130
TEXT_SHOWN_MAX = 48
ELEMENTS_SHOWN_MAX = 5  # of a list; of a longer one, how many there are
DATA_SHOWN_MAX = 24  # bytes of a refused message


def capture_of(where: Path) -> Path:
    """The capture itself, for the folder of a run stands for what it recorded."""
    return where / CAPTURE if where.is_dir() else where


class Writer(Protocol):
    """One of the formats."""

    def line(self, seen: Seen, started_ns: int) -> str:
        """A message as a line, or several, without the last end of line."""

    def head(self) -> str | None:
        """What comes before all lines, if anything."""


def write(
    messages: Messages, writer: Writer, out: BinaryIO, chosen: Filter | None = None, *, at_once: bool = False
) -> int:
    """Write every message that is wanted; return how many. `at_once`: each is seen as it comes."""
    written = 0
    head = writer.head()
    if head is not None:
        out.write(_bytes(head))
    for seen in messages:
        started_ns = messages.started_ns or 0
        if chosen is not None and not chosen.matches(lambda name: seen.value(name, started_ns)):  # noqa: B023
            continue
        out.write(_bytes(writer.line(seen, started_ns)))
        written += 1
        if at_once:
            out.flush()
    out.flush()
    return written


def _bytes(line: str) -> bytes:
    # JSON may hold half a character; written as an escape it is still JSON, and no error here.
    return line.encode("utf-8", "backslashreplace") + b"\n"


def as_object(seen: Seen, started_ns: int) -> dict[str, Any]:
    """All that is known of a message, by the names of COLUMNS."""
    return {
        "frame": seen.frame,
        "time": (seen.time_ns - started_ns) / 1e9,
        "time_ns": seen.time_ns,
        "link": seen.link,
        "hop": seen.hop,
        "game": seen.game,
        "src": seen.src,
        "dst": seen.dst,
        "kind": seen.kind,
        "fields": seen.fields,
        "meaning": seen.meaning,
        "check": seen.check,
        "error": seen.error,
        "repeat": seen.repeat,
        "comments": list(seen.comments),
        "data": seen.data.hex(),
    }


class JsonWriter:
    """One object a line."""

    def head(self) -> str | None:
        return None

    def line(self, seen: Seen, started_ns: int) -> str:
        return json.dumps(as_object(seen, started_ns), ensure_ascii=False)


class CsvWriter:
    """A row a message; fields and comments as JSON within their column."""

    def head(self) -> str | None:
        return ",".join(COLUMNS)

    def line(self, seen: Seen, started_ns: int) -> str:
        row = as_object(seen, started_ns)
        for name in ("fields", "comments"):
            row[name] = json.dumps(row[name], ensure_ascii=False)
        row["repeat"] = int(seen.repeat)
        text = io.StringIO()
        # The writer quotes a line end within a cell only if it knows that line ends end rows.
        csv.writer(text, lineterminator="\n").writerow([row[name] for name in COLUMNS])
        return text.getvalue().removesuffix("\n")


_RESET, _BOLD, _DIM = "\x1b[0m", "\x1b[1m", "\x1b[2m"
_RED, _YELLOW, _CYAN = "\x1b[31m", "\x1b[33m", "\x1b[36m"
_KINDS = {MALFORMED: _RED, CUT: _YELLOW, GAP: _YELLOW, COMMENT: _DIM}
_RED_CARD = re.compile(r"(?:10|[2-9AJQKFCR])[♥♦]")


class TextWriter:
    """Columns that grow with what they hold. What a ring only passes on is told shortly."""

    def __init__(self, *, colour: bool = False) -> None:
        self._colour = colour
        self._link = 9
        self._kind = 13
        self._told: dict[tuple[str, object], bytes] = {}

    def head(self) -> str | None:
        return None

    def line(self, seen: Seen, started_ns: int) -> str:
        link = printable(seen.link or (f"{seen.src}→{seen.dst}" if seen.src else ""))
        self._link = max(self._link, min(len(link), TEXT_SHOWN_MAX))
        self._kind = max(self._kind, len(seen.kind))
        time = f"{(seen.time_ns - started_ns) / 1e9:11.6f}"
        hop = " " if seen.hop is None else str(seen.hop)
        start = f"{seen.frame:>6} {time}  {link:<{self._link}} {hop} "
        kind = f"{seen.kind:<{self._kind}}"
        meaning, rest = self._words(seen)
        lines = [
            f"{self._paint(_DIM, start)} {self._paint(_KINDS.get(seen.kind, _CYAN), kind)}  "
            f"{meaning}{self._paint(_DIM, rest)}".rstrip()
        ]
        if seen.kind != COMMENT:
            indent = " " * (len(start) + self._kind + 3)
            lines += [self._paint(_DIM, f"{indent}# {printable(comment)}") for comment in seen.comments]
        return "\n".join(lines)

    def _words(self, seen: Seen) -> tuple[str, str]:
        """The meaning, painted, and the fields that follow it."""
        meaning = printable(seen.meaning)
        if seen.check is not None or seen.error is not None:
            check = f" [{seen.check}]" if seen.check else ""
            data = seen.data[:DATA_SHOWN_MAX].hex(" ")
            more = f" … ({len(seen.data)} bytes)" if len(seen.data) > DATA_SHOWN_MAX else ""
            return self._paint(
                _KINDS.get(seen.kind, _RED), meaning + check
            ), f"  {data}{more}" if data else ""
        again = "again: " if seen.repeat else ""
        if seen.hop is not None:
            key = (seen.game, seen.fields.get("origin"))
            passed_on = seen.hop > 1 and self._told.get(key) == seen.data
            self._told[key] = seen.data
            if passed_on:
                way = "back at" if seen.dst == self._origin(seen) else "on to"
                return self._paint(_DIM, f"{again}… {way} {seen.dst}"), ""
        if self._colour:
            meaning = _RED_CARD.sub(lambda card: f"{_RED}{card[0]}{_RESET}", meaning)
        short = short_fields(seen)
        return f"{self._paint(_YELLOW, again)}{meaning}", f"  · {short}" if short else ""

    def _origin(self, seen: Seen) -> str:
        return fields_of(seen.game)["origin"].name_of(seen.fields.get("origin"))

    def _paint(self, style: str, text: str) -> str:
        return f"{style}{text}{_RESET}" if self._colour and text else text


def short_fields(seen: Seen) -> str:
    """The fields by their values' names, without what the line shows anyway."""
    known = fields_of(seen.game) if seen.game else {}
    found = []
    for name, value in seen.fields.items():
        field = known.get(name)
        shown = _named(field, value) if field is not None and field.values else _short(value)
        if shown and shown != seen.kind and name not in ("len", "length"):
            found.append(f"{printable(name)}={shown}")
    return " ".join(found)


def _named(field: Field, value: Json) -> str:
    if isinstance(value, list):
        return ",".join(map(field.name_of, value)) if len(value) <= ELEMENTS_SHOWN_MAX else f"({len(value)})"
    return field.name_of(value)


def _short(value: Json) -> str:
    if isinstance(value, dict):
        return f"({len(value)})"
    if isinstance(value, list):
        plain = len(value) <= ELEMENTS_SHOWN_MAX and not any(isinstance(one, dict | list) for one in value)
        return (",".join(map(_short, value)) or "none") if plain else f"({len(value)})"
    text = "" if value is None else printable(str(value))
    if " " in text:
        text = f"'{text}'"
    return text if len(text) <= TEXT_SHOWN_MAX else text[: TEXT_SHOWN_MAX - 1] + "…"


def printable(text: str) -> str:
    """A stranger's text moves no cursor and paints nothing."""
    return text if text.isprintable() else "".join(c if c.isprintable() else "·" for c in text)


def list_names() -> list[tuple[str, str, str, str]]:
    """Every name a filter may use: name, sort, what it means, and its values' names."""
    return [
        (name, field.sort, field.means, " ".join(dict.fromkeys(map(str, field.values.values()))))
        for name, field in vocabulary().items()
    ]


def command(
    where: str | None,
    expression: str | None,
    style: Literal["text", "json", "csv"],
    ports: Sequence[str],
    *,
    stats: bool,
    fields: bool,
    console: Console,
) -> int:
    """What `wiretable decode` does; the exit code."""
    if fields:
        _show_names(console)
        return 0
    if stats and (expression is not None or style == "csv"):
        raise click.UsageError(
            "--stats sums up the whole capture, as text or json: without --filter, not as csv"
        )
    try:
        chosen = parse(expression) if expression is not None else None
        by_game = dict(_port(text) for text in ports)
    except ValueError as error:  # FilterError too
        raise click.UsageError(str(error)) from None
    path = where if where == "-" else capture_of(Path(where or NEWEST))
    if where is None and not Path(path).exists():
        return _say("there is no run in runs/ yet: `wiretable run hearts` makes one, or name a FILE")
    writer: Writer
    if style == "text":
        writer = TextWriter(colour=console.is_terminal and console.color_system is not None)
    else:
        writer = JsonWriter() if style == "json" else CsvWriter()
    try:
        if stats:
            return _sum_up(path, by_game, console, as_json=style == "json")
        messages = read(path, ports=by_game)
        # A person at the terminal, or a program behind a live capture, waits for every line.
        at_once = console.is_terminal or where == "-"
        written = write(messages, writer, sys.stdout.buffer, chosen, at_once=at_once)
    except CaptureError as error:
        return _say(f"{path}: {error}")
    except BrokenPipeError:  # whoever read has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    if style == "text":
        notes = [f"{written} messages in {messages.frames} frames", *messages.notes()]
        print("\n".join(f"— {note}" for note in notes), file=sys.stderr)
    return 0 if messages.problem is None else _say(f"{path}: {messages.problem}")


def _sum_up(path: Path | str, ports: Mapping[str, int], console: Console, *, as_json: bool) -> int:
    # Columns bring numpy with them, which lines do not need.
    from captures.stats import summarise
    from labs.summary import show_summary

    summary = summarise(path, ports=ports)
    if as_json:
        print(json.dumps(summary.as_json(), ensure_ascii=False), flush=True)
    else:
        show_summary(console, summary)
    return 0 if summary.problem is None else _say(f"{path}: {summary.problem}")


def _say(text: str) -> int:
    print(f"wiretable: {text}", file=sys.stderr)
    return 1


def _port(text: str) -> tuple[str, int]:
    game, _, port = text.partition("=")
    if game not in GAMES or not re.fullmatch("[0-9]{1,5}", port) or not 0 < int(port) <= 0xFFFF:
        raise ValueError(f"--port {text} is not GAME=PORT with a game of {', '.join(GAMES)}")
    return game, int(port)


def _show_names(console: Console) -> None:
    table = Table(Column("name", no_wrap=True), "sort", "means", "values", show_edge=False, pad_edge=False)
    for row in list_names():
        table.add_row(*map(escape, row))
    console.print(table)
