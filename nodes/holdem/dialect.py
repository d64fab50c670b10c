"""Where the text is open: the knobs of Texas hold'em."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

THINKING_S_MAX = 86_400.0
ROOM_ID_MAX = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Dialect:
    """Defaults as in protocols.md; each alternative is what some program in the wild does."""

    # "stack 20000, blinds 50/100, reset every hand (D carry-over)"
    stacks: Literal["reset", "carry-over"] = "reset"
    # "seats rotate each hand (D fixed)"
    seats: Literal["rotate", "fixed"] = "rotate"
    # "three or more: … the first live seat from 0 afterwards (D from 1)"
    first_to_act: Literal["from-0", "from-1"] = "from-0"
    # "at most 4 raises a street (D uncapped)"
    raises: Literal["capped", "uncapped"] = "capped"
    # "after the last action one more state with action_position: -1 (D off)"
    final_state: bool = True
    # "same values, winnings included (D as in the example: excluded)"
    result_money: Literal["included", "excluded"] = "included"
    # Timestamps: the time of day (UTC), or a fixed start and a fixed step an action.
    clock: Literal["wall", "logical"] = "wall"
    # "thinking time limit (default 30 s) folds"
    thinking_s: float = 30.0
    # A client sends room_id (and an empty list of bots) when this is not 0: some servers ask for both.
    room_id: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.thinking_s <= THINKING_S_MAX:
            raise ValueError(
                f"thinking_s={self.thinking_s} is not between 0 and {THINKING_S_MAX:.0f} seconds"
            )
        if not 0 <= self.room_id <= ROOM_ID_MAX:
            raise ValueError(f"room_id={self.room_id} is not between 0 and {ROOM_ID_MAX}")
