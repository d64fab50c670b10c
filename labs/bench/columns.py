"""Columns beside those who read a capture frame by frame, and what a very large one costs.

The file is a classic pcap of whole Hearts games over Ethernet, IPv4 and UDP, each frame on its four links.
Everyone reads it from disk and gets at every field of the header; processor time counts, so that neighbours
on the machine do not. The peers are given less of it, for they would take minutes; speeds are a frame's.
"""

from __future__ import annotations

import struct
import subprocess
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from captures.frames import udp
from captures.links import parse_end
from labs.bench import Figure
from labs.engines.processes import end, python, spawn
from nodes.game import load
from nodes.memory import network

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 3
OVER_SCAPY_MIN = 100
OVER_DPKT_MIN = 5
MEGABYTES = (250, 500, 1000)
MEGABYTES_QUICK = (25, 50, 100)
GROWTH_MAX = 1.25  # of seconds a megabyte, and of memory, from the smallest file to the largest

# What one file costs, in a process of its own, for a process keeps the peak of all it has done.
ALONE = """
import resource, sys, time
import captures
chunks = captures.chunks(sys.argv[1])
began = time.process_time()
rows = sum(part["hearts"].rows for part in chunks)
print(time.process_time() - began, rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def measure(quick: bool) -> list[Figure]:
    records = _records()
    with tempfile.TemporaryDirectory(prefix="wiretable-bench-") as folder:
        return _beside_peers(Path(folder), records, quick) + _large(Path(folder), records, quick)


def _records() -> list[bytes]:
    """The records of a few games."""
    played = network(load("hearts"), 7, games=2, bots={"node": "random"})
    played.run()
    ends = {f"m{seat}": parse_end(f"127.0.71.{seat + 1}:47123") for seat in range(4)}
    names = list(ends)
    found = []
    for number, (seat, _, data) in enumerate(played.sent):
        after = names[(names.index(seat) + 1) % len(names)]
        frame = udp(ends[seat], ends[after], data, number)
        found.append(struct.pack("<IIII", 1_700_000_000, number * 1000, len(frame), len(frame)) + frame)
    return found


def _write(path: Path, records: list[bytes], size: int) -> int:
    """A file of about that size; how many frames it has."""
    body = b"".join(records)
    copies = max(1, size // len(body))
    with path.open("wb") as stream:
        stream.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262_144, 1))
        for _ in range(copies):
            stream.write(body)
    return copies * len(records)


def _beside_peers(folder: Path, records: list[bytes], quick: bool) -> list[Figure]:
    few, many = folder / "few.pcap", folder / "many.pcap"
    _write(few, records[: 2_000 if quick else 10_000], 0)
    _write(many, records, 20_000_000 if quick else 100_000_000)
    _columns(few)  # the tables of the codecs are made once a process
    ours = max(_speed(_columns, many) for _ in range(ROUNDS))
    figures = []
    for name, peer, limit in (
        ("Scapy PcapReader, whole packets", _scapy, OVER_SCAPY_MIN),
        ("dpkt and struct", _dpkt, OVER_DPKT_MIN),
        ("struct alone, a loop", _struct, None),
    ):
        speed: float | None = None
        if peer is _dpkt and find_spec("dpkt") is None:
            name = "dpkt is not installed: ./wiretable test brings it"
        else:
            speed = max(_speed(peer, few) for _ in range(ROUNDS))
        figures.append(
            Figure("columns", "Hearts capture into columns", "frames/s", ours, name, speed, limit, "more")
        )
    return figures


def _speed(read: Callable[[Path], int], path: Path) -> float:
    began = time.process_time()
    count = read(path)
    return count / (time.process_time() - began)


def _columns(path: Path) -> int:
    from captures import chunks

    names = ("time_ns", "type", "origin", "dest", "seq", "len")
    return sum(min(len(part["hearts"][name]) for name in names) for part in chunks(path))


def _scapy(path: Path) -> int:
    from scapy.utils import PcapReader

    from dissectors import Hearts

    count = 0
    with PcapReader(str(path)) as reader:
        for packet in reader:
            frame = packet[Hearts]
            count += len((packet.time, frame.type, frame.origin, frame.dest, frame.seq, frame.len)) == 6
    return count


def _dpkt(path: Path) -> int:
    import dpkt  # type: ignore[import-untyped]  # it has no types

    unpack = struct.Struct("5B").unpack_from
    count = 0
    with path.open("rb") as stream:
        for time_s, data in dpkt.pcap.Reader(stream):
            payload = dpkt.ethernet.Ethernet(data).data.data.data
            count += len((time_s, *unpack(payload))) == 6
    return count


def _struct(path: Path) -> int:
    """As little as can be done: plain Ethernet, IPv4 and UDP are taken for granted, nothing is checked."""
    head, fields = struct.Struct("<IIII").unpack, struct.Struct("42x5B").unpack_from
    count = 0
    with path.open("rb") as stream:
        stream.read(24)
        while raw := stream.read(16):
            seconds, fraction, size, _ = head(raw)
            time_ns = seconds * 1_000_000_000 + fraction
            count += len((time_ns, *fields(stream.read(size)))) == 6
    return count


def _large(folder: Path, records: list[bytes], quick: bool) -> list[Figure]:
    """Each file by itself: seconds a gigabyte, and the most memory the process had."""
    found = []
    for megabytes in MEGABYTES_QUICK if quick else MEGABYTES:
        path = folder / "large.pcap"
        frames = _write(path, records, megabytes * 1_000_000)
        child = spawn([*python(), "-c", ALONE, str(path)], stdout=subprocess.PIPE)
        assert child.stdout is not None
        seconds, rows, peak_kib = child.stdout.read().split()
        end(child)
        path.unlink()
        assert int(rows) == frames
        found.append((megabytes, float(seconds), int(peak_kib) * 1024 / 1e6))
    (least, least_s, least_peak), *_, (most, most_s, most_peak) = found
    return [
        Figure("columns", f"a capture of {most} MB", "MB/s", most / most_s, better="more"),
        Figure(
            "columns",
            f"time for {most} MB",
            "s/GB",
            most_s / most * 1000,
            f"for {least} MB",
            least_s / least * 1000,
            GROWTH_MAX,
        ),
        Figure(
            "columns",
            f"peak memory for {most} MB",
            "MB",
            most_peak,
            f"for {least} MB",
            least_peak,
            GROWTH_MAX,
        ),
    ]
