"""Where the text is open: the knobs of protocols.md, and those that make a seeded run repeatable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

CLOCK_MAX_S = 86_400.0


@dataclass(frozen=True, slots=True)
class Dialect:
    """How this server speaks. A client reads every form."""

    # The ABNF has a status in genmove, the text's examples have none.
    genmove: Literal["status", "legacy"] = "status"
    # "un temps de réflexion donné (par exemple, 42.0s pour chaque joueur)"
    clock_s: float = 42.0
    # "une pénalité de temps (par exemple, 1.0s) en plus du temps consommé"
    penalty_s: float = 1.0
    # logical: every answer is charged the same, so that the times on the wire do not depend on the machine.
    clock: Literal["wall", "logical"] = "wall"
    # rounds: nobody plays before all are there, and all play at once, in the order of their names.
    pairing: Literal["eager", "rounds"] = "eager"

    def __post_init__(self) -> None:
        if not 0.0 < self.clock_s <= CLOCK_MAX_S:
            raise ValueError(f"clock_s is {self.clock_s}; it must be above 0 and at most {CLOCK_MAX_S:.0f}")
        if not 0.0 <= self.penalty_s <= CLOCK_MAX_S:
            raise ValueError(f"penalty_s is {self.penalty_s}; it must be from 0 to {CLOCK_MAX_S:.0f}")
