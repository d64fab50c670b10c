"""Every check of tic-tac-toe. Ids follow the text: INICIO is start, ESTADO DE JOGO state, JOGADA move."""

from __future__ import annotations

from nodes.core import Check

CHECKS = {
    "tictactoe/start.1": Check(
        "Quando o cliente se conecta, o servidor imediatamente envia o estado inicial do jogo.",
        "The first message of a connection is the empty board, valid, with nobody the winner.",
    ),
    "tictactoe/start.2": Check(
        "As mensagens trocadas entre cliente e servidor são compostas por uma string (byte object) de 12 "
        "caracteres",
        "A message is 12 bytes; a connection that ends in the middle of one broke it off.",
    ),
    "tictactoe/start.3": Check(
        "O servidor envia o estado de jogo nesses 12 caracteres. O jogador informa sua jogada.",
        "The two alternate: the server sends no second state before the client has moved.",
    ),
    "tictactoe/state.0": Check(
        "[0] […] o caracter estará definido para 1 se a jogada foi válida. No caso de 0 (jogada anterior foi "
        "inválida) o estado de jogo não é atualizado […] O servidor usa também esse caracter para indicar "
        "desistência.",
        "Byte 0 is 1, 0 or d; with 0 nothing else changes, and nobody gives up a game that is over.",
    ),
    "tictactoe/state.1": Check(
        "[1] […] Se um jogador venceu, o caracter 2 será definido para o símbolo do vencedor (i.e. X ou O), "
        "ou para E caso tenha-se alcançado um empate. Em outros casos, será o caracter de espaço em branco.",
        "Byte 1 is X, O, E or blank, and says what the board (or a resignation) says.",
    ),
    "tictactoe/state.2": Check(
        "[2] O terceiro caracter informa o número da jogada. É incrementado com cada jogada válida efetuada. "
        "Vai de 0 (estado inicial do jogo) a 9.",
        "Byte 2 is a digit and agrees with the marks on the board, counted as the knob `plies` says.",
    ),
    "tictactoe/state.3": Check(
        "[3-11] Os últimos 9 caracteres acomodam o símbolo marcado pelo jogador nas respectivas posições.",
        "Each cell is X, O or blank; an answer adds the client's O and at most one X, nothing else.",
    ),
    "tictactoe/move.1": Check(
        "o cliente define a string inteira para espaços em branco, com exeção do quarto caracter (i.e. "
        "índice 3).",
        "A move with anything but blanks outside index 3 is rejected.",
    ),
    "tictactoe/move.3": Check(
        "Se a casa informada já estiver ocupada ou não existir, o servidor rejeitará a jogada reenviando o "
        "mesmo estado de jogo, porém com o caracter de posição 1 (i.e. índice 0) definido para 0. O mesmo "
        "será feito se o caracter de jogada não for nem um número nem a letra d/D .",
        "Index 3 names a free cell, 1 to 9, or is d or D; all else is rejected. A free cell is not rejected.",
    ),
    "tictactoe/limit.clients": Check(
        "Many clients at once, each its own game. (protocols.md)",
        "Beyond CLIENTS_MAX connections a new one is closed at once.",
    ),
    "tictactoe/limit.pipeline": Check(
        "Many clients at once, each its own game. (protocols.md)",
        "A client may send ahead of its turn, up to PIPELINE_MAX messages; then its connection is closed.",
    ),
    "tictactoe/limit.rejected": Check(
        "Many clients at once, each its own game. (protocols.md)",
        "REJECTED_MAX moves rejected in a row close the connection.",
    ),
    "tictactoe/limit.time": Check(
        "Many clients at once, each its own game. (protocols.md)",
        "Who is to speak and has not done so within THINK_S is taken for gone.",
    ),
}
