"""One who only listens hears what the two ends hear, whatever the segments, and never raises."""

from __future__ import annotations

import random
import re
import tracemalloc
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from websockets.exceptions import (
    DuplicateParameter,
    InvalidParameterName,
    InvalidParameterValue,
    NegotiationError,
)
from websockets.extensions.permessage_deflate import (
    ClientPerMessageDeflateFactory,
    PerMessageDeflate,
    ServerPerMessageDeflateFactory,
)

from dissectors import deflate, frames, handshake, observer
from dissectors.frames import FRAME_MAX, Binary, Broken, Event, Frame, Text, Upgrade, unmask
from dissectors.observer import EARLY_MAX, FAULTS_MAX, MESSAGE_MAX, Observer
from tests.dissectors import wire
from tests.dissectors.wire import KEY, REQUEST, RESPONSE, compressing, deflated, feed, frame, opened, whole
from tests.dissectors.wire import with_header as add
from tests.tools import how_many

TEXT, BINARY, CONT, CLOSE, PING, PONG = 1, 2, 0, 8, 9, 10
# Found by the conformance suites: cut characters, surrogates, overlong forms.
texts = st.sampled_from([b"\xce\xba\xe1\xbd\xb9", b"\xed\xa0\x80", b"\xc0\xaf", b"\xe2\x82", b"\xac", b""])
payloads = st.one_of(st.binary(max_size=140), st.text(max_size=40).map(str.encode), texts)
sound_frames = st.tuples(
    st.sampled_from([TEXT, TEXT, BINARY, CONT, CONT, PING, PONG]),
    payloads,
    st.booleans(),
    st.just(0),
    st.just(True),
)
closes = st.one_of(
    st.just(b""),
    st.binary(max_size=3),
    st.integers(0, 5100).map(lambda code: code.to_bytes(2, "big") + b"bye"),
)
any_frames = st.tuples(
    st.sampled_from([0, 1, 2, 3, 7, 8, 9, 10, 11, 15]),
    payloads,
    st.booleans(),
    st.sampled_from([0, 0, 0, 1, 2, 4, 7]),
    st.sampled_from([True, True, True, False]),
)
scripts = st.lists(
    st.one_of(
        sound_frames,
        sound_frames,
        any_frames,
        closes.map(lambda body: (CLOSE, body, True, 0, True)),
    ),
    max_size=12,
)


def sound(events: list[Event]) -> tuple[list[Event], bool]:
    """The events up to the first fault, without the frame that has it."""
    for at, event in enumerate(events):
        if isinstance(event, Broken) and event.check not in (
            "websocket/5.2.minimal",
            "websocket/5.5.1.after",
        ):
            before = events[:at]
            if before and isinstance(before[-1], Frame):
                before.pop()
            return before, True
    return events, False


def heard_frames(events: list[Event]) -> list[tuple[int, bool, bytes]]:
    return [(event.opcode, event.fin, event.payload) for event in events if isinstance(event, Frame)]


@settings(max_examples=300, deadline=None)
@given(st.booleans(), scripts, st.lists(st.integers(0, 4000), max_size=8))
@example(True, [(CLOSE, b"\x03\xe8", True, 0, True)], [])
@example(
    True, [(TEXT, b"a", False, 0, True), (PING, b"", True, 0, True), (CONT, b"b", True, 0, True)], [3, 8]
)
def test_any_frames_are_heard_as_the_library_hears_them(
    from_client: bool, script: list[tuple[int, bytes, bool, int, bool]], cuts: list[int]
) -> None:
    data = b"".join(
        frame(opcode, payload, fin=fin, rsv=rsv, mask=KEY if right == from_client else None)
        for opcode, payload, fin, rsv, right in script
    )
    heard = wire.library(from_client, [data])
    events, failed = sound(feed(opened(), from_client, wire.chunks(data, cuts)))
    frames = heard_frames(events)
    if heard.closed:  # the library reads nothing behind a close
        closing = [opcode for opcode, _, _ in frames].index(CLOSE)
        frames = frames[: closing + 1]
        assert frames == heard.frames
    else:
        assert failed == heard.failed
        assert frames == heard.frames
    assert whole(events)[: len(heard.messages)] == heard.messages
    if not heard.closed:
        assert whole(events) == heard.messages


bits = st.none() | st.integers(9, 15)


@settings(max_examples=60, deadline=None)
@given(
    st.booleans(), st.booleans(), bits, st.one_of(bits, st.just(True)),
    st.booleans(), st.booleans(), bits, bits,
    st.lists(st.tuples(st.booleans(), st.text(max_size=300) | st.binary(max_size=300)), max_size=8),
    st.integers(1, 50),
)  # fmt: skip
def test_compressed_messages_are_inflated_as_the_library_negotiates_them(
    asked_server: bool, asked_client: bool,
    asked_server_bits: int | None, asked_client_bits: int | bool | None,
    server_forgets: bool, client_forgets: bool, server_bits: int | None, client_bits: int | None,
    said: list[tuple[bool, str | bytes]], size: int,
) -> None:  # fmt: skip
    client, server, request, response = wire.handshake(
        [
            ClientPerMessageDeflateFactory(
                server_no_context_takeover=asked_server,
                client_no_context_takeover=asked_client,
                server_max_window_bits=asked_server_bits,
                client_max_window_bits=asked_client_bits,
            )
        ],
        [
            ServerPerMessageDeflateFactory(
                server_no_context_takeover=server_forgets,
                client_no_context_takeover=client_forgets,
                server_max_window_bits=server_bits,
                client_max_window_bits=client_bits,
            )
        ],
    )
    listener = Observer()
    upgrades = listener.feed(True, request) + listener.feed(False, response)
    assert [type(event) for event in upgrades] == [Upgrade, Upgrade]
    agreed = upgrades[1].deflate  # type: ignore[union-attr]
    if not client.extensions:
        assert agreed is None
    else:
        (extension,) = client.extensions
        assert isinstance(extension, PerMessageDeflate)
        assert agreed == deflate.Deflate(
            extension.remote_no_context_takeover,
            extension.local_no_context_takeover,
            extension.remote_max_window_bits,
            extension.local_max_window_bits,
        )
    for from_client, message in said:
        side = client if from_client else server
        if isinstance(message, str):
            side.send_text(message.encode())
        else:
            side.send_binary(message)
        data = b"".join(side.data_to_send())
        events = feed(listener, from_client, [data[at : at + size] for at in range(0, len(data), size)])
        assert whole(events) == [message]
        assert events[-1].compressed == (agreed is not None)  # type: ignore[union-attr]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.binary(max_size=60), min_size=1, max_size=4), max_size=5), st.booleans())
def test_fragments_of_compressed_messages_with_pings_between_are_put_together(
    messages: list[list[bytes]], from_client: bool
) -> None:
    stream = zlib.compressobj(wbits=-15)
    mask = KEY if from_client else None
    data = b""
    for parts in messages:
        pieces = [stream.compress(part) + stream.flush(zlib.Z_SYNC_FLUSH) for part in parts]
        pieces[-1] = pieces[-1][:-4]
        for at, piece in enumerate(pieces):
            last = at == len(pieces) - 1
            opcode, rsv = (CONT, 0) if at else (BINARY, 4)
            data += frame(opcode, piece, fin=last, rsv=rsv, mask=mask) + frame(PING, b"?", mask=mask)
    events = feed(compressing(), from_client, [data])
    assert whole(events) == [b"".join(parts) for parts in messages]
    assert [event.frames for event in events if isinstance(event, Binary)] == [
        len(parts) for parts in messages
    ]
    extension = PerMessageDeflate(False, False, 15, 15)
    assert wire.library(from_client, [data], [extension]).messages == whole(events)


# Every fault: what was said before, who says it, and the bytes.
Case = tuple[Observer, bool, bytes]


def plain(from_client: bool, *frames: bytes) -> Case:
    return opened(), from_client, b"".join(frames)


def answer(line: str, offer: str = "permessage-deflate") -> Case:
    listener = Observer()
    listener.feed(True, add(REQUEST, f"Sec-WebSocket-Extensions: {offer}"))
    return listener, False, add(RESPONSE, f"Sec-WebSocket-Extensions: {line}")


def asked() -> Observer:
    listener = Observer()
    listener.feed(True, REQUEST)
    return listener


def cases() -> dict[str, list[Case]]:
    huge = MESSAGE_MAX + 1
    half = bytes(MESSAGE_MAX // 2 + 1)
    return {
        "websocket/4.1.request": [
            (Observer(), True, b"GET  / HTTP/1.1\r\n\r\n"),
            (Observer(), True, b"GET\r\n\r\n"),
        ],
        "websocket/4.1.header": [(Observer(), True, b"GET / HTTP/1.1\r\nno header\r\n\r\n")],
        "websocket/10.4.head": [
            (Observer(), True, b"GET / HTTP/1.1\r\n" + b"a" * 20_000),
            (Observer(), True, b"GET / HTTP/1.1\r\n" + b"a:" + b"a" * 20_000 + b"\r\n\r\n"),
            (Observer(), True, b"GET / HTTP/1.1\r\n" + b"a:b\r\n" * 200 + b"\r\n"),
        ],
        "websocket/4.1.method": [
            (Observer(), True, REQUEST.replace(b"GET", b"POST")),
            (Observer(), True, REQUEST.replace(b"HTTP/1.1", b"HTTP/1.0")),
        ],
        "websocket/4.1.host": [(Observer(), True, REQUEST.replace(b"Host", b"Hast"))],
        "websocket/4.1.upgrade": [
            (Observer(), True, REQUEST.replace(b"Upgrade: websocket", b"Upgrade: h2c")),
            (Observer(), True, REQUEST.replace(b"Connection: Upgrade", b"Connection: close")),
        ],
        "websocket/4.1.key": [
            (Observer(), True, REQUEST.replace(b"dGhl", b"")),
            (Observer(), True, REQUEST.replace(b"dGhl", b"d%l")),
            (Observer(), True, REQUEST.replace(b"-Key", b"-Kee")),
            (Observer(), True, REQUEST.replace(b"dGhl", b"\xe9Ghl")),
        ],
        "websocket/4.1.version": [(Observer(), True, REQUEST.replace(b"13", b"8"))],
        "websocket/4.1.early": [(asked(), True, frame(TEXT, b"x") * EARLY_MAX)],
        "websocket/4.1.unseen": [(Observer(), True, frame(TEXT, b"x"))],
        "websocket/4.2.2.response": [(Observer(), False, b"HTTP 101\r\n\r\n")],
        "websocket/4.2.2.status": [(asked(), False, b"HTTP/1.1 426 Upgrade Required\r\n\r\n")],
        "websocket/4.2.2.upgrade": [(asked(), False, RESPONSE.replace(b"websocket\r\n", b"h2c\r\n"))],
        "websocket/4.2.2.accept": [(asked(), False, RESPONSE.replace(b"s3pP", b"S3pP"))],
        "websocket/9.1.extensions": [answer("a b"), answer("a; b c"), answer("a; b=;")],
        "websocket/9.1.unknown": [answer("x-webkit-deflate-frame")],
        "websocket/7692-7.1.parameter": [
            answer("permessage-deflate; wbits=9"),
            answer("permessage-deflate; server_max_window_bits=7"),
            answer("permessage-deflate; server_max_window_bits=08"),
            answer("permessage-deflate; client_max_window_bits"),
            answer("permessage-deflate; server_no_context_takeover=1"),
            answer("permessage-deflate; server_no_context_takeover; server_no_context_takeover"),
        ],
        "websocket/7692-7.1.answer": [
            answer("permessage-deflate", offer="nothing-of-the-kind"),
            answer("permessage-deflate", offer="permessage-deflate; wbits=9"),
            answer("permessage-deflate; client_max_window_bits=9"),
            answer("permessage-deflate", offer="permessage-deflate; server_no_context_takeover"),
            answer("permessage-deflate", offer="permessage-deflate; server_max_window_bits=9"),
            answer("permessage-deflate, permessage-deflate"),
        ],
        "websocket/5.1.unmasked": [plain(True, frame(TEXT, b"a", mask=None))],
        "websocket/5.1.masked": [plain(False, frame(TEXT, b"a"))],
        "websocket/5.2.rsv": [plain(True, frame(TEXT, b"a", rsv=rsv)) for rsv in range(1, 8)],
        "websocket/7692-6.1.rsv1": [
            (compressing(), True, frame(PING, rsv=4)),
            (compressing(), True, frame(TEXT, b"a", fin=False) + frame(CONT, b"b", rsv=4)),
        ],
        "websocket/5.2.opcode": [plain(True, frame(opcode, b"a")) for opcode in (3, 7, 11, 15)],
        "websocket/5.2.length": [plain(True, frame(TEXT, form=64, length=1 << 63))],
        "websocket/5.2.minimal": [
            plain(True, frame(TEXT, b"a", form=16)),
            plain(True, frame(TEXT, b"a" * 125, form=16)),
            plain(True, frame(TEXT, b"a" * 126, form=64)),
        ],
        "websocket/10.4.frame": [plain(True, frame(TEXT, form=64, length=FRAME_MAX + 1))],
        "websocket/10.4.message": [plain(True, frame(BINARY, half, fin=False), frame(CONT, half))],
        "websocket/5.4.continuation": [plain(True, frame(CONT, b"a"))],
        "websocket/5.4.interleaved": [plain(True, frame(TEXT, b"a", fin=False), frame(TEXT, b"b"))],
        "websocket/5.4.unfinished": [plain(True, frame(TEXT, b"a", fin=False), frame(CLOSE))],
        "websocket/5.5.fragment": [plain(True, frame(PING, fin=False))],
        "websocket/5.5.length": [
            plain(True, frame(PING, b"a" * 126)),
            plain(True, frame(CLOSE, b"\x03\xe8" * 99)),
        ],
        "websocket/5.5.1.body": [plain(True, frame(CLOSE, b"\x03"))],
        "websocket/5.5.1.utf8": [plain(True, frame(CLOSE, b"\x03\xe8\xff"))],
        "websocket/5.5.1.after": [plain(True, frame(CLOSE), frame(TEXT, b"a"))],
        "websocket/7.4.code": [
            plain(True, frame(CLOSE, code.to_bytes(2, "big")))
            for code in (0, 999, 1004, 1005, 1006, 1015, 2999, 5000)
        ],
        "websocket/8.1.utf8": [
            plain(True, frame(TEXT, b"\xff")),
            plain(True, frame(TEXT, b"\xc3", fin=False), frame(CONT, b"\xc3")),
            (compressing(), True, frame(TEXT, deflated(b"\xff"), rsv=4)),
        ],
        "websocket/7692-7.2.2.inflate": [
            (compressing(), True, frame(TEXT, b"\xff\xff", rsv=4)),
            (compressing(), True, frame(TEXT, b"\x03\x00" * 40, rsv=4)),
        ],
        "websocket/7692-7.2.2.context": [
            (compressing(), True, frame(TEXT, b"\xff\xff", rsv=4) + frame(TEXT, deflated(b"a"), rsv=4)),
            (compressing(), True, frame(TEXT, b"\xff", rsv=6) + frame(TEXT, deflated(b"a"), rsv=4)),
        ],
        "websocket/7692-8.size": [(compressing(), True, frame(BINARY, deflated(bytes(huge), 9), rsv=4))],
        "websocket/7.1.7.faults": [plain(True, frame(CONT) * FAULTS_MAX)],
    }  # fmt: skip


@pytest.mark.parametrize("check", cases())
def test_each_fault_is_said_with_its_clause_and_without_an_exception(check: str) -> None:
    for listener, from_client, data in cases()[check]:
        found = [event for event in listener.feed(from_client, data) if isinstance(event, Broken)]
        assert check in [event.check for event in found], data[:80]
        assert all(event.from_client == from_client and event.text for event in found)
        assert all(len(event.data) <= frames.DATA_MAX for event in found)


def test_the_table_above_has_every_clause_of_the_code() -> None:
    sources = [Path(module.__file__ or "").read_text() for module in (observer, frames, handshake, deflate)]
    used = {found for source in sources for found in re.findall(r'"(websocket/[^"]+)"', source)}
    assert used == {*cases(), "websocket/5.1.gap", "websocket/7.1.1.cut"}


def test_reading_goes_on_behind_a_fault_whose_end_is_known() -> None:
    faults = [
        frame(TEXT, b"a", mask=None),
        frame(3, b"a"),
        frame(TEXT, b"a", rsv=2, fin=False) + frame(CONT, b"b"),
        frame(TEXT, form=64, length=FRAME_MAX + 1) + bytes(FRAME_MAX + 1),
        frame(TEXT, b"\xff"),
        frame(PING, b"a" * 200),
    ]
    listener = opened()
    for fault in faults:
        events = listener.feed(True, fault + frame(TEXT, b"on"))
        assert len([event for event in events if isinstance(event, Broken)]) == 1, fault[:20]
        assert whole(events) == ["on"]


def test_a_length_longer_than_need_be_is_remarked_upon_and_its_message_stands() -> None:
    events = opened().feed(True, frame(TEXT, b"a", form=64))
    assert [type(event) for event in events] == [Frame, Broken, Text]


def test_where_a_frames_end_is_unknown_nothing_more_is_read() -> None:
    listener = opened()
    *_, last = listener.feed(True, frame(TEXT, form=64, length=1 << 63))
    assert isinstance(last, Broken)
    assert last.ended
    assert listener.feed(True, frame(TEXT, b"a")) == []
    assert whole(listener.feed(False, frame(TEXT, b"b", mask=None))) == ["b"]


def test_after_a_gap_a_direction_is_read_no_more_and_the_other_is() -> None:
    listener = opened()
    (said,) = listener.lost(True)
    assert isinstance(said, Broken)
    assert (said.check, said.ended) == ("websocket/5.1.gap", True)
    assert listener.feed(True, frame(TEXT, b"a")) == []
    assert listener.lost(True) == []
    assert whole(listener.feed(False, frame(TEXT, b"b", mask=None))) == ["b"]


def test_what_a_client_says_before_the_answer_waits_for_it() -> None:
    line = "Sec-WebSocket-Extensions: permessage-deflate"
    listener = Observer()
    listener.feed(True, add(REQUEST, line))
    assert listener.feed(True, frame(TEXT, deflated(b"early"), rsv=4)) == []
    events = listener.feed(False, add(RESPONSE, line))
    assert [type(event) for event in events] == [Upgrade, Frame, Text]
    assert whole(events) == ["early"]


def test_what_a_client_said_is_read_too_where_the_answer_was_lost() -> None:
    listener = Observer()
    listener.feed(True, REQUEST)
    listener.feed(True, frame(TEXT, b"early"))
    assert whole(listener.lost(False)) == ["early"]


def test_a_capture_that_begins_late_is_read_for_as_long_as_it_makes_sense() -> None:
    listener = Observer()
    events = listener.feed(True, frame(TEXT, b"a") + frame(TEXT, deflated(b"b"), rsv=4))
    assert isinstance(events[0], Broken)
    assert (events[0].check, events[0].ended) == ("websocket/4.1.unseen", False)
    assert whole(events) == ["a", "b"]
    *_, last = listener.feed(True, frame(5, b"garbage") + frame(TEXT, b"a"))
    assert isinstance(last, Broken)
    assert last.ended


def test_a_capture_that_lacks_only_the_request_knows_what_was_agreed() -> None:
    line = "Sec-WebSocket-Extensions: permessage-deflate; client_no_context_takeover"
    listener = Observer()
    (answered,) = listener.feed(False, add(RESPONSE, line))
    assert isinstance(answered, Upgrade)
    assert answered.deflate == deflate.Deflate(client_no_context_takeover=True)
    assert whole(listener.feed(True, frame(TEXT, deflated(b"b"), rsv=4))) == ["b"]


def test_a_connection_that_ends_inside_a_frame_or_message_is_said_to() -> None:
    for data, check in (
        (frame(TEXT, b"abc")[:-1], "websocket/7.1.1.cut"),
        (frame(TEXT, b"abc")[:1], "websocket/7.1.1.cut"),
        (frame(TEXT, form=64, length=FRAME_MAX + 9), "websocket/7.1.1.cut"),
        (frame(TEXT, b"abc", fin=False), "websocket/5.4.unfinished"),
    ):
        listener = opened()
        listener.feed(True, data)
        (said,) = listener.end(True)
        assert isinstance(said, Broken)
        assert said.check == check
    assert opened().end(True) == []
    begun = Observer()
    begun.feed(True, b"GET /")
    assert [type(event) for event in begun.end(True)] == [Broken]


def test_a_message_whose_last_block_ends_the_stream_is_inflated_and_so_is_the_next() -> None:
    stream = zlib.compressobj(wbits=-15)
    final = stream.compress(b"one two three") + stream.flush(zlib.Z_FINISH)
    # RFC 7692, 7.2.3.4: "[…] 0xf3 0x48 0xcd 0xc9 0xc9 0x07 0x00 0x00" is such a message.
    listener = compressing()
    assert whole(listener.feed(True, frame(TEXT, final + b"\0", rsv=4))) == ["one two three"]
    follower = zlib.compressobj(wbits=-15, zdict=b"one two three")
    after = (follower.compress(b"one two three!") + follower.flush(zlib.Z_SYNC_FLUSH))[:-4]
    assert len(after) < 10
    assert whole(listener.feed(True, frame(TEXT, after, rsv=4))) == ["one two three!"]
    example = bytes.fromhex("f348cdc9c9070000")
    assert whole(compressing().feed(True, frame(TEXT, example, rsv=4))) == ["Hello"]


def test_behind_such_an_end_a_message_may_still_refer_to_what_came_before_it() -> None:
    stream = zlib.compressobj(wbits=-15)
    first = (stream.compress(b"four in a row") + stream.flush(zlib.Z_SYNC_FLUSH))[:-4]
    second = stream.compress(b"yes") + stream.flush(zlib.Z_FINISH) + b"\0"
    follower = zlib.compressobj(wbits=-15, zdict=b"four in a rowyes")
    third = (follower.compress(b"four in a row") + follower.flush(zlib.Z_SYNC_FLUSH))[:-4]
    said = b"".join(frame(TEXT, data, rsv=4) for data in (first, second, third))
    assert whole(compressing().feed(True, said)) == ["four in a row", "yes", "four in a row"]


def test_who_agreed_to_forget_may_not_refer_to_what_came_before() -> None:
    offer = add(REQUEST, "Sec-WebSocket-Extensions: permessage-deflate")
    answer = add(RESPONSE, "Sec-WebSocket-Extensions: permessage-deflate; client_no_context_takeover")
    stream = zlib.compressobj(wbits=-15)
    said = [(stream.compress(b"again" * 9) + stream.flush(zlib.Z_SYNC_FLUSH))[:-4] for _ in range(2)]
    events = opened(offer, answer).feed(True, b"".join(frame(TEXT, data, rsv=4) for data in said))
    assert whole(events) == ["again" * 9]
    assert [event.check for event in events if isinstance(event, Broken)] == ["websocket/7692-7.2.2.inflate"]


answers = st.lists(
    st.one_of(
        st.sampled_from(["server_no_context_takeover", "client_no_context_takeover"]).map(
            lambda name: (name, None)
        ),
        st.tuples(
            st.sampled_from(["server_max_window_bits", "client_max_window_bits"]),
            st.sampled_from(["7", "8", "9", "12", "15", "16", "", None]),
        ),
    ),
    max_size=4,
)


@settings(max_examples=300, deadline=None)
@given(st.booleans(), st.booleans(), bits, st.one_of(bits, st.just(True)), answers)
def test_any_answer_to_an_offer_comes_to_what_the_library_makes_of_it(
    server: bool, client: bool, server_bits: int | None, client_bits: int | bool | None, answer: Any
) -> None:
    factory = ClientPerMessageDeflateFactory(
        server_no_context_takeover=server,
        client_no_context_takeover=client,
        server_max_window_bits=server_bits,
        client_max_window_bits=client_bits,
    )
    offer = deflate.Extension(deflate.NAME, tuple(factory.get_request_params()))
    expected: deflate.Deflate | None = None
    with suppress(NegotiationError, InvalidParameterName, InvalidParameterValue, DuplicateParameter):
        made = factory.process_response_params(answer, [])
        expected = deflate.Deflate(
            made.remote_no_context_takeover,
            made.local_no_context_takeover,
            made.remote_max_window_bits,
            made.local_max_window_bits,
        )
    found: deflate.Deflate | None = None
    with suppress(deflate.BadExtension):
        found = deflate.agreed([offer], deflate.Extension(deflate.NAME, tuple(answer)))
    if found is not None and found.client_max_window_bits == 8:
        assert expected is None  # the library cannot compress so; the text allows it
    else:
        assert found == expected


def test_a_bomb_is_let_go_of_at_its_limit() -> None:
    bomb = deflated(bytes(200 << 20), 9)
    assert len(bomb) < 300_000
    listener = compressing()
    tracemalloc.start()
    events = listener.feed(True, frame(BINARY, bomb, rsv=4))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [event.check for event in events if isinstance(event, Broken)] == ["websocket/7692-8.size"]
    assert peak < 8 << 20
    # A message of just the limit is one.
    full = compressing().feed(True, frame(BINARY, deflated(bytes(MESSAGE_MAX)), rsv=4))
    assert whole(full) == [bytes(MESSAGE_MAX)]


def test_memory_is_bounded_whatever_is_announced_or_never_finished() -> None:
    piece = bytes(65_536)
    for start in (
        frame(TEXT, form=64, length=(1 << 63) - 1),
        frame(BINARY, b"", fin=False) + frame(CONT, form=64, length=FRAME_MAX, fin=False),
    ):
        listener = opened()
        listener.feed(True, start)
        tracemalloc.start()
        for _ in range(320):
            listener.feed(True, piece)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 8 << 20


real = b"".join(
    [
        frame(TEXT, b"connect p1\r\n"),
        frame(PING, b"x"),
        frame(TEXT, b"playm", fin=False),
        frame(CONT, b"ove 3\r\n"),
        frame(TEXT, deflated(b"playmove 4\r\n"), rsv=4),
        frame(CLOSE, b"\x03\xe8"),
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.binary(max_size=300)), max_size=6), st.integers(0, 3))
def test_no_bytes_raise(said: list[tuple[bool, bytes]], start: int) -> None:
    listener = (Observer(), opened(), compressing(), asked())[start]
    for from_client, data in said:
        listener.feed(from_client, data)
    listener.end(True)
    listener.lost(False)


def test_mutated_connections_never_raise_and_cuts_never_matter() -> None:
    seeded = random.Random(7)
    line = "Sec-WebSocket-Extensions: permessage-deflate"
    request, response = add(REQUEST, line), add(RESPONSE, line)
    for _ in range(how_many(1_500, 100_000)):
        sides = [mutated(seeded, request), mutated(seeded, response), mutated(seeded, real)]
        order = [(True, sides[0]), (False, sides[1]), (True, sides[2])]
        at_once, in_pieces = Observer(), Observer()
        expected = [event for side, data in order for event in at_once.feed(side, data)]
        pieces = [
            (side, piece)
            for side, data in order
            for piece in wire.chunks(data, [seeded.randrange(999) for _ in range(9)])
        ]
        assert [event for side, data in pieces for event in in_pieces.feed(side, data)] == expected


def mutated(seeded: random.Random, data: bytes) -> bytes:
    broken = bytearray(data)
    for _ in range(seeded.choice((0, 0, 1, 1, 3))):
        at = seeded.randrange(len(broken))
        match seeded.randrange(4):
            case 0:
                broken[at] ^= 1 << seeded.randrange(8)
            case 1:
                del broken[at : at + seeded.randrange(1, 9)]
            case 2:
                broken[at:at] = broken[seeded.randrange(len(broken)) :][:20]
            case _:
                broken[at] = seeded.randrange(256)
        if not broken:
            break
    return bytes(broken)


def test_byte_by_byte_costs_a_step_a_byte() -> None:
    """Counted in lines run, not in seconds."""
    assert steps(bytes(64_000)) < 2.2 * steps(bytes(32_000))
    assert head_steps(8_000) < 2.2 * head_steps(4_000)


def steps(payload: bytes) -> int:
    listener, data = opened(), frame(BINARY, payload)
    return counted(lambda: [listener.feed(True, data[at : at + 1]) for at in range(len(data))])


def head_steps(size: int) -> int:
    listener, data = Observer(), b"GET / HTTP/1.1\r\na:" + b" " * size + b"\0\r\n\r\n"
    return counted(lambda: [listener.feed(True, data[at : at + 1]) for at in range(len(data))])


def counted(run: Any) -> int:
    import sys

    lines = 0

    def trace(_frame: object, _event: str, _arg: object) -> Any:
        nonlocal lines
        lines += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        run()
    finally:
        sys.settrace(before)
    return lines


@given(st.binary(max_size=70), st.binary(min_size=4, max_size=4))
def test_unmasking_is_as_the_text_writes_it(data: bytes, key: bytes) -> None:
    # "transformed-octet-i = original-octet-i XOR masking-key-octet-j", j = i MOD 4
    assert unmask(data, key) == bytes(byte ^ key[at % 4] for at, byte in enumerate(data))


def test_the_examples_of_the_rfc() -> None:
    """RFC 6455, 5.7 and RFC 7692, 7.2.3."""
    server = {
        "810548656c6c6f": ["Hello"],
        "010348656c80026c6f": ["Hello"],
        "890548656c6c6f": [],
        "c107f248cdc9c90700": ["Hello"],
        "4103f248cd8004c9c90700": ["Hello"],
        "c10b000500faff48656c6c6f00": ["Hello"],
        "c10df248050000" + "00ffffcac9c90700": ["Hello"],
        "c107f248cdc9c90700c105f200110000": ["Hello", "Hello"],
    }
    for data, said in server.items():
        assert whole(compressing().feed(False, bytes.fromhex(data))) == said
    assert whole(opened().feed(True, bytes.fromhex("818537fa213d7f9f4d5158"))) == ["Hello"]
    assert handshake.accept_for("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
