"""Every clause a Hearts machine checks: the words of the text, and what we make of them."""

from __future__ import annotations

from nodes.core import Check

CHECKS: dict[str, Check] = {
    "hearts/2.dealer": Check(
        "Coordenador/Dealer (M0): M0 inicia o jogo, distribui cartas, coordena fases e calcula pontuações.",
        "GAME_START, DEAL_HAND, START_PHASE, the summaries and GAME_OVER come from M0 alone.",
    ),
    "hearts/3.header": Check(
        "Todas as mensagens têm um cabeçalho fixo seguido de um payload variável",
        "A datagram has at least the five bytes of the header.",
    ),
    "hearts/3.len": Check(
        "TAM_PAYLOAD: Tamanho do payload em bytes.",
        "The length byte equals the bytes that follow the header, no more and no less.",
    ),
    "hearts/3.origin": Check(
        "ORIGEM_ID: ID da máquina que criou a mensagem (0-3).",
        "A frame from any other origin would circulate for ever, so it is dropped.",
    ),
    "hearts/3.dest": Check(
        "DESTINO_ID: 0-3 para jogador específico, 0xFF (BROADCAST) para todos.",
        "No other destination exists.",
    ),
    "hearts/3.seq": Check(
        "SEQ_NUM: Número de sequência incrementado pela origem para cada mensagem enviada.",
        "From each origin only the number after the last is acted on; anything but that or an exact "
        "repeat of the last is an anomaly, forwarded and reported.",
    ),
    "hearts/4.type": Check(
        "TIPO_MSG: Identifica o tipo da mensagem (ver Seção 4).",
        "Types are 0x01 to 0x09.",
    ),
    "hearts/4.payload": Check(
        "ID_NOVO_DONO_TOKEN (1 byte) … Nenhum … CARTAS_DA_MAO (13 bytes) …",
        "Each type has one payload length (START_PHASE: one byte for tricks, two for passing).",
    ),
    "hearts/4.dest": Check(
        "M0 envia as 13 cartas da mão para DESTINO_ID. … Jogador joga uma carta (BROADCAST, com token).",
        "Cards go to one machine, announcements and plays to all, a token to all or to its new owner; "
        "passed cards go where the direction says.",
    ),
    "hearts/4.owner": Check(
        "Passa o bastão para ID_NOVO_DONO_TOKEN.",
        "The new owner is one of the four machines.",
    ),
    "hearts/4.phase": Check(
        "FASE (1 byte: 0=Passagem, 1=Vazas), SENTIDO_PASSAGEM (1 byte, se FASE=0)",
        "There are two phases.",
    ),
    "hearts/5.card": Check(
        "Bits 0-3 (Valor): 1: Ás, 2: Dois, … 13: Rei (K). … Bits 6-7: Zeros.",
        "A card byte with bit 6 or 7 set, or with value 0, 14 or 15, is no card.",
    ),
    "hearts/5.twice": Check(
        "the same card twice in one frame: counted, logged with its check id, not forwarded (protocols.md)",
        "There is one of each card, so no frame shows one twice.",
    ),
    "hearts/6.returned": Check(
        "Repassa a mensagem inalterada para a próxima máquina (a menos que seja a origem).",
        "What comes back must be, byte for byte, what was sent; else it does not count as returned.",
    ),
    "hearts/6.own": Check(
        "Se ORIGEM_ID == ID_DA_MAQUINA: A mensagem completou a volta e é removida (não repassada).",
        "A frame with our own id that we are not waiting for is taken off the ring and reported.",
    ),
    "hearts/6.token": Check(
        "Uma máquina só origina mensagens de ação (PASS_CARDS, PLAY_CARD) ou coordenação (se M0) quando "
        "possui o bastão.",
        "The token is taken only when it names us, we do not have it yet, and the game has work for us.",
    ),
    "hearts/8.order": Check(
        "Fluxo do Jogo … Configuração … Início do Jogo … Início da Mão … Fase de Passagem de Cartas … "
        "Fase de Vazas … Fim da Mão … Fim do Jogo",
        "A message that does not belong to this point of the game is not acted on.",
    ),
    "hearts/8.dealt": Check(
        "M0 embaralha e envia DEAL_HAND para cada jogador (4 mensagens, DESTINO_ID=0-3).",
        "Each machine is dealt to once a hand.",
    ),
    "hearts/8.direction": Check(
        "left = id+1, right = id−1, across = id+2; cycle 0,1,2,3 by hand, first hand left (protocols.md)",
        "The direction that M0 announces is the one this hand has.",
    ),
    "hearts/8.turn": Check(
        "Passa o bastão ao próximo na ordem (M0→M1→M2→M3).",
        "Cards are passed by M0, M1, M2, M3; in a trick the leader is followed by the next ids in order.",
    ),
    "hearts/8.trick": Check(
        "Após 4 PLAY_CARD, M0: Calcula ganhador e pontos. Envia TRICK_SUMMARY (BROADCAST).",
        "A summary that differs from the trick we saw is a divergence: reported, and ours is kept.",
    ),
    "hearts/8.hand": Check(
        "M0 calcula pontos (considerando \"Atirar na Lua\"). Envia HAND_SUMMARY (BROADCAST).",
        "A summary that differs from the points we counted is a divergence: reported, and ours are kept.",
    ),
    "hearts/8.over": Check(
        "M0 verifica se alguém atingiu 100 pontos. Se sim, envia GAME_OVER (BROADCAST) com o vencedor "
        "(menor pontuação).",
        "A winner or total that differs from ours is a divergence: reported, and ours are kept.",
    ),
    "hearts/9.pass": Check(
        "Escolhe 3 cartas. Envia PASS_CARDS para o destinatário (baseado em SENTIDO_PASSAGEM).",
        "Three different cards are passed; our own players choose them before they see what they get.",
    ),
    "hearts/9.held": Check(
        "Validação: Jogadas validadas localmente antes de PLAY_CARD. Assume-se clientes honestos.",
        "A card is passed or played by the one who holds it, and only once.",
    ),
    "hearts/9.first-lead": Check(
        "Primeira Vaza: Liderada pelo 2♣.",
        "The first card of a hand is 2♣.",
    ),
    "hearts/9.first-trick": Check(
        "Sem pontos (Copas/Q♠), salvo exceção.",
        "No heart and no Q♠ in the first trick by anyone who can play something else.",
    ),
    "hearts/9.follow": Check(
        "following suit is compulsory (protocols.md)",
        "Who holds the suit that was led plays it.",
    ),
    "hearts/9.hearts": Check(
        "Quebrar Copas: Não se lidera com Copas até serem quebradas ou serem a única opção.",
        "Hearts are led only once a heart was played, or by a hand of nothing else.",
    ),
}  # fmt: skip
