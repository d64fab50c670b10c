"""The WebSocket layers: built and dissected, alone, under TCP, and along a connection."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scapy.layers.inet import IP, TCP
from scapy.packet import Padding, Raw, fuzz
from scapy.sessions import TCPSession

from dissectors import (
    Connect,
    GameSession,
    Malformed,
    NewGame,
    PlayMove,
    StreamGap,
    UpgradeRequest,
    UpgradeResponse,
    WebSocket,
    WebSocketClose,
    WebSocketMessage,
)
from dissectors.frames import Frame
from dissectors.websocket import Packets
from tests.dissectors.wire import REQUEST, RESPONSE, deflated, frame, opened
from tests.dissectors.wire import with_header as add

TEXT, BINARY, CONT, CLOSE, PING, PONG = 1, 2, 0, 8, 9, 10


def test_the_examples_of_the_rfc_have_their_fields() -> None:
    """RFC 6455, 5.7."""
    masked = WebSocket(bytes.fromhex("818537fa213d7f9f4d5158"))
    assert (masked.fin, masked.opcode, masked.mask, masked.length, masked.key) == (1, 1, 1, 5, 0x37FA213D)
    assert bytes(masked.payload) == b"Hello"
    assert bytes(masked) == bytes.fromhex("818537fa213d7f9f4d5158")
    first = WebSocket(bytes.fromhex("010348656c80026c6f"))
    assert (first.fin, first[Raw].load, first[Padding].load) == (0, b"Hel", bytes.fromhex("80026c6f"))
    long = WebSocket(bytes.fromhex("827e0100") + bytes(256))
    assert (long.length, long.length16, long.payload_size) == (126, 256, 256)
    longer = WebSocket(bytes.fromhex("827f0000000000010000") + bytes(65536))
    assert (longer.length, longer.length64, len(longer.payload)) == (127, 65536, 65536)


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from([0, 1, 2, 3, 8, 9, 10, 15]), st.binary(max_size=300), st.booleans(), st.integers(0, 7),
    st.none() | st.binary(min_size=4, max_size=4), st.sampled_from([None, 16, 64]),
)  # fmt: skip
def test_what_is_built_is_what_the_observer_hears_and_the_other_way_round(
    opcode: int, payload: bytes, fin: bool, rsv: int, mask: bytes | None, form: int | None
) -> None:
    data = frame(opcode, payload, fin=fin, rsv=rsv, mask=mask, form=form)
    heard = next(event for event in opened().feed(mask is not None, data) if isinstance(event, Frame))
    packet = WebSocket(data)
    assert (packet.fin, packet.rsv1, packet.rsv2, packet.rsv3) == (
        heard.fin,
        heard.rsv1,
        heard.rsv2,
        heard.rsv3,
    )
    assert (packet.opcode, packet.payload_size) == (heard.opcode, heard.length)
    assert bytes(packet.payload) == heard.payload == payload
    assert bytes(packet) == data
    built = WebSocket(fin=fin, rsv1=rsv >> 2, rsv2=rsv >> 1 & 1, rsv3=rsv & 1, opcode=opcode)
    if mask is not None:
        built.mask, built.key = 1, int.from_bytes(mask, "big")
    if form is not None:
        built.length = {16: 126, 64: 127}[form]
    assert bytes(built / Raw(payload)) == data


def test_a_length_is_the_shortest_form_unless_another_is_asked_for() -> None:
    for size, form in ((0, 0), (125, 125), (126, 126), (65_535, 126), (65_536, 127)):
        assert bytes(WebSocket(opcode=2) / Raw(bytes(size)))[1] == form
    assert bytes(WebSocket(length=126) / Raw(b"abc")).hex() == "817e0003616263"
    assert bytes(WebSocket(length=127) / Raw(b"abc")).hex() == "817f0000000000000003616263"
    assert bytes(WebSocket(length=126, length16=9) / Raw(b"abc")).hex() == "817e0009616263"
    assert bytes(WebSocket(length=7) / Raw(b"abc")).hex() == "8107616263"


def test_close_frames_have_a_code_and_a_reason() -> None:
    packet = WebSocket(frame(CLOSE, b"\x03\xe9bye"))
    assert (packet[WebSocketClose].code, packet[WebSocketClose].reason) == (1001, b"bye")
    assert packet.summary() == "WebSocket / 1001 going away: bye"
    assert bytes(WebSocket(mask=1, key=0x37FA213D) / WebSocketClose(code=1001, reason=b"bye")) == frame(
        CLOSE, b"\x03\xe9bye"
    )
    assert WebSocket(frame(CLOSE, b"\x03")).haslayer(Raw)


def test_a_pong_answers_its_ping_and_a_close_a_close() -> None:
    ping, pong = WebSocket(frame(PING, b"a")), WebSocket(frame(PONG, b"a", mask=None))
    assert pong.answers(ping)
    assert not WebSocket(frame(PONG, b"b", mask=None)).answers(ping)
    assert WebSocket(frame(CLOSE)).answers(WebSocket(frame(CLOSE)))
    assert not ping.answers(Raw(b""))


def test_the_upgrade_shows_its_words_and_its_key_is_checked() -> None:
    request, response = WebSocket(REQUEST), WebSocket(RESPONSE)
    assert isinstance(request, UpgradeRequest)
    assert isinstance(response, UpgradeResponse)
    assert (request.method, request.path, request.value("host")) == ("GET", "/play", "127.0.0.1:3000")
    assert (response.status, response.reason) == (101, "Switching Protocols")
    assert (bytes(request), bytes(response)) == (REQUEST, RESPONSE)
    assert response.answers(request)
    assert not WebSocket(RESPONSE.replace(b"s3pP", b"S3pP")).answers(request)
    assert UpgradeResponse().answers(UpgradeRequest())


def test_an_upgrade_is_built_as_the_library_takes_it() -> None:
    from websockets.server import ServerProtocol

    request = UpgradeRequest(path="/x")
    server = ServerProtocol()
    server.receive_data(bytes(request))
    (event,) = server.events_received()
    answer = server.accept(event)  # type: ignore[arg-type] # the first event is the request
    assert answer.status_code == 101
    assert WebSocket(answer.serialize()).answers(request)
    request.headers.append(("Origin", "http://a"))
    assert bytes(request).endswith(b"Origin: http://a\r\n\r\n")
    assert "Origin" not in str(UpgradeRequest().headers)
    again = WebSocket(REQUEST)
    again.headers.append(("Origin", "http://a"))
    assert b"Origin: http://a\r\n" in bytes(again)


@pytest.mark.parametrize(
    ("data", "check"),
    [
        (b"\x81", "websocket/5.2.header"),
        (b"\x81\xfe\x00", "websocket/5.2.header"),
        (b"GET / HTTP/1.1\r\n", "websocket/4.1.head"),
        (b"GET\r\n\r\n", "websocket/4.1.request"),
        (b"HTTP/1.1\r\n\r\n", "websocket/4.2.2.response"),
    ],
)
def test_what_is_no_frame_and_no_upgrade_is_malformed_and_keeps_its_bytes(data: bytes, check: str) -> None:
    for packet in (WebSocket(data), IP(bytes(IP() / TCP(dport=3000) / data))):
        assert packet[Malformed].check == check
        assert bytes(packet[Malformed]) == data


@settings(max_examples=300, deadline=None)
@given(st.binary(min_size=1, max_size=200))
def test_no_bytes_raise_out_of_the_bare_layer_and_none_are_lost(data: bytes) -> None:
    packet = WebSocket(data)
    assert bytes(packet) == data
    packet.summary()
    packet.show(dump=True)
    WebSocket.tcp_begins(data)
    WebSocket.tcp_reassemble(data, {}, {})


def test_fuzzed_packets_can_be_built() -> None:
    for _ in range(50):
        bytes(fuzz(WebSocket() / PlayMove()))
        bytes(fuzz(UpgradeRequest()))
        bytes(fuzz(WebSocket() / WebSocketClose()))


def test_whole_messages_hang_under_their_last_frame_and_the_wires_bytes_are_kept() -> None:
    packets = Packets()
    line = "Sec-WebSocket-Extensions: permessage-deflate"
    packets.feed(True, add(REQUEST, line))
    packets.feed(False, add(RESPONSE, line))
    pieces = [
        frame(TEXT, b"connect p1\r\n"),
        frame(TEXT, b"playm", fin=False),
        frame(CONT, b"ove 3\r\n"),
        frame(TEXT, deflated(b"playmove 4\r\n"), rsv=4),
        frame(BINARY, deflated(b""), rsv=4),
    ]
    found = packets.feed(True, b"".join(pieces))
    assert [bytes(packet) for packet in found] == pieces
    assert found[0][Connect].user == "p1"
    assert not found[1].haslayer(PlayMove)
    assert (found[2][PlayMove].move, found[2][WebSocketMessage].frames) == (3, 2)
    assert (found[3][PlayMove].move, found[3][WebSocketMessage].compressed) == (4, True)
    (game,) = packets.feed(False, frame(TEXT, b"newgame p2 p1\r\n", mask=None))
    assert game[NewGame].red == "p2"
    (move,) = packets.feed(True, frame(TEXT, b"playmove 6\r\n"))
    assert move.summary() == "WebSocket / p1 (Y) plays column 6"


def test_a_frame_carries_the_clauses_it_breaks() -> None:
    packets = Packets()
    packets.feed(True, REQUEST.replace(b"13", b"8"))
    assert packets.feed(True, b"") == []
    (answer,) = packets.feed(False, RESPONSE.replace(b"s3pP", b"S3pP"))
    assert answer.faults == ("websocket/4.2.2.accept",)
    (broken,) = packets.feed(True, frame(3, b"a", mask=None))
    assert broken.faults == ("websocket/5.2.opcode", "websocket/5.1.unmasked")
    assert "websocket/5.1.unmasked" in broken.summary()
    assert "5.2.opcode" in str(broken.show(dump=True))
    assert bytes(broken) == frame(3, b"a", mask=None)
    (gap,) = packets.lost(True)
    assert gap.check == "websocket/5.1.gap"


class Wire:
    """A connection in segments."""

    def __init__(self) -> None:
        self.packets: list[Any] = []
        self.seq = {True: 1000, False: 5000}
        self.segment(True, b"", "S")
        self.segment(False, b"", "SA")

    def segment(self, from_client: bool, data: bytes, flags: str = "PA") -> None:
        sport, dport = (41000, 3000) if from_client else (3000, 41000)
        seq, ack = self.seq[from_client], self.seq[not from_client]
        tcp = TCP(sport=sport, dport=dport, seq=seq, ack=ack, flags=flags)
        self.packets.append(IP(bytes(IP() / tcp / data)))
        self.seq[from_client] += len(data) + ("S" in flags)

    def upgrade(self, extension: str = "") -> None:
        self.segment(True, add(REQUEST, extension) if extension else REQUEST)
        self.segment(False, add(RESPONSE, extension) if extension else RESPONSE)


def through(packets: list[Any]) -> list[Any]:
    session = GameSession()
    return [found for packet in packets for found in session.messages(packet)] + session.finish()


def moves(packets: list[Any]) -> list[int]:
    return [packet[PlayMove].move for packet in packets if packet.haslayer(PlayMove)]


def played(*columns: int) -> bytes:
    return b"".join(frame(TEXT, b"playmove %d\r\n" % column) for column in columns)


def test_game_session_reads_split_and_coalesced_frames_of_both_directions() -> None:
    along = Wire()
    along.upgrade()
    along.segment(True, frame(TEXT, b"connect p1\r\n") + played(1, 2)[:-3])
    along.segment(False, frame(TEXT, b"connected\r\n", mask=None))
    along.segment(True, played(1, 2)[-3:] + played(3))
    found = through(along.packets)
    assert moves(found) == [1, 2, 3]
    kinds = [packet.lastlayer().name for packet in found if packet.haslayer(WebSocket)]
    assert kinds[:2] == ["Connect Four connect", "Connect Four playmove"]
    assert [type(packet.lastlayer()) for packet in found[2:4]] == [UpgradeRequest, UpgradeResponse]


def test_game_session_inflates() -> None:
    along = Wire()
    along.upgrade("Sec-WebSocket-Extensions: permessage-deflate")
    along.segment(True, frame(TEXT, deflated(b"playmove 5\r\n"), rsv=4))
    assert moves(through(along.packets)) == [5]


def test_behind_a_gap_frames_are_read_alone_and_nothing_is_glued() -> None:
    along = Wire()
    along.upgrade("Sec-WebSocket-Extensions: permessage-deflate")
    along.segment(True, frame(TEXT, b"playm", fin=False))
    along.segment(True, frame(CONT, b"lost", fin=False))
    lost = along.packets.pop()
    along.segment(True, frame(CONT, b"ove 3\r\n"))
    along.segment(True, played(4))
    along.segment(True, frame(TEXT, deflated(b"playmove 5\r\n"), rsv=4))
    found = through(along.packets)
    assert lost not in found
    assert any(packet.haslayer(StreamGap) for packet in found)
    assert moves(found) == [4]


def test_a_capture_that_begins_late_shows_its_frames() -> None:
    along = Wire()
    along.upgrade()
    along.segment(True, played(2))
    found = through(along.packets[-1:])
    assert moves(found) == [2]
    assert found[-1][WebSocket].payload_size == 12


def test_scapys_own_session_reads_frames_too() -> None:
    along = Wire()
    along.upgrade("Sec-WebSocket-Extensions: permessage-deflate")
    along.segment(True, frame(TEXT, deflated(b"playmove 5\r\n"), rsv=4)[:7])
    along.segment(True, frame(TEXT, deflated(b"playmove 5\r\n"), rsv=4)[7:])
    along.segment(True, played(1, 2))
    session = TCPSession()
    found = [out for packet in along.packets if (out := session.process(packet)) is not None]
    assert moves(found) == [5, 1]
    assert found[-1][PlayMove:2].move == 2  # type: ignore[index] # Scapy's own way to say: the second


def test_who_speaks_is_known_from_the_upgrade_even_where_the_mask_is_wrong() -> None:
    along = Wire()
    along.upgrade()
    along.segment(True, frame(TEXT, b"playmove 1\r\n", mask=None))
    found = through(along.packets)
    assert found[-1][WebSocket].faults == ("websocket/5.1.unmasked",)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.binary(min_size=1, max_size=120)), max_size=8))
def test_game_session_takes_any_segments(said: list[tuple[bool, bytes]]) -> None:
    along = Wire()
    along.upgrade()
    for from_client, data in said:
        along.segment(from_client, data)
    for packet in through(along.packets):
        packet.summary()
