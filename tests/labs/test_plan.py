"""A run before anything has been started."""

from __future__ import annotations

import pytest

from labs.plan import PlanError, make
from nodes.dialect import DialectError
from nodes.game import NAMES, load


@pytest.mark.parametrize("name", NAMES)
def test_what_was_left_open_is_filled_in(name: str) -> None:
    plan, game = make(name), load(name)
    assert (plan.players, plan.games) == (game.default_players, game.default_games)
    assert [seat.name for seat in plan.seats] == [seat.name for seat in game.seats(plan.players)]
    deciding = {seat.name: seat.role for seat in plan.seats if seat.role in game.default_bots}
    assert plan.bots == {seat: game.default_bots[role] for seat, role in deciding.items()}
    assert 0 <= plan.seed < 2**32
    assert make(name).seed != plan.seed
    assert set(plan.dialect) >= set(game.seeded)


def test_a_seed_of_zero_is_a_seed() -> None:
    assert make("hearts", seed=0).seed == 0


def test_a_persons_own_setting_wins_over_what_a_seeded_run_adds() -> None:
    assert make("connect4").dialect["clock"] == "logical"
    assert make("connect4", settings=["clock=wall"]).dialect["clock"] == "wall"
    assert make("connect4", settings=["clock=wall", "clock=logical"]).dialect["clock"] == "logical"


def test_a_person_has_time_to_think_and_real_time_on_the_wire() -> None:
    plan = make("connect4", person="p1")
    assert (plan.players, plan.dialect["clock"], plan.dialect["clock_s"]) == (2, "wall", 600.0)
    assert make("holdem", person="p1").dialect["thinking_s"] == 600.0
    assert make("holdem", person="p1", settings=["thinking_s=5"]).dialect["thinking_s"] == 5.0


def test_bots_are_for_all_seats_or_for_one_and_the_later_wins() -> None:
    assert set(make("hearts", bots=["random"]).bots.values()) == {"random"}
    bots = make("hearts", bots=["random", "m2=sensible"]).bots
    assert bots == {"m0": "random", "m1": "random", "m2": "sensible", "m3": "random"}
    assert set(make("hearts", bots=["m2=sensible", "random"]).bots.values()) == {"random"}


def test_a_person_takes_the_place_of_a_bot() -> None:
    plan = make("briscola", person="p2")
    assert plan.person == "p2"
    assert set(plan.bots) == {"p1"}


def test_links_go_around_the_ring_or_to_the_server() -> None:
    assert make("hearts").links == [("m0", "m1"), ("m1", "m2"), ("m2", "m3"), ("m3", "m0")]
    assert make("holdem", players=2).links == [("p1", "server"), ("p2", "server")]


@pytest.mark.parametrize(
    ("wishes", "says"),
    [
        ({"players": 5}, "hearts is for 4 players, not 5"),
        ({"bots": ["deep"]}, "hearts has no bot 'deep'; it has: random, sensible"),
        ({"bots": ["m4=random"]}, "there is no seat 'm4' for a bot; seats are: m0, m1, m2, m3"),
        ({"bots": ["=random"]}, "there is no seat '' for a bot"),
        ({"person": "m4"}, "nobody can sit at 'm4'"),
    ],
)
def test_a_run_that_cannot_be_is_explained(wishes: dict[str, object], says: str) -> None:
    with pytest.raises(PlanError, match=says):
        make("hearts", **wishes)  # type: ignore[arg-type]


def test_a_knob_that_is_none_is_explained() -> None:
    with pytest.raises(DialectError, match="no knob is called 'aces'"):
        make("hearts", settings=["aces=low"])
