"""A field has one name: every key a message shows is in its game's list, and the list has no others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nodes.core import Sent
from nodes.game import NAMES, load
from nodes.memory import network
from nodes.vocabulary import Field, fields_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nodes.core import Json

# What no undisturbed game between our own nodes tells of: hold'em's prefix is no JSON and two of its keys
# are for servers in the wild; Briscola's ACKs are its link's own business; nobody makes errors.
UNSEEN = {
    "holdem": {"length", "room_id", "bots", "text"},
    "briscola": {"count", "code"},
}
KINDS = {
    "hearts": "TOKEN_PASS GAME_START DEAL_HAND START_PHASE PASS_CARDS PLAY_CARD TRICK_SUMMARY HAND_SUMMARY "
    "GAME_OVER",
    "briscola": "INIT GIV_C ENM_C END_G SEARCH USE_C",
    "tictactoe": "state move",
    "holdem": "connect ready action state result",
    "connect4": "connect connected newgame genmove playmove endgame",
}


def keys(fields: Json, within: str = "") -> Iterator[str]:
    if isinstance(fields, dict):
        for key, value in fields.items():
            yield within + key
            yield from keys(value, f"{within}{key}.")
    elif isinstance(fields, list):
        for value in fields:
            yield from keys(value, within)


@pytest.mark.parametrize("name", NAMES)
def test_every_field_on_the_wire_has_its_name_in_the_list(name: str) -> None:
    played = network(load(name), seed=7)
    played.run()
    sent = [event.message for events in played.events.values() for event in events if isinstance(event, Sent)]
    assert {message.kind for message in sent} == set(KINDS[name].split())
    seen = {key for message in sent for key in keys(message.fields())}
    assert seen | UNSEEN.get(name, set()) == set(fields_of(name))


@pytest.mark.parametrize(
    ("value", "name"),
    [(6, "PLAY_CARD"), (1, "TOKEN_PASS"), (77, "77"), ([1, 6], "TOKEN_PASS PLAY_CARD")],
)
def test_a_value_is_shown_by_its_name(value: object, name: str) -> None:
    assert fields_of("hearts")["type"].name_of(value) == name


def test_a_name_stands_for_its_value_whatever_its_case() -> None:
    assert fields_of("hearts")["type"].value_of("play_card") == 6
    assert fields_of("hearts")["card"].value_of("Q♠") == 0x3C
    assert fields_of("tictactoe")["winner"].value_of("tie") == "E"
    assert Field("integer", "no names").value_of("anything") is None
