"""Connect Four's server and client against those who mean harm, below and above the WebSocket."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import pytest

from nodes.connect4.checks import CHECKS
from nodes.connect4.server import STRIKES_MAX
from nodes.streams import WRITE_BUFFER_MAX
from nodes.websocket import MESSAGE_MAX
from tests.hostile.harness import (
    RSS_GROWTH_MAX_KIB,
    Arena,
    Listener,
    Node,
    Wire,
    accept_key,
    eventually,
    linux_only,
)

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [linux_only, pytest.mark.once]

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
HEADERS = {
    "Host": "127.0.0.1",
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version": "13",
}
EMPTY = "." * 42


def arena(**changes: Any) -> Arena:
    return Arena("connect4", **{"players": 2, "server_games": 1, **changes})


def request(line: str = "GET / HTTP/1.1", **changes: str) -> bytes:
    headers = HEADERS | {name.replace("_", "-"): value for name, value in changes.items()}
    lines = [line, *(f"{name}: {value}" for name, value in headers.items() if value)]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def frame(opcode: int, data: bytes = b"", *, fin: bool = True, mask: bool = True, reserved: int = 0) -> bytes:
    """A frame, well-formed or not. The mask is zeros, so that the data are readable here."""
    size = len(data)
    short = size if size < 126 else 126 if size < 65536 else 127
    head = bytes((fin << 7 | reserved << 4 | opcode, mask << 7 | short))
    length = b"" if size < 126 else size.to_bytes(2 if size < 65536 else 8, "big")
    return head + length + bytes(4 if mask else 0) + data


def say(text: str) -> bytes:
    return frame(TEXT, text.encode())


def upgraded(there: Arena, **options: Any) -> Wire:
    """A connection on which the opening handshake went well."""
    wire = Wire(there.server.address, **options)
    wire.send(request())
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = wire.receive(1)
        assert byte, head
        head += byte
    assert head.startswith(b"HTTP/1.1 101 ")
    return wire


def heard(wire: Wire) -> tuple[int, bytes]:
    """The next frame of the server: opcode and data; (-1, b"") if there is none."""
    head = wire.receive(2)
    if len(head) < 2:
        return -1, b""
    return head[0] & 15, wire.receive(head[1])


HANDSHAKES: dict[str, tuple[bytes, bytes]] = {
    "noise": (bytes(range(128, 256)) * 4, b""),
    "a line without end": (b"G" * 20_000, b""),
    "another protocol": (b"   5        ", b""),
    "a TLS hello": (bytes.fromhex("16030102000100"), b""),
    "a frame": (frame(TEXT, b"connect eve\r\n"), b""),
    "plain HTTP": (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"HTTP/1.1 426"),
    "HTTP/1.0": (request("GET / HTTP/1.0"), b""),
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b""),
    "a POST": (request("POST / HTTP/1.1"), b""),
    "no key": (request(Sec_WebSocket_Key=""), b"HTTP/1.1 400"),
    "a short key": (request(Sec_WebSocket_Key="AAAA"), b"HTTP/1.1 400"),
    "another version": (request(Sec_WebSocket_Version="8"), b"HTTP/1.1 400"),
    "two keys": (request()[:-2] + b"Sec-WebSocket-Key: AAAA\r\n\r\n", b"HTTP/1.1 400"),
    "headers without end": (b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 1000, b""),
    "a header without a colon": (b"GET / HTTP/1.1\r\nHost\r\n\r\n", b""),
    "a bare CR": (b"GET / HTTP/1.1\rHost: x\r\r", b""),
}


def test_what_is_no_opening_handshake_is_refused_and_closed() -> None:
    with arena() as table:
        for name, (data, answer) in HANDSHAKES.items():
            with Wire(table.server.address) as wire:
                wire.send(data)
                if not answer:
                    wire.half_close()  # it may wait for more
                told = wire.rest()
                assert told.startswith(answer), name
                assert b" 101 " not in told, name
        eventually(
            lambda: table.server.refused() == ["connect4/line"] * len(HANDSHAKES), "each is in the log"
        )
        table.check()
        table.settle()


def test_the_handshake_may_come_a_byte_at_a_time_with_any_line_end_it_allows() -> None:
    with arena() as table:
        for data in (
            request(),
            request("GET /any/path?x=%00 HTTP/1.1"),
            request(Origin="null", Cookie="a=b"),
        ):
            with Wire(table.server.address) as wire:
                for byte in data:
                    wire.send(bytes((byte,)))
                assert wire.receive(13) == b"HTTP/1.1 101 "
        table.check()
        table.settle()


# Frames that break the protocol, and the close code they get.
BROKEN: dict[str, tuple[bytes, int]] = {
    "binary": (frame(BINARY, b"connect eve\r\n"), 1003),
    "no mask": (frame(TEXT, b"connect eve", mask=False), 1002),
    "an opcode there is not": (frame(3, b""), 1002),
    "a control opcode there is not": (frame(11, b""), 1002),
    "reserved bits": (frame(TEXT, b"connect eve", reserved=4), 1002),
    "all reserved bits": (frame(TEXT, b"connect eve", reserved=7), 1002),
    "a ping in pieces": (frame(PING, b"", fin=False), 1002),
    "a ping of 126": (frame(PING, b"x" * 126), 1002),
    "a continuation of nothing": (frame(CONTINUATION, b"connect eve"), 1002),
    "a message in a message": (frame(TEXT, b"con", fin=False) + frame(TEXT, b"nect"), 1002),
    "invalid UTF-8": (frame(TEXT, b"connect \xff"), 1007),
    "a surrogate in UTF-8": (frame(TEXT, b"connect \xed\xa0\x80"), 1007),
    "invalid UTF-8 in pieces": (frame(TEXT, b"\xc3", fin=False) + frame(CONTINUATION, b"("), 1007),
    "too big": (frame(TEXT, b"x" * (MESSAGE_MAX + 1)), 1009),
    "too big by its length": (frame(TEXT, b"")[:1] + b"\xff" + b"\x7f" * 8, 1009),
    "too big in pieces": (frame(TEXT, b"x" * 3000, fin=False) + frame(CONTINUATION, b"x" * 3000), 1009),
    "compressed": (frame(TEXT, zlib.compress(b"x" * 100_000), reserved=4), 1002),
    "a close of one byte": (frame(CLOSE, b"\x03"), 1002),
    "a close code there is not": (frame(CLOSE, b"\x03\xed"), 1002),
    "a close with bad UTF-8": (frame(CLOSE, b"\x03\xe8\xff"), 1007),
}


@pytest.mark.parametrize("silent", [False, True], ids=["hangs up", "keeps the connection"])
def test_a_broken_frame_gets_its_close_code_and_is_in_the_log(silent: bool) -> None:
    wires = []
    with arena() as table:
        for name, (data, code) in BROKEN.items():
            wire = upgraded(table)
            wire.send(data)
            opcode, reason = heard(wire)
            assert (opcode, int.from_bytes(reason[:2], "big")) == (CLOSE, code), name
            wires.append(wire)
            if not silent:
                wire.socket.close()
        eventually(lambda: table.server.refused() == ["connect4/line"] * len(BROKEN), "each is in the log")
        table.check()  # even those who stay are gone
        for wire in wires:
            wire.socket.close()
        table.settle()


def test_an_endless_message_of_empty_pieces_is_cut_off() -> None:
    with arena() as table:
        with upgraded(table) as wire:
            wire.send(frame(TEXT, b"c", fin=False))
            for _ in range(100):
                wire.send(frame(CONTINUATION, b"", fin=False) * 2000)
            wire.rest()
        table.check("connect4/line")
        table.settle()


def test_pings_are_answered_and_whoever_reads_no_answer_is_cut_off() -> None:
    with arena() as table:
        with upgraded(table) as wire:
            wire.send(frame(PING, b"hello") + frame(PONG, b"unasked") + frame(PING))
            assert heard(wire) == (PONG, b"hello")
            assert heard(wire) == (PONG, b"")
        flood = frame(PING, b"x" * 125) * 2000
        with upgraded(table, receive_buffer=1024) as deaf:
            for _ in range(8 * WRITE_BUFFER_MAX // len(flood)):
                deaf.send(flood)
        assert table.server.rss_kib() - table.rss_kib < RSS_GROWTH_MAX_KIB
        table.check()
        table.settle()


# What a client says first, the one answer, the check id; it is closed after that.
TURNED_AWAY: dict[str, tuple[str, str]] = {
    "connect": ("not-connected bad name", "connect4/connect"),
    "connect ": ("not-connected bad name", "connect4/user"),
    "connect two names": ("not-connected bad name", "connect4/connect"),
    "connect " + "x" * 33: ("not-connected bad name", "connect4/user"),
    "connect a/b": ("not-connected bad name", "connect4/user"),
    "connect <script>": ("not-connected bad name", "connect4/user"),
    "connect p1": ("not-connected name taken", "connect4/user.taken"),
    "connect eve": ("not-connected table full", "connect4/full"),
    "connect eve\r\n": ("not-connected table full", "connect4/full"),
    "connect eve \n": ("not-connected table full", "connect4/full"),
}


def test_names_that_cannot_be_are_turned_away() -> None:
    with arena() as table:
        for text, (answer, _) in TURNED_AWAY.items():
            for data in (say(text), frame(TEXT, text[:5].encode(), fin=False) + frame(0, text[5:].encode())):
                with upgraded(table) as wire:
                    wire.send(data)
                    assert heard(wire) == (TEXT, f"{answer}\r\n".encode()), text
                    assert heard(wire)[0] == CLOSE, text
        checks = [check for _, check in TURNED_AWAY.values() for _ in range(2)]
        eventually(lambda: table.server.refused() == checks, "each is in the log, by its own id")
        table.check()
        table.settle()


# Ignored and counted, with these ids.
IGNORED: dict[str, str] = {
    "": "connect4/message",
    "\r\n": "connect4/message",
    "CONNECT eve": "connect4/message",
    " connect eve": "connect4/message",
    "connect\teve": "connect4/line",
    "connect eve\rX": "connect4/line",
    "connect eve\r\nconnect eve\r\n": "connect4/line",
    "connect \u0436": "connect4/line",
    "\0": "connect4/line",
    "x" * 129: "connect4/line",
    "playmove 3": "connect4/register",
    "playmove 7": "connect4/move",
    "playmove": "connect4/playmove",
    "newgame a b": "connect4/direction",
    f"genmove {EMPTY} R PlayR 42.0": "connect4/direction",
    f"endgame {EMPTY} R WinR Ok": "connect4/direction",
    f"genmove {EMPTY[1:]} R PlayR 42.0": "connect4/board",
    f"endgame {EMPTY} G WinR Ok": "connect4/color",
    f"endgame {EMPTY} R Wins Ok": "connect4/status",
    f"endgame {EMPTY} R WinR Fine": "connect4/battlestatus",
}


def test_words_without_sense_are_ignored_until_there_are_too_many() -> None:
    with arena() as table:
        with upgraded(table) as wire:
            assert len(IGNORED) == STRIKES_MAX
            for text in IGNORED:
                wire.send(say(text))
            assert heard(wire)[0] == CLOSE  # and not a word before
        checks = [*IGNORED.values(), "connect4/strikes"]
        eventually(lambda: table.server.refused() == checks, "each is in the log, by its own id")
        table.check()
        table.settle()


def two(table: Arena, names: str = "xy") -> tuple[Wire, Wire]:
    """Two more players, in a game: red first. Two who have not met yet, or they would not meet."""
    red, yellow = upgraded(table), upgraded(table)
    for name, wire in zip(names, (red, yellow), strict=True):
        wire.send(say(f"connect {name}"))
        assert heard(wire)[1].startswith(b"connected")
    for wire in (red, yellow):
        assert heard(wire)[1] == f"newgame {names[0]} {names[1]}\r\n".encode()
    assert heard(red)[1].startswith(b"genmove")
    return red, yellow


def test_moves_that_cannot_be_cost_time_and_are_asked_for_again() -> None:
    """Beside a game of innocents, a game of which one side cheats."""
    with arena(players=4, innocents=2, settings=("pairing=eager",)) as table:
        red, yellow = two(table)
        for text, left in (("playmove 7", "40.9"), ("playmove x", "39.8"), ("playmove -1", "38.7")):
            red.send(say(text))
            assert heard(red)[1] == f"genmove {EMPTY} R PlayR {left}\r\n".encode()
        for text in ("playmove 3", "playmove 9", "connect again", "nonsense"):
            yellow.send(say(text))  # not its turn: nothing is answered
        mover, waiter = red, yellow
        for _ in range(6):
            mover.send(say("playmove 3"))
            assert heard(waiter)[1].startswith(b"genmove ...R")
            mover, waiter = waiter, mover
        mover.send(say("playmove 3"))  # the column is full
        assert heard(mover)[1].startswith(b"genmove ...R")
        for wire in (red, yellow):
            wire.reset()
        table.check(
            "connect4/move", "connect4/column", "connect4/turn", "connect4/connect.again", "connect4/message"
        )
        table.settle()


@pytest.mark.parametrize("leave", [Wire.half_close, Wire.reset])
def test_a_player_may_vanish_at_any_step_and_the_other_wins(leave: Callable[[Wire], None]) -> None:
    with arena(players=4, innocents=2, settings=("pairing=eager",)) as table:
        for plies in range(6):
            mover, waiter = two(table, "ABCDEFGHIJKL"[2 * plies : 2 * plies + 2])
            for _ in range(plies):
                mover.send(say("playmove 3"))
                mover, waiter = waiter, mover
                assert heard(mover)[1].startswith(b"genmove")
            goer, stayer = (mover, waiter) if plies % 2 else (waiter, mover)
            goer.send(say("playmove 3")[:-3])  # in the middle of a frame
            leave(goer)
            opcode, text = heard(stayer)
            assert opcode == TEXT
            assert text.startswith(b"endgame")
            assert text.endswith(b" Disconnected\r\n")
            assert (b" R WinR " in text) != (b" Y WinY " in text)
            for wire in (goer, stayer):
                wire.socket.close()
            eventually(lambda: table.server.descriptors() <= table.descriptors, "both are gone")
        table.check()
        table.settle()


LIES: dict[str, tuple[list[str | bytes], str | None]] = {
    "not registered": (["not-connected go away"], None),
    "another's game": (["connected", "newgame a b"], "connect4/newgame.mine"),
    "a game with itself": (["connected", "newgame p1 p1"], "connect4/newgame.mine"),
    "a move before a game": (["connected", f"genmove {EMPTY} R PlayR 42.0"], "connect4/order"),
    "no time": (["connected", "newgame p1 b", f"genmove {EMPTY} R PlayR 0.0"], None),
    "all the time there is": (["connected", "newgame p1 b", f"genmove {EMPTY} R {'9' * 40}.9"], None),
    "a disc in the air": (
        ["connected", "newgame p1 b", f"genmove {'.' * 41}R R PlayR 1.0"],
        "connect4/board.possible",
    ),
    "a full board": (["connected", "newgame p1 b", f"genmove {'RY' * 21} R 1.0"], "connect4/board.possible"),
    "another colour": (["connected", "newgame p1 b", f"genmove {EMPTY} Y PlayY 1.0"], "connect4/color.mine"),
    "an end that is none": (
        ["connected", "newgame p1 b", f"endgame {EMPTY} R PlayR Ok"],
        "connect4/endgame.status",
    ),
    "a victory from nowhere": (
        ["connected", "newgame p1 b", f"endgame {EMPTY} R WinR Ok"],
        "connect4/status.board",
    ),
    "noise": (["\0\1\2", "x" * 4000, "connected"], "connect4/line"),
    "binary": ([frame(BINARY, b"connected", mask=False)], "connect4/line"),
    "masked": ([frame(TEXT, b"connected", mask=True)], "connect4/line"),
    "too big": ([frame(TEXT, b"x" * 5000, mask=False)], "connect4/line"),
    "invalid UTF-8": ([frame(TEXT, b"\xff", mask=False)], "connect4/line"),
}  # fmt: skip


def test_a_client_bears_whatever_its_server_says() -> None:
    for name, (said, check) in LIES.items():
        with Listener() as listener:
            line = ["connect4", "client", "--connect", str(listener.address), "--bot", "random"]
            node = Node(*line, "--games", "1")
            with listener.accept() as wire:
                key = wire.request()
                wire.send(
                    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    b"Sec-WebSocket-Accept: " + accept_key(key) + b"\r\n\r\n"
                )
                assert heard_masked(wire) == b"connect p1\r\n"
                for text in said:
                    wire.send(text if isinstance(text, bytes) else frame(TEXT, text.encode(), mask=False))
                if check is None:
                    eventually(lambda: node.told("rejected") or node.told("move"), name)  # noqa: B023
                else:
                    eventually(lambda: check in node.refused(), f"{check} in the log")  # noqa: B023
            assert node.end() in (0, 143), name
            assert node.complaints == b"", name
            assert set(node.refused()) <= set(CHECKS)
            node.discard()


def heard_masked(wire: Wire) -> bytes:
    """A client's short frame."""
    head = wire.receive(6)
    data, mask = wire.receive(head[1] & 127), head[2:]
    return bytes(byte ^ mask[i % 4] for i, byte in enumerate(data))


ANSWERS = {
    "silence, then the end": b"",
    "noise": b"\xff" * 10_000,
    "no WebSocket": b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    "no accept key": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    "a wrong accept key": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Accept: AAAA\r\n\r\n",
    "elsewhere": b"HTTP/1.1 302 Found\r\nLocation: ws://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
    "nowhere": b"HTTP/1.1 302 Found\r\nLocation: gopher://x\r\nContent-Length: 0\r\n\r\n",
    "no address": b"HTTP/1.1 302 Found\r\nLocation: http://[::1\r\nContent-Length: 0\r\n\r\n",
    "a body without end": b"HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n" + b"x" * 200_000,
}


def test_a_client_says_in_one_line_that_a_server_does_not_speak_websocket() -> None:
    for name, answer in ANSWERS.items():
        with Listener() as listener:

            def treat(wire: Wire) -> None:
                wire.request()
                wire.send(answer)  # noqa: B023
                wire.half_close()
                wire.rest()

            listener.treat(treat)
            node = Node("connect4", "client", "--connect", str(listener.address), "--games", "1")
            assert node.wait() == 1, name
            assert b" does not speak WebSocket: " in node.complaints, name
            assert node.complaints.count(b"\n") == 1, name
            node.discard()


def test_a_name_that_cannot_be_said_is_told_before_anybody_is_called() -> None:
    node = Node("connect4", "client", "--connect", "127.0.0.1:1", "--name", "a b")
    assert node.wait() == 2
    assert node.complaints.splitlines()[-1].startswith(b"Error: 'a b' is no name here")
    node.discard()
