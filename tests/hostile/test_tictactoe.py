"""Tic-tac-toe's server and client against those who mean harm."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from nodes.tictactoe.checks import CHECKS
from nodes.tictactoe.messages import MESSAGE_BYTES
from nodes.tictactoe.roles import CLIENTS_MAX, PIPELINE_MAX, REJECTED_MAX
from tests.hostile.harness import Arena, Listener, Node, Wire, eventually, linux_only

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [linux_only, pytest.mark.once]

EMPTY = b"1 0         "
REJECTED = b"0 0         "


def move(choice: bytes) -> bytes:
    return b"   " + choice + b"        "


REJECTIONS = {
    "a zero": (move(b"0"), "tictactoe/move.3"),
    "no such cell": (move(b":"), "tictactoe/move.3"),
    "a letter": (move(b"x"), "tictactoe/move.3"),
    "all blank": (b" " * 12, "tictactoe/move.3"),
    "a NUL for a cell": (move(b"\0"), "tictactoe/move.3"),
    "not ASCII": (move(b"\xb2"), "tictactoe/move.3"),
    "zeros": (b"\0" * 12, "tictactoe/move.1"),
    "all ones": (b"\xff" * 12, "tictactoe/move.1"),
    "a state": (EMPTY, "tictactoe/move.1"),
    "a cell in front": (b"5          5", "tictactoe/move.1"),
    "two cells": (b"   12       ", "tictactoe/move.1"),
    "a line end": (b"   5\r\n      ", "tictactoe/move.1"),
    "an HTTP request": (b"GET / HTTP/1", "tictactoe/move.1"),
    "a TLS hello": (bytes.fromhex("160301020001000001fc0303"), "tictactoe/move.1"),
}


def test_what_is_no_move_is_rejected_with_the_same_board() -> None:
    checks = []
    with Arena("tictactoe") as arena:
        for name, (data, check) in REJECTIONS.items():
            for pieces in ([data], [bytes((byte,)) for byte in data]):
                with Wire(arena.server.address) as wire:
                    assert wire.receive(MESSAGE_BYTES) == EMPTY
                    for piece in pieces:
                        wire.send(piece)
                    assert wire.receive(MESSAGE_BYTES) == REJECTED, name
                    wire.send(move(b"1"))
                    assert wire.receive(MESSAGE_BYTES)[:4] == b"1 2O", name
                    wire.send(move(b"1"))
                    assert wire.receive(MESSAGE_BYTES)[:4] == b"0 2O", "an occupied cell"
                checks += [check, "tictactoe/move.3"]
        eventually(lambda: arena.server.refused() == checks, "every rejection is in the log, by its own id")
        arena.check()
        arena.settle()


class Ended(NamedTuple):
    """What a client sends, all the server answers before it closes, and the check id in its log."""

    data: bytes
    answer: bytes
    check: str | None


ENDINGS = {
    "giving up": Ended(move(b"d"), b"1X0         ", None),
    "giving up and going on": Ended(move(b"D") + move(b"1") * 100, b"1X0         ", None),
    "rejected too often": Ended(
        move(b"0") * (REJECTED_MAX + 50), REJECTED * REJECTED_MAX, "tictactoe/limit.rejected"
    ),
    "far ahead of its turn": Ended(
        move(b"1") + b" " * 12 * (PIPELINE_MAX + 1), b"", "tictactoe/limit.pipeline"
    ),
    "a megabyte at once": Ended(b"\xff" * (1 << 20), REJECTED * REJECTED_MAX, "tictactoe/limit.rejected"),
}


def test_who_goes_too_far_is_answered_and_closed() -> None:
    with Arena("tictactoe") as arena:
        for name, (data, answer, check) in ENDINGS.items():
            with Wire(arena.server.address) as wire:
                assert wire.receive(MESSAGE_BYTES) == EMPTY
                wire.send(data)
                told = wire.rest()
                # Where the server closes on what it has not read, the kernel may throw its answer away.
                assert told == answer or (answer.startswith(told) and len(data) > 1000), name
            eventually(lambda: check is None or check in arena.server.refused(), str(check))  # noqa: B023
        arena.check()
        arena.settle()


@pytest.mark.parametrize("leave", [Wire.half_close, Wire.reset])
def test_a_client_may_vanish_at_any_step(leave: Callable[[Wire], None]) -> None:
    game = b"".join(move(cell) for cell in (b"1", b"2", b"3", b"4", b"6", b"7", b"8", b"9"))
    with Arena("tictactoe") as arena:
        for length in (0, 1, 11, 12, 13, 24, 30, 36, 60, 96):
            wire = Wire(arena.server.address)
            wire.receive(MESSAGE_BYTES)
            wire.send(game[:length])
            if leave is Wire.half_close:
                wire.half_close()
                wire.rest()
            leave(wire)
            wire.socket.close()
        arena.check("tictactoe/start.2")
        arena.settle()


def test_beyond_the_limit_clients_are_turned_away_and_the_rest_play() -> None:
    with Arena("tictactoe") as arena:
        wires = [Wire(arena.server.address) for _ in range(CLIENTS_MAX + 20)]
        told = [wire.receive(MESSAGE_BYTES) for wire in wires]
        assert told.count(EMPTY) == CLIENTS_MAX - 1  # the innocent one is the last
        assert told.count(b"") == 21
        for wire in wires:
            wire.reset()
        arena.check("tictactoe/limit.clients")
        arena.settle()


# What the server says, one after the other, each but the first once the client has moved.
LIES: dict[str, tuple[list[bytes], str | None]] = {
    "nothing": ([], None),
    "nothing after the first state": ([EMPTY], None),
    "half a state": ([b"1 0"], "tictactoe/start.2"),
    "half an answer": ([EMPTY, b"1 2"], "tictactoe/start.2"),
    "another first state": ([b"1 1X        "], "tictactoe/start.1"),
    "noise": ([bytes(range(200, 212))], "tictactoe/state.0"),
    "no such winner": ([b"1?0         "], "tictactoe/state.1"),
    "no such count": ([b"1 x         "], "tictactoe/state.2"),
    "no such cell": ([b"1 0        !"], "tictactoe/state.3"),
    "two states at once": ([EMPTY + EMPTY], "tictactoe/start.3"),
    "an end from nowhere": ([EMPTY, b"1X9XXXXXXXXX"], "tictactoe/state.3"),
    "no move of its own": ([EMPTY, EMPTY], "tictactoe/state.3"),
    "rejected for ever": ([EMPTY, *[REJECTED] * REJECTED_MAX], "tictactoe/move.3"),
    "a megabyte": ([b"\0" * (1 << 20)], "tictactoe/state.0"),
}


@pytest.mark.parametrize("name", LIES)
def test_a_client_ends_in_order_whatever_its_server_says(name: str) -> None:
    said, check = LIES[name]
    with Listener() as listener:
        node = Node("tictactoe", "client", "--connect", str(listener.address), "--games", "1")
        with listener.accept() as wire:
            for i, data in enumerate(said):
                assert not i or len(wire.receive(MESSAGE_BYTES)) == MESSAGE_BYTES
                wire.send(data)
            wire.half_close()
            wire.rest()
        assert node.wait() == 0
        assert node.complaints == b""
        assert check is None or check in node.refused()
        assert set(node.refused()) <= set(CHECKS)
        assert node.told("finished")
        node.discard()


def test_a_client_bears_a_server_that_hangs_up_at_once() -> None:
    with Listener() as listener:
        node = Node("tictactoe", "client", "--connect", str(listener.address), "--games", "3")
        listener.treat(Wire.reset)
        # Told apart by chance: a connection that broke, or a server that never took it.
        assert (node.wait(), node.complaints[:30]) in ((0, b""), (1, b"wiretable node: nobody answers"))
        assert node.complaints.count(b"\n") <= 1
        node.discard()
