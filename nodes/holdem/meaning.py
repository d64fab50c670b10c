"""What a message says, in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodes.holdem.messages import Action, Connect, Error, Ready, Result, State, Success, symbol
from nodes.holdem.messages import meaning as meaning_of_action

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nodes.holdem.messages import AnyMessage, PlayerResult, PlayerState


def meaning(message: AnyMessage, src: str = "the sender", dst: str = "the receiver") -> str:
    """One line for a person: "p2 raises to 300"."""
    match message:
        case Connect():
            who = "" if message.name == src else f" as {message.name}"
            room = "" if message.room_id is None else f", room {message.room_id}"
            return (
                f"{src} asks for a seat{who}: {message.room_number} players, "
                f"{_count(message.game_number, 'hand')}{room}"
            )
        case Ready(status):
            return f"{src} leaves the match" if status == "exit" else f"{src} is ready for the next hand"
        case Action(action):
            return f"{src} {_action(action)}"
        case State():
            return (
                f"{_turn(message)}; {dst} holds {_cards(message.private_card)}{_table(message.public_card)}"
            )
        case Result():
            shown = [
                f"{player.name} {_cards(cards)}"
                for player, cards in zip(message.players, message.player_card, strict=False)
                if cards
            ]
            won = ", ".join(_won(player) for player in message.players)
            showing = f"; shown: {', '.join(shown)}" if shown else ""
            return f"the hand is over: {won}{_table(message.public_card)}{showing}"
        case Error(text):
            return f"{src} refuses: {text}"
        case Success(text):
            return f"{src}: the match is over: {text}"
    raise TypeError(f"no meaning for {message!r}")


def _action(action: str) -> str:
    word, amount = meaning_of_action(action)
    if word == "raise":
        return f"raises to {amount}"
    return f"{word}s" if word else f"says '{action}', which is no action"


def _turn(state: State) -> str:
    if state.action_position < 0:
        return "nobody is to act any more"
    choices = [
        f"raise to {'–'.join(map(str, state.raise_range))}" if action == "raise" else action
        for action in state.legal_actions
    ]
    return f"{_name(state.players, state.action_position)} is to act ({', '.join(choices)})"


def _name(players: Sequence[PlayerState | PlayerResult], position: int) -> str:
    return next(player.name for player in players if player.position == position)


def _cards(cards: Sequence[str]) -> str:
    return " ".join(map(symbol, cards)) or "no cards"


def _table(cards: Sequence[str]) -> str:
    return f"; on the table {_cards(cards)}" if cards else ""


def _won(player: PlayerResult) -> str:
    money = player.win_money
    if money == 0:
        return f"{player.name} is even"
    return f"{player.name} {'wins' if money > 0 else 'loses'} {abs(money)}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
