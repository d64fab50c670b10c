"""A person in a seat: scripted, at a real terminal and through a pipe."""

from __future__ import annotations

import re
import signal
from typing import TYPE_CHECKING

import pytest

from nodes.game import NAMES
from tests.labs.command import ESCAPE, finish
from tests.labs.folders import Folder

if TYPE_CHECKING:
    from pathlib import Path

    from tests.labs.command import Family

SEAT = {"hearts": "m1", "briscola": "p1", "tictactoe": "p1", "holdem": "p1", "connect4": "p1"}
QUESTION = {
    "hearts": r"(Three cards for m\d \(\w+\)|Your card)\? ",
    "briscola": r"Your card \(1–\d, or quit\): ",
    "tictactoe": r"You are [OX] against server\. Which cell\? ",
    "holdem": r"Your action\? ",
    "connect4": r"Column \(0–6, or quit\)\? ",
}
# What no game takes, and what it answers.
NONSENSE = {
    "hearts": ("zz", "'zz' is no card of yours"),
    "briscola": ("9", "Not in your hand"),
    "tictactoe": ("10", "Type the number of a free cell"),
    "holdem": ("dance", "You may: fold"),
    "connect4": ("7", "A column is a number from 0 to 6"),
}
FEW = {
    "hearts": ("--bot", "random"),
    "holdem": ("--games", "2"),
    "connect4": ("--players", "2", "--games", "1", "--bot", "random"),
}


def arguments(game: str, out: Path, *more: str) -> list[str]:
    return ["play", game, "--seed", "7", "--pace", "0", "--out", str(out), *FEW.get(game, ()), *more]


def answers(game: str, question: str, shown: str) -> list[str]:
    """What a person might try, read off the screen: one of these is legal."""
    if game == "hearts":
        if "Three cards" in question:
            return ["1 2 3"]
        hand = shown[shown.rindex(" 1:") :]
        return re.findall(r"(\d+):(?:10|[2-9JQKA])[♦♣♥♠]", hand)
    if game == "briscola":
        return ["1"]
    if game == "tictactoe":
        board = shown[-120:]
        return re.findall(r"(?:^| )([1-9])(?= |\n)", board)
    if game == "holdem":
        return ["check", "call"]
    return list("3245160")


@pytest.mark.parametrize("game", NAMES)
def test_a_person_plays_a_whole_game_at_a_terminal(family: Family, tmp_path: Path, game: str) -> None:
    nonsense, explained = NONSENSE[game]
    with family.at_terminal(*arguments(game, tmp_path)) as screen:
        screen.expect(rf"You are {SEAT[game]}\.")
        asked = screen.expect(QUESTION[game]).end()
        screen.type(nonsense)
        screen.expect(explained)
        tried: list[str] = []
        while (question := screen.see(QUESTION[game])) is not None:
            # Only a complaint and no table between two questions: the last answer was refused.
            if "\n\n" in screen.text[asked : question.start()]:
                tried = []
            possible = answers(game, question[0], screen.text[: question.start()])
            tried.append(next(answer for answer in possible if answer not in tried))
            asked = question.end()
            screen.type(tried[-1])
        assert screen.finish() == 0
        assert "Traceback" not in screen.text
        assert "winner" in screen.text
        assert ESCAPE in screen.raw
    folder = Folder(tmp_path / "latest")
    assert folder.notes["verdict"] == "finished"
    assert folder.notes["seats"][folder.seats.index(SEAT[game])]["bot"] == "person"
    assert folder.log(SEAT[game])[-1]["event"] == "finished"
    assert family.alive() == {}


@pytest.mark.parametrize("game", NAMES)
def test_a_person_plays_a_whole_game_through_a_pipe(family: Family, tmp_path: Path, game: str) -> None:
    child = family.start(*arguments(game, tmp_path))
    script = {
        "hearts": ["1 2 3", *map(str, range(13, 0, -1))],
        "briscola": ["1"],
        "tictactoe": list("123456789"),
        "holdem": ["check", "call"],
        "connect4": list("0123456"),
    }[game]
    assert child.stdin is not None
    # Far more answers than any game has questions; illegal ones are asked for again.
    child.stdin.write("".join(f"{answer}\n" for answer in script * 400).encode())
    done = finish(child)
    assert (done.code, done.err) == (0, "")
    assert "winner" in done.out
    assert ESCAPE not in done.out
    assert Folder(tmp_path / "latest").notes["verdict"] == "finished"


@pytest.mark.parametrize(
    ("game", "keys"),
    [
        *((game, keys) for game in NAMES for keys in ("quit\n", "\x03", "\x04")),
        ("hearts", "\x03\x03\x03"),
        ("holdem", "\x03\x03\x03"),
        ("tictactoe", "QUIT \n"),
    ],
)
def test_leaving_ends_everything_at_once(family: Family, tmp_path: Path, game: str, keys: str) -> None:
    with family.at_terminal(*arguments(game, tmp_path)) as screen:
        screen.expect(QUESTION[game])
        screen.press(keys)
        assert screen.finish() == 130
        assert "Traceback" not in screen.text
        assert f"{SEAT[game]} left; the game was not played to its end" in screen.text
    assert family.alive() == {}
    assert Folder(tmp_path / "latest").notes["verdict"] == "interrupted"


@pytest.mark.parametrize("game", NAMES)
def test_the_end_of_a_pipe_is_leaving_too(family: Family, tmp_path: Path, game: str) -> None:
    done = family.call(*arguments(game, tmp_path))
    assert (done.code, done.err) == (130, "")
    assert "left; the game was not played to its end" in done.out
    assert family.alive() == {}


@pytest.mark.parametrize("game", ["hearts", "holdem", "connect4"])
def test_a_signal_while_a_person_thinks_at_a_pipe_ends_in_order(
    family: Family, tmp_path: Path, game: str
) -> None:
    child = family.start(*arguments(game, tmp_path))
    assert child.stdout is not None
    said = b""
    while not re.search(QUESTION[game].strip().encode(), said):
        piece = child.stdout.read1(4096)  # type: ignore[attr-defined] # a pipe's reader has it
        assert piece
        said += piece
    keyboard, child.stdin = child.stdin, None  # it stays open: the person is still thinking
    assert keyboard is not None
    child.send_signal(signal.SIGTERM)
    done = finish(child)
    keyboard.close()
    assert (done.code, done.err) == (130, "")
    assert family.alive() == {}


def test_without_colour_a_seat_has_no_escape_code(family: Family, tmp_path: Path) -> None:
    with family.at_terminal(*arguments("tictactoe", tmp_path, "--color", "never")) as screen:
        screen.expect(QUESTION["tictactoe"])
        screen.type("quit")
        assert screen.finish() == 130
        assert ESCAPE not in screen.raw


def test_another_seat_may_be_taken(family: Family, tmp_path: Path) -> None:
    with family.at_terminal(*arguments("hearts", tmp_path, "--seat", "m0")) as screen:
        screen.expect(r"You are m0\.")
        screen.expect(r"Three cards for m1 \(left\)\? ")
        screen.type("quit")
        assert screen.finish() == 130
