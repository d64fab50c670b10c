"""A fresh run of each game: every application message is explained, none is left over, none is missing."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from captures.messages import Seen, read
from nodes.game import NAMES
from nodes.holdem.transport import PREFIX
from tests.house import ROOT

if TYPE_CHECKING:
    from pathlib import Path

SMALL = {"holdem": ["--games", "2"], "connect4": ["--players", "2", "--games", "1", "--bot", "random"]}


def said(seen: Seen) -> bytes:
    """A message as a node's log has it: hold'em's without the length before it."""
    return seen.data[PREFIX:] if seen.game == "holdem" else seen.data


@pytest.mark.parametrize("game", NAMES)
def test_every_message_of_a_fresh_run_is_explained(game: str, tmp_path: Path) -> None:
    line = [sys.executable, "-m", "labs", "run", game, "--seed", "11", "--quiet", "--out", str(tmp_path)]
    subprocess.run([*line, *SMALL.get(game, [])], cwd=ROOT, check=True, capture_output=True, timeout=120)
    folder = tmp_path / "latest"
    messages = read(folder / "capture.pcapng")
    found = list(messages)
    assert messages.problem is None
    assert messages.notes() == []
    assert {seen.kind for seen in found}.isdisjoint({"malformed", "cut", "gap", "comment"})
    assert all(seen.meaning and seen.fields for seen in found)
    sent: Counter[tuple[str, bytes]] = Counter()
    for log in folder.glob("*.jsonl"):
        for entry in map(json.loads, log.read_text(encoding="utf-8").splitlines()):
            if entry["event"] == "sent":
                sent[entry["seat"], bytes.fromhex(entry["data"])] += 1
    # A ring's message is seen on four links, a repeat was said before, and ACKs are Briscola's link layer.
    seen_once: Counter[tuple[str, bytes]] = Counter(
        (seen.src, said(seen))
        for seen in found
        if seen.hop in (None, 1) and not seen.repeat and seen.kind != "ACK"
    )
    assert seen_once == sent
