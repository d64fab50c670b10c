"""Briscola's server and client against those who mean harm."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from nodes.briscola.checks import CHECKS
from nodes.briscola.messages import (
    Ack,
    Code,
    EndGame,
    EnemyCard,
    Error,
    GiveCard,
    Init,
    Search,
    UseCard,
    decode,
    pack,
)
from nodes.briscola.rules import DECK
from nodes.log import REFUSALS_LOGGED_MAX
from tests.hostile.harness import RSS_GROWTH_MAX_KIB, Arena, Datagrams, Node, eventually, linux_only

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [linux_only, pytest.mark.once]

CARD = DECK[0]

# A stranger's datagram, the code of the ERR it gets, and the check id in the log.
ANSWERED: dict[str, tuple[bytes, Code, str]] = {
    "nothing": (b"", Code.MALFORMED, "briscola/size"),
    "one byte": (b"\xa0", Code.MALFORMED, "briscola/size"),
    "three bytes": (b"\xa0\x05\x00", Code.MALFORMED, "briscola/size"),
    "as long as there are": (bytes(60_000), Code.MALFORMED, "briscola/size"),
    "an id that cannot be": (pack(5, 0, 64), Code.MALFORMED, "briscola/search.id"),
    "a card in SEARCH": (pack(5, 1, 9), Code.MALFORMED, "briscola/card.unused"),
    "an id in use": (Search(1).encode(), Code.ID_IN_USE, "briscola/search.taken"),
    "a card and no game": (UseCard(CARD).encode(), Code.NO_GAME, "briscola/game.none"),
    "no card": (pack(6, 0, 0), Code.NO_SUCH_CARD, "briscola/card.number"),
    "card 11": (pack(6, 11, 0), Code.NO_SUCH_CARD, "briscola/card.number"),
    "card 15": (pack(6, 63, 127), Code.NO_SUCH_CARD, "briscola/card.number"),
    "INIT": (Init(0, 1, True, 2).encode(), Code.UNKNOWN_OP, "briscola/op.direction"),
    "GIV_C": (GiveCard(CARD).encode(), Code.UNKNOWN_OP, "briscola/op.direction"),
    "ENM_C": (EnemyCard(CARD).encode(), Code.UNKNOWN_OP, "briscola/op.direction"),
    "END_G": (EndGame(1).encode(), Code.UNKNOWN_OP, "briscola/op.direction"),
    "END_G of nobody": (pack(4, 0, 64), Code.MALFORMED, "briscola/end.player"),
}
# These are never answered: an ERR to an ERR would go on for ever.
UNANSWERED = [Ack(0).encode(), Ack(1).encode(), Error(7).encode(), pack(0, 9, 9), pack(7, 9, 9)]


def test_a_stranger_gets_the_error_that_fits() -> None:
    with Arena("briscola", stop_at=3) as arena, Datagrams(arena.server.address) as stranger:
        for name, (data, code, _) in ANSWERED.items():
            for silent in UNANSWERED:
                stranger.send(silent)
            assert decode(stranger.ask(data)) == Error(code), name
        silently = "briscola/card.unused"
        expected = [check for _, _, check in ANSWERED.values() if check != silently]
        eventually(
            lambda: [check for check in arena.server.refused() if check != silently] == expected,
            "each is in the log, by its own id",
        )
        arena.check(silently)
        arena.settle()


def test_every_word_there_is_from_a_stranger_changes_nothing() -> None:
    """All 65536, but for SEARCH that would be let in: whoever searches is a player."""
    words = (word.to_bytes(2, "big") for word in range(1 << 16) if not 0xA000 <= word <= 0xA03F)
    with Arena("briscola", stop_at=3) as arena, Datagrams(arena.server.address) as stranger:
        assert stranger.flood(words) == (1 << 16) - 64
        arena.check()
        # Refusals, and the errors that answered them, are written down only so often.
        assert len(arena.server.refused()) == REFUSALS_LOGGED_MAX
        answers = [record for record in arena.server.records("sent") if record["peer"] == stranger.name]
        assert len(answers) <= REFUSALS_LOGGED_MAX
        arena.settle()


def noise(rng: Random, count: int) -> Iterator[bytes]:
    for _ in range(count):
        size = rng.choice((0, 1, 3, 4, 100, 1400, 9000))
        yield rng.randbytes(size)


def test_noise_of_every_size_changes_nothing() -> None:
    with Arena("briscola", stop_at=3) as arena, Datagrams(arena.server.address) as stranger:
        stranger.flood(noise(Random(5), 3000))
        arena.check("briscola/size")
        arena.settle()


def test_what_players_said_is_worth_nothing_from_another_port() -> None:
    """Replays: all that the two innocent players have sent so far, and their next acknowledgements."""
    with Arena("briscola", stop_at=5) as arena, Datagrams(arena.server.address) as stranger:
        cards = [UseCard(card).encode() for card in DECK]  # one is the very card that is waited for
        acks = [Ack(count).encode() for count in range(128)]
        stranger.flood(iter([*cards, *acks, *cards]))
        arena.check("briscola/game.none")
        arena.settle()


def test_timers_ring_while_datagrams_pour_in() -> None:
    """A player that acknowledges nothing is asked again, however busy the server is kept."""
    with Arena("briscola", stop_at=3) as arena:
        with Datagrams(arena.server.address) as one, Datagrams(arena.server.address) as two:
            one.send(Search(40).encode())
            two.send(Search(41).encode())
            assert isinstance(decode(one.receive()), Ack)
            init = one.receive()
            assert isinstance(decode(init), Init)
            with Datagrams(arena.server.address) as stranger:
                again = b""
                one.socket.setblocking(False)
                for _ in range(100_000):
                    for _ in range(32):
                        stranger.send(b"")  # never waits for the server
                    try:
                        again = one.socket.recv(10)
                        break
                    except BlockingIOError:
                        continue
                assert again == init
        assert arena.server.rss_kib() - arena.rss_kib < RSS_GROWTH_MAX_KIB
        arena.settle()


def test_ids_of_all_kinds_and_players_that_vanish() -> None:
    with Arena("briscola", stop_at=3) as arena:
        strangers = [Datagrams(arena.server.address) for _ in range(70)]
        told = [decode(s.ask(Search(i % 64).encode())) for i, s in enumerate(strangers)]
        refused = {i: word for i, word in enumerate(told) if isinstance(word, Error)}
        assert {refused[1].code, refused[2].code} == {Code.ID_IN_USE}
        assert {word.code for i, word in refused.items() if i >= 64} == {Code.SERVER_FULL}
        assert sum(isinstance(word, Ack) for word in told) == 62  # the ids that were free
        for stranger in strangers:
            stranger.send(UseCard(CARD).encode())
            stranger.socket.close()
        assert arena.server.alive
        arena.settle()


LIES: dict[str, tuple[list[bytes], str]] = {
    "noise": (list(noise(Random(3), 40)), "briscola/size"),
    "what clients say": ([Search(1).encode(), UseCard(CARD).encode()], "briscola/op.direction"),
    "cards without a game": ([GiveCard(CARD).encode(), EnemyCard(CARD).encode()], "briscola/game.none"),
    "a game with itself": ([Init(0, 1, True, 1).encode()], "briscola/init.player"),
    "the same card twice": (
        [Init(0, 1, True, 2).encode(), GiveCard(DECK[5]).encode(), EnemyCard(DECK[5]).encode()],
        "briscola/enemy.turn",
    ),
    "too many cards": (
        [Init(0, 1, False, 2).encode(), *(GiveCard(card).encode() for card in DECK[1:9])],
        "briscola/give.turn",
    ),
    "an end of nobody": ([Init(0, 1, True, 2).encode(), EndGame(9).encode()], "briscola/end.player"),
    "a second game in the first": (
        [Init(0, 1, True, 2).encode(), Init(1, 1, True, 3).encode()],
        "briscola/init.state",
    ),
}


def test_a_client_bears_whatever_its_server_says() -> None:
    for name, (line, check) in LIES.items():
        with Datagrams(None) as server:
            node = Node("briscola", "client", "--connect", str(server.here), "--games", "1")
            _, client = server.socket.recvfrom(100)
            for data in line:
                server.socket.sendto(data, client)
            eventually(lambda: check in node.refused(), f"{check} in the log")  # noqa: B023
            assert node.end() in (0, 143), name
            assert node.complaints == b"", name
            assert set(node.refused()) <= set(CHECKS), name
            node.discard()


def test_a_client_hears_nobody_but_its_server() -> None:
    with Datagrams(None) as server:
        node = Node("briscola", "client", "--connect", str(server.here), "--games", "1")
        _, client = server.socket.recvfrom(100)
        with Datagrams(node.address._replace(host="127.0.0.1", port=client[1])) as stranger:
            for data in (Init(0, 1, True, 2).encode(), b"", EndGame(1).encode()):
                stranger.send(data)
        server.socket.sendto(b"", client)
        eventually(lambda: node.refused() == ["briscola/size"], "only the server's own word counts")
        assert node.records("received") == []
        assert node.end() == 143
        assert node.complaints == b""
        node.discard()
