"""A person at the table: the cards drawn readably, the hand numbered."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nodes.briscola.rules import NUMBER_SYMBOLS, NUMBERS, POINTS_TOTAL, SUIT_SYMBOLS, SUITS
from nodes.core import Happened, Player
from nodes.terminal import Leave

if TYPE_CHECKING:
    from nodes.briscola.rules import Card, View
    from nodes.core import Event
    from nodes.terminal import Terminal

SUIT_COLOURS = ("yellow", "cyan", "red", "green")
QUIT = ("quit", "exit", "basta")


class Person(Player):
    """Shows the table and asks for a card by its place in the hand or by its name."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def choose(self, view: View) -> Card:
        self._show(view)
        while True:
            answer = self._terminal.ask(f"Your card (1–{len(view.hand)}, or quit): ").strip()
            if answer.lower() in QUIT:
                raise Leave
            card = find_card(answer, view.hand)
            if card is not None:
                return card
            hand = ", ".join(f"{i} {card.name}" for i, card in enumerate(view.hand, 1))
            self._terminal.show(f"[bold]Not in your hand.[/] Type a card's number or name: {hand}.")

    def tell(self, event: Event) -> None:
        if isinstance(event, Happened) and event.kind != "card":
            style = "bold" if event.kind in ("start", "game", "left") else "dim"
            self._terminal.show(f"[{style}]{colour(event.text)}[/]")

    def _show(self, view: View) -> None:
        trump = f"{SUIT_SYMBOLS[view.trump_suit]} {SUITS[view.trump_suit]}"
        if view.trump_card is not None and view.stock:
            trump += f", {view.trump_card} lies under the stock"
        mine, theirs = view.points
        lines = [
            "",
            f"[bold]Trick {view.trick}[/]  briscola {colour(trump)}  stock {view.stock}  "
            f"you {mine}, {view.opponent} {theirs} of {POINTS_TOTAL}",
            f"{view.opponent} leads {face(view.led)}" if view.led else "You lead.",
            *(f"  [bold]{i}[/]  {face(card)}" for i, card in enumerate(view.hand, 1)),
        ]
        self._terminal.show("\n".join(lines))


def face(card: Card) -> str:
    """A card in its suit's colour, with its name and what it counts."""
    points = f", {card.points}" if card.points else ""
    return f"[{SUIT_COLOURS[card.suit]}]{card}[/] {card.name}{points}"


def colour(text: str) -> str:
    """The suits of a line in their colours."""
    for symbol, name in zip(SUIT_SYMBOLS, SUIT_COLOURS, strict=True):
        text = re.sub(rf"(\w?{symbol})", rf"[{name}]\1[/]", text)
    return text


def find_card(answer: str, hand: tuple[Card, ...]) -> Card | None:
    """The card meant by `2`, `asso di spade`, `asso spade`, `A♠`; None if the hand has no such card."""
    if answer.isdecimal():
        place = int(answer)
        return hand[place - 1] if 1 <= place <= len(hand) else None
    words = answer.lower().replace(" di ", " ").split()
    if len(words) == 1:
        words = [words[0][:-1], words[0][-1]]  # A♠
    if len(words) != 2:
        return None
    number, suit = words
    for card in hand:
        symbols = (SUITS[card.suit], SUIT_SYMBOLS[card.suit])
        numbers = (NUMBERS[card.number - 1], NUMBER_SYMBOLS[card.number - 1].lower(), str(card.number))
        if suit in symbols and number in numbers:
            return card
    return None
