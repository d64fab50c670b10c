"""Where the text of SBGP is open and programs may differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

AckStyle = Literal["lenient", "counted", "bare"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """The knobs of Briscola.

    ack: how an ACK says which word it answers. `lenient` sends the count and also takes a bare
    0000 from a peer that does not count; `counted` refuses the bare one; `bare` sends it.
    """

    ack: AckStyle = "lenient"
