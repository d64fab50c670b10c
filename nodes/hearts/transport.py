"""How Hearts messages travel: the ring as a link layer, section 6.

    originate ──▶ queue ──▶ outstanding ──▶ … around the ring … ──▶ back: the implicit ACK
    from others: forward unchanged, and deliver if it is new

A machine has one message of its own on the ring at a time; the next waits until it is back. So all four
machines have seen a message before its origin goes on, and from any origin only the SEQ after the last
can be new. Repeats are forwarded, never delivered: the hop that lost the first copy may lie ahead.

Nothing leaves before datagrams_to_send() is called, so whatever the caller does with a delivered message
(acting on it, writing it down) comes before its forwarding.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from nodes.core import RemoteProtocolError, Send, Sent
from nodes.hearts.messages import SEQ_COUNT, decode
from nodes.hearts.rules import SEATS

if TYPE_CHECKING:
    from nodes.core import Event, Output
    from nodes.hearts.messages import Frame

NEXT = "next"


class Ring:
    """One machine's place on the ring. `Sent` events go to the deque it is given."""

    def __init__(self, me: int, events: deque[Event]) -> None:
        self.me = me
        self._events = events
        self._outputs: list[Output] = []
        self._seq = 0
        self._queue: deque[tuple[Frame, float | None]] = deque()
        self._outstanding: bytes | None = None
        self._returned: bytes | None = None
        self._repeat: tuple[float, float] | None = None  # when, and every how many seconds
        self._heard: list[bytes | None] = [None] * SEATS
        self._expected = [0] * SEATS

    def send(self, frame: Frame, now: float, repeat_every_s: float | None = None) -> None:
        """Originate a message: at once if the ring is free of ours, else when the last has returned.

        With `repeat_every_s` the identical datagram is sent again and again until it returns.
        """
        self._queue.append((frame, repeat_every_s))
        if self._outstanding is None:
            self._transmit(now)

    def receive(self, data: bytes, now: float) -> Frame | None:
        """What to act on: another's new message, or our own that is back. None: a repeat.

        Raises RemoteProtocolError on a malformed frame, which ends here, and on one that is well-formed
        but out of sequence, which was forwarded.
        """
        frame = decode(data)
        origin = frame.origin
        if origin == self.me:
            return self._back(frame, data, now)
        self._outputs.append(Send(NEXT, data))
        if data == self._heard[origin]:
            return None
        expected = self._expected[origin]
        if frame.seq != expected:
            raise RemoteProtocolError(
                "hearts/3.seq",
                f"m{origin} sent SEQ {frame.seq}, {expected} is next: a late or altered repeat, or a loss",
            )
        self._heard[origin] = data
        self._expected[origin] = (expected + 1) % SEQ_COUNT
        return frame

    def datagrams_to_send(self) -> list[Output]:
        """Take all that is to go to the next machine, in order."""
        outputs, self._outputs = self._outputs, []
        return outputs

    def timer(self) -> float | None:
        """When the outstanding message is to be repeated, if it is to be."""
        return None if self._repeat is None else self._repeat[0]

    def handle_timer(self, now: float) -> None:
        """Repeat the outstanding message if its time has come."""
        if self._repeat is None or now < self._repeat[0]:
            return
        assert self._outstanding is not None
        self._outputs.append(Send(NEXT, self._outstanding))
        every_s = self._repeat[1]
        self._repeat = (now + every_s, every_s)

    def _transmit(self, now: float) -> None:
        frame, every_s = self._queue.popleft()
        frame.origin = self.me
        frame.seq = self._seq
        self._seq = (self._seq + 1) % SEQ_COUNT
        self._outstanding = frame.encode()
        self._repeat = None if every_s is None else (now + every_s, every_s)
        self._outputs.append(Send(NEXT, self._outstanding))
        self._events.append(Sent(NEXT, frame))

    def _back(self, frame: Frame, data: bytes, now: float) -> Frame | None:
        """A frame with our id ends its way here, whatever it is."""
        sent = self._outstanding
        if data == sent:
            self._returned = data
            self._outstanding = self._repeat = None
            if self._queue:
                self._transmit(now)
            return frame
        if data == self._returned:
            return None
        if sent is not None and frame.seq == sent[3]:
            raise RemoteProtocolError(
                "hearts/6.returned", f"SEQ {frame.seq} came back altered: {sent.hex()} was sent"
            )
        raise RemoteProtocolError(
            "hearts/6.own", f"SEQ {frame.seq} has our id, but it is not what we wait for"
        )
