"""A person in a seat: the very node a bot would have, in this process, at this terminal."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from nodes.main import node
from nodes.process import PERSON

if TYPE_CHECKING:
    from collections.abc import Callable

    from labs.engines.local import LocalEngine


def sit_at(name: str) -> Callable[[LocalEngine], int]:
    """Returns what runs the seat `name` of an engine to its end: the node's exit code."""

    def sit_down(engine: LocalEngine) -> int:
        seat = next(seat for seat in engine.plan.seats if seat.name == name)
        line = [*engine.node_arguments(seat), "--bot", PERSON]
        handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        code = 0
        try:
            node(line, prog_name="wiretable node", standalone_mode=False)
        except SystemExit as ended:
            code = int(ended.code or 0)
        # The node had handlers of its own. While the others finish, Ctrl-C is the run's again; a person
        # who has left already need not be heard twice.
        for number, handler in handlers.items():
            signal.signal(number, handler if code == 0 else signal.SIG_IGN)
        return code

    return sit_down
