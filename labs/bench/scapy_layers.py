"""Our Hearts layer beside the least layer Scapy lets one write, and from the raw records of a capture.

Both layers are given the frames of whole games, as bytes. The least layer has one class, five byte fields
and the rest as a string: what the payload means is left to whoever reads it.
"""

from __future__ import annotations

import io
import time
from typing import TYPE_CHECKING

from scapy.fields import ByteField, StrField
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Packet
from scapy.utils import RawPcapReader, RawPcapWriter

from dissectors import Hearts
from labs.bench import Figure
from nodes.game import load
from nodes.memory import network

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FRAMES_MIN_PER_S = 20_000
RATIO_MAX = 1.5
ROUNDS = 7


class _Least(Packet):
    fields_desc = [  # noqa: RUF012 - Scapy's way
        *(ByteField(name, 0) for name in ("type", "origin", "dest", "seq", "len")),
        StrField("load", b""),
    ]


def measure(quick: bool) -> list[Figure]:
    hearts = load("hearts")
    played = network(hearts, 7, games=1 if quick else 4, bots={"node": "random"})
    played.run()
    frames = [data for _, _, data in played.sent]
    # They take turns, and the best round of each counts: what disturbs a round only makes it slower.
    ours, least = [], []
    for _ in range(ROUNDS):
        least.append(_seconds(_Least, frames))
        ours.append(_seconds(Hearts, frames))
    return [
        Figure(
            row="scapy_layers",
            what="Hearts frame, bare Scapy layer",
            unit="µs",
            ours=min(ours) / len(frames) * 1e6,
            peer="a layer of one class",
            peers=min(least) / len(frames) * 1e6,
            limit=RATIO_MAX,
        ),
        Figure(
            row="scapy_layers",
            what="Hearts frames, RawPcapReader and the bare layer",
            unit="frames/s",
            ours=len(frames) / min(_from_capture(frames) for _ in range(ROUNDS)),
            peer="what is asked",
            peers=FRAMES_MIN_PER_S,
            limit=1.0,
            better="more",
        ),
    ]


def _from_capture(frames: Sequence[bytes]) -> float:
    """Seconds to read a capture of these frames record by record, and dissect what UDP carries."""
    head = bytes(Ether() / IP(dst="127.0.0.1") / UDP(sport=47123, dport=47123))
    file = io.BytesIO()
    writer = RawPcapWriter(file, linktype=1)
    writer.write_header(None)
    for frame in frames:
        writer.write_packet(head + frame)
    file.seek(0)
    began = time.process_time()
    for record, _ in RawPcapReader(file):  # type: ignore[arg-type] # an open file will do
        Hearts(record[len(head) :])
    return time.process_time() - began


def _seconds(layer: Callable[[bytes], Packet], frames: Sequence[bytes]) -> float:
    began = time.process_time()
    for frame in frames:
        layer(frame)
    return time.process_time() - began
