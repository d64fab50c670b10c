r"""What a layer makes of bytes it cannot name, and what it means that a layer accepts a frame.

No bytes raise out of our layers, bare or under UDP and TCP: where a frame is too short for its fields,
or its payload is not what its type has, the bytes stand in a Malformed layer, with the id of the check
they fail. Where all fields can be read and one has a value the text does not know, the fields stand as
they came. Either way the layer's `check` is the id of the first check that fails, or None: the layer
accepts the frame. It judges what a node's codec judges, in the same order, from its own fields.

    >>> Hearts(b"\x06\x01")
    <ShortHearts  check=hearts/3.header load=b'\x06\x01' |>
    >>> (Hearts(origin=7)/PlayCard(card="Q♠")).check
    'hearts/3.origin'
"""

from __future__ import annotations

from typing import Any

from scapy.fields import Field, StrField
from scapy.packet import Packet


class NoteField(Field[Any, Any]):
    """Shown with the fields, yet no byte of the frame."""

    def addfield(self, pkt: Packet, s: bytes, val: Any) -> bytes:
        return s

    def getfield(self, pkt: Packet, s: bytes) -> tuple[bytes, Any]:
        return s, self.default

    def i2repr(self, pkt: Packet | None, x: Any) -> str:
        return str(x)


class Malformed(Packet):
    """The bytes, and the check they fail. `Malformed in packet` finds those of all protocols."""

    match_subclass = True
    fields_desc = [NoteField("check", None), StrField("load", b"")]

    def mysummary(self) -> Any:
        below = [] if self.underlayer is None else [type(self.underlayer)]
        return f"malformed: {self.check}", below


def malformed(check: str | None, data: bytes, underlayer: Packet | None = None) -> Malformed:
    """These bytes, which fail that check."""
    packet = Malformed(data, _internal=1, _underlayer=underlayer)
    packet.fields["check"] = check
    return packet


def check(packet: Packet) -> str | None:
    """The id of the first check that the first layer of ours fails; None: it accepts its frame."""
    for layer in packet.iterpayloads():
        if hasattr(type(layer), "check"):
            found: str | None = layer.check
            return found
    raise ValueError(f"{packet.summary()} has no layer of ours: Hearts, Briscola, TicTacToe …")
