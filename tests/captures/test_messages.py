"""From frames to explained messages: names, hops, repeats, gaps, and nothing lost on the way."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest

from captures import frames
from captures.blocks import Interface, Section
from captures.links import parse_end
from captures.messages import Messages, Seen, read
from captures.pcapng import Writer
from nodes.briscola import messages as briscola
from nodes.briscola.rules import DECK
from nodes.hearts import messages as hearts
from nodes.hearts.rules import QUEEN_OF_SPADES, TWO_OF_CLUBS
from nodes.holdem.transport import frame as prefixed
from nodes.tictactoe.messages import Move, State
from nodes.tictactoe.rules import EMPTY

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

NODES = [f"10.0.0.{number}:47123" for number in range(4)]
NAMED = {f"10.0.0.{number}": f"m{number}" for number in range(4)}
SYN, ACK, FIN = 2, 0x10, 1

Frame = tuple[str, bytes]  # link and bytes


def capture(
    seen: Iterable[Frame], names: dict[str, str] | None = None, comments: Sequence[str] = ()
) -> io.BytesIO:
    stream = io.BytesIO()
    writer = Writer(stream, Section())
    links: dict[str, int] = {}
    if names:
        writer.names(names)
    for number, (link, data) in enumerate(seen):
        if link not in links:
            links[link] = writer.interface(Interface(link))
        writer.packet(links[link], number * 1000, data, comments=tuple(comments))
    writer.flush()
    return io.BytesIO(stream.getvalue())


def udp(src: str, dst: str, data: bytes) -> bytes:
    return frames.udp(parse_end(src), parse_end(dst), data, 0)


def decoded(seen: Iterable[Frame], names: dict[str, str] | None = None) -> list[Seen]:
    return list(read(capture(seen, names)))


def around(frame: hearts.Frame, start: int = 0, links: bool = False) -> list[Frame]:
    """A frame's way round the ring."""
    way = [(start + step) % 4 for step in range(4)]
    return [
        (f"m{a}→m{(a + 1) % 4}" if links else "", udp(NODES[a], NODES[(a + 1) % 4], frame.encode()))
        for a in way
    ]


def test_names_in_the_file_name_the_nodes_and_count_the_hops() -> None:
    found = decoded(around(hearts.PlayCard(QUEEN_OF_SPADES, origin=1), 1), NAMED)
    assert [(seen.src, seen.dst, seen.hop) for seen in found] == [
        ("m1", "m2", 1),
        ("m2", "m3", 2),
        ("m3", "m0", 3),
        ("m0", "m1", 4),
    ]
    assert {seen.meaning for seen in found} == {"M1 plays Q♠ — 13 points to whoever takes it"}
    assert found[0].fields == {
        "type": 6,
        "origin": 1,
        "dest": 255,
        "seq": 0,
        "len": 1,
        "card": QUEEN_OF_SPADES,
    }


def test_links_name_the_hops_where_nodes_have_no_names() -> None:
    found = decoded(around(hearts.GameStart(), links=True))
    assert [seen.hop for seen in found] == [1, 2, 3, 4]
    assert found[0].src == NODES[0]


def test_without_any_name_the_first_round_tells_who_is_who() -> None:
    found = decoded([*around(hearts.GameStart()), *around(hearts.TokenPass(2, origin=3), 3)])
    assert [seen.hop for seen in found] == [None, None, None, 4, 1, 2, 3, 4]


def test_a_stranger_on_the_ring_teaches_nothing() -> None:
    way = around(hearts.GameStart())
    stranger = ("", udp("10.0.0.77:47123", NODES[0], hearts.GameStart().encode()))
    assert [seen.hop for seen in decoded([*way[:3], stranger])] == [None] * 4
    assert [seen.hop for seen in decoded([*way[:3], stranger, way[3]])] == [None] * 4 + [4]


def test_one_link_alone_tells_no_hops() -> None:
    sent = [hearts.GameStart(), hearts.TokenPass(1, seq=1), hearts.PlayCard(TWO_OF_CLUBS, origin=1)]
    found = decoded([("", udp(NODES[1], NODES[2], frame.encode())) for frame in sent for _ in range(2)])
    assert {seen.hop for seen in found} == {None}


def test_a_ring_repeat_is_marked_and_a_number_that_comes_round_again_is_not() -> None:
    same, other = hearts.TokenPass(1, seq=5), hearts.TokenPass(2, seq=6)
    found = decoded([*around(same), around(same)[0], *around(other), *around(same)], NAMED)
    assert [seen.repeat for seen in found] == [False] * 4 + [True] + [False] * 8


def briscola_words(*said: tuple[str, briscola.Word]) -> list[Seen]:
    there = "10.0.0.9:47200"
    return decoded(
        [
            (
                "",
                udp("10.0.0.1:50000", there, word.encode())
                if who == "p"
                else udp(there, "10.0.0.1:50000", word.encode()),
            )
            for who, word in said
        ]
    )


def test_briscola_repeats_are_marked_until_the_next_game() -> None:
    init, use, over = briscola.Init(0, 1, True, 2), briscola.UseCard(DECK[0]), briscola.EndGame(1)
    game: list[tuple[str, briscola.Word, bool]] = [
        ("p", briscola.Search(1), False),
        ("p", briscola.Search(1), True),
        ("s", briscola.Ack(1), False),
        ("s", briscola.Ack(1), True),
        ("s", init, False),
        ("p", briscola.Search(1), True),  # a copy that came late
        ("s", init, True),
        ("p", briscola.Ack(), False),
        ("p", briscola.Ack(), False),  # a bare ACK counts nothing
        ("p", use, False),
        ("s", briscola.Error(4), False),
        ("p", use, True),
        ("s", briscola.Error(4), False),  # drawn anew
        ("s", over, False),
        ("p", briscola.Search(1), False),  # the next game
        ("s", init, False),
        ("p", use, False),
    ]
    found = briscola_words(*((who, word) for who, word, _ in game))
    assert [seen.repeat for seen in found] == [repeat for _, _, repeat in game]


def test_a_client_may_have_the_rings_port() -> None:
    sent = [
        ("", udp("10.0.0.1:47123", "10.0.0.2:47200", briscola.Search(1).encode())),
        ("", udp("10.0.0.2:47200", "10.0.0.1:47123", briscola.Ack(1).encode())),
    ]
    assert [seen.kind for seen in decoded(sent)] == ["SEARCH", "ACK"]


def test_another_port_is_named_and_what_has_none_is_counted() -> None:
    sent = [("", udp("10.0.0.1:5000", "10.0.0.2:5001", hearts.GameStart().encode()))]
    messages = read(capture(sent))
    assert list(messages) == []
    assert messages.foreign == 1
    assert any("--port" in note for note in messages.notes())
    assert [seen.kind for seen in read(capture(sent), ports={"hearts": 5001})] == ["GAME_START"]


def test_the_run_beside_a_capture_names_nodes_and_ports(tmp_path: Path) -> None:
    """Where a host has one loopback address, only ports tell the nodes apart."""
    sent = [("", udp("127.0.0.1:6000", "127.0.0.1:6001", hearts.GameStart().encode()))]
    path = tmp_path / "capture.pcapng"
    path.write_bytes(capture(sent).getvalue())
    assert list(read(path)) == []
    run = {
        "game": "hearts",
        "capture": {"file": "capture.pcapng"},
        "seats": [{"name": f"m{n}", "address": f"127.0.0.1:{6000 + n}"} for n in range(4)],
    }
    (tmp_path / "run.json").write_text(json.dumps(run))
    (seen,) = read(path)
    assert (seen.src, seen.dst, seen.hop) == ("m0", "m1", 1)
    for nonsense in (
        "",
        "[]",
        "{",
        '{"capture": 3}',
        '{"capture": {"file": "capture.pcapng"}, "seats": [3]}',
    ):
        (tmp_path / "run.json").write_text(nonsense)
        assert list(read(path)) == []


def test_clients_that_share_an_address_keep_it_for_a_name(tmp_path: Path) -> None:
    path = tmp_path / "capture.pcapng"
    path.write_bytes(
        capture([("", udp("127.0.0.1:50000", "127.0.0.1:6000", briscola.Search(1).encode()))]).getvalue()
    )
    seats = [("server", "127.0.0.1:6000"), ("p1", "127.0.0.1"), ("p2", "127.0.0.1")]
    run = {
        "game": "briscola",
        "capture": {"file": path.name},
        "seats": [{"name": name, "address": address} for name, address in seats],
    }
    (tmp_path / "run.json").write_text(json.dumps(run))
    (seen,) = read(path)
    assert (seen.src, seen.dst) == ("127.0.0.1:50000", "server")


def test_what_the_codec_refuses_is_shown_with_its_check_and_bytes() -> None:
    (seen,) = decoded([("", udp(NODES[0], NODES[1], b"\x06\x01"))], NAMED)
    assert (seen.kind, seen.check, seen.data) == ("malformed", "hearts/3.header", b"\x06\x01")
    assert seen.meaning == seen.error == "2 bytes are less than a header"


def test_a_frame_cut_by_the_snap_length_is_no_malformed_message() -> None:
    whole = udp(NODES[0], NODES[1], hearts.PlayCard(TWO_OF_CLUBS).encode())
    (seen,) = decoded([("", whole[:-2])])
    assert (seen.kind, seen.check) == ("cut", None)
    assert "4 of 6 bytes" in seen.meaning


def test_comments_stand_with_their_message_or_alone() -> None:
    sent = [("", udp(NODES[0], NODES[1], hearts.GameStart().encode())), ("", bytes(60))]
    with_message, alone = read(capture(sent, comments=("look", "here")))
    assert (with_message.kind, with_message.comments) == ("GAME_START", ("look", "here"))
    assert (alone.kind, alone.meaning, alone.frame) == ("comment", "look / here", 2)


def test_fragments_and_foreign_frames_are_counted_and_said() -> None:
    whole = bytearray(udp(NODES[0], NODES[1], hearts.GameStart().encode()))
    whole[20] = 0x20  # more fragments
    messages = read(capture([("", bytes(whole)), ("", b"\xff" * 60), ("", b"")]))
    assert list(messages) == []
    assert sum(messages.unread.values()) == messages.frames == 3
    assert any("fragments" in note for note in messages.notes())


class Talk:
    """A TCP connection, written by hand. `lose` takes bytes that no frame carries."""

    def __init__(self, port: int, *, syn: bool = True) -> None:
        self.ends = ("10.0.0.1:50000", f"10.0.0.9:{port}")
        self.seqs = [1000, 5000]
        self.frames: list[Frame] = []
        if syn:
            self._frame(0, SYN)
            self.seqs[0] += 1
            self._frame(1, SYN | ACK)
            self.seqs[1] += 1

    def _frame(self, side: int, flags: int, data: bytes = b"") -> None:
        src, dst = parse_end(self.ends[side]), parse_end(self.ends[1 - side])
        ack = self.seqs[1 - side] if flags & ACK else 0
        self.frames.append(("", frames.tcp(src, dst, self.seqs[side], ack, flags, data, None, 0)))

    def say(self, side: int, data: bytes, *, at_most: int = 10_000) -> None:
        for at in range(0, len(data), at_most):
            piece = data[at : at + at_most]
            self._frame(side, ACK, piece)
            self.seqs[side] += len(piece)

    def lose(self, side: int, data: bytes) -> None:
        self.seqs[side] += len(data)

    def close(self) -> list[Seen]:
        for side in (0, 1):
            self._frame(side, FIN | ACK)
            self.seqs[side] += 1
        return decoded(self.frames, {"10.0.0.1": "p1", "10.0.0.9": "server"})


NEW = State("1", " ", 0, EMPTY).encode()
CLIENT, SERVER = 0, 1


def told(found: Iterable[Seen]) -> list[tuple[str, str]]:
    return [(seen.kind, seen.meaning) for seen in found]


def test_the_direction_tells_a_state_from_a_move_and_any_pieces_give_the_same() -> None:
    whole = None
    for at_most in (100, 12, 7, 1):
        talk = Talk(6666)
        talk.say(SERVER, NEW, at_most=at_most)
        talk.say(CLIENT, Move("5").encode() + Move("d").encode(), at_most=at_most)
        found = told(talk.close())
        whole = whole or found
        assert found == whole
    assert whole == [
        ("state", "server: a new game, p1 begins"),
        ("move", "p1 marks the centre"),
        ("move", "p1 gives up"),
    ]


def test_a_client_that_sends_the_state_back_is_understood() -> None:
    talk = Talk(6666)
    talk.say(SERVER, NEW)
    talk.say(CLIENT, NEW)
    assert told(talk.close())[1] == ("state", "p1 sends the state back")


def test_behind_a_gap_tic_tac_toe_is_read_on_where_the_next_message_begins() -> None:
    for lost in (3, 12, 17, 24):
        talk = Talk(6666)
        moves = [Move(cell).encode() for cell in "12345"]
        stream = b"".join(moves)
        talk.say(CLIENT, stream[:14])
        talk.lose(CLIENT, stream[14 : 14 + lost])
        talk.say(CLIENT, stream[14 + lost :])
        found = talk.close()
        kinds = [seen.kind for seen in found]
        assert ("gap", f"{lost} bytes of p1→server are missing from the capture") in told(found)
        assert kinds[0] == "move"
        assert set(kinds) <= {"move", "gap", "cut"}
        whole = [seen.data for seen in found if seen.kind == "move"]
        assert whole == [moves[0], *moves[-(-(14 + lost) // 12) :]]


def test_a_message_cut_short_by_its_sender_is_shown() -> None:
    talk = Talk(6666)
    talk.say(CLIENT, Move("1").encode()[:5])
    (seen,) = talk.close()
    assert (seen.kind, seen.data) == ("cut", b"   1 ")


def test_a_message_that_the_captures_end_cuts_is_shown_too() -> None:
    talk = Talk(6666)
    talk.say(SERVER, NEW)
    talk.say(CLIENT, Move("1").encode()[:5])
    found = decoded(talk.frames)
    assert [(seen.kind, seen.data, seen.frame) for seen in found] == [("state", NEW, 3), ("cut", b"   1 ", 4)]


def test_a_connection_that_speaks_late_is_trusted_as_one_that_speaks_early() -> None:
    early, late = Talk(6666), Talk(6666)
    late.ends = ("10.0.0.2:50000", early.ends[1])
    late.frames.clear()
    late.seqs = [1000, 5000]
    late._frame(0, SYN)
    late.seqs[0] += 1
    early.say(SERVER, NEW)
    late.say(CLIENT, Move("1").encode(), at_most=5)
    found = decoded([late.frames[0], *early.frames, *late.frames[1:]])
    assert [seen.kind for seen in found] == ["state", "move"]


ACTION = prefixed(b'{"info": "action", "action": "r300", "mood": {"is": ["good"]}}')
READY = prefixed(b'{"info": "ready", "status": "start"}')


def test_keys_the_codec_does_not_know_are_kept() -> None:
    talk = Talk(2333)
    talk.say(CLIENT, ACTION, at_most=5)
    (seen,) = talk.close()
    assert seen.meaning == "p1 raises to 300"
    assert seen.fields == {"length": 62, "action": "r300", "info": "action", "mood": {"is": ["good"]}}
    assert seen.value("holdem.mood.is") == ["good"]


def test_json_that_breaks_a_clause_still_shows_its_keys() -> None:
    talk = Talk(2333)
    talk.say(CLIENT, prefixed(b'{"info": "dance", "to": 3}') + READY)
    broken, ready = talk.close()
    assert (broken.kind, broken.check) == ("malformed", "holdem/info")
    assert broken.fields == {"length": 26, "info": "dance", "to": 3}
    assert ready.kind == "ready"


def test_a_gap_within_a_known_length_hides_one_message_only() -> None:
    talk = Talk(2333)
    talk.say(CLIENT, ACTION[:20])
    talk.lose(CLIENT, ACTION[20:30])
    talk.say(CLIENT, ACTION[30:] + READY)
    found = talk.close()
    assert [seen.kind for seen in found] == ["gap", "cut", "cut", "ready"]


def test_a_gap_that_hides_a_length_is_left_at_the_next_segment_that_begins_a_message() -> None:
    talk = Talk(2333)
    talk.say(CLIENT, READY)
    talk.lose(CLIENT, ACTION[:10])
    talk.say(CLIENT, ACTION[10:])
    talk.say(CLIENT, READY)
    assert [seen.kind for seen in talk.close()] == ["ready", "gap", "cut", "ready"]


def test_a_capture_that_begins_within_a_connection_is_read_from_the_first_sure_message() -> None:
    talk = Talk(2333, syn=False)
    talk.say(CLIENT, ACTION[10:])
    talk.say(CLIENT, READY)
    assert [seen.kind for seen in talk.close()] == ["cut", "ready"]
    talk = Talk(6666, syn=False)
    talk.say(CLIENT, Move("1").encode()[5:])
    talk.say(CLIENT, Move("2").encode())
    assert [seen.kind for seen in talk.close()] == ["cut", "move"]


def test_a_length_that_cannot_be_ends_the_trust() -> None:
    talk = Talk(2333)
    talk.say(CLIENT, b"\xff\xff\xff\xff{}")
    talk.say(CLIENT, b"noise")
    talk.say(CLIENT, READY)
    found = talk.close()
    assert [(seen.kind, seen.check) for seen in found] == [
        ("malformed", "holdem/frame.len"),
        ("cut", None),
        ("ready", None),
    ]


def test_a_binary_message_and_a_broken_websocket_are_refused() -> None:
    talk = Talk(3000)
    head = "\r\n".join(
        (
            "GET / HTTP/1.1", "Host: x", "Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Version: 13", "", "",
        )
    )  # fmt: skip
    answer = "\r\n".join(
        (
            "HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Accept: ICX+Yqv66kxgM0FcWaLWlFLwTAI=", "", "",
        )
    )  # fmt: skip
    talk.say(CLIENT, head.encode())
    talk.say(SERVER, answer.encode())
    talk.say(SERVER, b"\x81\x0bconnected\r\n" + b"\x82\x01x" + b"\x81\x05hello")
    found = talk.close()
    assert [(seen.kind, seen.check) for seen in found] == [
        ("connected", None),
        ("malformed", "connect4/line"),
        ("malformed", "connect4/message"),
    ]
    talk = Talk(3000)
    talk.say(CLIENT, head.encode())
    talk.say(SERVER, answer.encode())
    talk.lose(SERVER, b"12345")
    talk.say(SERVER, b"\x81\x0bconnected\r\n")
    assert [seen.kind for seen in talk.close()] == ["gap", "malformed"]


def test_ipv6_nodes_are_shown_with_brackets() -> None:
    (seen,) = decoded([("", udp("[2001:db8::1]:47123", "[2001:db8::2]:47123", hearts.GameStart().encode()))])
    assert (seen.src, seen.dst) == ("[2001:db8::1]:47123", "[2001:db8::2]:47123")


@pytest.mark.parametrize("cut", [10, 40])
def test_a_truncated_file_gives_its_messages_and_the_problem(cut: int) -> None:
    data = capture(around(hearts.GameStart())).getvalue()[:-cut]
    messages: Messages = read(io.BytesIO(data))
    assert len(list(messages)) == 3
    assert messages.problem is not None
    assert "3 frames" in messages.problem
