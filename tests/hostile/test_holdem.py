"""Hold'em's server and client against those who mean harm."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from nodes.holdem.checks import CHECKS
from nodes.holdem.roles import REFUSALS_MAX
from nodes.holdem.server import BUFFERED_MAX
from nodes.holdem.transport import LENGTH_MAX, PREFIX
from tests.hostile.harness import Arena, Listener, Node, Wire, eventually, linux_only

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [linux_only, pytest.mark.once]


def arena() -> Arena:
    """One hand between two, which stands still at its first decision."""
    return Arena("holdem", players=2, stop_at=1)


def packet(body: bytes | dict[str, Any]) -> bytes:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return len(data).to_bytes(PREFIX, "little") + data


def connect(name: str, room: int = 2, room_id: int = 1, games: int = 1) -> bytes:
    fields = {"info": "connect", "name": name, "room_number": room, "game_number": games, "room_id": room_id}
    return packet(fields)


def action(word: str) -> bytes:
    return packet({"info": "action", "action": word})


def heard(wire: Wire) -> dict[str, Any]:
    """The next packet; {} if the server closed."""
    prefix = wire.receive(PREFIX)
    if len(prefix) < PREFIX:
        return {}
    fields: dict[str, Any] = json.loads(wire.receive(int.from_bytes(prefix, "little")))
    return fields


LENGTHS = {
    "zero": 0,
    "one": 1,
    "minus one": -1,
    "the least": -(2**31),
    "2 GiB": 2**31 - 1,
    "a byte too many": LENGTH_MAX + 1,
    "1 GiB, or big-endian 64": 64 << 24,
    "HTTP": int.from_bytes(b"GET ", "little"),
}


def test_a_length_out_of_bounds_gets_an_error_and_ends_the_connection() -> None:
    with arena() as table:
        for name, length in LENGTHS.items():
            with Wire(table.server.address) as wire:
                wire.send(length.to_bytes(PREFIX, "little", signed=True))
                told = heard(wire)
                assert told["info"] == "error", name
                assert str(length) in told["text"], name
                assert wire.rest() == b"", name
        table.check("holdem/frame.len")
        assert table.server.refused() == ["holdem/frame.len"] * len(LENGTHS)
        table.settle()


DEEP = 100_000
CONNECT = {"info": "connect", "name": "eve", "room_number": 2, "game_number": 1}


def but(**changes: Any) -> bytes:
    """A connect that is right but for this."""
    return json.dumps(CONNECT | changes).encode()


# A packet, and the check id of the error it gets. The connection stays.
BODIES: dict[str, tuple[bytes, str]] = {
    "the shortest": (b"{}", "holdem/info"),
    "the longest": (b"{}".ljust(LENGTH_MAX), "holdem/info"),
    "nothing but noise": (bytes(range(256)), "holdem/frame.utf8"),
    "invalid UTF-8": (b'{"info": "\xc3\x28"}', "holdem/frame.utf8"),
    "overlong UTF-8": (b'{"info": "\xc0\xaf"}', "holdem/frame.utf8"),
    "UTF-16": ('{"info": "connect"}'.encode("utf-16-le"), "holdem/frame.json"),
    "a byte order mark": (b"\xef\xbb\xbf{}", "holdem/frame.json"),
    "two objects": (b"{}{}", "holdem/frame.json"),
    "broken off": (b'{"info": "conn', "holdem/frame.json"),
    "no object": (b"[1, 2]", "holdem/frame.json"),
    "a bare string": (b'"connect"', "holdem/frame.json"),
    "null": (b"null", "holdem/frame.json"),
    "deep lists": (b"[" * DEEP, "holdem/frame.json"),
    "deep lists that end": (b"[" * DEEP + b"]" * DEEP, "holdem/frame.json"),
    "deep objects": (b'{"a":' * DEEP + b"1" + b"}" * DEEP, "holdem/frame.json"),
    "a huge number": (b'{"info": ' + b"9" * (LENGTH_MAX - 100) + b"}", "holdem/frame.json"),
    "a huge fraction": (b'{"info": 0.' + b"9" * (LENGTH_MAX - 100) + b"}", "holdem/info"),
    "a huge exponent": (b'{"info": 1e999999999}', "holdem/info"),
    "a huge string": (b'{"info": "' + b"a" * (LENGTH_MAX - 100) + b'"}', "holdem/info"),
    "many keys": (
        b"{" + b",".join(b'"%d":0' % i for i in range(80_000)) + b"}",
        "holdem/info",
    ),
    "a key twice": (b'{"info": "connect", "info": "ready"}', "holdem/frame.json"),
    "not a number": (b'{"info": NaN}', "holdem/frame.json"),
    "infinity": (b'{"info": -Infinity}', "holdem/frame.json"),
    "info is a list": (b'{"info": ["connect"]}', "holdem/info"),
    "info is an object": (b'{"info": {"connect": 1}}', "holdem/info"),
    "info in capitals": (b'{"info": "CONNECT"}', "holdem/info"),
    "a lone surrogate": (but(name="\ud800"), "holdem/connect.name"),
    "an escape sequence for terminals": (
        but(name="\x1b[2J"),
        "holdem/connect.name",
    ),
    "a name that runs backwards": (but(name="\u202eeve"), "holdem/connect.name"),
    "no name": (but(name=""), "holdem/connect.name"),
    "a name of 65": (but(name="e" * 65), "holdem/connect.name"),
    "a number for a name": (but(name=7), "holdem/connect.name"),
    "true for a number": (but(room_number=True), "holdem/connect.room_number"),
    "text for a number": (but(room_number="2"), "holdem/connect.room_number"),
    "a room of one": (but(room_number=1), "holdem/connect.room_number"),
    "a room of eleven": (but(room_number=11), "holdem/connect.room_number"),
    "a fraction of a player": (
        but(room_number=2.5),
        "holdem/connect.room_number",
    ),
    "no hands": (but(game_number=0), "holdem/connect.game_number"),
    "hands without end": (but(game_number=10**9), "holdem/connect.game_number"),
    "a list for a room": (but(room_id=[[]]), "holdem/connect.room_id"),
    "ready before connect": (b'{"info": "ready", "status": "start"}', "holdem/order"),
    "an action before connect": (b'{"info": "action", "action": "call"}', "holdem/order"),
    "what servers say": (b'{"info": "success", "text": ""}', "holdem/order"),
    "a status there is not": (b'{"info": "ready", "status": "go"}', "holdem/ready.status"),
    "a number for an action": (b'{"info": "action", "action": 3}', "holdem/action.form"),
}  # fmt: skip


def test_a_packet_that_is_no_message_gets_an_error_and_the_connection_stays() -> None:
    checks = []
    with arena() as table:
        for name, (body, check) in BODIES.items():
            with Wire(table.server.address) as wire:
                for _ in range(2):
                    wire.send(packet(body))
                    assert heard(wire)["info"] == "error", name
                    checks.append(check)
        eventually(lambda: table.server.refused() == checks, "every refusal is in the log, by its own id")
        table.check()
        table.settle()


def test_too_many_refusals_end_a_connection() -> None:
    with arena() as table:
        for pieces in ([packet(b"{}") * 1000], [bytes((byte,)) for byte in packet(b"{}") * REFUSALS_MAX * 2]):
            with Wire(table.server.address) as wire:
                for piece in pieces:
                    wire.send(piece)
                told = [heard(wire)["info"] for _ in range(REFUSALS_MAX)]
                assert told == ["error"] * REFUSALS_MAX
                wire.rest()
        table.check("holdem/limit.refusals")
        table.settle()


def test_nobody_takes_the_name_of_another_in_a_room() -> None:
    with arena() as table:
        with Wire(table.server.address) as first, Wire(table.server.address) as second:
            first.send(connect("eve", room=3))
            eventually(lambda: table.server.told("room")[-1]["text"].startswith("eve"), "eve sits down")
            second.send(connect("eve", room=3))
            assert heard(second)["info"] == "error"
            second.send(connect("mallory", room=3))
            first.send(connect("again", room=3))
            assert heard(first)["info"] == "error"
        table.check("holdem/connect.twice", "holdem/order")
        table.settle()


class Foul(NamedTuple):
    """What a player does, when it is or is not asked to act, and the check id of its error."""

    data: bytes
    to_act: bool
    check: str


FOULS = {
    "too little": Foul(action("r101"), True, "holdem/action.range"),
    "too much": Foul(action("r20001"), True, "holdem/action.range"),
    "not legal": Foul(action("check"), True, "holdem/action.illegal"),
    "no such word": Foul(action("all-in"), True, "holdem/action.illegal"),
    "a negative raise": Foul(action("r-5"), True, "holdem/action.illegal"),
    "a raise in other digits": Foul(action("r٣٠٠"), True, "holdem/action.illegal"),
    "a huge raise": Foul(action("r" + "9" * 31), True, "holdem/action.illegal"),
    "no word": Foul(action(""), True, "holdem/action.illegal"),
    "noise in a hand": Foul(packet(b"\xff\xff"), True, "holdem/frame.utf8"),
    "ready in a hand": Foul(packet({"info": "ready", "status": "start"}), True, "holdem/order"),
    "out of turn": Foul(action("call"), False, "holdem/action.turn"),
    "noise out of turn": Foul(packet(b"{}"), False, "holdem/info"),
}


def test_a_foul_at_the_table_folds_its_player_and_the_hand_ends_for_both() -> None:
    with arena() as table:
        for i, (name, foul) in enumerate(FOULS.items()):
            with Wire(table.server.address) as eve, Wire(table.server.address) as mallory:
                eve.send(connect("eve", room_id=100 + i))
                mallory.send(connect("mallory", room_id=100 + i))
                states = {wire: heard(wire) for wire in (eve, mallory)}
                acting = {wire: s["action_position"] == s["position"] for wire, s in states.items()}
                fouler = next(wire for wire, acts in acting.items() if acts is foul.to_act)
                other = mallory if fouler is eve else eve
                fouler.send(foul.data)
                told = heard(fouler)
                assert told["info"] == "error", name
                last = {}
                while told := heard(other):
                    last = told
                assert last["info"] == "result", name
                seat = states[other]["position"]
                assert last["players"][seat]["win_money"] > 0, name
            eventually(lambda: foul.check in table.server.refused(), foul.check)  # noqa: B023
        table.check()
        table.settle()


@pytest.mark.parametrize("leave", [Wire.half_close, Wire.reset])
def test_a_player_may_vanish_at_any_step(leave: Callable[[Wire], None]) -> None:
    ready = packet({"info": "ready", "status": "start"})
    script = [connect("eve", games=3), action("fold"), ready, action("fold"), ready, action("fold")]
    whole = b"".join(script)
    cuts = [*(len(b"".join(script[:i])) for i in range(len(script) + 1)), 1, 3, 4, 5, 60, len(whole) - 1]
    with arena() as table:
        for i, cut in enumerate(cuts):
            with Wire(table.server.address) as stayer, Wire(table.server.address) as goer:
                stayer.send(connect("ann", games=3, room_id=200 + i))
                start = connect("eve", games=3, room_id=200 + i)
                goer.send((start + whole[len(script[0]) :])[:cut])
                leave(goer)
                stayer.half_close()
                stayer.rest()
        table.check()
        table.settle()


def test_those_who_send_halves_are_cut_off_and_not_whoever_sends_a_little() -> None:
    half = (LENGTH_MAX).to_bytes(PREFIX, "little") + b" " * (LENGTH_MAX - 10)
    room_left = BUFFERED_MAX % len(half)
    little = packet(but(name="modest", room_number=5).ljust(2 * room_left))
    with arena() as table:
        with Wire(table.server.address) as modest:
            wires = [Wire(table.server.address) for _ in range(BUFFERED_MAX // len(half))]
            for wire in wires:
                wire.send(half)
                eventually(lambda: wire.unread() == 0, "the server holds it all")  # noqa: B023
            assert table.server.refused() == []
            modest.send(little[: room_left + 1])
            eventually(lambda: table.server.refused() == ["holdem/limit.buffer"], "one is cut off")
            modest.send(little[room_left + 1 :])
            eventually(lambda: "modest sits" in table.server.told("room")[-1]["text"], "modest is let in")
            for wire in wires:
                wire.reset()
        eventually(lambda: table.server.descriptors() <= table.descriptors, "all are gone")
        table.settle()


def test_a_player_that_never_reads_holds_no_connection_after_its_match() -> None:
    hands = 4000
    ready = packet({"info": "ready", "status": "start"})
    with arena() as table:
        deaf = Wire(table.server.address, receive_buffer=1024)
        deaf.send(connect("deaf", games=hands))
        with Wire(table.server.address) as other:
            other.send(connect("other", games=hands))
            for _ in range(400):  # 3 MB: more than the kernel takes for somebody who does not read
                told: dict[str, Any] = {}
                while told.get("info") != "result":
                    told = heard(other)
                    if told["info"] == "state" and told["action_position"] >= 0:
                        mine = told["action_position"] == told["position"]
                        word = "check" if "check" in told["legal_actions"] else "call"
                        (other if mine else deaf).send(action(word))
                other.send(ready)
                deaf.send(ready)
        table.check()
        deaf.socket.close()
        table.settle()


def state(**changes: Any) -> dict[str, Any]:
    """A state that asks p1 to act, or a lie about it."""
    fields: dict[str, Any] = {
        "info": "state",
        "position": 0,
        "action_position": 0,
        "legal_actions": ["fold", "call", "raise"],
        "raise_range": [200, 20000],
        "private_card": ["As", "Ah"],
        "public_card": [],
        "players": [
            {"position": 0, "money_left": 19950, "total_money": 20000, "name": "p1"},
            {"position": 1, "money_left": 19900, "total_money": 20000, "name": "p2"},
        ],
        "action_history": [[]],
    }
    return fields | changes


POOR = [{"position": i, "money_left": 0, "total_money": 0, "name": f"p{i + 1}"} for i in range(2)]
RICH = [{"position": i, "money_left": 10**12, "total_money": -5, "name": f"p{i + 1}"} for i in range(2)]

# What the server says instead of a state, and the check id it gets; None: the client plays along.
LIES: dict[str, tuple[bytes, str | None]] = {
    "no cards": (packet(state(private_card=[])), None),
    "one card": (packet(state(private_card=["2c"], public_card=["3c"])), None),
    "nothing may be folded": (packet(state(legal_actions=["call"], private_card=["7c", "2d"])), None),
    "nobody has money": (packet(state(players=POOR)), None),
    "nobody has money on the river": (
        packet(state(players=POOR, public_card=["2c", "3c", "4c", "5c", "7d"])),
        None,
    ),
    "more left than there ever was": (packet(state(players=RICH)), None),
    "the highest raise": (packet(state(raise_range=[10**12, 10**12])), None),
    "a lone surrogate": (packet(b'{"info": "error", "text": "\\ud800"}'), "holdem/text"),
    "a card twice": (packet(state(public_card=["As"])), "holdem/card.twice"),
    "no such card": (packet(state(public_card=["1x"])), "holdem/card"),
    "nobody's seat": (packet(state(position=1)), "holdem/state.position"),
    "a seat there is not": (packet(state(action_position=2)), "holdem/state.action_position"),
    "call and check": (packet(state(legal_actions=["call", "check"])), "holdem/state.legal_actions"),
    "a range upside down": (packet(state(raise_range=[2, 1])), "holdem/state.raise_range"),
    "history of nobody": (packet(state(action_history=[[{}]])), "holdem/history"),
    "no money": (packet(state(players=[{"position": 0}, {"position": 1}])), "holdem/money"),
    "deep": (packet(b"[" * DEEP), "holdem/frame.json"),
    "what players say": (packet(b'{"info": "ready", "status": "start"}'), "holdem/order"),
    "nonsense without end": (packet(b"{}") * (REFUSALS_MAX + 1), "holdem/info"),
    "a length without end": (b"\xff\xff\xff\x7f", "holdem/frame.len"),
    "half a packet": (packet(state())[:50], None),
    "nothing": (b"", None),
}


@pytest.mark.parametrize("bot", ["sensible", "random"])
def test_a_client_ends_in_order_whatever_its_server_says(bot: str) -> None:
    for name, (data, check) in LIES.items():
        with Listener() as listener:
            line = ["holdem", "client", "--connect", str(listener.address), "--games", "1"]
            node = Node(*line, "--players", "2", "--bot", bot)
            with listener.accept() as wire:
                assert heard(wire)["info"] == "connect"
                wire.send(data)
                if check is None and data.endswith(b"}"):
                    assert heard(wire)["info"] == "action", name
                wire.half_close()
                wire.rest()
            assert node.wait() == 0, name
            assert node.complaints == b"", name
            assert check is None or check in node.refused(), name
            assert set(node.refused()) <= set(CHECKS)
            assert node.told("finished")
            node.discard()
