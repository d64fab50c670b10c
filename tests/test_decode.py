"""`wiretable decode` as people and programs use it."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result

from captures import frames
from captures.blocks import Interface, Section
from captures.links import parse_end
from captures.pcapng import Writer
from captures.samples.make import FOLDER
from labs.cli import main
from labs.decode import COLUMNS
from nodes.hearts.messages import GameStart, PlayCard
from nodes.hearts.rules import QUEEN_OF_SPADES
from nodes.holdem.transport import frame as prefixed
from tests.house import ROOT

if TYPE_CHECKING:
    from pathlib import Path

HEARTS = str(FOLDER / "hearts.pcapng.gz")
ERRORS = str(FOLDER / "holdem-errors.pcapng")


def decode(*arguments: str, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(main, ["decode", *arguments], input=stdin)


def capture(path: Path, *data: bytes, link: str = "", comments: tuple[str, ...] = ()) -> Path:
    with path.open("wb") as stream, Writer(stream, Section()) as writer:
        number = writer.interface(Interface(link))
        for at, one in enumerate(data):
            writer.packet(number, at * 1_500_000_000, one, comments=comments)
    return path


def udp(data: bytes, src: str = "10.0.0.1:47123", dst: str = "10.0.0.2:47123") -> bytes:
    return frames.udp(parse_end(src), parse_end(dst), data, 0)


def test_a_hand_of_hearts_can_be_read_from_the_output_alone() -> None:
    done = decode(HEARTS, "--filter", "hop == 1")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    told = [line.split("  ", 4)[-1] for line in lines]
    first_hand = "\n".join(told[: next(i for i, line in enumerate(told) if "HAND_SUMMARY" in line) + 1])
    assert first_hand.count("deals M") == 4
    assert first_hand.count(" passes ") == 4
    assert first_hand.count("takes the trick") == 13
    assert first_hand.count(" plays ") == 52
    assert "Q♠ — 13 points to whoever takes it" in first_hand
    assert "the hand is over: M0" in first_hand
    assert "GAME_OVER" in lines[-1]
    assert "wins the game" in lines[-1]
    starts = {line.index("M0 ") for line in lines if "START_PHASE" in line}
    assert len(starts) == 1  # aligned


def test_what_a_ring_passes_on_is_told_shortly() -> None:
    lines = decode(HEARTS, "--filter", "frame.number <= 4").stdout.splitlines()
    assert "M0 starts a game" in lines[0]
    assert [line.split("GAME_START")[1].strip() for line in lines[1:]] == [
        "… on to m2",
        "… on to m3",
        "… back at m0",
    ]
    # Where the first hop is not shown, the meaning is.
    assert "M0 starts a game" in decode(HEARTS, "--filter", "frame.number == 3").stdout


def test_json_has_the_same_names_in_every_line() -> None:
    done = decode(HEARTS, "--format", "json", "--filter", "hearts.card == Q♠ and hop == 1")
    objects = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(objects) == 8  # once a hand
    assert {tuple(one) for one in objects} == {COLUMNS}
    one: dict[str, Any] = objects[0]
    assert (one["kind"], one["hop"], one["game"], one["check"], one["repeat"]) == (
        "PLAY_CARD",
        1,
        "hearts",
        None,
        False,
    )
    assert one["fields"]["card"] == QUEEN_OF_SPADES
    assert bytes.fromhex(one["data"])[-1] == QUEEN_OF_SPADES
    assert one["time"] == pytest.approx((one["time_ns"] - 1_600_000_000 * 10**9) / 1e9)
    assert done.stderr == ""


def test_csv_has_the_same_columns_in_every_row() -> None:
    rows = list(csv.reader(io.StringIO(decode(ERRORS, "--format", "csv").stdout)))
    assert tuple(rows[0]) == COLUMNS
    assert {len(row) for row in rows} == {len(COLUMNS)}
    objects = [json.loads(line) for line in decode(ERRORS, "--format", "json").stdout.splitlines()]
    assert len(rows) == len(objects) + 1
    for row, one in zip(rows[1:], objects, strict=True):
        by_name = dict(zip(COLUMNS, row, strict=True))
        assert by_name["meaning"] == one["meaning"]
        assert json.loads(by_name["fields"]) == one["fields"]
        assert by_name["check"] == (one["check"] or "")


def test_refusals_show_their_check_and_comments_stand_below() -> None:
    lines = decode(ERRORS).stdout.splitlines()
    at = next(i for i, line in enumerate(lines) if "[holdem/frame.len]" in line)
    assert "malformed" in lines[at]
    assert lines[at + 1].strip().startswith("# server refuses this: a packet length of -5")


def test_a_wrong_filter_points_at_its_place() -> None:
    done = decode(HEARTS, "--filter", "hop == 1 and hearts.tpye == 3")
    assert done.exit_code == 2
    assert "did you mean hearts.type" in done.stderr
    lines = done.stderr.splitlines()
    shown = next(i for i, line in enumerate(lines) if "hearts.tpye ==" in line)
    assert lines[shown + 1].index("^") == lines[shown].index("hearts.tpye")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--port", "hearts"],
        ["--port", "chess=1"],
        ["--port", "hearts=99999"],
        ["--format", "xml"],
        ["--stats", "--filter", "hop"],
        ["--stats", "--format", "csv"],
    ],
)
def test_a_wrong_command_line_is_exit_code_2(arguments: list[str]) -> None:
    done = decode(HEARTS, *arguments)
    assert done.exit_code == 2
    assert done.stdout == ""


def test_another_port_can_be_named(tmp_path: Path) -> None:
    path = str(capture(tmp_path / "a.pcapng", udp(GameStart().encode(), "10.0.0.1:7000", "10.0.0.2:7001")))
    done = decode(path)
    assert done.exit_code == 0
    assert "--port GAME=PORT" in done.stderr
    assert "M0 starts a game" in decode(path, "--port", "hearts=7001").stdout


def test_a_truncated_file_gives_what_there_is_and_exit_code_1(tmp_path: Path) -> None:
    path = capture(tmp_path / "a.pcapng", udp(GameStart().encode()), udp(PlayCard(QUEEN_OF_SPADES).encode()))
    path.write_bytes(path.read_bytes()[:-20])
    done = decode(str(path))
    assert done.exit_code == 1
    assert "M0 starts a game" in done.stdout
    assert "the file ends inside the block" in done.stderr
    assert "1 frame" in done.stderr


@pytest.mark.parametrize("content", [b"", b"#!/bin/sh\n", None])
def test_a_file_that_is_no_capture_is_a_sentence_and_exit_code_1(
    tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "a"
    if content is not None:
        path.write_bytes(content)
    done = decode(str(path))
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith(f"wiretable: {path}: ")
    assert "Traceback" not in done.stderr


def test_standard_input_and_gzip() -> None:
    whole = decode(HEARTS, "--format", "json").stdout
    with open(HEARTS, "rb") as stream:
        assert decode("-", "--format", "json", stdin=stream.read()).stdout == whole


def test_a_run_folder_stands_for_its_capture_and_the_newest_is_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = decode()
    assert done.exit_code == 1
    assert "wiretable run" in done.stderr
    run = tmp_path / "runs" / "20200101-000000-tictactoe"
    run.mkdir(parents=True)
    shutil.copy(FOLDER / "tictactoe.pcapng", run / "capture.pcapng")
    (tmp_path / "runs" / "latest").symlink_to(run.name)
    assert decode().stdout == decode(str(run)).stdout == decode(str(FOLDER / "tictactoe.pcapng")).stdout != ""


def test_colours_are_for_terminals_or_as_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.setenv(name, "")  # --color sets them for the whole process
    assert "\x1b" not in decode(ERRORS).stdout
    assert "\x1b[31m" in decode(ERRORS, "--color", "always").stdout
    assert "\x1b" not in decode(ERRORS, "--color", "never").stdout


def test_a_strangers_text_moves_no_cursor(tmp_path: Path) -> None:
    evil = "\x1b[2J\x9b31m\r\n"
    client, server = parse_end("10.0.0.1:5000"), parse_end("10.0.0.2:2333")
    body = json.dumps({"info": "dance", evil: evil, "half": "\ud800"}).encode()
    path = capture(
        tmp_path / "a.pcapng",
        frames.tcp(client, server, 9, 0, 2, b"", None, 0),
        frames.tcp(client, server, 10, 0, 16, prefixed(body), None, 0),
        link=evil,
        comments=(evil,),
    )
    text = decode(str(path)).stdout
    assert "\x1b" not in text
    assert "\x9b" not in text
    assert "\r" not in text
    found = [json.loads(line) for line in decode(str(path), "--format", "json").stdout.splitlines()]
    assert found[-1]["fields"]["half"] == "\ud800"
    assert decode(str(path), "--format", "csv").exit_code == 0


def test_every_name_is_listed() -> None:
    done = decode("--fields")
    assert done.exit_code == 0
    for name in ("hearts.origin", "frame.number", "holdem.players.name", "hop", "PLAY_CARD"):
        assert name in done.stdout


def test_a_summary_is_made_as_tables_and_as_json() -> None:
    assert "PLAY_CARD" in decode(HEARTS, "--stats").stdout
    summary = json.loads(decode(HEARTS, "--stats", "--format", "json").stdout)
    assert summary["frames"] == 4608
    assert summary["games"]["hearts"]["seen"] == 4608


def start(*arguments: str, **streams: Any) -> subprocess.Popen[bytes]:
    line = [sys.executable, "-m", "labs", "decode", *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    environment["PYTHONUTF8"] = "1"
    return subprocess.Popen(
        line, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **streams
    )


def test_a_reader_that_has_seen_enough_ends_it_in_silence() -> None:
    child = start(HEARTS)
    assert child.stdout is not None
    assert child.stderr is not None
    child.stdout.readline()
    child.stdout.close()
    assert child.wait(60) == 0
    assert child.stderr.read() == b""
    child.stderr.close()


def test_a_live_pipe_is_explained_line_by_line_and_ctrl_c_ends_it_in_silence() -> None:
    child = start("-", stdin=subprocess.PIPE)
    assert child.stdin is not None
    assert child.stdout is not None
    with open(FOLDER / "briscola.pcapng", "rb") as stream:
        child.stdin.write(stream.read(2000))
    child.stdin.flush()
    hangs = threading.Timer(60, child.kill)
    hangs.start()
    line = child.stdout.readline().decode()
    hangs.cancel()
    assert "looks for a game" in line
    child.send_signal(signal.SIGINT)
    _, complaint = child.communicate(timeout=60)
    assert child.returncode == 130
    assert complaint == b""
