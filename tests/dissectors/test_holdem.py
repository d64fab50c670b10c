"""Hold'em in Scapy: every key a field, nothing lost, and never at odds with the node's codec."""

from __future__ import annotations

import json
import pickle
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scapy.layers.inet import IP, TCP
from scapy.packet import NoPayload, Packet, Padding, Raw, fuzz
from scapy.utils import hexdump

from dissectors import holdem
from dissectors.holdem import (
    KINDS,
    NULL,
    Holdem,
    HoldemAction,
    HoldemBroken,
    HoldemConnect,
    HoldemError,
    HoldemFragment,
    HoldemOther,
    HoldemReady,
    HoldemResult,
    HoldemState,
    HoldemSuccess,
    Record,
)
from nodes.core import RemoteProtocolError
from nodes.game import load
from nodes.holdem.fields import FIELDS
from nodes.holdem.messages import (
    ACTIONS,
    CARDS,
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
    decode,
)
from nodes.holdem.transport import LENGTH_MAX, NESTING_MAX, Frames, frame
from tests.dissectors.agreement import mutated
from tests.holdem.test_messages import messages, values
from tests.tools import how_many

ORDER = settings(deadline=None, max_examples=100)
DECK = sorted(CARDS)


def some_message(rng: Random) -> AnyMessage:
    """Any message a node takes."""
    size = rng.randint(2, 10)
    cards = tuple(rng.sample(DECK, 25))
    names = [rng.choice(("p", "王", 'q"', "é")) + str(seat) for seat in range(size)]
    history = tuple(
        tuple(
            Played(rng.randrange(10), rng.choice(("call", "fold", "r300")), "")
            for _ in range(rng.randrange(5))
        )
        for _ in range(rng.randrange(5))
    )
    raises = rng.random() < 0.5
    legal = ("fold", rng.choice(("call", "check")), *(("raise",) if raises else ()))
    return rng.choice(
        (
            Connect(names[0], size, rng.randint(1, 99), rng.choice((None, 7, "a"))),
            Ready(rng.choice(("start", "exit"))),
            Action(rng.choice(("call", "fold", "r300", "nonsense"))),
            Error("no"),
            Success("done"),
            State(
                rng.randrange(size),
                rng.randrange(-1, size),
                legal,
                (100, 20_000) if raises else (),
                cards[:2],
                cards[2 : 2 + rng.randrange(6)],
                tuple(PlayerState(seat, rng.randrange(9999), 0.5, name) for seat, name in enumerate(names)),
                history,
            ),
            Result(
                tuple(cards[2 * seat : 2 * seat + rng.choice((0, 2))] for seat in range(size)),
                cards[20:25],
                history,
                tuple(PlayerResult(seat, -5, rng.randrange(999), 1, name) for seat, name in enumerate(names)),
            ),
        )
    )  # fmt: skip


ODD: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    3,
    2.0,
    1e999,
    10**30,
    "",
    "As",
    "call",
    "\ud800",
    [],
    {},
    [["As"]],
    {"x": None},
)


def warped(body: bytes, rng: Random) -> bytes:
    """JSON that is still JSON: a value put elsewhere, a key taken away or added, at any depth."""
    value = json.loads(body)
    inside: Any = value
    for _ in range(rng.randrange(4)):
        keys = list(inside) if isinstance(inside, dict) else range(len(inside))
        deeper = [inside[key] for key in keys if isinstance(inside[key], dict | list) and inside[key]]
        inside = rng.choice(deeper) if deeper else inside
    keys = list(inside) if isinstance(inside, dict) else list(range(len(inside)))
    match rng.randrange(3):
        case 0 if keys:
            inside[rng.choice(keys)] = rng.choice(ODD)
        case 1 if keys:
            del inside[rng.choice(keys)]
        case _ if isinstance(inside, dict):
            inside[rng.choice(("bots", "x", "info", "acion", "moneyLeft"))] = rng.choice(ODD)
        case _:
            inside.append(rng.choice(ODD))
    return json.dumps(value, ensure_ascii=rng.random() < 0.9).encode("utf-8", "surrogatepass")


def disagreement(data: bytes, packet: Packet) -> str | None:
    """What the codec and the layer do not agree on about the first frame of these bytes, if anything."""
    if bytes(packet) != data:
        return f"{data!r} is built again as {bytes(packet)!r}"
    frames = Frames()
    frames.feed(data)
    check: str | None = None
    body = message = None
    try:
        body = frames.take()
        if body is not None:
            message = decode(body)
    except RemoteProtocolError as error:
        check = error.check
    if len(data) < 4:
        return None if isinstance(packet, HoldemFragment) else f"{data!r} is no fragment"
    if body is None:
        check = "holdem/frame.len"
    elif data[4 + len(body) :] != (bytes(packet[Padding].load) if Padding in packet else b""):
        return f"{data!r}: what follows the message is {packet.lastlayer()!r}"
    if packet.check != check:
        return f"{data!r}: the codec says {check}, the layer {packet.check}"
    if body is None or isinstance(packet.payload, HoldemBroken):
        return None if check else f"{data!r} is broken only to the layer"
    layer = packet.payload
    fields = {name: value for name, value in layer.fields.items() if name != "extra" and value is not None}
    seen = {name: None if value is NULL else value for name, value in fields.items()} | layer.extra
    if repr(seen) != repr({key: json.loads(body)[key] for key in seen}) or set(seen) != set(json.loads(body)):
        return f"{data!r}: the layer's fields are {seen!r}"
    if message is not None:
        if type(layer) is not KINDS[message.kind]:
            return f"{data!r} is a {message.kind} to the codec, a {type(layer).__name__} to the layer"
        if message.encode() == body and any(fields[key] != value for key, value in message.fields().items()):
            return f"{data!r}: the codec's fields are {message.fields()!r}"
    return None


@pytest.mark.parametrize("seed", range(4))
def test_codec_and_layer_agree(seed: int) -> None:
    rng = Random(seed)
    for number in range(how_many(400, 25_000)):
        body = some_message(rng).encode()
        if number % 4 == 1:
            body = warped(body, rng)
        data = frame(body)
        if number % 4 == 2:
            data = mutated(data, frame(some_message(rng).encode()), rng) or b"\0"
        elif number % 4 == 3:
            data = frame(mutated(body, some_message(rng).encode(), rng))
        found = disagreement(data, Holdem(data))
        assert found is None, found


@ORDER
@given(messages, st.dictionaries(st.text(), values, max_size=3))
def test_what_the_codec_encodes_the_layer_shows(message: AnyMessage, more: dict[str, Any]) -> None:
    body = json.dumps({**more, **message.fields()}).encode()
    assert disagreement(frame(body), Holdem(frame(body))) is None
    assert disagreement(frame(message.encode()), Holdem(frame(message.encode()))) is None


@ORDER
@given(messages)
def test_what_the_layer_builds_the_codec_decodes(message: AnyMessage) -> None:
    packet = Holdem() / KINDS[message.kind](**message.fields())
    frames = Frames()
    frames.feed(bytes(packet))
    body = frames.take()
    assert body == message.encode()
    assert decode(body) == message
    assert packet.check is None
    assert packet.decoded() == message


def test_the_names_are_the_vocabulary() -> None:
    named = {field.name for kind in KINDS.values() for field in kind.fields_desc}
    inside = {name for name in FIELDS if "." in name}
    assert named | {"length"} | inside == {*FIELDS, "extra"}
    assert load("holdem").port == holdem.PORT


STATE = State(
    0, 2, ("fold", "call", "raise"), (200, 20_000), ("Qs", "Th"), ("2c", "3d", "4h"),
    tuple(PlayerState(seat, 19_900, 20_000, f"p{seat}") for seat in range(3)),
    ((Played(2, "call", "t"), Played(0, "r300", "t")), ()),
)  # fmt: skip


def shown(packet: Packet) -> str:
    return str(packet.show(dump=True))


def dissected(message: AnyMessage) -> Packet:
    return Holdem(frame(message.encode()))


def test_a_fields_value_is_the_keys_and_an_objects_keys_are_attributes() -> None:
    packet = IP() / TCP(dport=2333) / dissected(STATE)
    packet = IP(bytes(packet))
    state = packet[HoldemState]
    assert state.action_position == packet.action_position == 2
    assert state.players[0].name == state.players[0]["name"] == "p0"
    assert state.action_history[0][1].action == "r300"
    assert packet[Holdem].length == len(STATE.encode())
    with pytest.raises(AttributeError, match="has no 'nonsense'; it has position"):
        _ = state.players[0].nonsense


def test_what_is_changed_inside_a_message_is_built() -> None:
    packet = dissected(STATE)
    packet.players[1].name = "somebody"
    packet.action_history[1].append({"position": 1, "action": "check"})
    packet.public_card = []
    assert packet.check == "holdem/frame.len"
    del packet.length
    message = packet.decoded()
    assert message.players[1].name == "somebody"
    assert message.action_history[1] == (Played(1, "check", ""),)
    assert message.public_card == ()
    again = Holdem(bytes(packet))
    assert again.length == len(bytes(packet)) - 4
    assert again.decoded() == message


def test_a_connects_name_is_the_players_though_scapy_has_a_name_too() -> None:
    packet = Holdem() / HoldemConnect(name="p7", room_number=3)
    assert packet[HoldemConnect].name == "p7"
    packet[HoldemConnect].name = "p8"
    assert b'"name": "p8"' in bytes(packet)
    text = shown(packet)
    assert "###[ HoldemConnect ]###" in text
    assert "name      = 'p8'" in text
    assert packet.copy()[HoldemConnect].name == "p8"
    assert Holdem(bytes(packet))[HoldemConnect].name == "p8"


def test_keys_the_text_does_not_know_are_kept() -> None:
    body = b'{"info":"ready","mood":{"good":[1,null]},"status":"start"}'
    packet = Holdem(frame(body))
    assert packet.check is None
    assert packet.extra.mood.good == [1, None]
    assert "mood" in shown(packet)
    assert bytes(packet) == frame(body)
    packet.status = "exit"
    del packet.length
    assert json.loads(bytes(packet)[4:]) == {"info": "ready", "mood": {"good": [1, None]}, "status": "exit"}


def test_a_key_that_is_null_is_told_from_one_that_is_absent() -> None:
    packet = Holdem(frame(b'{"info":"connect","name":"a","room_number":2,"game_number":1,"room_id":null}'))
    assert packet.room_id is NULL
    assert not packet.room_id
    assert packet.bots is None
    packet.game_number = 2
    body = json.loads(bytes(packet)[4:])
    assert body["room_id"] is None
    assert "bots" not in body


def test_a_number_that_is_equal_but_written_otherwise_is_a_change() -> None:
    packet = Holdem(frame(b'{"info":"connect","name":"a","room_number":2,"game_number":1}'))
    packet.game_number = True
    assert b'"game_number": true' in bytes(packet)
    state = dissected(STATE)
    state.players[0].position = False
    assert b'{"position": false' in bytes(state)


def test_a_length_that_is_given_stands() -> None:
    packet = Holdem(length=5) / HoldemReady()
    assert bytes(packet)[:4] == b"\x05\x00\x00\x00"
    assert packet.check == "holdem/frame.len"


def test_objects_that_are_given_become_records() -> None:
    packet = HoldemState(players=({"name": "x"},))
    assert packet.players[0].name == "x"
    packet.action_history = [[{"action": "call"}]]
    assert packet.action_history[0][0].action == "call"


@pytest.mark.parametrize(
    ("data", "check", "why"),
    [
        (frame(b'{"info": '), "holdem/frame.json", "is not JSON"),
        (frame(b"[1, 2]"), "holdem/frame.json", "not an object"),
        (frame(b'{"a": 1, "a": 2}'), "holdem/frame.json", "the same key twice"),
        (frame(b'{"a": NaN}'), "holdem/frame.json", "NaN is not a JSON number"),
        (frame(b'"\xff"'), "holdem/frame.utf8", "byte 1 of the packet is not UTF-8"),
        (frame(b"[" * 100_000), "holdem/frame.json", "nested too deeply"),
        (b"\xff\xff\xff\xff{}", "holdem/frame.len", "a packet length of -1"),
        (b"\x01\x00\x00\x00{}", "holdem/frame.len", "a packet length of 1"),
        ((LENGTH_MAX + 1).to_bytes(4, "little") + b"{}", "holdem/frame.len", "1048577 is not between"),
    ],
)
def test_what_is_no_message_is_kept_with_the_check_it_fails_and_why(
    data: bytes, check: str, why: str
) -> None:
    packet = Holdem(data)
    broken = packet[HoldemBroken]
    assert broken.load == data[4:]
    assert broken.check == packet.check == check
    assert why in broken.reason
    assert why in packet.summary()
    assert check in shown(packet)
    assert bytes(packet) == data
    assert packet.copy() == packet == pickle.loads(pickle.dumps(packet))


def test_a_part_of_a_message_is_a_fragment() -> None:
    assert Holdem(b"\x05\x00").load == b"\x05\x00"
    packet = Holdem(b"\x05\x00\x00\x00{}")
    assert packet[HoldemFragment].load == b"{}"
    assert packet.check == "holdem/frame.len"
    assert "part of a message" in packet.summary()
    assert isinstance(Holdem(b"\x05\x00\x00\x00").payload, NoPayload)


def test_an_unknown_info_keeps_all_it_says() -> None:
    packet = Holdem(frame(b'{"info": "chat", "text": "hi"}'))
    assert packet[HoldemOther].info == "chat"
    assert packet.extra == {"text": "hi"}
    assert packet.check == "holdem/info"
    assert Holdem(frame(b'{"info": []}'))[HoldemOther].info == []


def test_a_message_that_breaks_a_rule_says_so_and_shows_its_fields() -> None:
    packet = dissected(STATE)
    packet.private_card = ["Qs", "Qs"]
    assert packet[HoldemState].check == "holdem/card.twice"
    assert "refused: a card appears twice [holdem/card.twice]" in packet[HoldemState].mysummary()


def test_a_body_can_be_read_by_itself() -> None:
    assert HoldemState(STATE.encode()).decoded() == STATE
    assert isinstance(HoldemState(b"nonsense"), HoldemBroken)
    assert HoldemState(b"nonsense").check == "holdem/frame.json"


def test_show_can_be_read() -> None:
    text = shown(dissected(STATE))
    assert "private_card= Q♠ 10♥" in text
    assert "public_card= 2♣ 3♦ 4♥" in text
    assert "name='p2'" in text
    assert "action_history= 2 call, 0 r300" in text
    result = Result(
        (("As", "Ad"), ()), (), (), tuple(PlayerResult(seat, 0, 0, 0, f"p{seat}") for seat in range(2))
    )
    assert "player_card= A♠ A♦ | —" in shown(dissected(result))


def test_show_writes_nothing_that_moves_a_terminal() -> None:
    action = "\x1b[2J\ud800"
    inside = {"position": 0, "action": action, "name": action}
    for kind in KINDS:
        body = {"info": kind, "players": [inside], "action_history": [[inside]], action: action}
        text = shown(Holdem(frame(json.dumps({**inside, **body}).encode())))
        assert "\x1b" not in text.replace("\x1b[0m", "")
        text.encode("utf-8")


@pytest.mark.parametrize(
    ("packet", "says"),
    [
        (HoldemAction(action="r300"), "the player raises to 300"),
        (HoldemReady(), "the player is ready for the next hand"),
        (HoldemError(text="no"), "the server refuses: no"),
        (HoldemSuccess(text="bye"), "the server: the match is over: bye"),
    ],
)
def test_a_summary_is_the_meaning(packet: Packet, says: str) -> None:
    assert (Holdem() / packet).summary() == f"Holdem / {says}"


def test_a_session_knows_who_the_player_is() -> None:
    session: dict[str, Any] = {}
    connect, action = (frame(one.encode()) for one in (Connect("p2", 2, 1), Action("r300")))
    Holdem.tcp_reassemble(connect, {}, session)
    packet = Holdem.tcp_reassemble(action, {}, session)
    assert packet is not None
    assert packet.copy().payload.mysummary() == "p2 raises to 300"


def test_reassembly_waits_for_the_whole_and_leaves_what_follows() -> None:
    data = frame(Ready().encode())
    for cut in range(1, len(data)):
        metadata: dict[str, Any] = {}
        assert Holdem.tcp_reassemble(data[:cut], metadata, {}) is None
        assert cut < metadata["tcp_min_len"] <= len(data)
    packet = Holdem.tcp_reassemble(data + b"more", {}, {})
    assert packet is not None
    assert packet[Padding].load == b"more"
    assert Holdem.tcp_reassemble(data[:9], {"tcp_end": True}, {}) is not None
    assert Holdem.tcp_reassemble(b"", {"tcp_end": True}, {}) is None


@ORDER
@given(messages)
def test_a_packet_survives_copy_comparison_pickle_and_command(message: AnyMessage) -> None:
    packet = dissected(message)
    assert packet == dissected(message)
    assert packet.copy() == packet
    assert pickle.loads(pickle.dumps(packet)) == packet
    again = eval(packet.command(), vars(holdem))
    assert again == packet
    assert again.decoded() == message
    copy = packet.copy()
    copy.payload.extra["x"] = 1
    assert copy != packet
    assert bytes(packet) == frame(message.encode())
    hexdump(packet, dump=True)


def test_a_copy_shares_nothing_with_its_original() -> None:
    packet = dissected(STATE)
    copy = packet.copy()
    copy.players[0].name = "other"
    assert packet.players[0].name == "p0"
    state = HoldemState()
    state.players.append(Record(name="x"))
    assert HoldemState().players == []


def poked(packet: Packet) -> None:
    """Everything a person may do with a packet."""
    shown(packet)
    packet.summary()
    repr(packet)
    packet.command()
    packet.json()
    bytes(packet.copy())
    assert packet == packet.copy()
    hexdump(packet, dump=True)


@settings(ORDER, max_examples=200)
@given(st.one_of(st.binary(max_size=60), st.binary(max_size=60).map(frame)))
def test_no_bytes_raise(data: bytes) -> None:
    for packet in (Holdem(data), IP(bytes(IP() / TCP(dport=2333) / Raw(data)))):
        poked(packet)
    kinds: list[type[Packet]] = [*KINDS.values(), HoldemOther, HoldemBroken, HoldemFragment]
    for kind in kinds:
        poked(kind(data))


@ORDER
@given(st.dictionaries(st.sampled_from([*FIELDS, "x"]), values, max_size=6), st.sampled_from([*KINDS, "?"]))
def test_no_json_raises(fields: dict[str, Any], info: str) -> None:
    packet = Holdem(frame(json.dumps({**fields, "info": info}, allow_nan=True).encode()))
    poked(packet)


def test_what_is_as_deep_as_allowed_can_be_handled() -> None:
    depth = NESTING_MAX - 1
    packet = Holdem(frame(b'{"info":"state","players":' + b"[" * depth + b"]" * depth + b"}"))
    assert packet.check == "holdem/state.form"
    poked(packet)


def test_keys_that_are_words_of_scapys_do_no_harm() -> None:
    inside = {"command": "x", "copy": 1, "fields": [], "name": {}, "items": 2, "__iter__": 0}
    body = {"info": "result", "players": [inside], "player_card": [inside], "action_history": [[inside]]}
    packet = Holdem(frame(json.dumps({**body, **inside}).encode()))
    assert packet.players == [inside]
    assert packet.extra == inside
    poked(packet)


def test_a_fuzzed_message_is_still_json() -> None:
    for kind in KINDS.values():
        for _ in range(5):
            data = bytes(fuzz(Holdem() / kind()))
            assert isinstance(json.loads(data[4:]), dict)


def test_each_side_answers_the_other() -> None:
    action, state = Holdem() / HoldemAction(), dissected(STATE)
    assert state.answers(action)
    assert action.answers(state)
    assert not action.answers(Holdem() / HoldemReady())
    assert not action.answers(IP())
    assert action.hashret() == state.hashret()


def test_the_lists_in_a_layer_are_values_and_no_choice_between_packets() -> None:
    packet = Holdem() / HoldemState(legal_actions=list(ACTIONS), raise_range=(1, 2))
    assert len(list(packet)) == 1
    assert json.loads(bytes(packet)[4:])["raise_range"] == [1, 2]


def test_hold_em_lies_on_its_port() -> None:
    assert Holdem in IP(bytes(IP() / TCP(sport=2333, dport=40_000) / dissected(STATE)))
    assert (IP() / TCP() / Holdem()).dport == 2333
    assert HoldemResult not in dissected(STATE)
