"""What a shell itself sent, as JSON lines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from nodes.address import Address
from nodes.tape import Tape

if TYPE_CHECKING:
    from pathlib import Path


def test_every_step_is_a_line_that_is_on_disk_at_once(tmp_path: Path) -> None:
    times = iter([1.0, 2.0000004, 3.5])
    tape = Tape(tmp_path / "tape", "tcp", lambda: next(times))
    here, there = Address("127.0.0.1", 50000), Address("::1", 3000)
    tape.write("open", here, there)
    tape.write("data", here, there, b"\x00\xff")
    tape.write("close", here, there)
    lines = [json.loads(line) for line in (tmp_path / "tape").read_text().splitlines()]
    tape.close()
    ends = {"proto": "tcp", "src": "127.0.0.1:50000", "dst": "[::1]:3000"}
    assert lines == [
        {"t": 1.0, "kind": "open", **ends},
        {"t": 2.0, "kind": "data", **ends, "data": "00ff"},
        {"t": 3.5, "kind": "close", **ends},
    ]


def test_an_empty_datagram_is_data_too(tmp_path: Path) -> None:
    tape = Tape(tmp_path / "tape", "udp", lambda: 0.0)
    tape.write("data", Address("a", 1), Address("b", 2))
    tape.close()
    assert json.loads((tmp_path / "tape").read_text())["data"] == ""
