"""One run from beginning to end: folder, engine, story, verdict."""

from __future__ import annotations

import contextlib
import signal
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from labs.engines.local import EngineError, LocalEngine
from labs.engines.recording import RecordingError
from labs.folder import RunFolder, versions
from labs.verdict import disagreements

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from labs.display import Display
    from labs.plan import Plan

Verdict = Literal["finished", "failed", "stalled", "interrupted"]
SILENCE_S = 60.0
GRACE_S = 5.0  # once a machine is lost, the others may still end by themselves, but nobody waits long
SIGNALLED = 128  # an exit code beyond it says what signal ended the process
EXIT_CODES: dict[Verdict, int] = {"finished": 0, "failed": 1, "stalled": 3, "interrupted": 130}


@dataclass(slots=True)
class Outcome:
    """How a run ended."""

    folder: Path
    verdict: Verdict = "interrupted"
    results: dict[str, dict[str, Any]] = field(default_factory=dict)  # by seat
    complaints: list[str] = field(default_factory=list)
    refusals: Counter[str] = field(default_factory=Counter)
    capture: dict[str, Any] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.verdict]

    @property
    def games(self) -> list[dict[str, Any]]:
        """As told by whoever knows most: m0 or the server, else any seat that finished."""
        return next(iter(self.results.values()), {}).get("games", [])  # type: ignore[no-any-return]

    def as_json(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict,
            "games": self.games,
            "complaints": self.complaints,
            "refusals": dict(sorted(self.refusals.items())),
            "folder": str(self.folder),
            "capture": self.capture,
        }


def run(
    plan: Plan,
    *,
    store: Path,
    display: Display,
    capture: Literal["auto", "kernel", "shells", "off"] = "auto",
    silence_s: float = SILENCE_S,
    sit_down: Callable[[LocalEngine], int] | None = None,
) -> Outcome:
    """Run a plan. `sit_down` plays a person's seat in this very process."""
    folder = RunFolder.create(store, f"{plan.game.name}-seed{plan.seed}")
    outcome = Outcome(folder.path)
    folder.note(
        game=plan.game.name,
        seed=plan.seed,
        players=plan.players,
        games=plan.games,
        dialect=plan.dialect,
        versions=versions(),
        engine=LocalEngine.name,
        started=_stamp(),
        verdict="running",
    )
    engine: LocalEngine | None = None
    try:
        with LocalEngine(plan, folder, capture) as engine:
            folder.note(
                seats=[
                    {
                        "name": seat.name,
                        "role": seat.role,
                        "address": engine.where(seat),
                        "bot": plan.bots.get(seat.name) or ("person" if seat.name == plan.person else None),
                    }
                    for seat in plan.seats
                ],
                links=[list(link) for link in plan.links],
            )
            with display.showing():
                engine.start()
                code = sit_down(engine) if sit_down is not None else 0
                if code == 0:
                    _follow(engine, display, outcome, silence_s)
                elif code > SIGNALLED:
                    outcome.complaints.append(f"{plan.person} left; the game was not played to its end")
                else:
                    outcome.verdict = "failed"
                    outcome.complaints.append(f"{plan.person} {_ended(code)}")
    except (EngineError, RecordingError) as error:
        outcome.verdict = "failed"
        outcome.complaints.append(str(error))
    except KeyboardInterrupt:
        outcome.verdict = "interrupted"
        outcome.complaints.append("interrupted; everything that was started has been ended")
    finally:
        outcome.capture = engine.recording.notes if engine is not None else {}
        folder.note(
            ended=_stamp(),
            verdict=outcome.verdict,
            complaints=outcome.complaints,
            refusals=dict(sorted(outcome.refusals.items())),
            result={"games": outcome.games},
            capture=outcome.capture,
        )
    return outcome


def _follow(engine: LocalEngine, display: Display, outcome: Outcome, silence_s: float) -> None:
    """Listen to the nodes until all have ended, and judge."""
    last: dict[str, str] = {}
    try:
        while (told := engine.told(silence_s)) is not None:
            seat, what = told
            if isinstance(what, int):
                if what != 0:
                    outcome.complaints.append(f"{seat} {_ended(what)}; see {engine.folder.log(seat)}")
                    silence_s = min(silence_s, GRACE_S + engine.plan.pace_s)
                continue
            display.hear(seat, what)
            last[seat] = str(what.get("text", ""))
            match what["event"]:
                case "finished":
                    outcome.results[seat] = what["result"]
                case "refused":
                    outcome.refusals[what["check"]] += 1
                case "complaint":
                    outcome.complaints.append(f"{seat}: {what['text']}")
    except TimeoutError:
        outcome.verdict = "stalled"
        outcome.complaints.append(
            f"stalled: nothing happened for {silence_s:g} s. Last words: "
            + "; ".join(f"{seat}: {text}" for seat, text in sorted(last.items()))
        )
        return
    # Whoever saw most comes first, not whoever finished first.
    outcome.results = {name: outcome.results[name] for name in engine.started if name in outcome.results}
    missing = [name for name in engine.started if name not in outcome.results]
    outcome.complaints += [f"{name} did not finish" for name in missing]
    outcome.complaints += disagreements(engine.plan, outcome.results)
    outcome.verdict = "failed" if outcome.complaints else "finished"


def _ended(code: int) -> str:
    """What became of a process."""
    with contextlib.suppress(ValueError):  # no signal has that number
        if code < 0:
            return f"was ended by {signal.Signals(-code).name}"
        return f"left on {signal.Signals(code - SIGNALLED).name}"
    return f"ended with exit code {code}"


def _stamp() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
