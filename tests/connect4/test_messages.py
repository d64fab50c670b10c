"""The seven messages, rule by rule of the ABNF."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.connect4.checks import CHECKS
from nodes.connect4.messages import (
    AnyMessage,
    Connect,
    Connected,
    EndGame,
    GenMove,
    NewGame,
    NotConnected,
    PlayMove,
    decode,
    is_user,
)
from nodes.core import RemoteProtocolError

EMPTY = "." * 42

users = st.text("abcXYZ019-_", min_size=1, max_size=32)
infos = st.text("abcXYZ019 ", max_size=60)
boards = st.text(".RY", min_size=42, max_size=42)
colors = st.sampled_from(["R", "Y"])
statuses = st.sampled_from(["WinR", "WinY", "Tie", "PlayR", "PlayY"])
battles = st.sampled_from(["Ok", "Timeout", "Disconnected"])

messages: st.SearchStrategy[AnyMessage] = st.one_of(
    st.builds(Connect, users),
    st.builds(Connected, infos),
    st.builds(NotConnected, infos),
    st.builds(NewGame, users, users),
    st.builds(GenMove, boards, colors, st.none() | statuses, st.integers(0, 10**9)),
    st.builds(PlayMove, st.integers(0, 6)),
    st.builds(EndGame, boards, colors, statuses, battles),
)

# Lines that are nearly right find more than random bytes do.
WORDS = (
    "connect connected not-connected newgame genmove playmove endgame p1 R Y PlayR WinY Tie Ok 42.0 .5 7 3 é"
)
words = st.sampled_from([*WORDS.split(), "", EMPTY, EMPTY + ".", "\r\n"])
near_lines = st.lists(words, max_size=6).map(lambda parts: " ".join(parts).encode())


@given(messages)
def test_what_is_encoded_decodes_to_itself(message: AnyMessage) -> None:
    assert decode(message.encode()) == message


@given(messages)
def test_every_message_ends_with_crlf_and_reads_the_same_without(message: AnyMessage) -> None:
    data = message.encode()
    assert data.endswith(b"\r\n")
    assert decode(data[:-2]) == message


@given(messages)
def test_fields_name_the_message_and_hold_plain_values(message: AnyMessage) -> None:
    fields = message.fields()
    assert message.encode().decode().split()[0] == fields["type"]
    assert all(value is None or isinstance(value, (str, int, float)) for value in fields.values())


@settings(max_examples=200)
@given(st.binary(max_size=140) | near_lines)
def test_any_bytes_are_a_message_or_break_a_known_rule(data: bytes) -> None:
    broken = None
    try:
        message = decode(data)
    except RemoteProtocolError as error:
        broken = error.check
    assert broken in CHECKS if broken else decode(message.encode()) == message


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("connect client1", Connect("client1")),
        ("connected hello client1", Connected("hello client1")),
        ("connected", Connected("")),
        ("connected ", Connected("")),
        ("not-connected", NotConnected("")),
        ("not-connected name taken", NotConnected("name taken")),
        ("newgame client1 client2", NewGame("client1", "client2")),
        (f"genmove {EMPTY} R 21.0", GenMove(EMPTY, "R", None, 210)),
        (f"genmove {EMPTY} R PlayR 21.0", GenMove(EMPTY, "R", "PlayR", 210)),
        (f"genmove {EMPTY} R PlayR .5", GenMove(EMPTY, "R", "PlayR", 5)),
        ("playmove 1", PlayMove(1)),
        (
            "endgame .RRRR...YYY............................... Y WinR Ok",
            EndGame(".RRRR...YYY...............................", "Y", "WinR", "Ok"),
        ),
        (f"endgame {EMPTY} R WinR Timeout", EndGame(EMPTY, "R", "WinR", "Timeout")),
    ],
)
@pytest.mark.parametrize("end", ["", "\r\n", "\n", " \n"])
def test_the_examples_of_the_text_are_read(line: str, message: AnyMessage, end: str) -> None:
    assert decode((line + end).encode()) == message


@pytest.mark.parametrize(
    ("line", "check"),
    [
        ("", "message"),
        ("CONNECT p1", "message"),
        (" connect p1", "message"),
        ("hello", "message"),
        ("connect", "connect"),
        ("connect a b", "connect"),
        ("connect  a", "connect"),
        ("connect ", "user"),
        ("connect a.b", "user"),
        ("connect " + "a" * 33, "user"),
        ("connected a-b", "info"),
        ("not-connected é", "line"),
        ("not-connected !", "info"),
        ("newgame a", "newgame"),
        ("newgame a b c", "newgame"),
        ("newgame a ?", "user"),
        (f"genmove {EMPTY} R", "genmove"),
        (f"genmove {EMPTY} R PlayR 1.0 x", "genmove"),
        (f"genmove {EMPTY}. R PlayR 1.0", "board"),
        (f"genmove {EMPTY[1:]} R PlayR 1.0", "board"),
        (f"genmove {EMPTY[1:]}r R PlayR 1.0", "board"),
        (f"genmove {EMPTY} B PlayR 1.0", "color"),
        (f"genmove {EMPTY} R Play 1.0", "status"),
        (f"genmove {EMPTY} R PlayR 1", "time"),
        (f"genmove {EMPTY} R PlayR 1.00", "time"),
        (f"genmove {EMPTY} R PlayR -1.0", "time"),
        (f"genmove {EMPTY} R PlayR", "time"),
        ("playmove", "playmove"),
        ("playmove 1 2", "playmove"),
        ("playmove 7", "move"),
        ("playmove -1", "move"),
        ("playmove x", "move"),
        ("playmove ", "move"),
        (f"endgame {EMPTY} R WinR", "endgame"),
        (f"endgame {EMPTY} R WinR Okay", "battlestatus"),
        ("playmove 1\r\nplaymove 2", "line"),
        ("playmove 1\r", "line"),
        ("playmove 1\n\n", "line"),
        ("playmove 1\x00", "line"),
        ("connected " + "a" * 117 + "\r\n", "line"),
    ],
)
def test_a_broken_rule_is_named(line: str, check: str) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        decode(line.encode())
    assert caught.value.check == f"connect4/{check}"
    assert caught.value.check in CHECKS


@pytest.mark.parametrize("line", [b"connect", b"connect a b", b"connect !"])
def test_a_bad_name_hints_at_not_connected(line: bytes) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        decode(line)
    assert caught.value.reply_hint == NotConnected("bad name")


def test_a_name_is_1_to_32_letters_digits_hyphens_and_underscores() -> None:
    assert is_user("a-Z_9")
    assert is_user("a" * 32)
    assert not is_user("")
    assert not is_user("a" * 33)
    assert not is_user("a\n")
    assert not is_user("é")


def test_every_check_quotes_a_clause_and_says_what_it_means() -> None:
    for name, check in CHECKS.items():
        assert name.startswith("connect4/")
        assert check.clause
        assert check.means.endswith(".")
