"""The names of hold'em's fields: the keys of its JSON, a dot for what lies within."""

from __future__ import annotations

from nodes.vocabulary import Field

FIELDS = {
    "length": Field("integer", "bytes of JSON, as the four bytes before it say"),
    "info": Field("text", "the sort of message"),
    "name": Field("text", "a player's name"),
    "room_number": Field("integer", "how many players share the room"),
    "game_number": Field("integer", "how many hands are played"),
    "room_id": Field("text", "which room, for servers that want one"),
    "bots": Field("list", "for servers that seat bots of their own"),
    "status": Field("text", "start or exit"),
    "action": Field("text", "call, check, fold, or r and the total for this street"),
    "position": Field("integer", "the receiver's seat; 0 is the small blind"),
    "action_position": Field("integer", "whose turn it is; -1: nobody's"),
    "legal_actions": Field("list", "what the one to act may do"),
    "raise_range": Field("list", "the least and the most a raise may go to"),
    "private_card": Field("list", "the receiver's two cards"),
    "public_card": Field("list", "the cards on the table"),
    "player_card": Field("list", "everybody's cards, as far as shown"),
    "players": Field("list", "who is at the table"),
    "players.name": Field("text", "a player's name"),
    "players.position": Field("integer", "a player's seat"),
    "players.money_left": Field("number", "chips a player has left"),
    "players.total_money": Field("number", "chips a player had before this hand"),
    "players.moneyLeft": Field("number", "the same, as results in the text spell it"),
    "players.totalMoney": Field("number", "the same, as results in the text spell it"),
    "players.win_money": Field("number", "what a player won or lost in this hand"),
    "action_history": Field("list", "all actions, street by street"),
    "action_history.position": Field("integer", "who acted"),
    "action_history.action": Field("text", "what was done"),
    "action_history.timestamp": Field("text", "when"),
    "text": Field("text", "why something was refused, or how the match ended"),
}
