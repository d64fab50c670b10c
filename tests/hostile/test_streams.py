"""What every server on a stream must bear, whatever it speaks."""

from __future__ import annotations

import resource
from random import Random
from typing import Any

import pytest

from nodes.connect4.server import REGISTER_S
from nodes.streams import CONNECTIONS_MAX, DESCRIPTORS_SPARE
from tests.hostile.harness import Arena, Node, Wire, eventually, linux_only

pytestmark = [linux_only, pytest.mark.once]

GAMES: dict[str, dict[str, Any]] = {
    "tictactoe": {},
    "holdem": {"players": 2, "stop_at": 1},
    "connect4": {"players": 2, "server_games": 1},
}
# What a connection that ends in the middle of something is logged as.
CUT_OFF = {"tictactoe": {"tictactoe/start.2"}, "holdem": set[str](), "connect4": {"connect4/line"}}

each_game = pytest.mark.parametrize("game", GAMES)


@each_game
def test_noise_of_every_length_ended_in_every_way(game: str) -> None:
    rng = Random(11)
    with Arena(game, **GAMES[game]) as arena:
        for i in range(120):
            wire = Wire(arena.server.address)
            wire.send(rng.randbytes(rng.choice((1, 3, 5, 11, 12, 13, 100, 5000))))
            (wire.socket.close, wire.half_close, wire.reset)[i % 3]()
            if i % 3 == 1:
                wire.rest()  # it is answered, or not, and ended
                wire.socket.close()
        arena.check(*CUT_OFF[game])
        arena.settle()


@each_game
def test_silent_and_half_open_connections_and_a_byte_at_a_time(game: str) -> None:
    with Arena(game, **GAMES[game]) as arena:
        wires = [Wire(arena.server.address) for _ in range(240)]
        for i, wire in enumerate(wires):
            if i % 3 == 0:
                wire.half_close()
            for byte in b"\x10\0\0"[: i % 4]:
                wire.send(bytes((byte,)))
        with Wire(arena.server.address) as late:  # one more is served all the same
            late.half_close()
            late.rest()
        for i, wire in enumerate(wires):
            wire.reset() if i % 2 else wire.socket.close()
        arena.check()
        arena.settle()


@each_game
def test_more_connections_than_files_may_be_open(game: str) -> None:
    with Arena(game, **GAMES[game]) as arena:
        limit = arena.descriptors + 10
        resource.prlimit(arena.server.pid, resource.RLIMIT_NOFILE, (limit, limit))
        wires = [Wire(arena.server.address) for _ in range(40)]
        assert "open files" in arena.server.await_told("crowded")["text"]
        for wire in wires:
            wire.socket.close()
        arena.check()
        arena.settle()
        assert len(arena.server.told("crowded")) == 1


def test_a_server_takes_as_many_files_as_its_limits_need() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, hard))
    try:
        node = Node("tictactoe", "server", "--listen", "127.0.0.1:0")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    node.await_told("listening")
    allowed = resource.prlimit(node.pid, resource.RLIMIT_NOFILE)[0]
    assert allowed == min(hard, CONNECTIONS_MAX + DESCRIPTORS_SPARE)
    node.discard()


def test_whoever_never_says_hello_is_sent_away() -> None:
    """The one timer short enough to wait for."""
    with Arena("connect4", **GAMES["connect4"]) as arena:
        with Wire(arena.server.address) as wire:
            eventually(lambda: wire.rest() is not None, f"silence ends, within {REGISTER_S:.0f} s or so")
        arena.check("connect4/line")
        arena.settle()
