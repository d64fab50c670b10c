"""What a node tells: every event as a JSON line in its log, and the story on standard output."""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, Any, Literal, cast

from nodes.core import Event, Finished, Happened, Received, Refused, Sent, Turn

if TYPE_CHECKING:
    from pathlib import Path
    from typing import BinaryIO, TextIO

# Beyond this many refusals a hostile peer no longer fills the disk: they are counted, not written.
REFUSALS_LOGGED_MAX = 1000
# A log never fills the disk, whoever makes us write: once it is so long, only the end is added to it.
LOG_MAX_BYTES = 256 << 20
LISTENING = "listening"  # the kind of the first event: an engine waits for it


class Log:
    """Writes events where they are wanted; `flush` is called once the core has nothing more to say."""

    def __init__(
        self,
        seat: str,
        *,
        file: Path | None = None,
        story: TextIO | None = None,
        style: Literal["text", "json"] = "text",
        brief: bool = False,
    ) -> None:
        self._seat = seat
        self._file: BinaryIO | None = file.open("ab", buffering=0) if file else None
        self._lines: list[str] = []
        self._story = story
        self._style = style
        self._brief = brief  # only where it listens and how it ended
        self._refusals = 0
        self._unanswered: str | None = None  # whose refusal was just left out
        self._room = LOG_MAX_BYTES

    def write(self, event: Event, now: float) -> None:
        """Take one event."""
        if self._is_left_out(event):
            return
        record = None
        if self._file is not None and (self._room > 0 or isinstance(event, Finished)):
            record = json.dumps(as_record(event, self._seat, now), ensure_ascii=False)
            self._lines.append(record)
        if self._story is not None and self._is_told(event):
            if self._style == "json":
                line = record or json.dumps(as_record(event, self._seat, now), ensure_ascii=False)
            else:
                line = as_text(event, self._seat, now)
            if line:
                self._tell(line)

    def flush(self) -> None:
        """Hand all that was written to the kernel: nothing of it is lost if the process is killed."""
        if self._lines and self._file is not None:
            # A peer's text may have half of a surrogate pair in it: \ud800 is how JSON writes it, too.
            data = ("\n".join(self._lines) + "\n").encode(errors="backslashreplace")
            self._room -= len(data)
            self._lines.clear()
            try:
                self._file.write(data)
            except OSError as error:  # the disk is full: the game matters more than its log
                print(f"wiretable node: {self._seat} writes no more log: {error.strerror}", file=sys.stderr)
                self._file.close()
                self._file = None

    def _is_left_out(self, event: Event) -> bool:
        """Refusals beyond the limit, and the answer that directly follows one."""
        if isinstance(event, Refused):
            self._refusals += 1
            left_out = self._refusals > REFUSALS_LOGGED_MAX
            self._unanswered = event.peer if left_out else None
        else:
            left_out = isinstance(event, Sent) and event.peer == self._unanswered
            self._unanswered = None
        return left_out

    def _is_told(self, event: Event) -> bool:
        if self._brief:
            return isinstance(event, Finished) or (isinstance(event, Happened) and event.kind == LISTENING)
        return isinstance(event, (Happened, Refused, Finished))

    def _tell(self, line: str) -> None:
        try:
            print(line, file=self._story, flush=True)
        except UnicodeEncodeError:  # an old terminal; a stranger's name must not end the game
            print(line.encode("ascii", "backslashreplace").decode(), file=self._story, flush=True)
        except BrokenPipeError:
            # Nobody listens any more; the game goes on. What is still buffered must not fail again at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            self._story = None

    def close(self) -> None:
        self.flush()
        if self._file is not None:
            self._file.close()


def as_record(event: Event, seat: str, now: float) -> dict[str, Any]:
    """One event as a JSON object. Field names are those of the messages."""
    head: dict[str, Any] = {"t": round(now, 6), "seat": seat}
    match event:
        case Sent(peer, message):
            data = message.encode().hex()
            return head | {
                "event": "sent",
                "peer": peer,
                "kind": message.kind,
                "message": message.fields(),
                "data": data,
            }
        case Received(peer, message):
            return head | {
                "event": "received",
                "peer": peer,
                "kind": message.kind,
                "message": message.fields(),
            }
        case Refused(peer, check, text, data):
            return head | {"event": "refused", "peer": peer, "check": check, "text": text, "data": data.hex()}
        case Happened(kind, text, fields):
            return head | {"event": kind, "text": text, **fields}
        case Turn(asked, _):
            return head | {"event": "turn", "asked": asked}
        case Finished(result):
            return head | {"event": "finished", "result": result}
    raise TypeError(f"no record for {event!r}")


def as_text(event: Event, seat: str, now: float) -> str:
    """The same for a person who watches one node."""
    clock = time.strftime("%H:%M:%S", time.localtime(now))
    match event:
        case Happened(_, text, _):
            return f"{clock} {seat}: {plain(text)}"
        case Refused(peer, check, text, _):
            return f"{clock} {seat}: refused from {peer}: {plain(text)} [{check}]"
        case Finished(result):
            games = cast("list[dict[str, Any]]", result["games"])
            wins = Counter(game["winner"] or "nobody" for game in games)
            told = ", ".join(f"{plain(str(winner))} {count}" for winner, count in sorted(wins.items()))
            return f"{clock} {seat}: finished; games won: {told or 'none was played'}"
    return ""


def plain(text: str) -> str:
    """A stranger's words must not steer our terminal."""
    return text if text.isprintable() else text.encode("unicode_escape").decode()
