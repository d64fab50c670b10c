"""Stop-and-wait over datagrams that may be lost, doubled or late: one link a peer and direction.

    sender                               receiver
      word n   ───────────────▶            new: counted n, acted on
               ◀───────────────  ACK n
      word n+1 ──────────✗
      (RTO)    ───────────────▶            new: counted n+1
               ✗───────────────  ACK n+1
      (2·RTO)  ───────────────▶            seen: ACK n+1 again, not acted on
               ◀───────────────  ACK n+1

How a repeat is recognised. A word has no room for a sequence number, so the receiver goes by its
value: no two words of one direction are equal within one game. The server sends INIT once, each
GIV_C and ENM_C once (a card is dealt once and falls once, and the two differ in `op`), END_G
once; a client sends SEARCH once and each USE_C once. So in a legal game two consecutive words
never differ in meaning yet agree in value, and a copy is known however late it comes. Two words
are outside of this:

- SEARCH of the next game equals SEARCH of this one, and follows it directly if the game broke off
  before the client played. So SEARCH begins a session: the receiver's memory and both counts
  start anew with it (SEARCH is 1, INIT is 1). A SEARCH that comes while the old session still
  waits for the ACK of its END_G is left unanswered; the client repeats it.
- ERR answers a word in place of ACK. It is not counted nor repeated: the refused word is not
  counted either, so its sender repeats it and draws the ERR anew. One datagram draws at most one
  ERR, and neither ERR nor ACK ever draws an ERR. A known peer's ERR is acknowledged with the
  count so far.

How a late ACK is told apart. An ACK carries the low 7 bits of the receiver's count; a game has at
most 42 words a direction, so they do not come round. An ACK with another count than the word
under way is an old one and is ignored. A count of 0 is never given to a word, so 0000 is the bare
ACK of a program that does not count; it is believed only until the peer has shown that it counts.
Against a bare peer a late ACK cannot be told from a new one: that is the price of not counting.

What stays open: a copy from the game before that survives END_G, SEARCH, INIT and three GIV_C, and
happens to be a legal word now, is believed. For as long as a copy may live, those that are not legal
now are dropped in silence, and so is an END_G before the last trick that equals the last game's.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from nodes.briscola.messages import INFO_MASK, Ack, Word
from nodes.core import RemoteProtocolError

if TYPE_CHECKING:
    from nodes.briscola.dialect import AckStyle

RTO_START_S = 1.0
RTO_MIN_S = 1.0  # a busy machine answers late; a healthy one is never asked twice
RTO_MAX_S = 4.0
TRIES_MAX = 20  # with 30 % loss each way, one word in 700,000 is given up; silence ends after 75 s
COPY_LIFE_S = 30.0  # no copy of a datagram wanders longer than this
NO_GAME_MIN = 2  # one ERR 7 may be late; a second one for the same word is not


class OutLink:
    """Our words to one peer, one under way at a time."""

    def __init__(self, ack: AckStyle) -> None:
        self.timer: float | None = None  # when poll() wants to be called
        self.gone = False  # the peer acknowledged nothing, TRIES_MAX times
        self.count = 0  # the number of the word under way, or of the last one
        self._ack = ack
        self._queue: deque[Word] = deque()
        self._under_way: Word | None = None
        self._tries = 0
        self._disowned = 0
        self._sent_at = 0.0
        self._wait_s = 0.0
        self._rto_s = RTO_START_S
        self._rtt_s: float | None = None
        self._rtt_var_s = 0.0
        self._peer_counts = False

    @property
    def idle(self) -> bool:
        """Everything is acknowledged."""
        return self._under_way is None and not self._queue

    @property
    def waiting(self) -> bool:
        """A word is under way."""
        return self._under_way is not None

    def push(self, word: Word) -> None:
        """Send this after all before it; poll() says when."""
        self._queue.append(word)

    def poll(self, now: float) -> tuple[Word, bool] | None:
        """The word to put on the wire now, and whether it is its first time."""
        if self._under_way is None:
            if not self._queue:
                return None
            self._under_way = self._queue.popleft()
            self.count += 1
            self._tries = 1
            self._disowned = 0
            self._sent_at = now
            self._wait_s = self._rto_s
            self.timer = now + self._wait_s
            return self._under_way, True
        if self.timer is None or now < self.timer:
            return None
        if self._tries == TRIES_MAX:
            self.gone = True
            self.timer = None
            return None
        self._tries += 1
        self._wait_s = min(self._wait_s * 2, RTO_MAX_S)
        self.timer = now + self._wait_s
        return self._under_way, False

    def acknowledged(self, ack: Ack, now: float) -> bool:
        """Take an ACK; whether it was the one for the word under way."""
        if self._under_way is None:
            return False
        if ack.count == self.count & INFO_MASK:
            self._peer_counts = self._peer_counts or ack.count > 0
        elif ack.count:
            return False
        elif self._ack == "counted":
            raise RemoteProtocolError("briscola/ack.bare", "a bare ACK, and the knob ack=counted is set")
        elif self._peer_counts and self._ack != "bare":
            return False
        if self._tries == 1:  # an ACK does not say which copy it answers
            self._measure(now - self._sent_at)
        self.implied()
        return True

    def disowned(self) -> bool:
        """The peer answers that it knows of no game; whether that is to be believed."""
        if self._under_way is None:
            return False
        self._disowned += 1
        return self._disowned >= NO_GAME_MIN

    def implied(self) -> None:
        """The word under way has arrived: the peer's own words show it."""
        self._under_way = None
        self.timer = None

    def _measure(self, rtt_s: float) -> None:
        """Smoothed round trip and its variation, as TCP keeps them (RFC 6298)."""
        if self._rtt_s is None:
            self._rtt_s, self._rtt_var_s = rtt_s, rtt_s / 2
        else:
            self._rtt_var_s += (abs(self._rtt_s - rtt_s) - self._rtt_var_s) / 4
            self._rtt_s += (rtt_s - self._rtt_s) / 8
        self._rto_s = min(max(self._rtt_s + 4 * self._rtt_var_s, RTO_MIN_S), RTO_MAX_S)


class InLink:
    """One peer's words to us, each counted once. Only words that were acted on are kept: 42 a game."""

    def __init__(self, ack: AckStyle, now: float, before: InLink | None = None) -> None:
        self._ack = ack
        self._since = now
        self._counts: dict[Word, int] = {}
        self._before = frozenset() if before is None else frozenset(before._counts)

    def accept(self, word: Word) -> Ack:
        """Count a new word; its ACK."""
        self._counts[word] = len(self._counts) + 1
        return self.so_far()

    def repeated(self, word: Word) -> Ack | None:
        """The ACK to give again, if this word was here already."""
        count = self._counts.get(word)
        return None if count is None else self._ack_of(count)

    def so_far(self) -> Ack:
        """The ACK that says no more than what has come until now."""
        return self._ack_of(len(self._counts))

    def late(self, word: Word, now: float) -> bool:
        """Whether this may be a copy from the game before."""
        return word in self._before and now - self._since <= COPY_LIFE_S

    def _ack_of(self, count: int) -> Ack:
        return Ack(0 if self._ack == "bare" else count & INFO_MASK)
