"""Do all machines of a run tell the same result?"""

from __future__ import annotations

from typing import Any

from labs.plan import make
from labs.verdict import disagreements

RING, STAR = make("hearts"), make("briscola", players=4)


def result(*winners: str | None) -> dict[str, Any]:
    return {"games": [{"winner": winner, "scores": {"p1": 1}} for winner in winners]}


def test_nobody_and_one_cannot_disagree() -> None:
    assert disagreements(RING, {}) == []
    assert disagreements(RING, {"m0": result("m1")}) == []


def test_on_the_ring_all_tell_the_same() -> None:
    same = {seat: result("m1") for seat in ("m0", "m1", "m2", "m3")}
    assert disagreements(RING, same) == []
    (said,) = disagreements(RING, same | {"m2": result("m3")})
    assert said.startswith("m2 and m0 do not agree on the result")
    assert disagreements(RING, same | {"m2": result("m1", "m1")})
    assert disagreements(RING, same | {"m2": result()})


def test_a_client_tells_some_of_the_servers_games() -> None:
    server = result("p1", "p2", "p1")
    assert disagreements(STAR, {"server": server, "p1": result("p1"), "p2": result("p2", "p1")}) == []
    (said,) = disagreements(STAR, {"server": server, "p1": result("p3"), "p2": result()})
    assert said.startswith("p1 and server do not agree")


def test_a_game_counts_as_often_as_the_server_tells_it() -> None:
    assert disagreements(STAR, {"server": result("p1", "p2"), "p1": result("p1", "p1")})


def test_only_what_both_ends_know_is_compared() -> None:
    tictactoe = make("tictactoe")
    server = {"games": [{"winner": "client", "scores": {}, "mark": "O", "end": "won"}]}
    client = {"games": [{"winner": "p1", "scores": {}, "mark": "O", "end": "won"}]}
    assert disagreements(tictactoe, {"server": server, "p1": client}) == []
    client["games"][0]["mark"] = "X"
    assert disagreements(tictactoe, {"server": server, "p1": client})
