"""Every run leaves a folder that explains itself."""

from __future__ import annotations

import os
import platform
import struct
from typing import TYPE_CHECKING

import pytest

from captures import Section, load
from nodes import __version__
from nodes.game import NAMES
from nodes.game import load as load_game
from tests.captures import shark
from tests.labs.folders import Folder, on_the_wire, without_repeats
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


def misses_nothing(game: str, folder: Folder) -> None:
    """The capture has every message that the logs say was sent, from the first one on."""
    sent, seen = folder.sent(), on_the_wire(game, folder)
    if game in ("hearts", "briscola"):
        # A ring node also forwards what others say, and both sides of Briscola acknowledge.
        assert all(is_within(said, seen[way]) for way, said in without_repeats(sent).items())
        # On the ring m0 speaks first; of the clients of a server, any.
        first = [sent["m0", "m1"][0]] if game == "hearts" else [said[0] for said in sent.values()]
        assert next(iter(folder.datagrams().values()))[0] in first
    elif game == "holdem":
        framed = {way: [struct.pack("<i", len(data)) + data for data in said] for way, said in sent.items()}
        assert {way: b"".join(said) for way, said in framed.items()} == seen
    elif game == "tictactoe":
        assert {way: b"".join(said) for way, said in sent.items()} == seen
    else:
        assert sent == seen


def is_within(some: list[bytes], all_of_it: list[bytes]) -> bool:
    """Whether `some` stand in `all_of_it`, in their order."""
    rest = iter(all_of_it)
    return all(data in rest for data in some)


@pytest.mark.parametrize("source", ["kernel", "shells"])
@pytest.mark.parametrize("game", NAMES)
def test_the_capture_has_all_that_was_sent_and_wireshark_doubts_none_of_it(
    family: Family, tmp_path: Path, game: str, source: str
) -> None:
    if source == "kernel":
        require_root()
    folder = run(family, tmp_path, game, "--capture", source)
    file = folder.path / "capture.pcapng"
    capture = load(file)
    assert folder.notes["capture"]["source"] == source
    misses_nothing(game, folder)
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
