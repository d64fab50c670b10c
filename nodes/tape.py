"""What a shell itself sent, as JSON lines, for captures where the kernel may not be listened to.

One line a step: {"t", "kind": open|data|close, "proto": udp|tcp, "src", "dst", "data"}.
Only the sender writes; captures/tapes.py puts the tapes of a run together.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pathlib import Path

    from nodes.address import Address
    from nodes.shell import Clock


class Tape:
    """An append-only file; every line reaches the kernel at once."""

    def __init__(self, path: Path, proto: Literal["udp", "tcp"], clock: Clock) -> None:
        self._file = path.open("ab", buffering=0)
        self._proto = proto
        self._clock = clock

    def write(
        self, kind: Literal["open", "data", "close"], src: Address, dst: Address, data: bytes = b""
    ) -> None:
        line = {
            "t": round(self._clock(), 6),
            "kind": kind,
            "proto": self._proto,
            "src": str(src),
            "dst": str(dst),
        }
        if kind == "data":
            line["data"] = data.hex()
        self._file.write(json.dumps(line).encode() + b"\n")

    def close(self) -> None:
        self._file.close()
