"""One message a text frame, ended by CRLF."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.connect4.transport import LINE_MAX, frame, unframe
from nodes.core import RemoteProtocolError

printable = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=LINE_MAX - 2)


@given(printable)
def test_a_framed_line_comes_back(line: str) -> None:
    assert unframe(frame(line)) == line


@given(st.binary(max_size=LINE_MAX + 8))
def test_any_bytes_are_a_line_or_refused_as_one(data: bytes) -> None:
    broken = None
    try:
        line = unframe(data)
    except RemoteProtocolError as error:
        broken = error.check
    if broken:
        assert broken == "connect4/line"
    elif len(frame(line)) <= LINE_MAX:
        assert unframe(frame(line)) == line


@pytest.mark.parametrize("end", [b"", b"\r\n", b"\n", b" \n", b"  \n"])
def test_the_line_end_is_optional_and_a_bare_lf_will_do(end: bytes) -> None:
    assert unframe(b"playmove 1" + end) == "playmove 1"


def test_a_line_has_a_longest_length() -> None:
    assert unframe(b"a" * LINE_MAX) == "a" * LINE_MAX
    with pytest.raises(RemoteProtocolError, match="129 bytes"):
        unframe(b"a" * (LINE_MAX + 1))


@pytest.mark.parametrize("data", ["é".encode(), b"\xff", b"a\rb", b"a\nb", b"a\tb", b"\x00", b"a\r"])
def test_a_line_is_printable_ascii(data: bytes) -> None:
    with pytest.raises(RemoteProtocolError, match="printable ASCII"):
        unframe(data)
