"""Twelve bytes at a time, however the stream is cut."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.core import RemoteProtocolError
from nodes.tictactoe.transport import Chunks


@given(st.binary(max_size=100))
@settings(deadline=None)
def test_whole_or_byte_by_byte_a_stream_gives_the_same_messages(data: bytes) -> None:
    whole, slow = Chunks(), Chunks()
    messages = whole.feed(data)
    assert [message for byte in data for message in slow.feed(bytes([byte]))] == messages
    assert all(len(message) == 12 for message in messages)
    assert b"".join(messages) == data[: len(data) - len(data) % 12]


@given(st.lists(st.binary(max_size=30), max_size=8))
@settings(deadline=None)
def test_any_cut_of_a_stream_gives_the_same_messages(pieces: list[bytes]) -> None:
    chunks = Chunks()
    assert [m for piece in pieces for m in chunks.feed(piece)] == Chunks().feed(b"".join(pieces))


def test_a_short_message_is_no_error_until_the_peer_closes() -> None:
    chunks = Chunks()
    assert chunks.feed(b"   5       ") == []
    with pytest.raises(RemoteProtocolError) as caught:
        chunks.close()
    assert caught.value.check == "tictactoe/start.2"


def test_bytes_after_a_message_are_kept_for_the_next() -> None:
    chunks = Chunks()
    assert chunks.feed(b"   5           ") == [b"   5        "]
    assert chunks.feed(b"6        ") == [b"   6        "]
    chunks.close()
