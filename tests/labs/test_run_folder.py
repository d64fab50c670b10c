"""Every run leaves a folder that explains itself."""

from __future__ import annotations

import os
import platform
from typing import TYPE_CHECKING

import pytest

from captures import Section, load
from nodes import __version__
from nodes.game import NAMES
from nodes.game import load as load_game
from tests.captures import shark
from tests.labs.folders import Folder
from tests.tools import require_root

if TYPE_CHECKING:
    from pathlib import Path

    from tests.labs.command import Family

QUICK = {"connect4": ("--bot", "random"), "holdem": ("--games", "2")}


def run(family: Family, out: Path, game: str, *options: str) -> Folder:
    done = family.call(
        "run", game, "--seed", "7", "--quiet", "--out", str(out), *QUICK.get(game, ()), *options
    )
    assert (done.code, done.err) == (0, "")
    return Folder(out / "latest")


@pytest.mark.parametrize("game", NAMES)
def test_run_json_tells_all_that_the_run_was_made_of(family: Family, tmp_path: Path, game: str) -> None:
    folder = run(family, tmp_path, game)
    notes, played = folder.notes, load_game(game)
    assert notes["game"] == game
    assert (notes["seed"], notes["verdict"], notes["complaints"]) == (7, "finished", [])
    assert notes["versions"]["wiretable"] == __version__
    assert notes["versions"]["python"] == platform.python_version()
    assert {"click", "pokerkit", "rich", "websockets"} <= set(notes["versions"])
    assert notes["players"] == played.default_players
    assert {"seats", "links", "dialect", "started", "ended", "engine", "capture"} <= set(notes)
    seats = played.seats(played.default_players)
    assert [(seat["name"], seat["role"]) for seat in notes["seats"]] == [(s.name, s.role) for s in seats]
    assert len({seat["address"] for seat in notes["seats"]}) == len(seats)
    assert all((seat["bot"] is not None) == (seat["role"] in played.default_bots) for seat in notes["seats"])
    for told in notes["result"]["games"]:
        assert {"winner", "scores"} <= set(told)
    for seat in folder.seats:
        events = [record["event"] for record in folder.log(seat)]
        assert events.count("finished") == 1
        assert events.count("sent") > 0
        assert [record["t"] for record in folder.log(seat)] == sorted(r["t"] for r in folder.log(seat))
    assert sorted(path.name for path in folder.path.iterdir()) == sorted(
        ["capture.pcapng", "run.json", *(f"{seat}.jsonl" for seat in folder.seats)]
    )


def test_latest_points_at_the_newest_of_several_runs(family: Family, tmp_path: Path) -> None:
    for _ in range(2):
        run(family, tmp_path, "tictactoe", "--capture", "off")
    folders = sorted(path.name for path in tmp_path.iterdir() if not path.is_symlink())
    assert len(folders) == 2
    newest = max(folders, key=lambda name: Folder(tmp_path / name).log("p1")[0]["t"])
    assert os.readlink(tmp_path / "latest") == newest
    assert Folder(tmp_path / "latest").notes["capture"] == {"source": "off"}
    assert not (tmp_path / "latest" / "capture.pcapng").exists()


@pytest.mark.parametrize("source", ["kernel", "shells"])
@pytest.mark.parametrize("game", NAMES)
def test_wireshark_opens_the_capture_and_doubts_nothing(
    family: Family, tmp_path: Path, game: str, source: str
) -> None:
    if source == "kernel":
        require_root()
    folder = run(family, tmp_path, game, "--capture", source)
    file = folder.path / "capture.pcapng"
    capture = load(file)
    arrow = "→" if game == "hearts" else "↔"
    assert [link.name for link in capture.interfaces] == [arrow.join(link) for link in folder.notes["links"]]
    assert shark.tshark(file)
    if source == "shells":
        assert shark.complaints(file) == []
    else:  # a busy kernel really repeats a segment now and then, which Wireshark remarks upon
        assert shark.tshark(file, "-Y", "_ws.malformed or _ws.expert.severity >= error") == []
    comments = [text for block in capture.blocks if isinstance(block, Section) for text in block.comments]
    # Headers that nobody saw must say so.
    assert any("shells" in text for text in comments) == (source == "shells")
    assert f"{len(capture.packets)} frames" in folder.notes["capture"]["text"]
