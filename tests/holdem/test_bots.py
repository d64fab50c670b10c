"""Bots: legal, seeded, and the sensible one earns its name."""

from __future__ import annotations

import json
from collections import Counter
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pokerkit import StandardHighHand

from nodes import memory
from nodes.game import load
from nodes.holdem.bots import BOTS, DECK, chen, equity, stay, straight, strength
from nodes.holdem.messages import ACTIONS, MONEY_MAX, Played, PlayerState, State, decode, objection
from nodes.holdem.roles import View

GAME = load("holdem")


def view(
    private: str = "As Ah",
    public: str = "",
    legal: tuple[str, ...] = ("fold", "call", "raise"),
    raise_range: tuple[int, ...] = (200, 20000),
    paid: tuple[int, ...] = (50, 100),
) -> View:
    return View(
        "me",
        0,
        tuple(private.split()),
        tuple(public.split()),
        legal,
        raise_range,
        tuple(PlayerState(i, 20000 - sum_, 20000, f"p{i}") for i, sum_ in enumerate(paid)),
        ((Played(2, "fold", ""),),) if len(paid) > 2 else ((),),
    )


VIEWS = [
    view(),
    view("7c 2d"),
    view(legal=("fold", "check", "raise"), paid=(100, 100)),
    view("7c 2d", legal=("fold", "check"), raise_range=(), paid=(100, 100)),
    view(legal=("fold", "call"), raise_range=(), paid=(1000, 20000)),
    view("7c 2d", "As Kd Qh", paid=(100, 20000)),
    view("Ac Ad", "As Kd Qh", paid=(100, 300, 100)),
    view("Ac Ad", "As Kd Qh", legal=("fold", "call"), raise_range=(), paid=(100, 20000)),
    view(
        "7c 2d", "As Kd Qh 3c 4h", legal=("fold", "check", "raise"), raise_range=(100, 150), paid=(100, 100)
    ),
]


@pytest.mark.parametrize("name", BOTS)
@pytest.mark.parametrize("seen", VIEWS)
def test_every_choice_of_every_bot_is_legal(name: str, seen: View) -> None:
    bot = BOTS[name](Random(4))
    for _ in range(30):
        assert objection(bot.choose(seen), seen.legal_actions, seen.raise_range) is None


amounts = st.integers(-MONEY_MAX, MONEY_MAX) | st.floats(-MONEY_MAX, MONEY_MAX)


@st.composite
def lies(draw: st.DrawFn) -> State:
    """A state that is well-formed, and asks the first seat to act on no matter what nonsense."""
    cards = draw(st.permutations(DECK))
    shown = draw(st.integers(0, 2)), draw(st.integers(0, 5))
    seats = draw(st.integers(2, 10))
    players = [
        {"position": i, "money_left": draw(amounts), "total_money": draw(amounts), "name": f"p{i}"}
        for i in range(seats)
    ]
    history: st.SearchStrategy[dict[str, Any]] = st.builds(
        dict, position=st.integers(0, 9), action=st.sampled_from(["fold", "r1", "x"])
    )
    legal = {draw(st.sampled_from(["call", "check"])), *draw(st.sets(st.sampled_from(["fold", "raise"])))}
    fields = {
        "info": "state",
        "position": 0,
        "action_position": 0,
        "legal_actions": [action for action in ACTIONS if action in legal],
        "raise_range": sorted(draw(st.tuples(*[st.integers(0, MONEY_MAX)] * 2))),
        "private_card": cards[: shown[0]],
        "public_card": cards[2 : 2 + shown[1]],
        "players": players,
        "action_history": draw(st.lists(st.lists(history, max_size=5), max_size=4)),
    }
    state = decode(json.dumps(fields).encode())
    assert isinstance(state, State)
    return state


@settings(deadline=None, max_examples=100)
@given(lies())
def test_no_state_a_server_can_send_leads_a_bot_to_an_illegal_choice(state: State) -> None:
    seen = View(
        "p0",
        0,
        state.private_card,
        state.public_card,
        state.legal_actions,
        state.raise_range,
        state.players,
        state.action_history,
    )
    for make in BOTS.values():
        assert objection(make(Random(4)).choose(seen), seen.legal_actions, seen.raise_range) is None


@pytest.mark.parametrize("name", ["random", "sensible"])
def test_no_bot_folds_where_a_check_is_free(name: str) -> None:
    bot = BOTS[name](Random(4))
    free = view("7c 2d", legal=("fold", "check"), raise_range=(), paid=(100, 100))
    assert {bot.choose(free) for _ in range(50)} == {"check"}


def test_the_random_bot_does_a_bit_of_everything() -> None:
    bot = BOTS["random"](Random(4))
    assert {bot.choose(view())[0] for _ in range(100)} == {"r", "f", "c"}


def test_the_caller_stays() -> None:
    assert [BOTS["caller"](Random(1)).choose(seen) for seen in VIEWS] == [stay(seen) for seen in VIEWS]


def test_the_sensible_bot_raises_aces_and_folds_seven_two() -> None:
    bot = BOTS["sensible"](Random(4))
    assert bot.choose(view("As Ah")).startswith("r")
    assert bot.choose(view("7c 2d")) == "fold"
    assert bot.choose(view("7c 2d", "As Kd Qh", paid=(100, 20000))) == "fold"


@pytest.mark.parametrize(
    ("cards", "score"),
    [
        ("As Ah", 20), ("Ks Kh", 16), ("2s 2h", 5), ("As Ks", 12), ("As Kh", 10), ("Js Ts", 9),
        ("7s 2h", -1.5), ("5s 3s", 4.5), ("As 2h", 5), ("Ts 9h", 6), ("Qs 9s", 7),
    ],
)  # fmt: skip
def test_chens_formula(cards: str, score: float) -> None:
    assert chen(cards.split()) == score


def test_the_estimate_ranks_hands_as_the_referee_does() -> None:
    rng = Random(2)
    for _ in range(300):
        drawn = rng.sample(DECK, 9)
        mine, yours = drawn[:7], drawn[2:]
        judged = [StandardHighHand.from_game("".join(cards)) for cards in (mine, yours)]
        ours = [strength(cards) for cards in (mine, yours)]
        assert (ours[0] > ours[1], ours[0] == ours[1]) == (judged[0] > judged[1], judged[0] == judged[1])


@pytest.mark.parametrize(
    ("cards", "category"),
    [
        ("As Ks Qs Js Ts 2c 3d", 8), ("As 2s 3s 4s 5s 9c 9d", 8), ("9s 9c 9d 9h 2c 2d 3s", 7),
        ("9s 9c 9d 2h 2c 2d 3s", 6), ("9s 9c 9d 2h 2c 4d 3s", 6), ("As 9s 7s 4s 2s 2c 2d", 5),
        ("As 2d 3c 4s 5h 9c 9d", 4), ("9s 9c 9d Ah 2c 4d 7s", 3), ("9s 9c 8d 8h 2c 2d As", 2),
        ("9s 9c 8d 7h 2c 3d As", 1), ("9s Tc 8d 7h 2c 3d As", 0),
    ],
)  # fmt: skip
def test_categories_of_hands(cards: str, category: int) -> None:
    assert strength(cards.split())[0] == category


def test_an_ace_is_low_in_a_straight_too() -> None:
    assert straight([12, 0, 1, 2, 3]) == 3
    assert straight([12, 11, 10, 9, 8]) == 12
    assert straight([12, 11, 10, 9, 0]) == -1


def test_equity_is_a_share() -> None:
    assert equity(["As", "Ah"], ["Ad", "Ac", "2s"], 2, Random(1)) > 0.95
    assert equity(["7s", "2h"], ["Ad", "Ac", "As"], 3, Random(1)) < 0.4
    board = ["Ts", "Js", "Qs", "Ks", "As"]
    assert equity(["2c", "3d"], board, 1, Random(1)) == 0.5
    assert equity(["2c", "3d"], board, 0, Random(1)) == 1.0


@pytest.mark.parametrize("other", ["random", "caller"])
def test_sensible_beats_the_others_over_many_hands(other: str) -> None:
    won: Counter[str] = Counter()
    for seed in range(8):
        games: Any = memory.network(
            GAME, seed, players=3, games=20, bots={"client": other, "p3": "sensible"}
        ).run()["server"]["games"]
        for game in games:
            won.update(game["scores"])
    assert won["p3"] > 0
