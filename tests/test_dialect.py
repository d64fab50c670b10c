"""Settings of the form key=value become one frozen dialect, or one clear sentence."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes import dialect
from nodes.dialect import DialectError
from nodes.game import NAMES, load


@dataclass(frozen=True)
class Dialect:
    after_fourth: Literal["to-dealer", "keep", "next"] = "to-dealer"
    ace_high: bool = True
    players: int = 4
    rto_s: float = 0.5

    def __post_init__(self) -> None:
        if self.players < 2:
            raise ValueError("players must be 2 or more")


@dataclass(frozen=True)
class Bare:
    """A game whose text leaves nothing open."""


@pytest.mark.parametrize(
    ("given_settings", "expected"),
    [
        ([], Dialect()),
        (["after_fourth=keep"], Dialect(after_fourth="keep")),
        (["after-fourth=next"], Dialect(after_fourth="next")),
        ([" ace_high = off "], Dialect(ace_high=False)),
        (["ace_high=Yes"], Dialect(ace_high=True)),
        (["ace_high=0"], Dialect(ace_high=False)),
        (["players=3", "rto_s=2"], Dialect(players=3, rto_s=2.0)),
        (["players=3", "players=5"], Dialect(players=5)),
    ],
)
def test_settings_are_read(given_settings: list[str], expected: Dialect) -> None:
    assert dialect.parse(Dialect, given_settings) == expected


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        (
            "ace_high",
            "'ace_high' is not of the form key=value; knobs are: after_fourth, ace_high, players, rto_s",
        ),
        ("ace_hihg=on", "no knob is called 'ace_hihg'; did you mean 'ace_high'?"),
        ("zzz=1", "no knob is called 'zzz'; knobs are: after_fourth, ace_high, players, rto_s"),
        ("after_fourth=give", "'give' does not fit 'after_fourth'; it takes to-dealer | keep | next"),
        ("ace_high=maybe", "'maybe' does not fit 'ace_high'; it takes on | off"),
        ("players=many", "'many' does not fit 'players'; it takes a whole number"),
        ("players=2.5", "'2.5' does not fit 'players'; it takes a whole number"),
        ("rto_s=soon", "'soon' does not fit 'rto_s'; it takes a number"),
        ("players=1", "players must be 2 or more"),
    ],
)
def test_a_wrong_setting_gets_one_clear_sentence(setting: str, sentence: str) -> None:
    with pytest.raises(DialectError) as caught:
        dialect.parse(Dialect, (setting,))
    assert str(caught.value) == sentence


def test_a_game_without_knobs_says_so() -> None:
    assert dialect.parse(Bare, []) == Bare()
    with pytest.raises(DialectError, match="no knob is called 'x'; knobs are: none"):
        dialect.parse(Bare, ["x=1"])


def test_every_knob_is_listed_with_what_it_takes_and_its_default() -> None:
    assert dialect.knobs(Dialect) == {
        "after_fourth": ("to-dealer | keep | next", "to-dealer"),
        "ace_high": ("on | off", True),
        "players": ("a whole number", 4),
        "rto_s": ("a number", 0.5),
    }


def test_a_dialect_is_a_plain_dict_in_run_json() -> None:
    assert dialect.settings(Dialect(players=3)) == {
        "after_fourth": "to-dealer",
        "ace_high": True,
        "players": 3,
        "rto_s": 0.5,
    }


@settings(deadline=None)
@given(st.text())
def test_any_text_is_a_setting_or_an_explained_mistake(text: str) -> None:
    with suppress(DialectError):
        assert isinstance(dialect.parse(Dialect, [text]), Dialect)


@pytest.mark.parametrize("game", NAMES)
def test_every_knob_of_every_game_can_be_set_to_its_own_default(game: str) -> None:
    cls: type[Any] = load(game).dialect
    written = [f"{name}={_word(default)}" for name, (_, default) in dialect.knobs(cls).items()]
    assert dialect.parse(cls, written) == cls()


def _word(value: object) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else str(value)
