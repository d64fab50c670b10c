"""Frames and files for tests: what a recorder would have left, made by hand."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from captures import frames
from captures.layers import LINK_ETHERNET, LINK_LOOP, LINK_NULL, LINK_SLL, LINK_SLL2
from captures.links import parse_end
from nodes.briscola.messages import pack
from nodes.hearts.messages import TYPES
from nodes.hearts.rules import DECK

if TYPE_CHECKING:
    from collections.abc import Iterable
    from random import Random

LINK_RAW = 101
HEARTS_PORT, BRISCOLA_PORT, TICTACTOE_PORT = 47123, 47200, 6666


def pcap(packets: Iterable[tuple[int, bytes]], link_type: int = LINK_ETHERNET, order: str = "<") -> bytes:
    """A classic file with nanoseconds."""
    head = struct.pack(f"{order}IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262_144, link_type)
    return head + b"".join(
        struct.pack(f"{order}IIII", *divmod(time_ns, 10**9), len(data), len(data)) + data
        for time_ns, data in packets
    )


def udp(src: str, dst: str, data: bytes, number: int = 0) -> bytes:
    """`127.0.0.1:47123` to another; an Ethernet frame."""
    return frames.udp(parse_end(src), parse_end(dst), data, number)


def tcp(src: str, dst: str, seq: int, ack: int, flags: int, data: bytes = b"") -> bytes:
    return frames.tcp(parse_end(src), parse_end(dst), seq, ack, flags, data, None, 0)


def on_link(frame: bytes, link_type: int) -> bytes:
    """An Ethernet frame as another sort of link has it."""
    kind, packet = frame[12:14], frame[14:]
    family = 2 if kind == b"\x08\x00" else 10
    heads = {
        LINK_ETHERNET: frame[:14],
        LINK_SLL: struct.pack("!HHH8s2s", 0, 1, 6, bytes(8), kind),
        LINK_SLL2: struct.pack("!2sHIHBB8s", kind, 0, 1, 1, 0, 6, bytes(8)),
        LINK_NULL: struct.pack("<I", family),
        LINK_LOOP: struct.pack(">I", family),
        LINK_RAW: b"",
    }
    return heads[link_type] + packet


def hearts_frame(rng: Random) -> bytes:
    """A frame the codec accepts."""
    one = rng.choice(TYPES)
    sizes = {"DEAL_HAND": 13, "PASS_CARDS": 3, "TRICK_SUMMARY": 10, "HAND_SUMMARY": 9, "GAME_OVER": 5}
    size = {"GAME_START": 0, "START_PHASE": rng.choice((1, 2))}.get(one.NAME, sizes.get(one.NAME, 1))
    payload = bytearray(rng.sample(DECK, size))
    if one.NAME == "START_PHASE":
        payload[0] = size == 1
    head = (one.TYPE, rng.randrange(4), rng.choice((0, 1, 2, 3, 255)), rng.randrange(256), size)
    return bytes(head) + bytes(payload)


def hostile(rng: Random, data: bytes) -> bytes:
    """Bytes changed, cut, doubled or added, or nothing of it."""
    changed = bytearray(data)
    for _ in range(rng.choice((0, 0, 1, 1, 1, 2, 5))):
        at = rng.randrange(len(changed) + 1)
        match rng.randrange(6):
            case 0 | 1 | 2 if at < len(changed):
                changed[at] = rng.choice((0, 1, 2, 3, 5, 14, 15, 64, 255, rng.randrange(256)))
            case 3:
                del changed[at:]
            case 4:
                changed += rng.randbytes(rng.randrange(24))
            case _:
                changed[at:at] = changed[:at]
    return bytes(changed)


def word(rng: Random) -> bytes:
    return pack(rng.randrange(8), rng.choice((0, rng.randrange(64))), rng.randrange(128))


def twelve(rng: Random) -> bytes:
    """What either side of tic-tac-toe might say, and a little more."""
    if rng.random() < 0.5:
        return ("   " + rng.choice("123456789dD0x") + " " * 8).encode()
    board = "".join(rng.choice("XO ") for _ in range(9))
    return (rng.choice("10d") + rng.choice("XOE ") + str(rng.randrange(10)) + board).encode()
