"""Messages that are a datagram each: Hearts on its ring, Briscola's words. Repeats are told apart here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from captures.seen import Reading, refused
from nodes.briscola import messages as briscola
from nodes.briscola.meaning import meaning as meaning_of_word
from nodes.core import RemoteProtocolError
from nodes.hearts import messages as hearts
from nodes.hearts.meaning import meaning as meaning_of_frame
from nodes.hearts.rules import SEAT_NAMES, SEATS

if TYPE_CHECKING:
    from collections.abc import Callable

# Beyond these, what was known is forgotten and repeats are taken for new: memory stays bounded.
LINKS_MAX = 4096
WORDS_MAX = 256  # a game has 42 words a direction, and an ACK for each

ARROW = "→"  # between the ends of a link in its name


class Datagrams(Protocol):
    """Reads the datagrams of one game, in the order of the capture."""

    def read(self, data: bytes, src: str, dst: str, link: str) -> Reading: ...


class Ring:
    """Hearts. A frame goes round: hop 1 is the link behind its origin, hop 4 leads back to it."""

    def __init__(self) -> None:
        self._last: dict[tuple[str, str, int], bytes] = {}
        self._places = {name: number for number, name in enumerate(SEAT_NAMES)}
        # Where nobody has a name, the first frame that went all the way round tells who is who.
        self._next: dict[str, str] = {}
        self._first: dict[int, tuple[bytes, str]] = {}

    def read(self, data: bytes, src: str, dst: str, link: str) -> Reading:
        try:
            frame = hearts.decode(data)
        except RemoteProtocolError as error:
            return refused(error.check, error.text, data)
        key = (src, dst, frame.origin)
        if len(self._last) > LINKS_MAX:
            self._last.clear()
        # A machine has one message on the ring at a time, so a repeat equals the last of its origin.
        repeat = self._last.get(key) == data
        self._last[key] = data
        hop = self._hop(frame.origin, data, src, dst, link)
        return Reading(
            frame.kind, meaning_of_frame(frame, src, dst), data, frame.fields(), hop=hop, repeat=repeat
        )

    def _hop(self, origin: int, data: bytes, src: str, dst: str, link: str) -> int | None:
        sender = self._places.get(src)
        if sender is None:
            sender = self._places.get(link.partition(ARROW)[0])
        if sender is None:
            sender = self._learn(origin, data, src, dst)
        return None if sender is None else (sender - origin) % SEATS + 1

    def _learn(self, origin: int, data: bytes, src: str, dst: str) -> int | None:
        if len(self._next) > LINKS_MAX:
            self._next.clear()
        self._next[src] = dst
        known, begin = self._first.get(origin, (b"", ""))
        if known != data:
            self._first[origin] = (data, src)
            return None
        around = [begin]
        while len(around) <= SEATS and around[-1] in self._next:
            around.append(self._next[around[-1]])
        if len(set(around)) != SEATS or around[SEATS - 1 :] != [src, begin]:
            return None
        self._places |= {end: (origin + step) % SEATS for step, end in enumerate(around[:-1])}
        return self._places[src]


class Words:
    """Briscola. No two words of one direction are equal within a game, which begins with SEARCH."""

    def __init__(self) -> None:
        self._said: dict[tuple[str, str], set[bytes]] = {}

    def read(self, data: bytes, src: str, dst: str, link: str) -> Reading:  # noqa: ARG002 - a star's links are plain
        try:
            word = briscola.decode(data)
        except RemoteProtocolError as error:
            return refused(error.check, error.text, data)
        return Reading(
            word.kind,
            meaning_of_word(word, src, dst),
            data,
            word.fields(),
            repeat=self._again(word, data, src, dst),
        )

    def _again(self, word: briscola.Word, data: bytes, src: str, dst: str) -> bool:
        if isinstance(word, briscola.Error) or word == briscola.Ack():
            return False  # an ERR is drawn anew by each copy, a bare ACK counts nothing
        if len(self._said) > LINKS_MAX:
            self._said.clear()
        mine = self._said.setdefault((src, dst), set())
        if isinstance(word, briscola.Search):
            theirs = self._said.get((dst, src))
            # END_G ends a game: a SEARCH before it is the same one again.
            if data in mine and not (theirs and any(_op(said) is briscola.Op.END_G for said in theirs)):
                return True
            mine.clear()
            if theirs:
                theirs.clear()
        if len(mine) > WORDS_MAX:
            mine.clear()
        repeat = data in mine
        mine.add(data)
        return repeat


def _op(word: bytes) -> briscola.Op:
    return briscola.decode(word).op


READERS: dict[str, Callable[[], Datagrams]] = {"hearts": Ring, "briscola": Words}
