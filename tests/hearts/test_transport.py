"""Section 6: circulation."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import pytest

from nodes.core import RemoteProtocolError, Send, Sent
from nodes.hearts.messages import Frame, GameStart, PlayCard, TokenPass
from nodes.hearts.transport import Ring

if TYPE_CHECKING:
    from nodes.core import Event

NOW = 50.0


class Link:
    """A ring machine, its datagrams as bytes."""

    def __init__(self, me: int = 1) -> None:
        self.events: deque[Event] = deque()
        self.ring = Ring(me, self.events)

    def sent(self) -> list[bytes]:
        return [output.data for output in self.ring.datagrams_to_send() if isinstance(output, Send)]

    def refusal(self, data: bytes) -> str:
        with pytest.raises(RemoteProtocolError) as caught:
            self.ring.receive(data, NOW)
        return caught.value.check


def token(origin: int, seq: int, owner: int = 2) -> bytes:
    return TokenPass(owner, origin=origin, seq=seq).encode()


def test_anothers_message_is_delivered_and_forwarded_unchanged() -> None:
    link = Link()
    data = token(0, 0)
    frame = link.ring.receive(data, NOW)
    assert frame is not None
    assert frame.encode() == data
    assert link.sent() == [data]
    assert not link.events, "forwarding is not originating"


def test_a_repeat_is_forwarded_but_not_delivered() -> None:
    link = Link()
    link.ring.receive(token(0, 0), NOW)
    assert link.ring.receive(token(0, 0), NOW) is None
    assert link.sent() == [token(0, 0)] * 2


@pytest.mark.parametrize("seq", [0, 2, 3, 200, 255])
def test_only_the_next_seq_of_an_origin_is_delivered_the_rest_is_forwarded_and_reported(seq: int) -> None:
    link = Link()
    link.ring.receive(token(0, 0), NOW)
    link.ring.receive(token(0, 1), NOW)
    link.sent()
    odd = token(0, seq, owner=3)
    if seq == 2:
        assert link.ring.receive(odd, NOW) is not None
    else:
        assert link.refusal(odd) == "hearts/3.seq"
    assert link.sent() == [odd]


def test_an_altered_repeat_is_reported_and_not_delivered() -> None:
    link = Link()
    link.ring.receive(token(0, 0, owner=2), NOW)
    assert link.refusal(token(0, 0, owner=3)) == "hearts/3.seq"


def test_seqs_are_counted_per_origin() -> None:
    link = Link()
    for origin in (0, 2, 3):
        assert link.ring.receive(token(origin, 0), NOW) is not None


def test_seq_wraps_from_255_to_0_in_both_directions() -> None:
    link = Link()
    for n in range(600):
        assert link.ring.receive(token(0, n % 256), NOW) is not None
        link.ring.datagrams_to_send()
        link.ring.send(TokenPass(2), NOW)
        assert link.sent() == [token(1, n % 256)]
        assert link.ring.receive(token(1, n % 256), NOW) is not None


def test_a_malformed_frame_ends_here() -> None:
    link = Link()
    assert link.refusal(b"\x02\x04\xff\x00\x00") == "hearts/3.origin"
    assert link.sent() == []


def test_own_message_is_taken_off_the_ring_when_it_is_back() -> None:
    link = Link()
    link.ring.send(PlayCard(0x12), NOW)
    [data] = link.sent()
    assert data == PlayCard(0x12, origin=1, seq=0).encode()
    back = link.ring.receive(data, NOW)
    assert back == PlayCard(0x12, origin=1, seq=0)
    assert link.sent() == []


def test_one_message_of_ours_is_on_the_ring_at_a_time() -> None:
    link = Link()
    frames: list[Frame] = [PlayCard(0x12), TokenPass(2), TokenPass(3)]
    for frame in frames:
        link.ring.send(frame, NOW)
    for seq, frame in enumerate(frames):
        assert len(link.events) == seq + 1, "Sent is told when it goes out"
        event = link.events[-1]
        assert isinstance(event, Sent)
        assert event.message is frame
        [data] = link.sent()
        assert (data[1], data[3]) == (1, seq)
        assert link.ring.receive(data, NOW) == frame
    assert link.sent() == []


def test_a_second_return_of_the_same_message_changes_nothing() -> None:
    link = Link()
    link.ring.send(PlayCard(0x12), NOW)
    link.ring.send(TokenPass(2), NOW)
    [data] = link.sent()
    link.ring.receive(data, NOW)
    [after] = link.sent()
    assert link.ring.receive(data, NOW) is None
    assert link.sent() == []
    assert link.ring.receive(after, NOW) is not None


def test_bytes_that_come_back_altered_do_not_count_as_returned() -> None:
    link = Link()
    link.ring.send(PlayCard(0x12), NOW)
    link.ring.send(TokenPass(2), NOW)
    [data] = link.sent()
    assert link.refusal(PlayCard(0x13, origin=1, seq=0).encode()) == "hearts/6.returned"
    assert link.sent() == [], "taken off, and the next message still waits"
    assert link.ring.receive(data, NOW) is not None


@pytest.mark.parametrize("outstanding", [True, False])
def test_a_frame_with_our_id_that_we_never_sent_is_taken_off_and_reported(outstanding: bool) -> None:
    link = Link()
    if outstanding:
        link.ring.send(PlayCard(0x12), NOW)
        link.sent()
    assert link.refusal(token(1, 9)) == "hearts/6.own"
    assert link.sent() == []


def test_without_a_repeat_interval_nothing_is_ever_sent_again() -> None:
    link = Link()
    link.ring.send(PlayCard(0x12), NOW)
    link.sent()
    assert link.ring.timer() is None
    link.ring.handle_timer(NOW + 1000)
    assert link.sent() == []


def test_with_one_the_identical_datagram_is_repeated_until_it_returns() -> None:
    link = Link(0)
    link.ring.send(GameStart(), NOW, repeat_every_s=0.5)
    link.ring.send(TokenPass(2), NOW)
    [data] = link.sent()
    assert link.ring.timer() == NOW + 0.5
    link.ring.handle_timer(NOW + 0.4)
    assert link.sent() == [], "called too early"
    link.ring.handle_timer(NOW + 0.5)
    link.ring.handle_timer(NOW + 1.0)
    assert link.sent() == [data, data]
    assert len(link.events) == 1, "a repeat is not told as Sent"
    link.ring.receive(data, NOW + 1.1)
    assert link.ring.timer() is None
    assert link.sent() == [token(0, 1)]


def test_what_has_returned_is_not_repeated_even_if_nothing_follows() -> None:
    link = Link(0)
    link.ring.send(GameStart(), NOW, repeat_every_s=0.5)
    [data] = link.sent()
    link.ring.receive(data, NOW)
    assert link.ring.timer() is None
    link.ring.handle_timer(NOW + 1)
    assert link.sent() == []
