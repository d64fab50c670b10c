"""What the bytes are called: Scapy layers for the five protocols.

`import dissectors` binds them to their default ports; `dissectors.listen("hearts", 40001)` to another.
"""

from __future__ import annotations

from dissectors.hearts import (
    DealHand,
    GameOver,
    GameStart,
    HandSummary,
    Hearts,
    PassCards,
    PlayCard,
    StartPhase,
    TokenPass,
    TrickSummary,
)
from dissectors.malformed import Malformed, check

__all__ = [
    "DealHand",
    "GameOver",
    "GameStart",
    "HandSummary",
    "Hearts",
    "Malformed",
    "PassCards",
    "PlayCard",
    "StartPhase",
    "TokenPass",
    "TrickSummary",
    "check",
]
