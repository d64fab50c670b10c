"""A person at a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape

from nodes.core import Happened, Player, Refused
from nodes.holdem.messages import objection, symbol
from nodes.terminal import Leave

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nodes.core import Event
    from nodes.holdem.roles import View
    from nodes.terminal import Terminal

_COLOURS = {"h": "red", "d": "red", "c": "green", "s": "blue"}


class Person(Player):
    """Shows the table and asks until the answer is legal."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def choose(self, view: View) -> str:
        self._terminal.show(table(view))
        while True:
            answer = self._terminal.ask("Your action? ").lower()
            if answer == "quit":
                raise Leave
            action = spoken(answer)
            complaint = objection(action, view.legal_actions, view.raise_range)
            if complaint is None:
                return action
            self.complain(f"{complaint[1]}. {choices(view)}")

    def tell(self, event: Event) -> None:
        if isinstance(event, Happened):
            self._terminal.show(_cards_in(event))
        elif isinstance(event, Refused):
            self._terminal.show(f"[yellow]{escape(event.text)} ({event.check})[/]")

    def complain(self, text: str) -> None:
        self._terminal.show(f"[yellow]{escape(text)}[/]")


def table(view: View) -> str:
    """Board, pot, stacks and own cards as lines of markup."""
    still_in = {player.position for player in view.opponents} | {view.position}
    lines = [f"\nboard  {cards(view.public_card) or '[dim]no cards yet[/]'}   pot [bold]{view.pot}[/]"]
    for player in view.players:
        mark = "▶" if player.position == view.position else " "
        paid = player.total_money - player.money_left
        line = f"{player.position} {player.name:<12} {player.money_left:>7} left {paid:>6} in the pot"
        style = "bold" if mark == "▶" else "default" if player.position in still_in else "dim strike"
        lines.append(f"{mark} [{style}]{escape(line)}[/]")
    lines.append(f"you hold  {cards(view.private_card)}")
    lines.append(escape(choices(view)))
    return "\n".join(lines)


def choices(view: View) -> str:
    """The legal actions, explained."""
    said = {"fold": "fold (give up)", "check": "check (stay for free)", "call": f"call (pay {view.to_call})"}
    words = [said[action] for action in view.legal_actions if action in said]
    if "raise" in view.legal_actions:
        low, high = view.raise_range
        words.append(f"r{low} … r{high} (raise to that much in this round)")
    return "You may: " + ", ".join(words) + "; quit leaves."


def spoken(answer: str) -> str:
    """What a person types as the text writes it: `raise 300` and `r 300` are r300."""
    words = answer.split()
    if len(words) == 2 and words[0] in ("raise", "r"):
        return f"r{words[1]}"
    return answer


def cards(names: Iterable[str]) -> str:
    """Cards in the colours of their suits."""
    return " ".join(f"[bold {_COLOURS[name[1]]}]{symbol(name)}[/]" for name in names)


def _cards_in(event: Happened) -> str:
    """The line of an event; hands that were shown come under a result."""
    lines = [f"[bold]{escape(event.text)}[/]" if event.kind in ("hand", "result") else escape(event.text)]
    hands = event.fields.get("player_card")
    if isinstance(hands, dict):
        for name, hand in hands.items():
            if isinstance(hand, list) and hand:
                lines.append(f"   {escape(name):<12} {cards(str(card) for card in hand)}")
    return "\n".join(lines)
