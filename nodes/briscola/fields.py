"""The names of Briscola's fields: the three parts of the word, and what they mean for each operation."""

from __future__ import annotations

from nodes.briscola.messages import NOBODY, Code, Op, card_id
from nodes.briscola.rules import DECK, NUMBERS, SUITS
from nodes.vocabulary import Field

FIELDS = {
    "op": Field("integer", "the operation (3 bits)", {op.value: op.name for op in Op}),
    "card": Field("integer", "id_carta (6 bits)", {card_id(card): str(card) for card in DECK}),
    "info": Field("integer", "the 7 bits for information"),
    "suit": Field("integer", "segno: the card's suit", dict(enumerate(SUITS))),
    "number": Field("integer", "numero: 0 stands for the suit alone", dict(enumerate(NUMBERS, 1))),
    "first": Field("flag", "whether who gets this INIT leads"),
    "player": Field("integer", "id_player: an opponent, a winner, or who searches", {NOBODY: "nobody"}),
    "count": Field("integer", "ACK: the number of the word acknowledged, 0 for a bare one"),
    "code": Field("integer", "err_id", {code.value: code.name for code in Code}),
}
