"""What the command line says, and with which exit code."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from typing import TYPE_CHECKING

import pytest

from nodes.game import NAMES, load
from tests.labs.command import ESCAPE, PATIENCE_S, finish, line

if TYPE_CHECKING:
    from pathlib import Path

    from tests.labs.command import Done, Family

COMMANDS = [
    [], ["run"], ["play"], ["games"], ["explain"], ["bench"], ["test"], ["node"], ["node", "hearts"],
    *(["node", name, *role] for name in NAMES[1:] for role in ([], ["server"], ["client"])),
]  # fmt: skip


def sentence(done: Done) -> str:
    """The one sentence of a wrong command line."""
    assert done.code == 2
    assert done.out == ""
    assert "Traceback" not in done.err
    usage, hint, empty, error = done.err.splitlines()
    assert usage.startswith("Usage: wiretable")
    assert "--help" in hint
    assert empty == ""
    return error.removeprefix("Error: ")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("run chess", "'chess' is not one of 'hearts', 'briscola', 'tictactoe', 'holdem', 'connect4'"),
        ("run hearts --sed 7", "No such option '--sed'. Did you mean '--seed'?"),
        ("run hearts --seed seven", "'seven' is not a valid integer"),
        ("run hearts --games 0", "0 is not in the range x>=1"),
        ("run hearts -D aces=low", "no knob is called 'aces'; did you mean 'ace'?"),
        ("run hearts -D ace=middle", "'middle' does not fit 'ace'; it takes high | low"),
        ("run hearts -D ace", "'ace' is not of the form key=value"),
        ("run connect4 -D clock_s=0", "clock_s is 0.0; it must be above 0"),
        ("run hearts --bot deep", "hearts has no bot 'deep'; it has: random, sensible"),
        ("run hearts --bot m9=random", "there is no seat 'm9' for a bot; seats are: m0, m1, m2, m3"),
        ("run briscola --bot server=random", "there is no seat 'server' for a bot; seats are: p1, p2"),
        ("run hearts --players 3", "hearts is for 4 players, not 3"),
        ("run holdem --players 11", "holdem is for 2 to 10 players, not 11"),
        ("run briscola --players 3", "briscola is for 2 to 64 (in steps of 2) players, not 3"),
        ("play hearts --seat p1", "nobody can sit at 'p1'; seats are: m0, m1, m2, m3"),
        ("play briscola --seat server", "nobody can sit at 'server'; seats are: p1, p2"),
        ("node hearts --id 4 --next 127.0.0.1", "4 is not in the range 0<=x<=3"),
        ("node hearts --next 127.0.0.1", "Missing option '--id'"),
        ("node hearts --id 1 --next 127.0.0.1:x", "'127.0.0.1:x' is not HOST:PORT"),
        ("node hearts --id 1 --next 127.0.0.1 -D aces=low", "no knob is called 'aces'"),
        ("node briscola server --listen 127.0.0.1:99999", "'127.0.0.1:99999' is not HOST:PORT"),
        ("node briscola server -D acks=bare", "no knob is called 'acks'; did you mean 'ack'?"),
        ("node briscola server --bot random", "a server of briscola decides nothing; leave --bot out"),
        ("node tictactoe server --bot deep", "tictactoe has no bot 'deep'; it has: random, perfect"),
        ("node holdem server --players 1", "holdem is for 2 to 10 players, not 1"),
        ("node holdem server --log /nowhere/log", "cannot write the log /nowhere/log: No such file"),
        ("node connect4 server --tape /nowhere/tape", "cannot write the tape /nowhere/tape: No such file"),
        ("node connect4 client", "Missing option '--connect'"),
        ("explain", None),
    ],
)
def test_a_wrong_command_line_gets_one_clear_sentence(
    family: Family, tmp_path: Path, arguments: str, says: str | None
) -> None:
    words = arguments.split()
    if words[0] in ("run", "play"):
        words += ["--out", str(tmp_path / "runs")]
    done = family.call(*words)
    if says is None:
        assert (done.code, done.err) == (0, "")
    else:
        assert says in sentence(done)
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_help(family: Family, command: list[str]) -> None:
    done = family.call(*command, "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Usage: wiretable")
    if not command:
        assert "wiretable run hearts" in done.out
    if command == ["run"]:
        assert "wiretable run hearts --seed 7" in done.out
        assert "Exit code: 0" in done.out
    if command == ["node"]:
        assert "wiretable node hearts --id 0 --listen" in done.out
        assert "wiretable node connect4 client --connect" in done.out


def test_json_is_exactly_one_object_on_standard_output(family: Family, tmp_path: Path) -> None:
    done = family.call("run", "tictactoe", "--json", "--seed", "7", "--out", str(tmp_path))
    assert (done.code, done.err, done.out.count("\n")) == (0, "", 1)
    told = json.loads(done.out)
    assert set(told) == {"game", "seed", "verdict", "games", "complaints", "refusals", "folder", "capture"}
    assert (told["game"], told["seed"], told["verdict"]) == ("tictactoe", 7, "finished")


def test_quiet_prints_the_result_only(family: Family, tmp_path: Path) -> None:
    loud = family.call("run", "tictactoe", "--seed", "7", "--out", str(tmp_path / "loud"))
    quiet = family.call("run", "tictactoe", "--seed", "7", "--out", str(tmp_path / "quiet"), "--quiet")
    assert "Tic-tac-toe (Bom Velhinho) · 2 machines · seed 7" in loud.out
    assert "Tic-tac-toe" not in quiet.out
    table = quiet.out.partition("capture")[0]
    assert table
    assert table in loud.out


@pytest.mark.parametrize("how", ["NO_COLOR", "--color never", "a pipe"])
def test_without_colour_there_is_no_escape_code(family: Family, tmp_path: Path, how: str) -> None:
    run = ["run", "tictactoe", "--seed", "7", "--out", str(tmp_path)]
    if how == "a pipe":
        said = family.call(*run).said
    elif how == "NO_COLOR":
        with family.at_terminal(*run, NO_COLOR="1") as screen:
            assert screen.finish() == 0
            said = screen.raw
    else:
        with family.at_terminal(*run, "--color", "never") as screen:
            assert screen.finish() == 0
            said = screen.raw
    assert "winner" in said
    assert ESCAPE not in said


def test_colours_may_be_forced_into_a_pipe(family: Family, tmp_path: Path) -> None:
    done = family.call("run", "tictactoe", "--color", "always", "--out", str(tmp_path), NO_COLOR="1")
    assert ESCAPE in done.out


def test_a_terminal_shows_progress_and_keeps_the_table(family: Family, tmp_path: Path) -> None:
    with family.at_terminal("run", "tictactoe", "--pace", "0.2", "--out", str(tmp_path)) as screen:
        screen.expect("playing … ")
        screen.expect("winner")
        assert screen.finish() == 0
        assert ESCAPE in screen.raw


def test_a_folder_that_cannot_be_written_is_told(family: Family, tmp_path: Path) -> None:
    done = family.call("run", "tictactoe", "--quiet", "--out", "/proc/runs")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("wiretable: cannot make a run folder in /proc/runs: ")
    assert "--out DIR" in done.err
    assert done.err.count("\n") == 1
    file = tmp_path / "file"
    file.touch()
    assert "is a file" in sentence(family.call("run", "tictactoe", "--out", str(file)))


@pytest.mark.parametrize("game", NAMES)
def test_a_port_in_use_is_told(family: Family, game: str) -> None:
    kind = socket.SOCK_DGRAM if load(game).transport == "udp" else socket.SOCK_STREAM
    with socket.socket(socket.AF_INET, kind) as taken:
        taken.bind(("127.0.0.1", 0))
        here = f"127.0.0.1:{taken.getsockname()[1]}"
        role = ["--id", "1", "--next", "127.0.0.1:9"] if game == "hearts" else ["server"]
        done = family.call("node", game, *role, "--listen", here)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"wiretable node: cannot listen on {here}: Address already in use; ")
    assert done.err.count("\n") == 1


def test_games_lists_every_game_bot_and_knob(family: Family) -> None:
    told = family.call("games")
    data = json.loads(family.call("games", "--json").out)
    assert (told.code, list(data)) == (0, list(NAMES))
    for name, entry in data.items():
        assert f"{name} — {entry['title']}" in told.out
        assert all(word in told.out for word in (*entry["bots"], *entry["knobs"]))


def test_explain_knows_an_id_and_a_prefix(family: Family) -> None:
    checks = load("hearts").checks
    known = next(iter(checks))
    one = json.loads(family.call("explain", known, "--json").out)
    assert one == {known: {"clause": checks[known].clause, "means": checks[known].means}}
    shown = family.call("explain", known)
    assert shown.code == 0
    assert " ".join(checks[known].clause.split()) in " ".join(shown.out.split())
    every = json.loads(family.call("explain", "hearts", "--json").out)
    assert set(every) == set(checks)
    assert set(json.loads(family.call("explain", "--json").out)) > set(every)


def test_explain_names_the_nearest_id_to_one_it_does_not_know(family: Family) -> None:
    known = next(iter(load("hearts").checks))
    done = family.call("explain", f"{known}x")
    assert (done.code, done.out) == (2, "")
    assert done.err == f"wiretable: no check is called '{known}x'; did you mean {known}?\n"


@pytest.mark.parametrize("command", ["games", "explain", "explain --json", "run hearts --seed 7", "--help"])
def test_a_reader_that_leaves_early_sees_no_traceback(family: Family, tmp_path: Path, command: str) -> None:
    words = command.split() + (["--out", str(tmp_path)] if "run" in command else [])
    child = family.start(*words)
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.close()
    child.stdin = None
    child.stdout.readline()
    child.stdout.close()
    child.stdout = None
    done = finish(child)
    assert done.err == ""
    family.await_gone()


def test_the_version_is_told(family: Family) -> None:
    assert family.call("--version").out.startswith("wiretable, version ")


def test_a_folder_named_like_a_package_of_ours_changes_nothing(family: Family, tmp_path: Path) -> None:
    for name in ("nodes.py", "labs.py", "captures.py", "json.py"):
        (tmp_path / name).write_text("raise SystemExit('the wrong one')\n")
    done = subprocess.run(
        [*line("run", "tictactoe", "--json", "--out", str(tmp_path / "runs"))],
        cwd=tmp_path,
        env={**os.environ, **family.marked},
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("option", ["--pace", "--silence"])
@pytest.mark.parametrize("seconds", ["nan", "inf", "-1"])
def test_what_is_no_time_is_refused(family: Family, tmp_path: Path, option: str, seconds: str) -> None:
    done = family.call("run", "tictactoe", option, seconds, "--out", str(tmp_path))
    assert done.code == 2
    assert "Traceback" not in done.err
    assert list(tmp_path.iterdir()) == []
