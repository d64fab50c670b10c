"""The Hearts ring against those who mean harm. The text assumes honest machines, not honest bytes."""

from __future__ import annotations

import contextlib
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from labs.engines import loopback
from nodes import memory
from nodes.game import load
from nodes.hearts.checks import CHECKS
from nodes.hearts.messages import NAMES, TYPES
from nodes.hearts.rules import DECK
from nodes.log import REFUSALS_LOGGED_MAX
from tests.hostile.harness import (
    ENDED_BY_EOF,
    RSS_GROWTH_MAX_KIB,
    SEED,
    Datagrams,
    Innocent,
    Node,
    eventually,
    linux_only,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nodes.address import Address
    from nodes.game import Seat

pytestmark = [linux_only, pytest.mark.once]

GAME = load("hearts")
NAMES_OF_SEATS = ["m0", "m1", "m2", "m3"]


class Ring:
    """Three machines that are processes, and m0, whose game stands still until it is let go."""

    players = 4

    def __init__(self, stop_at: int = 9) -> None:
        self.dialect: Any = GAME.dialect()
        self._reserved = loopback.reserve(GAME, GAME.seats(4))
        self.addresses = self._reserved.by_seat
        self.nodes = {name: self._start(i, name) for i, name in enumerate(NAMES_OF_SEATS) if i}
        self.m0 = Innocent(GAME, GAME.seats(4)[0], self, stop_at=stop_at, games=1)

    def _start(self, index: int, name: str) -> Node:
        return Node(
            "hearts", "--id", str(index), "--listen", str(self.addresses[name]),
            "--next", str(self.addresses[NAMES_OF_SEATS[(index + 1) % 4]]), "--seed", str(SEED),
        )  # fmt: skip

    def routes(self, seat: Seat) -> dict[str, Address]:
        return {"next": self.addresses[NAMES_OF_SEATS[(seat.index + 1) % 4]]}

    def __enter__(self) -> Ring:
        for node in self.nodes.values():
            node.await_told("listening")
        self.m0.start()
        eventually(self.m0.player.reached.is_set, "the game has begun")
        self.rss_kib = {name: node.rss_kib() for name, node in self.nodes.items()}
        return self

    def __exit__(self, *_: object) -> None:
        self.m0.player.go.set()
        for node in self.nodes.values():
            node.discard()
        self._reserved.release()

    def check(self) -> None:
        for name, node in self.nodes.items():
            assert node.alive
            assert node.complaints == b""
            assert node.rss_kib() - self.rss_kib[name] < RSS_GROWTH_MAX_KIB
            assert set(node.refused()) <= set(CHECKS)

    def settle(self) -> None:
        """The game goes on to the end it would have had anyway."""
        self.m0.finish()
        undisturbed = memory.network(GAME, SEED).run()
        assert self.m0.result == undisturbed["m0"]
        for name, node in self.nodes.items():
            assert node.wait() == 0
            assert node.complaints == b""
            assert node.told("finished")[0]["result"] == undisturbed[name]


def frame(
    kind: int, origin: int, dest: int, seq: int, payload: bytes = b"", length: int | None = None
) -> bytes:
    return bytes((kind, origin, dest, seq, len(payload) if length is None else length)) + payload


A, B = DECK[0], DECK[1]
# What no machine forwards, and why.
MALFORMED: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "hearts/3.header"),
    "four bytes": (b"\x02\x00\xff\x00", "hearts/3.header"),
    "a length too long": (frame(6, 1, 0xFF, 0, bytes((A,)), 2), "hearts/3.len"),
    "a length too short": (frame(6, 1, 0xFF, 0, bytes((A, B)), 1), "hearts/3.len"),
    "a length of 255": (frame(2, 0, 0xFF, 0, b"", 255), "hearts/3.len"),
    "a datagram longer than any": (frame(3, 0, 1, 0, bytes(60_000), 13), "hearts/3.len"),
    "type 0": (frame(0, 1, 0xFF, 0), "hearts/4.type"),
    "type 10": (frame(10, 1, 0xFF, 0), "hearts/4.type"),
    "type 255": (frame(255, 255, 255, 255), "hearts/4.type"),
    "machine 4": (frame(2, 4, 0xFF, 0), "hearts/3.origin"),
    "machine 255": (frame(2, 255, 0xFF, 0), "hearts/3.origin"),
    "to machine 4": (frame(2, 0, 4, 0), "hearts/3.dest"),
    "to machine 254": (frame(2, 0, 254, 0), "hearts/3.dest"),
    "a start with words": (frame(2, 0, 0xFF, 0, b"x"), "hearts/4.payload"),
    "twelve cards": (frame(3, 0, 1, 0, bytes(DECK[:12])), "hearts/4.payload"),
    "a token for nobody": (frame(1, 0, 0xFF, 0), "hearts/4.payload"),
    "three phases": (frame(4, 0, 0xFF, 0, b"\0\0\0"), "hearts/4.payload"),
    "card 0": (frame(6, 1, 0xFF, 0, b"\x00"), "hearts/5.card"),
    "card 14": (frame(6, 1, 0xFF, 0, b"\x0e"), "hearts/5.card"),
    "bit 6": (frame(6, 1, 0xFF, 0, bytes((A | 0x40,))), "hearts/5.card"),
    "bit 7": (frame(6, 1, 0xFF, 0, bytes((A | 0x80,))), "hearts/5.card"),
    "a card twice": (frame(5, 1, 2, 0, bytes((A, A, B))), "hearts/5.twice"),
}


@pytest.mark.parametrize("name", ["m1", "m2", "m3"])
def test_what_is_malformed_is_logged_not_forwarded_and_changes_nothing(name: str) -> None:
    with Ring() as ring, Datagrams(ring.addresses[name]) as stranger:
        stranger.flood(data for data, _ in MALFORMED.values())
        checks = [check for _, check in MALFORMED.values()]
        eventually(lambda: ring.nodes[name].refused() == checks, "each is in the log, by its own id")
        assert [other for other, node in ring.nodes.items() if node.refused()] == [name]
        ring.check()
        ring.settle()


def noise(rng: Random, count: int) -> Iterator[bytes]:
    """Malformed for sure: the length is wrong, or the origin."""
    for _ in range(count):
        data = bytearray(rng.randbytes(rng.choice((1, 4, 5, 6, 18, 40, 300, 2000))))
        if len(data) > 4 and data[4] == len(data) - 5:
            data[1] |= 4
        yield bytes(data)


def test_floods_of_malformed_frames_change_nothing_and_fill_no_disk() -> None:
    with Ring() as ring:
        for name, node in ring.nodes.items():
            with Datagrams(ring.addresses[name]) as stranger:
                stranger.flood(noise(Random(name), 4000))
            assert len(node.refused()) == REFUSALS_LOGGED_MAX
            assert node.log.stat().st_size < REFUSALS_LOGGED_MAX * 1000
        ring.check()
        ring.settle()


def test_replays_of_all_that_was_said_change_nothing() -> None:
    with Ring() as ring:
        said = [bytes.fromhex(r["data"]) for node in ring.nodes.values() for r in node.records("sent")]
        assert said
        for name in ring.nodes:
            with Datagrams(ring.addresses[name]) as stranger:
                stranger.flood(iter(said))
        ring.check()
        ring.settle()


PAYLOADS: dict[int, list[bytes]] = {
    1: [b"\0", b"\1", b"\3", b"\xff"],
    2: [b""],
    3: [bytes(DECK[:13]), bytes(DECK[13:26])],
    4: [b"\0\0", b"\0\3", b"\1", b"\7"],
    5: [bytes(DECK[:3]), bytes(DECK[20:23])],
    6: [bytes((card,)) for card in DECK[::5]],
    7: [bytes((9, 0, A, 1, B, 2, DECK[2], 3, DECK[3], 200))],
    8: [b"\xff" * 9, b"\0" * 9],
    9: [b"\0" * 5, b"\xff" * 5],
}


def forgeries(rng: Random, rounds: int) -> Iterator[bytes]:
    """Well-formed frames of every type with every origin, destination and number."""
    assert set(PAYLOADS) == set(NAMES) == {cls.TYPE for cls in TYPES}
    for _ in range(rounds):
        for kind, payloads in PAYLOADS.items():
            for origin in range(4):
                for payload in payloads:
                    yield frame(kind, origin, rng.choice((0, 1, 2, 3, 0xFF)), rng.randrange(256), payload)
    for seq in range(256):  # one after the other, so that every machine comes to expect each
        for origin in range(4):
            kind = rng.choice(list(PAYLOADS))
            yield frame(kind, origin, rng.choice((0, 1, 0xFF)), seq, rng.choice(PAYLOADS[kind]))


def test_forged_frames_may_spoil_a_game_but_break_and_wedge_no_machine() -> None:
    with Ring() as ring:
        ring.m0.player.go.set()
        for name in ring.nodes:
            with Datagrams(ring.addresses[name]) as stranger:
                stranger.flood(forgeries(Random(name), 6))
        # Whatever became of the game, each machine still reads, forwards and logs.
        ring.check()
        for name, node in ring.nodes.items():
            if len(node.refused()) < REFUSALS_LOGGED_MAX:
                before = node.refused().count("hearts/4.type")
                with Datagrams(ring.addresses[name]) as stranger:
                    stranger.send(frame(77, 0, 0, 0))
                eventually(lambda: node.refused().count("hearts/4.type") > before, "it listens")  # noqa: B023
            assert node.end() == ENDED_BY_EOF
            assert node.complaints == b""


def test_the_dealer_bears_the_same() -> None:
    """m0 as a process, and a ring that is nothing but us."""
    with contextlib.ExitStack() as stack:
        nowhere = stack.enter_context(Datagrams(None))
        dealer = Node(
            "hearts", "--id", "0", "--listen", "127.0.0.1:0", "--next", str(nowhere.here), "--seed", "1"
        )
        stack.callback(dealer.discard)
        nowhere.there = dealer.address
        rng = Random(8)
        for data in [*forgeries(rng, 3), *noise(rng, 500)]:
            nowhere.flood(iter([data]))
            # What it sent itself returns, so that it goes on.
            nowhere.flood(own for own in nowhere.take() if own[1] == 0)
        assert len(dealer.records("sent")) > 6  # it has dealt, and more
        assert dealer.alive
        assert dealer.end() == ENDED_BY_EOF
        assert dealer.complaints == b""
        assert set(dealer.refused()) <= set(CHECKS)
