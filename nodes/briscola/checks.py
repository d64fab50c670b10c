"""Every clause of SBGP that this project checks, by id. The text has no numbers, so words name them."""

from __future__ import annotations

from nodes.core import Check

_DATAGRAM = "Il protocollo si basa sull'invio di datagram di lunghezza fissa di 2 byte."
_OPERATIONS = "I/O | id | nome | parametri | note"
_CARD_BITS = "`x` sono i 6 bit che contengono i dati delle carte."
_IDS = "id in info, 0–63; clients choose ids, an id already in use gets ERR"
_PLAY = "il giocatore gioca la carta con `USE_C` e riceverà la carta del nemico con `ENM_C`"
_RELIABLE = "every non-ACK word is answered by ACK; the sender repeats it (RTO, backoff, give-up) until then"

CHECKS: dict[str, Check] = {
    "briscola/size": Check(_DATAGRAM, "A datagram is exactly two bytes; any other gets ERR 1."),
    "briscola/op.direction": Check(
        _OPERATIONS,
        "INIT, GIV_C, ENM_C and END_G come from the server, SEARCH and USE_C from a client; ERR 2.",
    ),
    "briscola/card.number": Check(
        "`n` indica il numero … 0 riservato ad indicare il segno … 10 re",
        "A card's number is 1 to 10, and 0 (suit only) in INIT alone; ERR 6.",
    ),
    "briscola/card.unused": Check(
        _CARD_BITS, "ACK, END_G, SEARCH and ERR name no card, so their card bits are 0; else ERR 1."
    ),
    "briscola/search.id": Check(_IDS, "A player's id is 0 to 63; ERR 1."),
    "briscola/search.taken": Check(_IDS, "An id that another peer holds is refused with ERR 3."),
    "briscola/search.full": Check(
        "info = code: … 9 server full",
        "When the table of peers is full, or all games asked for have begun, SEARCH gets ERR 9.",
    ),
    "briscola/init.state": Check(
        "giocatoi G1 invia un segnale di `SEARCH` al server. quando trova un giocatore esso invia un `INIT`",
        "INIT answers a SEARCH; a second, different one in the middle of a game is refused with ERR 4.",
    ),
    "briscola/init.player": Check(
        "esso invia un `INIT` con un identificativo dell'altro giocatore",
        "INIT names the other player, never the one it is sent to; ERR 1.",
    ),
    "briscola/game.none": Check(
        "info = code: … 7 no game",
        "A card or an END_G for one who is in no game is refused with ERR 7.",
    ),
    "briscola/give.turn": Check(
        "il server invia per tre volte `GIV_C` … winner of the trick draws first",
        "GIV_C comes three times at the start and once after each trick while cards are left; ERR 4.",
    ),
    "briscola/give.card": Check(
        "40 cards … the briscola card is drawn last",
        "GIV_C gives a card not seen before, and the briscola card last of all; ERR 5.",
    ),
    "briscola/enemy.turn": Check(_PLAY, "ENM_C comes only when it is the opponent's turn; ERR 4."),
    "briscola/enemy.card": Check(_PLAY, "ENM_C shows a card that the opponent can hold; ERR 5."),
    "briscola/use.turn": Check(
        "trick winner not announced: both sides compute it; the server checks every USE_C",
        "USE_C comes only from the player whose turn it is; ERR 4.",
    ),
    "briscola/use.card": Check(
        "`USE_C` | `id_carta` | utente gioca la carta", "A player plays a card of its own hand; ERR 5."
    ),
    "briscola/use.slow": Check(
        "END_G to the one who stayed",
        "A player that does not play within the thinking time loses the game.",
    ),
    "briscola/end.player": Check(
        "`END_G` | `id_player` | partita terminata con `id_player` vincente",
        "END_G names one of the two players, or 0x7F for a draw; ERR 1.",
    ),
    "briscola/end.winner": Check(
        "20 tricks, 120 points … END_G 0x7F = draw (60–60)",
        "After the last trick END_G names the one with more points; the server's word stands, and is noted.",
    ),
    "briscola/ack.bare": Check(
        "A bare `0000` ACK is accepted too (D)", "With the knob ack=counted a bare ACK acknowledges nothing."
    ),
    "briscola/link.silent": Check(
        _RELIABLE, "A peer that acknowledges no repeat, or says nothing while it waits, is gone."
    ),
}
