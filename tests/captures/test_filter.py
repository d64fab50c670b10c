"""The filter language: what fits, what an error points at, and that no text breaks the parser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from captures.filter import (
    DEPTH_MAX,
    LENGTH_MAX,
    And,
    Compare,
    Exists,
    Filter,
    FilterError,
    Literal,
    Not,
    Or,
    parse,
    reach,
    vocabulary,
)
from captures.seen import Seen
from nodes.game import NAMES
from nodes.vocabulary import Field, fields_of

if TYPE_CHECKING:
    from captures.filter import Node

PLAY = Seen(
    7, 2_500_000_000, "m1→m2", 2, "hearts", "m1", "m2", "PLAY_CARD",
    {"type": 6, "origin": 0, "dest": 255, "seq": 3, "len": 1, "card": 0x3C}, "M0 plays Q♠",
)  # fmt: skip
DEAL = Seen(
    8, 0, "m0→m1", 1, "hearts", "m0", "m1", "DEAL_HAND", {"type": 3, "origin": 0, "cards": [0x3C, 0x12]}, "",
    repeat=True,
)  # fmt: skip
STATE = Seen(
    9, 0, "p1↔server", None, "holdem", "server", "p1", "state",
    {"info": "state", "players": [{"name": "ada", "money_left": 50.5}, {"name": "bob", "money_left": 7}],
     "action_history": [[{"action": "fold"}], [{"action": "r300"}]], "public_card": [], "length": 99},
    "",
)  # fmt: skip
BROKEN = Seen(
    10, 0, "", None, "hearts", "1.2.3.4:5", "[::1]:6", "malformed", {}, "3 bytes", check="hearts/3.header"
)
WORD = Seen(11, 0, "", None, "briscola", "p1", "server", "INIT", {"op": 1, "first": False, "card": 55}, "")

FITS = [
    ("hearts.type == PLAY_CARD", [PLAY]),
    ("hearts.type == play_card and hearts.origin == m0", [PLAY]),
    ("hearts.type==6", [PLAY]),
    ("hearts.type == 0x06", [PLAY]),
    ("hearts.dest == all", [PLAY]),
    ("hearts.card == Q♠", [PLAY]),
    ('hearts.card == "Q♠"', [PLAY]),
    ("hearts.cards == Q♠", [DEAL]),  # any element
    ("hearts.cards contains 2♣", [DEAL]),
    ("hearts.cards != Q♠", []),
    ("hearts.cards != A♠", [DEAL]),
    ("hearts.card in {Q♠, A♠}", [PLAY]),
    ("hearts.seq > 2 and hearts.seq <= 3 and hearts.seq < 4 and hearts.seq >= 3", [PLAY]),
    ("hearts.seq < 3 or hearts.seq > 3", []),
    ("hearts", [PLAY, DEAL, BROKEN]),
    ("not hearts", [STATE, WORD]),
    ("hearts.card", [PLAY]),
    ("!hearts.card && hearts", [DEAL, BROKEN]),
    ("game == hearts", [PLAY, DEAL, BROKEN]),
    ("game in {holdem, briscola}", [STATE, WORD]),
    ("kind == state || kind == INIT", [STATE, WORD]),
    ("link == m1→m2", [PLAY]),
    ("link contains server", [STATE]),
    ("hop == 2", [PLAY]),
    ("hop", [PLAY, DEAL]),
    ("hop != 2", [DEAL]),
    ("src == m1 and dst == m2", [PLAY]),
    ("src == 1.2.3.4:5 and dst == [::1]:6", [BROKEN]),
    ("check", [BROKEN]),
    ("check == hearts/3.header", [BROKEN]),
    ('check matches "^hearts/3"', [BROKEN]),
    ('kind matches "(?i)^play"', [PLAY]),
    ("frame.number in {7, 9}", [PLAY, STATE]),
    ("frame.time > 1.5", [PLAY]),
    ("repeat", [DEAL]),
    ("repeat == false and hearts.type", [PLAY]),
    ("holdem.players.name == bob", [STATE]),
    ("holdem.players.name contains da", [STATE]),
    ("holdem.players.money_left == 50.5", [STATE]),
    ("holdem.players.money_left < 10", [STATE]),
    ("holdem.action_history.action == r300", [STATE]),
    ("holdem.public_card", []),
    ("holdem.length == 99", [STATE]),
    ("briscola.op == INIT and briscola.first == no", [WORD]),
    ("briscola.first", []),
    ("briscola.card == 7♣", [WORD]),
    ("(hearts.type == 6 or hearts.type == 3) and not (hop == 1)", [PLAY]),
    ("hearts.type == 6 or hearts.type == 3 and hop == 2", [PLAY]),  # and binds stronger
]


@pytest.mark.parametrize(("text", "wanted"), FITS)
def test_a_filter_chooses(text: str, wanted: list[Seen]) -> None:
    chosen = parse(text)
    found = [seen for seen in (PLAY, DEAL, STATE, BROKEN, WORD) if chosen.matches(seen.value)]
    assert found == wanted
    assert parse(str(chosen)) == chosen


@pytest.mark.parametrize(
    ("text", "column", "says"),
    [
        ("hearts.tpye == 3", 0, "did you mean hearts.type"),
        ("hop == 1 and hearts.origi == 3", 13, "did you mean hearts.origin"),
        ("origin == 3", 0, "did you mean hearts.origin"),
        ("hearts.type == PLAYCARD", 15, "did you mean PLAY_CARD"),
        ("hearts.card in {Q♠, Z♠}", 20, "no value called 'Z♠'"),
        ("hearts.seq == many", 14, "is a number"),
        ("hearts.type = 3", 12, "=="),
        ("hearts.type ==", 14, "the expression ends"),
        ("hearts.type == and hop", 15, "no value called 'and'"),
        ("and hop", 0, "name of a field"),
        ("", 0, "the expression ends"),
        ("(hop == 1", 9, ") is missing"),
        ("hop == 1)", 8, "closes nothing"),
        ("hop == 1 hop == 2", 9, "and, or"),
        ('kind == "x', 8, "not closed"),
        ("hop in 1", 7, "{VALUE"),
        ("hop in {1 2}", 10, "commas"),
        ("hop in {}", 8, "value is due"),
        ("hop contains 1", 13, "contains nothing"),
        ('hop matches "1"', 12, "no text"),
        ('kind matches "a("', 16, "not closed"),
        ("briscola.first == maybe", 18, "true or false"),
        ("briscola.first < true", 17, "only == and !="),
        ("hop & 1", 4, "'&' alone"),
        ("hop == {", 7, "where a value is due"),
        ("(" * (DEPTH_MAX + 1) + "hop", DEPTH_MAX, "deep"),
        ("not " * (DEPTH_MAX + 1) + "hop", 4 * DEPTH_MAX, "deep"),
    ],
)
def test_an_error_points_at_its_column(text: str, column: int, says: str) -> None:
    with pytest.raises(FilterError) as caught:
        parse(text)
    assert caught.value.column == column
    lines = str(caught.value).splitlines()
    assert says in lines[0]
    assert lines[2].index("^") == column + 2
    assert lines[1][2:] == text


def test_a_filter_has_a_longest_length() -> None:
    assert parse(" " * (LENGTH_MAX - 3) + "hop")
    with pytest.raises(FilterError, match="at most"):
        parse(" " * (LENGTH_MAX - 2) + "hop")


def test_every_field_of_the_vocabulary_is_a_name() -> None:
    assert {f"{game}.{name}" for game in NAMES for name in fields_of(game)} < set(vocabulary())
    for name, field in vocabulary().items():
        assert parse(name)
        for value in field.values.values():
            assert parse(f'{name} == "{value}"')


def test_other_houses_may_bring_other_names() -> None:
    names = {"loss": Field("number", "how many of a hundred")}
    assert parse("loss > 3", names).matches({"loss": 4}.get)
    assert parse("loss > 3 or not loss", names).names == {"loss"}
    with pytest.raises(FilterError):
        parse("hop", names)


def test_a_dotted_name_reaches_into_lists_and_objects() -> None:
    fields: dict[str, Any] = {"a": [[{"b": 1}, {"b": [2, 3]}], {"c": 4}], "d.e": 5, "f": {"g": {"h": 6}}}
    assert reach(fields, "a.b") == [1, 2, 3]
    assert reach(fields, "a.c") == [4]
    assert reach(fields, "d.e") == 5
    assert reach(fields, "f.g.h") == 6
    assert reach(fields, "f.x") is reach(fields, "a.x") is reach(fields, "x.y") is None


def test_numbers_and_texts_and_flags_are_never_confused() -> None:
    chosen = parse("hearts.seq == 1 or hearts.seq < 5")
    assert not chosen.matches({"hearts.seq": True}.get)
    assert not chosen.matches({"hearts.seq": "1"}.get)
    assert not parse("kind == 1").matches({"kind": 1}.get)
    assert parse("kind == 1").matches({"kind": "1"}.get)
    assert not parse("kind < b").matches({"kind": 1}.get)


WORDS = [
    "hearts.type", "hop", "kind", "PLAY_CARD", "==", "!=", "<", "and", "or", "not", "(", ")", "{", "}", ",",
    "in", "contains", "matches", '"a+"', "3", "0x1f", "2.5", "hearts", "Q♠", "!", "&&", "||", '"', "\\",
]  # fmt: skip


@settings(deadline=None, max_examples=300)
@given(st.one_of(st.text(max_size=60), st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)))
def test_any_text_is_a_filter_or_an_error(text: str) -> None:
    try:
        chosen = parse(text)
    except FilterError as error:
        if not 0 <= error.column <= len(text):
            raise
        return
    assert parse(str(chosen)) == chosen
    for seen in (PLAY, DEAL, STATE, BROKEN, WORD):
        assert chosen.matches(seen.value) in (True, False)
        assert chosen.matches(seen.value) == parse(str(chosen)).matches(seen.value)


def _never(_: object) -> bool:
    return False


_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_leaves = st.one_of(
    st.sampled_from(sorted(vocabulary())).map(Exists),
    st.builds(lambda text: Compare("kind", "==", (Literal(text, quoted=True),), _never), _texts),
    st.builds(
        lambda texts: Compare("link", "in", tuple(Literal(text, quoted=True) for text in texts), _never),
        st.lists(_texts, min_size=1, max_size=3),
    ),
    st.sampled_from(["Q♠", "2♣", "61"]).map(
        lambda card: Compare("hearts.card", "!=", (Literal(card),), _never)
    ),
)
_nodes: st.SearchStrategy[Node] = st.recursive(
    _leaves,
    lambda inner: st.one_of(
        inner.map(Not),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: And(tuple(parts))),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: Or(tuple(parts))),
    ),
    max_leaves=12,
)


@settings(deadline=None, max_examples=200)
@given(_nodes)
def test_what_is_printed_is_parsed_again(node: Node) -> None:
    assert parse(str(Filter(node))) == Filter(node)
