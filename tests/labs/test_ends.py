"""However a run ends, nothing is left behind, and the folder says how it was."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING

import pytest

from captures import load
from nodes.game import NAMES
from tests.labs.command import PAUSE_S, finish, until
from tests.labs.folders import Folder

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from tests.labs.command import Family

SLOW = ("--pace", "0.2", "--seed", "7")
FEW = {"connect4": ("--players", "2")}


def start(family: Family, out: Path, game: str, *options: str) -> subprocess.Popen[bytes]:
    """Start a slow run, and wait until its game goes on."""
    options = (*SLOW, *FEW.get(game, ()), "--silence", "1", *options)
    child = family.start("run", game, "--out", str(out), *options)

    def goes_on() -> bool:
        return any('"event": "turn"' in log.read_text() for log in out.glob("latest/*.jsonl"))

    until(goes_on, lambda: f"{game} did not begin")
    return child


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("game", NAMES)
def test_a_signal_ends_a_run_in_order(
    family: Family, tmp_path: Path, game: str, number: signal.Signals
) -> None:
    source = "auto" if number is signal.SIGINT else "shells"
    child = start(family, tmp_path, game, "--capture", source)
    child.send_signal(number)
    done = finish(child)
    assert (done.code, done.err) == (130, "")
    assert "interrupted" in done.out
    assert family.alive() == {}
    folder = Folder(tmp_path / "latest")
    assert folder.notes["verdict"] == "interrupted"
    assert folder.notes["capture"]["file"] == "capture.pcapng"
    capture = load(folder.path / "capture.pcapng")
    assert capture.problem is None
    assert capture.packets
    assert all(folder.log(seat) for seat in folder.seats)
    assert list(folder.path.glob("*.tape")) == []


def test_ctrl_c_at_the_terminal_ends_a_run_in_order(family: Family, tmp_path: Path) -> None:
    with family.at_terminal("run", "hearts", *SLOW, "--out", str(tmp_path)) as screen:
        screen.expect("passes three cards")
        screen.press("\x03")
        assert screen.finish() == 130
        assert "Traceback" not in screen.text
        assert "interrupted" in screen.text
    assert family.alive() == {}
    assert Folder(tmp_path / "latest").notes["verdict"] == "interrupted"


@pytest.mark.parametrize("times", [2, 5])
def test_an_impatient_person_may_press_ctrl_c_again(family: Family, tmp_path: Path, times: int) -> None:
    child = start(family, tmp_path, "hearts")
    for _ in range(times):
        child.send_signal(signal.SIGINT)
        time.sleep(PAUSE_S)
    done = finish(child)
    assert (done.code, done.err) == (130, "")
    assert family.alive() == {}
    assert Folder(tmp_path / "latest").notes["verdict"] == "interrupted"
    assert load(tmp_path / "latest" / "capture.pcapng").problem is None


@pytest.mark.parametrize("game", NAMES)
def test_nodes_and_recorder_end_by_themselves_when_the_run_is_killed(
    family: Family, tmp_path: Path, game: str
) -> None:
    child = start(family, tmp_path, game)
    assert len(family.alive()) > 2
    child.kill()
    finish(child)
    family.await_gone()
    assert load(tmp_path / "latest" / "capture.pcapng").problem is None


@pytest.mark.parametrize(
    ("game", "seat"),
    [
        *(("hearts", seat) for seat in ("m0", "m2")),
        *((game, seat) for game in NAMES[1:] for seat in ("server", "p1")),
    ],
)
def test_a_machine_that_is_killed_is_named(family: Family, tmp_path: Path, game: str, seat: str) -> None:
    child = start(family, tmp_path, game)
    words = ["--id", seat[1]] if game == "hearts" else [seat]
    machine = family.find("nodes", game, *words)
    assert machine is not None
    os.kill(machine, signal.SIGKILL)
    done = finish(child)
    assert done.err == ""
    notes = Folder(tmp_path / "latest").notes
    assert (done.code, notes["verdict"]) in {(1, "failed"), (3, "stalled")}
    assert f"{seat} was ended by SIGKILL; see {tmp_path}" in done.out
    assert any(text.startswith(f"{seat} was ended by SIGKILL") for text in notes["complaints"])
    assert family.alive() == {}
