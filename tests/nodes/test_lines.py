"""`wiretable node …` by hand: lines that a person types on as many machines, in any order."""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING

import pytest

from labs.engines import loopback
from nodes import streams
from nodes.game import load
from nodes.main import node
from tests.labs.command import finish, until

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

    from nodes.address import Address
    from tests.labs.command import Family

Started = dict[str, "subprocess.Popen[bytes]"]
# Where it listens and how it ended: a pipe that nobody reads must not fill up.
BRIEF = ("--json", "--quiet")
GAMES = {"briscola": 2, "tictactoe": 1, "holdem": 3, "connect4": 3}


@pytest.fixture
def places(request: pytest.FixtureRequest) -> Iterator[dict[str, Address]]:
    """Free addresses for the machines of the game that the test is about."""
    game = load(request.param)
    reserved = loopback.reserve(game, game.seats(game.default_players))
    yield reserved.by_seat
    reserved.release()


def stories(started: Started) -> dict[str, list[dict[str, object]]]:
    """What each machine told until its good end."""
    told = {}
    for seat, child in started.items():
        done = finish(child)
        assert (done.code, done.err) == (0, ""), seat
        told[seat] = [json.loads(text) for text in done.out.splitlines()]
    return told


@pytest.mark.parametrize("places", ["hearts"], indirect=True)
@pytest.mark.parametrize("order", ["0123", "3210", "2031"])
def test_four_lines_form_a_ring_in_any_order(family: Family, places: dict[str, Address], order: str) -> None:
    started: Started = {}
    for number in order:
        here, after = places[f"m{number}"], places[f"m{(int(number) + 1) % 4}"]
        started[f"m{number}"] = family.start(
            "node", "hearts", "--id", number, "--listen", str(here), "--next", str(after), *BRIEF
        )
        if number == order[0]:  # it speaks before anybody can hear
            assert started[f"m{number}"].stdout is not None
            assert b"listening" in started[f"m{number}"].stdout.readline()  # type: ignore[union-attr]
    results = [told[-1]["result"] for told in stories(started).values()]
    assert all(result == results[0] for result in results)
    assert results[0]


def client_line(game: str, seat: str, places: dict[str, Address]) -> list[str]:
    number = str(int(seat[1:]) - 1)
    line = ["node", game, "client", "--connect", str(places["server"]), "--name", seat, "--id", number]
    return [*line, "--games", "1", "--players", str(len(places) - 1), "--bot", "random", *BRIEF]


@pytest.mark.parametrize(
    ("places", "game", "first"),
    [(game, game, first) for game in GAMES for first in ("server", "p1")],
    indirect=["places"],
)
def test_a_server_and_its_clients_meet_whoever_is_first(
    family: Family, tmp_path: Path, places: dict[str, Address], game: str, first: str
) -> None:
    clients = [seat for seat in places if seat != "server"]
    server = ["node", game, "server", "--listen", str(places["server"]), "--games", "1", *BRIEF]
    lines = {seat: client_line(game, seat, places) for seat in clients}
    lines["server"] = [*server, "--players", str(len(clients))]
    log = tmp_path / "first.jsonl"
    started: Started = {first: family.start(*lines.pop(first), "--log", str(log))}
    until(log.exists, lambda: f"{first} did not start")  # it looks for the others from here on
    for seat, line in lines.items():
        started[seat] = family.start(*line)
    told = stories(started)
    assert all(story[-1]["event"] == "finished" for story in told.values())
    assert told["server"][-1]["result"]


def test_a_server_goes_on_until_it_is_stopped(family: Family, tmp_path: Path) -> None:
    game = load("tictactoe")
    reserved = loopback.reserve(game, game.seats(1))
    try:
        log = tmp_path / "server.jsonl"
        line = ["node", "tictactoe", "server", "--listen", str(reserved.by_seat["server"])]
        server = family.start(*line, "--log", str(log))
        for _ in range(2):
            played = family.call(*client_line("tictactoe", "p1", reserved.by_seat))
            assert (played.code, played.err) == (0, "")
        assert server.poll() is None
        server.terminate()
        done = finish(server)
    finally:
        reserved.release()
    assert (done.code, done.err) == (143, "")
    assert "listening on" in done.out
    assert [json.loads(text)["event"] for text in log.read_text().splitlines()].count("game") == 2


def test_a_client_that_finds_nobody_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(streams, "CONNECT_PATIENCE_S", 0.1)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        there = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(SystemExit, match="1"):
            node(["tictactoe", "client", "--connect", there], standalone_mode=False)
    told = capsys.readouterr()
    assert told.err == f"wiretable node: nobody answers at {there}: Connection refused; is it up?\n"


@pytest.mark.parametrize("places", ["tictactoe"], indirect=True)
def test_a_person_may_play_at_any_line(family: Family, places: dict[str, Address]) -> None:
    server = family.start(
        "node", "tictactoe", "server", "--listen", str(places["server"]), "--games", "1", "--players", "1"
    )
    line = ["node", "tictactoe", "client", "--connect", str(places["server"]), "--bot", "human"]
    with family.at_terminal(*line) as screen:
        screen.expect(r"Which cell\? ")
        screen.type("d")
        assert screen.finish() == 0
        assert "Traceback" not in screen.text
    assert finish(server).code == 0
