"""What a node writes down, and what it does not let a peer make it write."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nodes import log as log_module
from nodes.core import Finished, Happened, Received, Refused, Sent, Turn
from nodes.log import REFUSALS_LOGGED_MAX, Log
from tests.labs.command import PATIENCE_S, ROOT

if TYPE_CHECKING:
    from nodes.core import Event, Json

NOW = 1_600_000_000.25


@dataclass(frozen=True)
class Word:
    """The smallest message."""

    text: str = "hi"
    kind: str = "word"

    def encode(self) -> bytes:
        return self.text.encode()

    def fields(self) -> dict[str, Json]:
        return {"text": self.text}


EVENTS: list[Event] = [
    Happened("listening", "listening on here", {"address": "here"}),
    Sent("next", Word()),
    Received("prev", Word("yo")),
    Refused("prev", "hearts/3.len", "too short", b"\x01"),
    Turn("m0", object()),
    Finished({"games": []}),
]


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_every_kind_of_event_is_one_json_line(tmp_path: Path) -> None:
    log = Log("m0", file=tmp_path / "log")
    for event in EVENTS:
        log.write(event, NOW)
    log.close()
    told = records(tmp_path / "log")
    assert [record["event"] for record in told] == [
        "listening", "sent", "received", "refused", "turn", "finished",
    ]  # fmt: skip
    assert all(record["t"] == NOW and record["seat"] == "m0" for record in told)
    assert told[0]["address"] == "here"
    assert bytes.fromhex(told[1]["data"]) == b"hi"
    assert told[2]["message"] == {"text": "yo"}
    assert (told[3]["check"], told[3]["data"]) == ("hearts/3.len", "01")
    assert told[5]["result"] == {"games": []}


def test_what_was_flushed_is_on_disk_while_the_log_is_open(tmp_path: Path) -> None:
    log = Log("m0", file=tmp_path / "log")
    log.write(EVENTS[0], NOW)
    assert records(tmp_path / "log") == []
    log.flush()
    assert len(records(tmp_path / "log")) == 1
    log.close()


def test_a_log_that_is_there_is_continued(tmp_path: Path) -> None:
    for _ in range(2):
        log = Log("m0", file=tmp_path / "log")
        log.write(EVENTS[0], NOW)
        log.close()
    assert len(records(tmp_path / "log")) == 2


def test_a_flood_of_refusals_does_not_fill_the_disk(tmp_path: Path) -> None:
    story = io.StringIO()
    log = Log("m0", file=tmp_path / "log", story=story)
    for _ in range(REFUSALS_LOGGED_MAX + 500):
        log.write(EVENTS[3], NOW)
        log.write(Sent("prev", Word("no")), NOW)  # the answer to a refusal is part of the flood
    log.write(EVENTS[0], NOW)
    log.close()
    told = [record["event"] for record in records(tmp_path / "log")]
    assert told.count("refused") == told.count("sent") == REFUSALS_LOGGED_MAX
    assert told[-1] == "listening"
    assert story.getvalue().count("refused") == REFUSALS_LOGGED_MAX


def test_a_log_has_a_greatest_length_and_still_tells_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_module, "LOG_MAX_BYTES", 10_000)
    log = Log("m0", file=tmp_path / "log")
    for _ in range(1000):
        log.write(EVENTS[1], NOW)
        log.flush()
    log.write(EVENTS[5], NOW)
    log.close()
    assert (tmp_path / "log").stat().st_size < 10_500
    assert records(tmp_path / "log")[-1]["event"] == "finished"


def test_the_story_leaves_out_the_wire() -> None:
    story = io.StringIO()
    log = Log("m0", story=story, style="json")
    for event in EVENTS:
        log.write(event, NOW)
    told = [json.loads(line)["event"] for line in story.getvalue().splitlines()]
    assert told == ["listening", "refused", "finished"]


def test_a_brief_story_has_a_beginning_and_an_end() -> None:
    story = io.StringIO()
    log = Log("m0", story=story, style="json", brief=True)
    for event in [*EVENTS, Happened("trick", "m0 takes it")]:
        log.write(event, NOW)
    told = [json.loads(line)["event"] for line in story.getvalue().splitlines()]
    assert told == ["listening", "finished"]


def test_a_person_reads_lines_with_a_time_and_a_seat() -> None:
    story = io.StringIO()
    log = Log("m0", story=story)
    for event in EVENTS:
        log.write(event, NOW)
    lines = story.getvalue().splitlines()
    assert lines[0].endswith(" m0: listening on here")
    assert lines[1].endswith(" m0: refused from prev: too short [hearts/3.len]")
    assert lines[2].endswith(" m0: finished; games won: none was played")
    log.write(Finished({"games": [{"winner": "p2"}, {"winner": None}, {"winner": "p2"}]}), NOW)
    assert story.getvalue().endswith(" m0: finished; games won: nobody 1, p2 2\n")


@pytest.mark.parametrize("text", ["\x1b[2J", "a\rb", "\x07", "\u202e"])
def test_a_stranger_does_not_steer_the_terminal(text: str) -> None:
    story = io.StringIO()
    log = Log("m0", story=story)
    log.write(Happened("joined", f"{text} sits down"), NOW)
    log.write(Refused("prev", "hearts/3.len", text), NOW)
    assert text not in story.getvalue()
    assert story.getvalue().count("\n") == 2


@pytest.mark.parametrize("text", ["naïve ♥", "a\nb", "\ud800 lone", "\x00\x1b[2J", "\u2028"])
def test_whatever_a_stranger_is_called_the_log_stays_one_line_an_event(tmp_path: Path, text: str) -> None:
    log = Log("m0", file=tmp_path / "log", story=io.TextIOWrapper(io.BytesIO(), "utf-8"), style="json")
    log.write(Happened("joined", text, {"name": text}), NOW)
    log.close()
    lines = (tmp_path / "log").read_bytes().split(b"\n")
    assert len(lines) == 2
    assert json.loads(lines[0])["name"] == text


def test_a_story_that_nobody_reads_any_more_does_not_end_the_game(tmp_path: Path) -> None:
    """In a process of its own, whose standard output is really closed."""
    script = f"""
import sys
from pathlib import Path
from nodes.core import Happened
from nodes.log import Log
log = Log("m0", file=Path({str(tmp_path / "log")!r}), story=sys.stdout)
sys.stdin.readline()
for number in range(3):
    log.write(Happened("trick", "x" * 100_000), {NOW})
log.close()
"""
    child = subprocess.Popen(
        [sys.executable, "-P", "-c", script],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert child.stdout is not None
    child.stdout.close()
    child.stdout = None
    _, err = child.communicate(b"go\n", timeout=PATIENCE_S)
    assert (child.returncode, err) == (0, b"")
    assert len(records(tmp_path / "log")) == 3


def test_a_full_disk_ends_the_log_and_not_the_game(capfd: pytest.CaptureFixture[str]) -> None:
    log = Log("m0", file=Path("/dev/full"))
    for _ in range(2):
        log.write(Happened("trick", "m1 takes it"), 0.0)
        log.flush()
    log.close()
    assert capfd.readouterr().err == "wiretable node: m0 writes no more log: No space left on device\n"
