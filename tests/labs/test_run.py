"""Whole games between real processes over real sockets."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from nodes.game import NAMES
from tests.labs.folders import Folder, on_the_wire

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
    one = play(family, tmp_path / "one", game, "--seed", "3", *options)
    if game != "hearts":  # with several clients, chance has more ways in
        again = play(family, tmp_path / "again", game, "--seed", "3", *options)
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
