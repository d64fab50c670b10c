"""The one point where programs in the wild read the text differently."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Dialect:
    """Knobs of tic-tac-toe.

    `plies` says what byte 2 of a state counts:

    - `all`: every mark on the board, 0 to 9, as the text says;
    - `server`: as the original program does, from 1 and only the server's own marks. A client of
      this dialect also puts up with that program's other ways: the same state sent again, without
      the 0, is a rejection; a full board with a blank in byte 1 is a tie.
    """

    plies: Literal["all", "server"] = "all"
