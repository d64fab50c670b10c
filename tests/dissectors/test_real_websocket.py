"""Real traffic: the layers and the observer read what the two ends received, and what tshark reads."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from scapy.packet import Raw
from scapy.sendrecv import sniff
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve

from captures.tapes import merge
from dissectors import (
    Connect4,
    GameSession,
    Malformed,
    PlayMove,
    UpgradeRequest,
    UpgradeResponse,
    WebSocket,
    WebSocketMessage,
)
from dissectors.frames import Broken, Event, Frame, Text, Upgrade
from dissectors.observer import Observer
from nodes.connect4.messages import decode
from tests.captures.shark import tshark
from tests.dissectors.wire import whole
from tests.house import ROOT

if TYPE_CHECKING:
    from pathlib import Path

# Wireshark knows no HTTP on Connect Four's port by itself.
DECODE_AS = ("-d", "tcp.port==3000,http")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The capture of a game between our own server and clients."""
    out = tmp_path_factory.mktemp("run")
    command = [sys.executable, "-P", "-m", "labs", "run", "connect4", "--seed", "7", "--players", "2"]
    options = ["--games", "1", "--bot", "random", "--quiet", "--out", str(out)]
    subprocess.run(
        [*command, *options],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
        capture_output=True,
    )
    return out / "latest" / "capture.pcapng"


def read(capture: Path) -> list[Any]:
    return [
        packet for packet in sniff(offline=str(capture), session=GameSession) if packet.haslayer(WebSocket)
    ]


def test_every_message_of_a_game_has_a_name_and_none_is_raw(played: Path) -> None:
    packets = sniff(offline=str(played), session=GameSession)
    upgrades = [type(packet.lastlayer()) for packet in packets]
    assert (upgrades.count(UpgradeRequest), upgrades.count(UpgradeResponse)) == (2, 2)
    texts = [packet for packet in packets if packet.haslayer(WebSocket) and packet[WebSocket].opcode == 1]
    assert len(texts) > 20
    for packet in texts:
        message = packet[Connect4]
        assert message.check is None
        decoded = decode(bytes(message))
        assert {name: message.getfieldval(name) for name in decoded.fields()} == decoded.fields()
    assert not any(packet.haslayer(Raw) or packet.haslayer(Malformed) for packet in packets)
    kinds = {packet[Connect4].type for packet in texts}
    assert kinds == {"connect", "connected", "newgame", "genmove", "playmove", "endgame"}
    first = next(packet for packet in packets if packet.haslayer(PlayMove))
    assert first.summary().split(" / ")[-1].startswith(("p1 (R) plays column", "p2 (R) plays column"))


def test_every_frame_has_the_fields_tshark_gives_it(played: Path) -> None:
    assert shark_frames(played) == our_frames(read(played))


def shark_frames(capture: Path) -> list[tuple[str, ...]]:
    """Opcode, FIN, compressed, masking key, payload length and text, frame by frame.

    The text only of messages of one frame: tshark 4.0 does not inflate fragmented ones, nor put one
    together whose last fragment is empty.
    """
    names = ["opcode", "fin", "pmc", "mask", "masking_key", "payload_length", "payload.text"]
    wanted = [part for name in names for part in ("-e", f"websocket.{name}")]
    options = ("-Y", "websocket", "-T", "ek", *wanted)
    found: list[tuple[str, ...]] = []
    for line in tshark(capture, *DECODE_AS, *options):
        layers = json.loads(line).get("layers")
        if layers is None:
            continue
        opcodes = layers["websocket_opcode"]
        keys, texts = (
            list(layers.get("websocket_masking_key", ())),
            list(layers.get("websocket_payload_text", ())),
        )
        compressed = layers.get("websocket_pmc") or ["0"] * len(opcodes)
        for at, opcode in enumerate(opcodes):
            masked = _on(layers["websocket_mask"][at])
            fin = _on(layers["websocket_fin"][at])
            key = keys.pop(0).replace(":", "") if masked else ""
            text = texts.pop(0) if texts and opcode == "1" and fin else ""
            length = layers["websocket_payload_length"][at]
            found.append((opcode, str(fin), str(_on(compressed[at])), key, length, text))
    return found


def _on(value: Any) -> bool:
    return value in (True, "1", "True", "true")


def our_frames(packets: list[Any]) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for packet in packets:
        frame = packet[WebSocket]
        key = f"{frame.key:08x}" if frame.mask else ""
        message = frame.payload.payload if frame.haslayer(WebSocketMessage) else frame.payload
        text = bytes(message).decode() if frame.fin and frame.opcode == 1 else ""
        found.append(
            (str(frame.opcode), str(bool(frame.fin)), str(bool(frame.rsv1)), key, str(frame.length), text)
        )
    return found


class Relay:
    """Stands between a client and a server and notes who said what, as it came off the socket."""

    def __init__(self) -> None:
        self.said: list[tuple[bool, bytes]] = []
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self, server_port: int) -> int:
        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            there, back = await asyncio.open_connection("127.0.0.1", server_port)
            await asyncio.gather(self._pump(True, reader, back), self._pump(False, there, writer))

        self.listener = await asyncio.start_server(accept, "127.0.0.1", 0)
        port: int = self.listener.sockets[0].getsockname()[1]
        return port

    async def _pump(
        self, from_client: bool, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        while data := await reader.read(700):  # small, so that frames are cut
            self.said.append((from_client, data))
            writer.write(data)
            await writer.drain()
        writer.close()


SAID: list[str | bytes] = [
    "connect p1\r\n",
    "playmove 3\r\n",
    "playmove 3\r\n",
    "é" * 3000,
    b"\0\1\2" * 500,
    "",
    b"",
]


async def talk(relay: Relay, compression: Any) -> tuple[list[str | bytes], list[str | bytes]]:
    """Say all of SAID whole and in fragments, ping, echo, and close. Return what each end received."""
    at_server: list[str | bytes] = []
    at_client: list[str | bytes] = []

    async def serve_one(connection: ServerConnection) -> None:
        async for message in connection:
            at_server.append(message)
            await connection.ping(b"are you there")
            await connection.send(message)

    async with serve(serve_one, "127.0.0.1", 0, compression=compression) as server:
        port = await relay.start(next(iter(server.sockets)).getsockname()[1])
        async with connect(f"ws://127.0.0.1:{port}/play", compression=compression, proxy=None) as client:
            for message in SAID:
                await client.send(message)
                at_client.append(await client.recv())
            await client.send(["playm", "ove", " 5\r\n"])
            at_client.append(await client.recv())
            await (await client.ping(b"and you"))
            await client.close(1000, "good game")
        relay.listener.close()
        await relay.listener.wait_closed()
    return at_server, at_client


@pytest.mark.parametrize("compression", ["deflate", None])
def test_the_observer_hears_what_both_ends_of_a_real_connection_received(
    compression: str | None, tmp_path: Path
) -> None:
    relay = Relay()
    at_server, at_client = asyncio.run(talk(relay, compression))
    assert at_server == at_client == [*SAID, "playmove 5\r\n"]
    listener = Observer()
    events: list[Event] = [
        event for from_client, data in relay.said for event in listener.feed(from_client, data)
    ]
    assert not [event for event in events if isinstance(event, Broken)]
    assert whole([event for event in events if event.from_client]) == at_server
    assert whole([event for event in events if not event.from_client]) == at_client
    upgrade = [event for event in events if isinstance(event, Upgrade)][1]
    assert (upgrade.deflate is not None) == (compression is not None)
    frames = [event for event in events if isinstance(event, Frame)]
    assert any(frame.rsv1 for frame in frames) == (compression is not None)
    assert {frame.opcode for frame in frames} == {0, 1, 2, 8, 9, 10}
    assert max(event.frames for event in events if isinstance(event, Text)) >= 3
    assert [frame.close_reason for frame in frames if frame.close_code == 1000][:1] == ["good game"]
    assert {frame.length_bits for frame in frames} >= ({7, 16} if compression is None else {7})

    capture = as_capture(relay.said, tmp_path)
    packets = read(capture)
    texts = [event for event in events if isinstance(event, Text)]
    assert [packet[PlayMove].move for packet in packets if packet.haslayer(PlayMove)] == [3, 3, 3, 3, 5, 5]
    assert shark_frames(capture) == our_frames(packets)
    assert len(packets) == len(frames)
    assert len(texts) == 2 * len([one for one in at_server if isinstance(one, str)])


def as_capture(said: list[tuple[bool, bytes]], folder: Path) -> Path:
    """The same bytes as a pcapng, with the headers such a conversation has."""
    client, server = "127.0.0.1:41000", "127.0.0.2:3000"
    lines: list[dict[str, Any]] = [{"kind": "open", "src": client, "dst": server}]
    for from_client, data in said:
        src, dst = (client, server) if from_client else (server, client)
        lines.append({"kind": "data", "src": src, "dst": dst, "data": data.hex()})
    lines.append({"kind": "close", "src": client, "dst": server})
    tape, out = folder / "tape", folder / "capture.pcapng"
    stamped = [
        json.dumps({"t": 1600000000 + at / 1000, "proto": "tcp", **line}) for at, line in enumerate(lines)
    ]
    tape.write_text("".join(f"{line}\n" for line in stamped))
    merge([tape], out, [], {})
    return out
