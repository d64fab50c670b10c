"""Every check of Connect Four: the clause it comes from, and what we make of it.

An id without a dot is a rule of the ABNF or a sentence of the text; one with a dot says what in
that rule was broken. Clauses in French are the text's; those in English are protocols.md's.
"""

from __future__ import annotations

from nodes.core import Check

CHECKS: dict[str, Check] = {
    "connect4/line": Check(
        'messages textes (terminant par "\\r\\n")',
        "One text frame is one line of at most 128 printable ASCII bytes; its CRLF may be missing.",
    ),
    "connect4/message": Check(
        "message = message-connect … / message-connected … / message-endgame",
        "A line begins with one of the seven words, spelled as printed.",
    ),
    "connect4/connect": Check(
        'message-connect = "connect" SP user CRLF',
        "connect has exactly one word after it; else not-connected, and the connection is closed.",
    ),
    "connect4/connect.again": Check(
        "Quand un client se connecte au serveur, il y a une étape de connexion puis le serveur le contacte",
        "One connection registers once; a second connect is ignored and counted.",
    ),
    "connect4/newgame": Check(
        'message-newgame = "newgame" SP user SP user CRLF', "newgame names two players, red first."
    ),
    "connect4/newgame.mine": Check(
        "newgame RED YELLOW; red moves first", "A client is told only of games in which it has one side."
    ),
    "connect4/newgame.early": Check(
        "Un client ne joue qu'à une seule partie à la fois.",
        "A newgame before the last game's endgame is refused but played: the old game can only be over.",
    ),
    "connect4/genmove": Check(
        'message-genmove = "genmove" SP board SP color SP status SP time CRLF',
        "genmove has four words after it, or three in the form of the examples, without a status.",
    ),
    "connect4/genmove.turn": Check(
        "a genmove goes only to the side to move",
        "The board of a genmove must leave its receiver a move; else it is ignored.",
    ),
    "connect4/playmove": Check(
        'message-playmove = "playmove" SP move CRLF', "playmove has exactly one word after it."
    ),
    "connect4/endgame": Check(
        'message-endgame = "endgame" SP board SP color SP status SP battlestatus CRLF',
        "endgame has exactly four words after it.",
    ),
    "connect4/endgame.status": Check(
        "le serveur envoie un message de fin de partie aux deux joueurs",
        "An endgame says who won or that nobody did; PlayR and PlayY end nothing and are ignored.",
    ),
    "connect4/endgame.battle": Check(
        "en cas de déconnexion d'un client qui joue, il perd la partie",
        "A timeout or a lost connection has a loser, and whoever hears of a lost connection is not it.",
    ),
    "connect4/user": Check(
        'user = *(ALPHA / DIGIT / "-" / "_")',
        "A name is 1 to 32 letters, digits, hyphens and underscores; else not-connected, and close.",
    ),
    "connect4/user.taken": Check(
        "a taken or bad name: not-connected …, close", "No two clients have the same name at one time."
    ),
    "connect4/info": Check("info = *(ALPHA / DIGIT / SP)", "An info is letters, digits and spaces."),
    "connect4/board": Check(
        'board = 42*("." / color) ; ligne 0, ligne 1, etc',
        "A board is exactly 42 cells, the bottom row first.",
    ),
    "connect4/board.possible": Check(
        "row 0 is the bottom, column 0 left",
        "No disc hangs in the air, red has as many discs as yellow or one more, nothing follows a four.",
    ),
    "connect4/board.step": Check(
        "le client répond aux messages genmove du serveur",
        "From one message to the next a board changes by our own move and one of the opponent's.",
    ),
    "connect4/color": Check('color = "R" / "Y"', "A colour is R or Y."),
    "connect4/color.mine": Check(
        "couleur du client qui reçoit le message", "The colour is the receiver's own, as newgame gave it."
    ),
    "connect4/time": Check(
        'time = *DIGIT "." DIGIT',
        "A time is digits, a point and one digit; the digits before may be missing.",
    ),
    "connect4/time.left": Check(
        "le temps restant au joueur pour la partie est indiqué quand le serveur demande de jouer un coup",
        "The time left never grows during a game.",
    ),
    "connect4/move": Check(
        'move = "0" / "1" / "2" / "3" / "4" / "5" / "6" ; numéro de la colonne',
        "Any other word is an invalid move: when one is due, it is answered as a full column is.",
    ),
    "connect4/column": Check(
        "si un client joue un coup invalide, le serveur lui redemande de jouer"
        " et compte une pénalité de temps",
        "A full column costs the time used and the penalty, and brings a new genmove.",
    ),
    "connect4/turn": Check(
        "A playmove out of turn or after endgame, or a malformed message: ignored and counted",
        "A playmove answers a genmove that is still open.",
    ),
    "connect4/status": Check(
        'status = "WinR" / "WinY" / "Tie" / "PlayR" / "PlayY"', "A status is one of the five words."
    ),
    "connect4/status.board": Check(
        "endgame .RRRR...YYY............................... R WinR Ok",
        "The status says what the board shows, unless time or a lost connection ended the game.",
    ),
    "connect4/battlestatus": Check(
        'battlestatus = "Ok" / "Timeout" / "Disconnected"', "A battlestatus is one of the three words."
    ),
    "connect4/register": Check(
        "Quand un client se connecte au serveur, il y a une étape de connexion",
        "connect comes first, and within 10 s; else not-connected, and the connection is closed.",
    ),
    "connect4/direction": Check(
        "client ----> serveur", "Only connect and playmove travel from client to server."
    ),
    "connect4/order": Check(
        "Après l'étape de connexion, le client répond aux messages genmove du serveur.",
        "connected answers connect, newgame opens a game, genmove and endgame belong to one.",
    ),
    "connect4/strikes": Check(
        "ignored and counted, 20 of them close the connection", "The twentieth ignored message is the last."
    ),
    "connect4/full": Check(
        "Le serveur gère les parties en essayant de faire jouer tous les clients entre eux.",
        "A tournament has so many seats, a server so many connections; beyond, not-connected and close.",
    ),
    "connect4/silence": Check(
        "Les clients doivent donc rester connectés en attendant qu'une partie soit lancée",
        "A server that leaves connect unanswered, or a game without a word for 15 minutes, is given up.",
    ),
}
