"""The node's codec and the Scapy layer, asked about the same bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nodes.core import RemoteProtocolError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from random import Random

    from scapy.packet import Packet

    from nodes.core import Message


def verdict(decode: Callable[[bytes], Message], data: bytes) -> tuple[str | None, Message | None]:
    """The check the codec refuses these bytes by, or the message it makes of them."""
    try:
        return None, decode(data)
    except RemoteProtocolError as error:
        return error.check, None


def values(packet: Packet) -> dict[str, Any]:
    """Every field of every layer, and the views a layer has of its bits."""
    found: dict[str, Any] = {}
    for layer in packet.iterpayloads():
        found |= {name: getattr(layer, name) for name in layer.fields}
        found |= {name: getattr(layer, name) for name in ("card", "info") if hasattr(type(layer), name)}
    return found


def disagreement(data: bytes, decode: Callable[[bytes], Message], packet: Packet) -> str | None:
    """What the codec and the layer do not agree on, if anything."""
    check, message = verdict(decode, data)
    if bytes(packet) != data:
        return f"{data.hex()} is built again as {bytes(packet).hex()}"
    if packet.check != check:
        return f"{data.hex()}: the codec says {check}, the layer {packet.check}"
    if message is None:
        return None
    seen = values(packet)
    for name, value in message.fields().items():
        if name not in seen or seen[name] != value:
            return f"{data.hex()}: {name} is {value!r} to the codec, {seen.get(name)!r} to the layer"
    return None


def mutated(data: bytes, other: bytes, rng: Random) -> bytes:
    """These bytes gone wrong: bits flipped, a byte changed, cut, spliced with others, or followed by more."""
    wrong = bytearray(data)
    match rng.randrange(6):
        case 0:
            for _ in range(rng.randint(1, 3)):
                wrong[rng.randrange(len(wrong))] ^= 1 << rng.randrange(8)
        case 1:
            wrong[rng.randrange(len(wrong))] = rng.choice(
                (0, 1, 0x0E, 0x20, 0x40, 0x7F, 0xFF, rng.randrange(256))
            )
        case 2:
            del wrong[rng.randrange(len(wrong)) :]
        case 3:
            wrong[rng.randrange(len(wrong)) :] = other[rng.randrange(len(other)) :]
        case 4:
            wrong += rng.randbytes(rng.randint(1, 20))
        case _:
            wrong[:] = rng.randbytes(rng.randrange(24))
    return bytes(wrong)


def frames(valid: Callable[[Random], bytes], rng: Random, count: int) -> Iterator[bytes]:
    """So many frames, half of them as they should be. None is empty: an empty datagram has no layer."""
    kept: Sequence[bytes] = [valid(rng) for _ in range(50)]
    for number in range(count):
        data = valid(rng)
        if number % 2:
            data = mutated(data, rng.choice(kept), rng)
        yield data or b"\0"
