"""Where the text of Hearts is open: the knobs, and what each value means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Dialect:
    """All knobs steer what a machine sends; `ace` also decides who wins a trick."""

    # SENTIDO 3: `announce` sends START_PHASE(0,3) and then START_PHASE(1); `skip` only the latter.
    # A machine that listens understands both.
    hold: Literal["announce", "skip"] = "announce"
    # The token after a trick's fourth card: handed to M0; kept (M0 just announces); or, as the text
    # is written, passed to the next in order, who hands it on until M0 has it.
    after_fourth: Literal["to-dealer", "keep", "next"] = "to-dealer"
    # M0 gives the token to the holder of 2♣, or to itself and it walks until that holder has it.
    first_lead: Literal["dealer", "walk"] = "dealer"
    ace: Literal["high", "low"] = "high"
