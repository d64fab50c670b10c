"""Whole games between real processes over real sockets."""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any

import pytest

from nodes.game import NAMES
from tests.labs.folders import Folder, Way, texts, without_repeats
from tests.tools import require_root

if TYPE_CHECKING:
    from pathlib import Path

    from tests.labs.command import Family

# A search thinks long; what is said here does not depend on who plays.
QUICK = {"connect4": ("--bot", "random"), "holdem": ("--games", "4")}


def play(family: Family, out: Path, game: str, *options: str) -> Folder:
    """Play to a good end."""
    done = family.call("run", game, "--out", str(out), "--json", *options)
    assert (done.code, done.err) == (0, "")
    outcome = json.loads(done.out)
    assert outcome["verdict"] == "finished"
    assert outcome["complaints"] == []
    assert outcome["refusals"] == {}
    assert outcome["games"]
    return Folder(out / "latest")


def on_the_wire(game: str, folder: Folder) -> dict[Way, Any]:
    """What the capture has of the application, apart from repeats and random masks."""
    if game in ("hearts", "briscola"):
        return without_repeats(folder.datagrams())
    streams = folder.streams()
    return {way: texts(stream) if game == "connect4" else stream for way, stream in streams.items()}


@pytest.mark.parametrize("game", NAMES)
def test_a_game_is_played_to_its_end_and_all_agree(family: Family, tmp_path: Path, game: str) -> None:
    folder = play(family, tmp_path, game, "--seed", "7")
    finished = {seat: folder.log(seat)[-1] for seat in folder.seats}
    assert {record["event"] for record in finished.values()} == {"finished"}
    if game == "hearts":
        assert len({json.dumps(record["result"]) for record in finished.values()}) == 1
    family.await_gone()


@pytest.mark.parametrize("game", NAMES)
def test_the_same_seed_says_the_same_bytes_and_another_does_not(
    family: Family, tmp_path: Path, game: str
) -> None:
    one, again, other = (
        play(family, tmp_path / str(number), game, "--seed", seed, *QUICK.get(game, ()))
        for number, seed in enumerate(("7", "7", "8"))
    )
    assert one.sent() == again.sent() != other.sent()
    assert one.notes["result"] == again.notes["result"]
    assert on_the_wire(game, one) == on_the_wire(game, again) != on_the_wire(game, other)


@pytest.mark.parametrize("source", ["kernel", "shells"])
@pytest.mark.parametrize("game", NAMES)
def test_the_capture_misses_nothing_that_the_logs_say_was_sent(
    family: Family, tmp_path: Path, game: str, source: str
) -> None:
    if source == "kernel":
        require_root()
    folder = play(family, tmp_path, game, "--seed", "9", "--capture", source, *QUICK.get(game, ()))
    assert folder.notes["capture"]["source"] == source
    sent, seen = folder.sent(), on_the_wire(game, folder)
    if game in ("hearts", "briscola"):
        # A ring node also forwards what others say, and both sides of Briscola acknowledge.
        assert all(is_within(said, seen[way]) for way, said in without_repeats(sent).items())
        assert next(iter(folder.datagrams().values()))[0] == folder.first_sent()
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


@pytest.mark.parametrize(
    ("game", "options"),
    [
        ("hearts", ("-D", "hold=skip")),
        ("hearts", ("-D", "after_fourth=keep", "--bot", "random")),
        ("hearts", ("-D", "after_fourth=next", "--bot", "m2=random")),
        ("hearts", ("-D", "first_lead=walk", "-D", "ace=low")),
        ("briscola", ("--players", "4", "--games", "2")),
        ("briscola", ("-D", "ack=bare")),
        ("tictactoe", ("--players", "5", "--games", "2")),
        ("tictactoe", ("-D", "plies=server", "--bot", "p1=perfect")),
        ("holdem", ("--players", "2", "--games", "3", "-D", "stacks=carry-over")),
        ("holdem", ("--players", "10", "--games", "2", "-D", "seats=fixed")),
        ("connect4", ("--players", "4", "--games", "1", "--bot", "random")),
        ("connect4", ("--players", "2", "-D", "genmove=legacy", "--bot", "random")),
    ],
)
def test_players_games_dialects_and_bots_may_be_chosen(
    family: Family, tmp_path: Path, game: str, options: tuple[str, ...]
) -> None:
    one, again = (play(family, tmp_path / name, game, "--seed", "3", *options) for name in "ab")
    assert one.sent() == again.sent()
    assert one.notes["result"] == again.notes["result"]
    given = dict(zip(options[::2], options[1::2], strict=True))
    if "-D" in given:
        knob, _, value = given["-D"].partition("=")
        assert one.notes["dialect"][knob] == value
    if "--players" in given:
        server = 0 if game == "hearts" else 1
        assert len(one.seats) == int(given["--players"]) + server
    if "--games" in given and game in ("briscola", "tictactoe", "holdem"):
        tables = {"briscola": 2, "tictactoe": 5, "holdem": 1}[game]
        assert len(one.notes["result"]["games"]) == int(given["--games"]) * tables
