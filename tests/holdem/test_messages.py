"""The bytes of Texas hold'em."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.core import RemoteProtocolError
from nodes.holdem.checks import CHECKS
from nodes.holdem.messages import (
    ACTION_LENGTH_MAX,
    ACTIONS,
    CARDS,
    GAMES_MAX,
    MONEY_MAX,
    NAME_MAX,
    TEXT_MAX,
    Action,
    AnyMessage,
    Connect,
    Error,
    Played,
    PlayerResult,
    PlayerState,
    Ready,
    Result,
    State,
    Success,
    _Object,
    decode,
    meaning,
    objection,
    symbol,
    timestamp,
)
from nodes.holdem.transport import NESTING_MAX

ORDER = settings(deadline=None, max_examples=100)

printable = st.characters(categories=["L", "N", "P", "S"])
names = st.text(printable, min_size=1, max_size=NAME_MAX)
money = st.integers(-MONEY_MAX, MONEY_MAX)
played = st.builds(
    Played,
    st.integers(0, 9),
    st.sampled_from(["call", "check", "fold", "r300"]),
    st.sampled_from(["", "now"]),
)
streets = st.lists(st.lists(played, max_size=4).map(tuple), max_size=4).map(tuple)
deck = st.lists(st.sampled_from(sorted(CARDS)), min_size=25, max_size=25, unique=True)


@st.composite
def states(draw: st.DrawFn) -> State:
    size = draw(st.integers(2, 10))
    cards = tuple(draw(deck))
    low, more = draw(st.integers(1, 100)), draw(st.integers(0, 100))
    may_raise = draw(st.booleans())
    call = draw(st.sampled_from(["call", "check"]))
    return State(
        draw(st.integers(0, size - 1)),
        draw(st.integers(-1, size - 1)),
        ("fold", call, "raise") if may_raise else ("fold", call),
        (low, low + more) if may_raise else (),
        cards[:2],
        cards[2 : 2 + draw(st.integers(0, 5))],
        tuple(PlayerState(i, draw(money), draw(money), draw(names)) for i in range(size)),
        draw(streets),
    )


@st.composite
def results(draw: st.DrawFn) -> Result:
    size = draw(st.integers(2, 10))
    cards = tuple(draw(deck))
    return Result(
        tuple(cards[2 * i : 2 * i + draw(st.sampled_from([0, 2]))] for i in range(size)),
        cards[20 : 20 + draw(st.integers(0, 5))],
        draw(streets),
        tuple(PlayerResult(i, draw(money), draw(money), draw(money), draw(names)) for i in range(size)),
    )


messages = st.one_of(
    st.builds(
        Connect,
        names,
        st.integers(2, 10),
        st.integers(1, GAMES_MAX),
        st.one_of(st.none(), st.integers(-9, 9), st.text(printable, max_size=9)),
    ),
    st.builds(Ready, st.sampled_from(["start", "exit"])),
    st.builds(Action, st.text(printable, max_size=ACTION_LENGTH_MAX)),
    st.builds(Error, st.text(printable, max_size=TEXT_MAX)),
    st.builds(Success, st.text(printable, max_size=TEXT_MAX)),
    states(),
    results(),
)


@ORDER
@given(messages)
def test_what_is_encoded_decodes_to_the_same(message: AnyMessage) -> None:
    assert decode(message.encode()) == message
    assert json.loads(message.encode()) == message.fields()


@ORDER
@given(messages)
def test_json_is_escaped_to_ascii_because_receivers_count_characters(message: AnyMessage) -> None:
    message.encode().decode("ascii")


def refusal(body: bytes) -> RemoteProtocolError:
    with pytest.raises(RemoteProtocolError) as caught:
        decode(body)
    error = caught.value
    assert error.check in CHECKS
    assert error.reply_hint == Error(error.text)
    assert decode(Error(error.text).encode()) == Error(error.text)
    return error


values = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.sampled_from([*ACTIONS, "As"])
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(), inner, max_size=4)),
    max_leaves=8,
)


@ORDER
@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_or_a_refusal(body: bytes) -> None:
    try:
        decode(body)
    except RemoteProtocolError:
        refusal(body)


@settings(ORDER, max_examples=300)
@given(messages, st.data())
def test_any_value_in_any_field_is_a_message_or_a_refusal(message: AnyMessage, data: st.DataObject) -> None:
    fields: Any = message.fields()
    inside = fields
    while True:
        key = data.draw(st.sampled_from(sorted(inside) if isinstance(inside, dict) else range(len(inside))))
        if not isinstance(inside[key], list | dict) or not inside[key] or data.draw(st.booleans()):
            break
        inside = inside[key]
    inside[key] = data.draw(values)
    body = json.dumps(fields).encode()
    try:
        decode(body)
    except RemoteProtocolError:
        refusal(body)


EXAMPLE_PLAYERS = [
    {"position": 0, "money_left": 19900, "total_money": 20000, "name": "Demo"},
    {"position": 1, "money_left": 19900, "total_money": 20000, "name": "CallAgent"},
]
EXAMPLE_STATE: dict[str, Any] = {
    "position": 0,
    "action_position": 1,
    "legal_actions": ["fold", "check", "raise"],
    "raise_range": [100, 19900],
    "private_card": ["5c", "4s"],
    "public_card": ["Kc", "Qh", "Ad", "6s"],
    "players": EXAMPLE_PLAYERS,
    "action_history": [[{"position": 0, "action": "call", "timestamp": "2020-07-06 18:45:44.509"}], [], []],
    "info": "state",
}
EXAMPLE_RESULT: dict[str, Any] = {
    "player_card": [["5c", "4s"], ["9s", "Td"]],
    "public_card": ["Kc", "Qh", "Ad", "6s", "Ts"],
    "action_history": [[], [], [], []],
    "players": [
        {"position": 0, "win_money": -100, "moneyLeft": 19900, "totalMoney": 20000, "name": "Demo"},
        {"position": 1, "win_money": 100.0, "moneyLeft": 19900, "totalMoney": 20000, "name": "CallAgent"},
    ],
    "info": "result",
}


def test_the_examples_of_the_text_are_read() -> None:
    connect = b'{ "info": "connect", "name": "Demo", "room_number": 2, "game_number": 2 }'
    assert decode(connect) == Connect("Demo", 2, 2)
    assert decode(b'{"info": "ready", "status": "start"}') == Ready("start")
    assert decode(b'{ "action": "call", "info": "action" }') == Action("call")
    state = decode(json.dumps(EXAMPLE_STATE).encode())
    assert isinstance(state, State)
    assert state.raise_range == (100, 19900)
    assert state.fields() == EXAMPLE_STATE
    result = decode(json.dumps(EXAMPLE_RESULT).encode())
    assert isinstance(result, Result)
    assert [type(player.win_money) for player in result.players] == [int, int]
    assert [player.money_left for player in result.players] == [19900, 19900]


def test_a_result_has_both_spellings_of_the_money_keys() -> None:
    player = PlayerResult(0, -5, 95, 100, "a").fields()
    assert player["moneyLeft"] == player["money_left"] == 95
    assert player["totalMoney"] == player["total_money"] == 100


def test_what_programs_in_the_wild_send_is_read() -> None:
    """The text's misspelling, no timestamp, no player_card, -1 for nobody, halves, keys nobody knows."""
    state = EXAMPLE_STATE | {
        "action_position": -1,
        "legal_actions": [],
        "raise_range": [],
        "action_history": [[{"position": 1, "acion": "r200"}]],
        "players": [
            {"position": 1, "moneyLeft": 0.5, "totalMoney": 1, "name": "b", "level": {}},
            {"position": 0, "moneyLeft": 1, "totalMoney": 1.0, "name": "a"},
        ],
    }
    read = decode(json.dumps(state).encode())
    assert isinstance(read, State)
    assert read.action_history == ((Played(1, "r200", ""),),)
    assert read.players == (PlayerState(0, 1, 1, "a"), PlayerState(1, 0.5, 1, "b"))
    result = decode(json.dumps({k: v for k, v in EXAMPLE_RESULT.items() if k != "player_card"}).encode())
    assert isinstance(result, Result)
    assert result.player_card == ()
    assert decode(b'{"info":"success","text":"Complete playing"}') == Success("Complete playing")
    assert decode(
        '{"info":"connect","name":"张","room_number":2.0,"game_number":1,"bots":[]}'.encode()
    ) == Connect("张", 2, 1)


PLAYED = Played(0, "call", "").fields()
CONNECT: dict[str, Any] = Connect("Demo", 2, 2).fields()
READY: dict[str, Any] = Ready().fields()
ACTION: dict[str, Any] = Action("call").fields()


def player(**changes: Any) -> dict[str, Any]:
    return EXAMPLE_STATE | {"players": [EXAMPLE_PLAYERS[0] | changes, EXAMPLE_PLAYERS[1]]}


@pytest.mark.parametrize(
    ("check", "fields"),
    [
        ("holdem/info", {}),
        ("holdem/info", {"info": "hello"}),
        ("holdem/info", {"info": ["connect"]}),
        ("holdem/info", {"info": {"a": 1}}),
        ("holdem/info", {"info": True}),
        ("holdem/connect.name", CONNECT | {"name": ""}),
        ("holdem/connect.name", CONNECT | {"name": "x" * (NAME_MAX + 1)}),
        ("holdem/connect.name", CONNECT | {"name": "\x1b[2J"}),
        ("holdem/connect.name", CONNECT | {"name": "\ud800"}),
        ("holdem/connect.name", CONNECT | {"name": 7}),
        ("holdem/connect.room_number", CONNECT | {"room_number": 1}),
        ("holdem/connect.room_number", CONNECT | {"room_number": 11}),
        ("holdem/connect.room_number", CONNECT | {"room_number": True}),
        ("holdem/connect.room_number", CONNECT | {"room_number": 2.5}),
        ("holdem/connect.room_number", CONNECT | {"room_number": "2"}),
        ("holdem/connect.game_number", CONNECT | {"game_number": 0}),
        ("holdem/connect.game_number", CONNECT | {"game_number": True}),
        ("holdem/connect.game_number", CONNECT | {"game_number": GAMES_MAX + 1}),
        ("holdem/connect.game_number", CONNECT | {"game_number": 10**4000}),
        ("holdem/connect.room_id", CONNECT | {"room_id": "x" * 65}),
        ("holdem/connect.room_id", CONNECT | {"room_id": [1]}),
        ("holdem/ready.status", READY | {"status": "maybe"}),
        ("holdem/ready.status", READY | {"status": {}}),
        ("holdem/action.form", ACTION | {"action": 300}),
        ("holdem/action.form", ACTION | {"action": "r" * 33}),
        ("holdem/text", {"info": "error", "text": 1}),
        ("holdem/text", {"info": "success", "text": "x" * (TEXT_MAX + 1)}),
        ("holdem/card", EXAMPLE_STATE | {"private_card": ["5c", "1s"]}),
        ("holdem/card", EXAMPLE_STATE | {"private_card": ["5c", {}]}),
        ("holdem/card", EXAMPLE_STATE | {"private_card": ["5c", "4s", "3s"]}),
        ("holdem/card", EXAMPLE_STATE | {"public_card": "Kc"}),
        ("holdem/card.twice", EXAMPLE_STATE | {"private_card": ["Kc", "4s"]}),
        ("holdem/card.twice", EXAMPLE_RESULT | {"player_card": [["5c", "4s"], ["5c", "Td"]]}),
        ("holdem/state.form", EXAMPLE_STATE | {"players": EXAMPLE_PLAYERS[:1]}),
        ("holdem/state.form", EXAMPLE_STATE | {"players": EXAMPLE_PLAYERS * 6}),
        ("holdem/state.form", EXAMPLE_STATE | {"players": [1, 2]}),
        ("holdem/state.form", EXAMPLE_STATE | {"players": None}),
        ("holdem/state.position", EXAMPLE_STATE | {"position": 2}),
        ("holdem/state.position", EXAMPLE_STATE | {"position": -1}),
        ("holdem/state.position", player(position=1)),
        ("holdem/state.position", player(position=5)),
        ("holdem/state.action_position", EXAMPLE_STATE | {"action_position": 2}),
        ("holdem/state.action_position", EXAMPLE_STATE | {"action_position": None}),
        ("holdem/state.legal_actions", EXAMPLE_STATE | {"legal_actions": ["call", "check"]}),
        ("holdem/state.legal_actions", EXAMPLE_STATE | {"legal_actions": []}),
        ("holdem/state.legal_actions", EXAMPLE_STATE | {"legal_actions": ["fold", "fold", "call"]}),
        ("holdem/state.legal_actions", EXAMPLE_STATE | {"legal_actions": ["r300", "call"]}),
        ("holdem/state.legal_actions", EXAMPLE_STATE | {"legal_actions": [["call"]]}),
        ("holdem/state.raise_range", EXAMPLE_STATE | {"raise_range": []}),
        ("holdem/state.raise_range", EXAMPLE_STATE | {"raise_range": [100]}),
        ("holdem/state.raise_range", EXAMPLE_STATE | {"raise_range": [200, 100]}),
        ("holdem/state.raise_range", EXAMPLE_STATE | {"raise_range": ["100", "200"]}),
        ("holdem/history", EXAMPLE_STATE | {"action_history": {}}),
        ("holdem/history", EXAMPLE_STATE | {"action_history": [[], [], [], [], []]}),
        ("holdem/history", EXAMPLE_STATE | {"action_history": [["call"]]}),
        ("holdem/history", EXAMPLE_STATE | {"action_history": [[{"position": 10, "action": "call"}]]}),
        ("holdem/history", EXAMPLE_STATE | {"action_history": [[{"position": 0}]]}),
        ("holdem/history", EXAMPLE_STATE | {"action_history": [[{**PLAYED, "timestamp": 1}]]}),
        ("holdem/money", player(money_left="19900")),
        ("holdem/money", player(money_left=True)),
        ("holdem/money", player(money_left=MONEY_MAX + 1)),
        ("holdem/money", player(moneyLeft=1)),
        ("holdem/money", EXAMPLE_RESULT | {"players": [{"position": 0}, {"position": 1}]}),
        ("holdem/result.form", EXAMPLE_RESULT | {"players": []}),
        ("holdem/result.form", EXAMPLE_RESULT | {"player_card": [[], [], []]}),
    ],
)  # fmt: skip
def test_a_field_that_breaks_its_clause_is_refused(check: str, fields: dict[str, Any]) -> None:
    assert refusal(json.dumps(fields).encode()).check == check


@pytest.mark.parametrize(
    ("check", "body"),
    [
        ("holdem/frame.utf8", b'{"info": "\xff"}'),
        ("holdem/frame.utf8", '{"info": "ready"}'.encode("utf-16")),
        ("holdem/frame.json", b""),
        ("holdem/frame.json", b"[]"),
        ("holdem/frame.json", b"1"),
        ("holdem/frame.json", b"null"),
        ("holdem/frame.json", b'{"info": "ready"} {}'),
        ("holdem/frame.json", "\ufeff{}".encode()),
        ("holdem/frame.json", b'{"info": NaN}'),
        ("holdem/frame.json", b'{"info": -Infinity}'),
        ("holdem/frame.json", b'{"info": "ready", "info": "action"}'),
        ("holdem/frame.json", b'{"info": "ready", "x": {"a": 1, "a": 1}}'),
        ("holdem/frame.json", b"[" * 500_000),
        ("holdem/frame.json", b'{"a":' * 200_000),
        ("holdem/frame.json", b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
        ("holdem/frame.json", b'{"info": ' + b"9" * 1_000_000 + b"}"),
        ("holdem/connect.game_number",
         b'{"info":"connect","name":"a","room_number":2,"game_number":1e999}'),
        ("holdem/connect.game_number",
         b'{"info":"connect","name":"a","room_number":2,"game_number":1e300}'),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_a_body_that_is_no_json_object_is_refused(check: str, body: bytes) -> None:
    assert refusal(body).check == check


def test_a_deep_object_in_a_field_nobody_reads_does_no_harm() -> None:
    deep = b'{"info":"ready","status":"start","x":' + b"[" * 50 + b"]" * 50 + b"}"
    assert decode(deep) == Ready("start")


def test_what_is_nested_deeper_than_the_limit_is_refused_and_no_less() -> None:
    def nested(depth: int) -> bytes:
        pairs = depth - 1
        return b'{"info":"ready","status":"start","x":' + b"[" * pairs + b"]" * pairs + b"}"

    assert decode(nested(NESTING_MAX)) == Ready("start")
    assert refusal(nested(NESTING_MAX + 1)).check == "holdem/frame.json"
    assert decode(b'{"info":"ready","status":"start","x":[' + b"[{}]," * 99 + b"[]]}") == Ready("start")


@pytest.mark.parametrize(
    ("action", "says"),
    [
        ("call", ("call", 0)),
        ("check", ("check", 0)),
        ("fold", ("fold", 0)),
        ("f", ("fold", 0)),
        ("r300", ("raise", 300)),
        ("r0300", ("raise", 300)),
        ("raise", ("", 0)),
        ("r", ("", 0)),
        ("r-5", ("", 0)),
        ("r1e3", ("", 0)),
        ("r٣", ("", 0)),
        ("r300\n", ("", 0)),
        ("r12345678901234", ("", 0)),
        ("Call", ("", 0)),
        ("", ("", 0)),
    ],
)
def test_an_action_says_what_the_text_has_it_say(action: str, says: tuple[str, int]) -> None:
    assert meaning(action) == says


@pytest.mark.parametrize(
    ("action", "check"),
    [
        ("check", "holdem/action.illegal"),
        ("raise", "holdem/action.illegal"),
        ("", "holdem/action.illegal"),
        ("r99", "holdem/action.range"),
        ("r201", "holdem/action.range"),
        ("r100", None),
        ("r200", None),
        ("call", None),
        ("f", None),
    ],
)
def test_an_action_must_be_one_of_those_offered(action: str, check: str | None) -> None:
    complaint = objection(action, ("fold", "call", "raise"), (100, 200))
    assert (complaint and complaint[0]) == check


def test_a_raise_where_none_is_offered_is_illegal() -> None:
    complaint = objection("r100", ("fold", "call"), ())
    assert complaint
    assert complaint[0] == "holdem/action.illegal"


@ORDER
@given(st.datetimes(min_value=datetime(1970, 1, 1), max_value=datetime(2200, 1, 1)))
def test_a_timestamp_has_milliseconds(moment: datetime) -> None:
    moment = moment.replace(microsecond=moment.microsecond // 1000 * 1000, tzinfo=UTC)
    text = timestamp(round(moment.timestamp() * 1000))
    assert datetime.strptime(text + "000+0000", "%Y-%m-%d %H:%M:%S.%f%z") == moment
    assert len(text) == 23


def test_the_timestamp_of_the_example() -> None:
    assert timestamp(1_594_061_144_509) == "2020-07-06 18:45:44.509"


def test_cards_are_shown_with_their_symbols() -> None:
    assert [symbol(card) for card in ("Qs", "Th", "2c", "Ad")] == ["Q♠", "10♥", "2♣", "A♦"]


def test_an_object_without_fields_cannot_be_sent() -> None:
    with pytest.raises(NotImplementedError):
        _Object().encode()


def test_a_connect_for_a_server_that_wants_a_room_id_has_bots_too() -> None:
    assert Connect("a", 2, 1, 7).fields()["bots"] == []
    assert "bots" not in Connect("a", 2, 1).fields()
