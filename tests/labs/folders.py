"""A run folder as a test reads it: what the logs say was sent, and what the capture saw."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from captures import Direction, Packet, load

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_TCP, _UDP = 6, 17
_SYN = 2

# Who speaks to whom: ("p1", "server").
Way = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Folder:
    """One run, after its end."""

    path: Path

    @property
    def notes(self) -> dict[str, Any]:
        notes: dict[str, Any] = json.loads((self.path / "run.json").read_text(encoding="utf-8"))
        return notes

    def log(self, seat: str) -> list[dict[str, Any]]:
        """Every line of a node's log; each must be a JSON object."""
        lines = (self.path / f"{seat}.jsonl").read_text(encoding="utf-8").splitlines()
        records = [json.loads(text) for text in lines]
        assert all(isinstance(record, dict) and record["seat"] == seat for record in records)
        return records

    @property
    def seats(self) -> list[str]:
        return [seat["name"] for seat in self.notes["seats"]]

    def sent(self) -> dict[Way, list[bytes]]:
        """The application messages of each node to each of its peers, in order, as the logs have them."""
        found: dict[Way, list[bytes]] = {}
        names = {seat["address"].partition(":")[0]: seat["name"] for seat in self.notes["seats"]}
        after = dict(self.notes["links"])
        for seat in self.seats:
            for record in self.log(seat):
                if record["event"] != "sent":
                    continue
                peer = record["peer"]
                other = after[seat] if peer == "next" else names.get(peer.partition(":")[0], peer)
                found.setdefault((seat, other), []).append(bytes.fromhex(record["data"]))
        return found

    def packets(self) -> list[tuple[Way, bytes]]:
        """Every frame's IP packet, with who sent it to whom by the name of its interface."""
        capture = load(self.path / "capture.pcapng")
        assert capture.problem is None
        names = [interface.name for interface in capture.interfaces]
        return [(_way(names[packet.interface], packet), packet.data[14:]) for packet in capture.packets]

    def datagrams(self) -> dict[Way, list[bytes]]:
        """The UDP payloads of each direction of each link."""
        found: dict[Way, list[bytes]] = {}
        for way, packet in self.packets():
            body = _body(packet, _UDP)
            found.setdefault(way, []).append(body[8:])
        return found

    def streams(self) -> dict[Way, bytes]:
        """The bytes that TCP carried in each direction of each link, put together by sequence number."""
        pieces: dict[Way, dict[int, bytes]] = {}
        begins: dict[Way, int] = {}
        for way, packet in self.packets():
            body = _body(packet, _TCP)
            sequence, flags = struct.unpack_from("!I", body, 4)[0], body[13]
            if flags & _SYN:
                assert begins.setdefault(way, sequence + 1) == sequence + 1, "one connection a link"
            elif data := body[(body[12] >> 4) * 4 :]:
                pieces.setdefault(way, {})[(sequence - begins[way]) % 2**32] = data
        return {way: _joined(pieces.get(way, {})) for way in begins}


def on_the_wire(game: str, folder: Folder) -> dict[Way, Any]:
    """What the capture has of the application, apart from repeats and random masks."""
    if game in ("hearts", "briscola"):
        return without_repeats(folder.datagrams())
    streams = folder.streams()
    return {way: texts(stream) if game == "connect4" else stream for way, stream in streams.items()}


def without_repeats(payloads: Mapping[Way, list[bytes]]) -> dict[Way, list[bytes]]:
    """A busy machine repeats a datagram by timer: what is said is the same."""
    return {
        way: [data for before, data in zip([None, *said], said, strict=False) if data != before]
        for way, said in payloads.items()
    }


def texts(stream: bytes) -> list[bytes]:
    """The text frames of one side of a WebSocket connection."""
    _, _, rest = stream.partition(b"\r\n\r\n")
    found = []
    while rest:
        kind, size = rest[0], rest[1] & 127
        at = 2
        if size == 126:
            size, at = struct.unpack_from("!H", rest, 2)[0], 4
        key = bytes(4)
        if rest[1] & 128:
            key, at = rest[at : at + 4], at + 4
        data = bytes(byte ^ key[i % 4] for i, byte in enumerate(rest[at : at + size]))
        if kind == 0x81:
            found.append(data)
        rest = rest[at + size :]
    return found


def _way(link: str, packet: Packet) -> Way:
    if "→" in link:
        here, there = link.split("→")
        return here, there
    client, server = link.split("↔")
    assert packet.direction is not Direction.UNKNOWN
    return (client, server) if packet.direction is Direction.OUTBOUND else (server, client)


def _body(packet: bytes, protocol: int) -> bytes:
    """What is in an IPv4 packet."""
    assert packet[9] == protocol
    return packet[(packet[0] & 15) * 4 : struct.unpack_from("!H", packet, 2)[0]]


def _joined(pieces: dict[int, bytes]) -> bytes:
    stream = b""
    for at, data in sorted(pieces.items()):
        assert at <= len(stream), "a piece is missing"
        stream += data[len(stream) - at :]
    return stream
