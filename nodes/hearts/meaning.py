"""What a frame says, in one line. Machines are called as the text calls them: M0 to M3."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodes.hearts.fields import FIELDS
from nodes.hearts.messages import (
    NO_MOON,
    PASSING,
    TRICKS,
    DealHand,
    GameOver,
    GameStart,
    HandSummary,
    PassCards,
    PlayCard,
    StartPhase,
    TokenPass,
    TrickSummary,
)
from nodes.hearts.rules import HOLD, PASS_SIZE, POINTS, SEATS, label

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nodes.hearts.messages import Frame


def meaning(message: Frame, src: str = "", dst: str = "") -> str:  # noqa: ARG001 - the frame names its origin
    """One line for a person: "M1 plays Q♠ — 13 points to whoever takes it"."""
    origin = _machine(message.origin)
    match message:
        case TokenPass(owner):
            if owner == message.origin:
                return f"{origin} keeps the token (bastão)"
            return f"{origin} gives the token (bastão) to {_machine(owner)}"
        case GameStart():
            return f"{origin} starts a game"
        case DealHand(cards):
            return f"{origin} deals {_machine(message.dest, 'dest')} {label(sorted(cards))}"
        case StartPhase(phase, direction):
            return f"{origin} {_phase(phase, direction)}"
        case PassCards(cards):
            return f"{origin} passes {_machine(message.dest, 'dest')} {label(cards)}"
        case PlayCard(card):
            points = POINTS[card]
            worth = f" — {_points(points)} to whoever takes it" if points else ""
            return f"{origin} plays {label(card)}{worth}"
        case TrickSummary(winner, plays, points):
            played = ", ".join(f"{_machine(player)} {label(card)}" for player, card in plays)
            return f"{_machine(winner)} takes the trick and {_points(points)}: {played}"
        case HandSummary(points, totals, moon):
            shot = "" if moon == NO_MOON else f"{_machine(moon)} shot the moon; "
            return f"the hand is over: {shot}{_scores(points)}; totals {_scores(totals)}"
        case GameOver(winner, totals):
            return f"{_machine(winner)} wins the game: {_scores(totals)}"
    raise TypeError(f"no meaning for {message!r}")


def _machine(number: int, field: str = "origin") -> str:
    """M2, or what else this field may name; a number that is no machine's is said to be one."""
    name = FIELDS[field].name_of(number)
    return f"machine {number}" if name.isdigit() else name.upper() if number < SEATS else name


def _phase(phase: int, direction: int | None) -> str:
    if phase == TRICKS:
        return "opens the tricks"
    if phase != PASSING:
        return f"opens phase {phase}, which the text does not have"
    if direction == HOLD:
        return "announces that no cards are passed in this hand (hold)"
    return f"opens the passing: {PASS_SIZE} cards {_towards(direction)}"


def _towards(direction: int | None) -> str:
    name = FIELDS["direction"].name_of(direction)
    if name == "across":
        return name
    return f"in direction {name}, which the text does not have" if name.isdigit() else f"to the {name}"


def _points(points: int) -> str:
    return "no points" if points == 0 else "1 point" if points == 1 else f"{points} points"


def _scores(scores: Iterable[int]) -> str:
    return ", ".join(f"{_machine(machine)} {score}" for machine, score in enumerate(scores))
