"""Four bytes of length, then JSON."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.core import RemoteProtocolError
from nodes.holdem.transport import LENGTH_MAX, Frames, frame, shown

bodies = st.lists(st.binary(min_size=2, max_size=40), max_size=5)


def taken(frames: Frames) -> list[bytes]:
    return list(iter(frames.take, None))


def test_the_length_is_four_bytes_little_endian() -> None:
    assert frame(b'{"a":1}') == b'\x07\x00\x00\x00{"a":1}'


@settings(deadline=None, max_examples=150)
@given(bodies, st.binary(max_size=3), st.lists(st.integers(0, 200)))
def test_a_stream_reads_the_same_whole_in_bytes_or_in_any_pieces(
    expected: list[bytes], rest: bytes, cuts: list[int]
) -> None:
    stream = b"".join(map(frame, expected)) + rest
    whole = Frames()
    whole.feed(stream)
    assert taken(whole) == expected
    assert len(whole) == len(rest)

    single = Frames()
    got = []
    for i in range(len(stream)):
        single.feed(stream[i : i + 1])
        got += taken(single)
    assert got == expected

    pieces = Frames()
    got = []
    edges = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    for start, end in pairwise(edges):
        pieces.feed(stream[start:end])
        got += taken(pieces)
    assert got == expected
    assert len(pieces) == len(rest)


@pytest.mark.parametrize("length", [0, 1, -1, -(2**31), LENGTH_MAX + 1, 2**31 - 1])
def test_a_length_out_of_bounds_is_refused_at_once(length: int) -> None:
    frames = Frames()
    frames.feed(frame(b"{}") + length.to_bytes(4, "little", signed=True))
    assert frames.take() == b"{}"
    with pytest.raises(RemoteProtocolError) as caught:
        frames.take()
    assert caught.value.check == "holdem/frame.len"
    assert str(length) in caught.value.text


def test_the_greatest_length_is_taken() -> None:
    frames = Frames()
    frames.feed(frame(bytes(LENGTH_MAX)))
    assert frames.take() == bytes(LENGTH_MAX)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("x\n" * 50, ascii("x\n" * 20)),
        ("\ud800", "'\\ud800'"),
        (None, "None"),
        (True, "True"),
        (1.5, "1.5"),
        (7, "7"),
        (10**4000, "a huge number"),
        ([[]], "a list"),
        ({}, "an object"),
    ],
)
def test_a_strangers_value_is_shown_short_and_printable(value: object, text: str) -> None:
    assert shown(value) == text
