"""Who breaks the rules in the samples: one function a game, over ordinary sockets, each error once."""

from __future__ import annotations

import base64
import json
import os
import socket
import struct
import time
from typing import TYPE_CHECKING, Any

from nodes.briscola.messages import Ack, GiveCard, Init, Op, Search, UseCard, decode, pack
from nodes.briscola.rules import DECK
from nodes.hearts.messages import DealHand, GameOver, PlayCard
from nodes.hearts.rules import DECK as HEARTS_DECK
from nodes.hearts.rules import TWO_OF_CLUBS
from nodes.holdem.transport import PREFIX, frame
from nodes.tictactoe.messages import MESSAGE_BYTES, Move

if TYPE_CHECKING:
    from nodes.briscola.messages import Word

PAUSE_S = 0.05
PATIENCE_S = 10.0


def hearts(here: str, m1: str, m2: str, port: int) -> None:
    """Frames for m1; whoever is m2 only listens."""
    play = PlayCard(TWO_OF_CLUBS, origin=2).encode()
    deal = DealHand(HEARTS_DECK[:13], origin=0, dest=1).encode()
    broken = (
        play[:3],  # less than a header
        play + b"\0",  # len does not say how much there is
        bytes((0x0B, *play[1:])),
        bytes((play[0], 9, *play[2:])),
        bytes((*play[:2], 7, *play[3:])),
        bytes((6, 2, 0xFF, 0, 2, TWO_OF_CLUBS, TWO_OF_CLUBS)),  # PLAY_CARD has one card
        bytes((*play[:5], 0x4F)),
        deal[:-1] + deal[-2:-1],  # the last card is the one before again
        bytes(reversed(GameOver(0, (1, 2, 3, 4)).encode())),
    )
    early = (play, PlayCard(TWO_OF_CLUBS, origin=3, seq=9).encode())
    with _udp(here, port) as mine, _udp(m2, port):
        for data in (*broken, *early):
            mine.sendto(data, (m1, port))
            time.sleep(PAUSE_S)


def briscola(server: str, p1: str, p2: str, port: int) -> None:
    """Broken words first, then a game with two cards that may not be played."""
    there = (server, port)
    with _udp(p1, 0) as one, _udp(p2, 0) as two:
        for data in (
            b"\xa0\x05\x00",
            pack(Op.SEARCH, 0, 100),
            pack(Op.USE_C, 0, 0),
            pack(Op.ERR, 5, 1),
            pack(Op.END_G, 0, 100),
            UseCard(DECK[0]).encode(),  # there is no game
        ):
            one.sendto(data, there)
            time.sleep(PAUSE_S)
        one.sendto(Search(1).encode(), there)
        time.sleep(PAUSE_S)
        two.sendto(Search(1).encode(), there)  # in use
        time.sleep(PAUSE_S)
        two.sendto(Search(2).encode(), there)
        # INIT stays without an ACK for longer than the server waits, so that it comes again.
        time.sleep(1.5)
        words = {one: _heard(one, there), two: _heard(two, there)}
        leads = next(
            sock for sock, said in words.items() if any(isinstance(w, Init) and w.first for w in said)
        )
        follows = two if leads is one else one
        held = {sock: [w.card for w in said if isinstance(w, GiveCard)] for sock, said in words.items()}
        follows.sendto(UseCard(held[follows][0]).encode(), there)
        time.sleep(PAUSE_S)
        leads.sendto(UseCard(held[follows][0]).encode(), there)
        time.sleep(PAUSE_S)


def _heard(sock: socket.socket, there: tuple[str, int]) -> list[Word]:
    """Take and acknowledge words until three cards are there."""
    words: list[Word] = []
    count = 0
    while sum(isinstance(word, GiveCard) for word in words) < 3:
        word = decode(sock.recv(64))
        if isinstance(word, Init | GiveCard):
            if word not in words:
                words.append(word)
                count += 1
            sock.sendto(Ack(count).encode(), there)
    return words


def tictactoe(server: str, p1: str, p2: str, port: int) -> None:
    """Moves that no server takes, then a good one, the same again, and half of one."""
    with _tcp(p1, server, port) as sock:
        _exactly(sock, MESSAGE_BYTES)
        for data in (
            b"   0        ",
            b"   x        ",
            b"O  5        ",
            Move("5").encode(),
            Move("5").encode(),
        ):
            sock.sendall(data)
            _exactly(sock, MESSAGE_BYTES)
        sock.sendall(Move("1").encode()[:5])
    with _tcp(p2, server, port) as sock:
        _exactly(sock, MESSAGE_BYTES)
        sock.sendall(Move("d").encode())
        _exactly(sock, MESSAGE_BYTES)


def holdem(server: str, p1: str, p2: str, port: int) -> None:
    """What is no message at all, each on a connection of its own; then a hand for two."""
    for data in (
        struct.pack("<i", -5) + b"{}",
        frame(b'{"info": "connect"'),
        frame(b'{"info": "dance"}'),
        frame(b'{"info": "connect", "name": "", "room_number": 2, "game_number": 1}'),
    ):
        with _tcp(p1, server, port) as sock:
            sock.sendall(data)
            _rest(sock)
    with _tcp(p1, server, port) as one, _tcp(p2, server, port) as two:
        for name, sock in (("p1", one), ("p2", two)):
            asked = {"info": "connect", "name": name, "room_number": 2, "game_number": 2}
            sock.sendall(frame(json.dumps(asked).encode()))
        for action, by_actor in ((b"call", False), (b"r1", True)):
            state = _until(one, "state")
            ours = state["position"] == state["action_position"]
            speaker = one if ours == by_actor else two
            speaker.sendall(frame(b'{"info": "action", "action": "%b"}' % action))
            for sock in (one, two):
                _until(sock, "result")
                sock.sendall(frame(b'{"info": "ready", "status": "start"}'))
        for sock in (one, two):
            _rest(sock)


def connect4(server: str, p1: str, p2: str, port: int) -> None:
    """Lines the grammar does not have, then a game that ends in a frame without a mask."""
    with _WebSocket(p1, server, port) as socket_:
        for line in ("hello there", "connect p/1"):
            socket_.text(line)
            time.sleep(PAUSE_S)
    with _WebSocket(p1, server, port) as socket_:
        socket_.send(0x2, b"connect p1\r\n")
        time.sleep(PAUSE_S)
    with _WebSocket(p1, server, port) as one, _WebSocket(p2, server, port) as two:
        one.text("connect p1")
        two.text("connect p2")
        time.sleep(3 * PAUSE_S)
        two.text("playmove 3")  # red moves first
        time.sleep(PAUSE_S)
        for player in (one, two):
            player.text("playmove 9")
            player.text("playmove 3")
            time.sleep(PAUSE_S)
        two.send(0x1, b"playmove 3\r\n", masked=False)
        time.sleep(PAUSE_S)


class _WebSocket:
    """As much of a client as breaking rules needs."""

    def __init__(self, here: str, server: str, port: int) -> None:
        self._sock = _tcp(here, server, port)
        key = base64.b64encode(bytes(16)).decode()
        head = (
            f"GET / HTTP/1.1\r\nHost: {server}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        self._sock.sendall(head.encode())
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += self._sock.recv(1)

    def __enter__(self) -> _WebSocket:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.send(0x8, struct.pack("!H", 1000))
            _rest(self._sock)
        except OSError:
            pass  # the server has closed first
        self._sock.close()

    def text(self, line: str) -> None:
        self.send(0x1, line.encode() + b"\r\n")

    def send(self, opcode: int, payload: bytes, *, masked: bool = True) -> None:
        key = os.urandom(4)
        if masked:
            payload = bytes(byte ^ key[i % 4] for i, byte in enumerate(payload))
        head = bytes((0x80 | opcode, masked << 7 | len(payload)))
        self._sock.sendall(head + (key if masked else b"") + payload)


def _udp(host: str, port: int) -> socket.socket:
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.settimeout(PATIENCE_S)
    sock.bind((host, port))
    return sock


def _tcp(host: str, server: str, port: int) -> socket.socket:
    return socket.create_connection((server, port), PATIENCE_S, (host, 0))


def _exactly(sock: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = sock.recv(size - len(data))
        if not more:
            raise ConnectionError("the server has closed")
        data += more
    return data


def _until(sock: socket.socket, info: str) -> dict[str, Any]:
    """The next message of that sort."""
    while True:
        length = int.from_bytes(_exactly(sock, PREFIX), "little")
        body: dict[str, Any] = json.loads(_exactly(sock, length))
        if body["info"] == info:
            return body


def _rest(sock: socket.socket) -> None:
    """Read until the server closes, or says nothing for a while."""
    sock.settimeout(6 * PAUSE_S)
    try:
        while sock.recv(65_536):
            pass
    except TimeoutError:
        pass
