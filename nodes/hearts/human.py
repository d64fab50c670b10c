"""A person at a terminal: cards by suit, choices typed as `QS`, `10h`, `q♠` or by number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape

from nodes.core import Happened, Player, Refused
from nodes.hearts.rules import DIRECTIONS, LABELS, PASS_SIZE, SEAT_NAMES, SYMBOLS, VALUES, is_card
from nodes.terminal import Leave

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nodes.core import Event
    from nodes.hearts.rules import View
    from nodes.terminal import Terminal

STYLES = ("bright_red", "green", "bold red", "bold")  # diamonds, clubs, hearts, spades
HELP = "Type a card such as QS, 10h or q♠, or its number; quit leaves."
_SUITS = {"d": 0, "c": 1, "h": 2, "s": 3, "♦": 0, "♣": 1, "♥": 2, "♠": 3}
_VALUES = {name.lower(): value for value, name in enumerate(VALUES) if name} | {"t": 10, "1": 1}


class Person(Player):
    """Shows what the seat may know, and asks until the choice is legal."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def choose(self, view: View) -> tuple[int, ...] | int:
        self._terminal.show(draw(view))
        if view.kind == "pass":
            return self._choose_three(view)
        while True:
            cards = self._ask(view, "Your card?")
            if len(cards) != 1:
                self.complain(f"One card, please. {HELP}")
            elif illegal := view.why_not(cards[0]):
                self.complain(f"{illegal.text}.")
            else:
                return cards[0]

    def tell(self, event: Event) -> None:
        if isinstance(event, Happened):
            self._terminal.show(paint(event.text))
        elif isinstance(event, Refused):
            self.complain(f"{event.text} ({event.check})")

    def complain(self, text: str) -> None:
        self._terminal.show(f"[yellow]{escape(text)}[/]")

    def _choose_three(self, view: View) -> tuple[int, ...]:
        where = f"{SEAT_NAMES[view.target]} ({DIRECTIONS[view.direction]})"
        while True:
            cards = self._ask(view, f"Three cards for {where}?")
            if len(set(cards)) != PASS_SIZE or len(cards) != PASS_SIZE:
                self.complain("Exactly three different cards, with blanks between them: QS KS 10h.")
            elif missing := [card for card in cards if card not in view.legal]:
                self.complain(f"You do not hold {' '.join(LABELS[card] for card in missing)}.")
            else:
                return tuple(cards)

    def _ask(self, view: View, question: str) -> list[int]:
        """The cards typed; asked again until every word is one."""
        while True:
            words = self._terminal.ask(question).replace(",", " ").split()
            if words == ["quit"]:
                raise Leave
            cards = [parse(word, view.hand) for word in words]
            wrong = [word for word, card in zip(words, cards, strict=True) if card is None]
            if wrong:
                self.complain(f"'{wrong[0]}' is no card of yours. {HELP}")
            else:
                return [card for card in cards if card is not None]


def parse(word: str, hand: tuple[int, ...]) -> int | None:
    """The card a word names, by value and suit or by its number in the hand (from 1)."""
    if word.isdecimal():
        number = int(word)
        return hand[number - 1] if 1 <= number <= len(hand) else None
    value, suit = _VALUES.get(word[:-1].lower()), _SUITS.get(word[-1].lower())
    if value is None or suit is None:
        return None
    card = suit << 4 | value
    return card if is_card(card) else None


def draw(view: View) -> str:
    """The table and the hand, as markup."""
    legal = set(view.legal)
    lines = [""]
    for suit in range(4):
        cards = [
            f"[dim]{number}:[/]{_card(card, dim=card not in legal)}"
            for number, card in enumerate(view.hand, 1)
            if card >> 4 == suit
        ]
        if cards:
            lines.append("   " + "  ".join(cards))
    totals = ", ".join(
        f"{name} {total}+{points}"
        for name, total, points in zip(SEAT_NAMES, view.totals, view.points, strict=True)
    )
    lines.append(f"[dim]hand {view.hand_number + 1}; totals and this hand: {totals}[/]")
    if view.kind == "pass":
        lines.append("The cards you get are shown once all have passed.")
    elif view.trick:
        lines.append("On the table: " + _plays(view.trick))
    else:
        lines.append("You lead; hearts are " + ("broken." if view.broken else "not broken."))
    return "\n".join(lines)


def paint(text: str) -> str:
    """A line of text with every suit symbol in its colour."""
    painted = escape(text)
    for symbol, style in zip(SYMBOLS, STYLES, strict=True):
        painted = painted.replace(symbol, f"[{style}]{symbol}[/]")
    return painted


def _plays(plays: Iterable[tuple[int, int]]) -> str:
    return ", ".join(f"{SEAT_NAMES[seat]} {_card(card)}" for seat, card in plays)


def _card(card: int, *, dim: bool = False) -> str:
    style = "dim" if dim else STYLES[card >> 4]
    return f"[{style}]{LABELS[card]}[/]"
