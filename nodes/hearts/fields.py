"""The names of Hearts' fields, sections 3 to 5."""

from __future__ import annotations

from nodes.hearts.messages import BROADCAST, NAMES, NO_MOON, PASSING, TRICKS
from nodes.hearts.rules import DECK, DIRECTIONS, LABELS, SEAT_NAMES
from nodes.vocabulary import Field

SEATS = dict(enumerate(SEAT_NAMES))
CARDS = {card: LABELS[card] for card in DECK}

FIELDS = {
    "type": Field("integer", "TIPO_MSG: the sort of message", NAMES),
    "origin": Field("integer", "ORIGEM_ID: the machine that made it", SEATS),
    "dest": Field("integer", "DESTINO_ID: the machine it is for", {**SEATS, BROADCAST: "all"}),
    "seq": Field("integer", "SEQ_NUM: counted by the origin, modulo 256"),
    "len": Field("integer", "TAM_PAYLOAD: bytes after the header"),
    "owner": Field("integer", "ID_NOVO_DONO_TOKEN: who has the token (bastão) now", SEATS),
    "cards": Field("list", "the cards dealt, passed, or played in a trick", CARDS),
    "phase": Field("integer", "FASE", {PASSING: "passing", TRICKS: "tricks"}),
    "direction": Field("integer", "SENTIDO_PASSAGEM: where cards are passed", dict(enumerate(DIRECTIONS))),
    "card": Field("integer", "CARTA_JOGADA: the card played", CARDS),
    "winner": Field("integer", "who took the trick or won the game", SEATS),
    "players": Field("list", "who played each card of a trick", SEATS),
    "points": Field("list", "points of the trick, or of the hand by machine"),
    "totals": Field("list", "points of the game so far, by machine"),
    "moon": Field("integer", "SHOOT_MOON: who took all points of a hand", {**SEATS, NO_MOON: "nobody"}),
}
