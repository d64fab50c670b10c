"""Every clause that is checked, by id. Clauses are quoted from the text, or from protocols.md."""

from __future__ import annotations

from nodes.core import Check

CHECKS: dict[str, Check] = {
    "holdem/frame.len": Check(
        "首先发送长度为4的数据包长度，再发送数据包。 […] a length < 2 or > 1 MiB is refused",
        "The four bytes are a little-endian signed length; outside its bounds framing is lost: error, close.",
    ),
    "holdem/frame.utf8": Check("UTF-8 accepted", "The bytes of a packet must be valid UTF-8."),
    "holdem/frame.json": Check(
        "所有的数据采用json格式进行存储",
        "A packet must be one JSON object: no NaN, no key twice, no number or nesting beyond reason.",
    ),
    "holdem/info": Check(
        "固定值 connect，区分该消息为创建连接消息",
        "`info` must name a message of the text (or error, success).",
    ),
    "holdem/card": Check(
        "由该张卡牌的点数和花色组成",
        "A card is one of 23456789TJQKA and one of cdsh.",
    ),
    "holdem/card.twice": Check(
        "对于每一张卡牌，使用一个string进行存储",
        "There is one deck: a card may appear in a message only once.",
    ),
    "holdem/connect.name": Check("玩家姓名", "A name is 1 to NAME_MAX printable characters."),
    "holdem/connect.room_number": Check("该房间游戏的最大人数", "A room has 2 to 10 players."),
    "holdem/connect.game_number": Check("连续对战的局数", "A match has 1 to GAMES_MAX hands."),
    "holdem/connect.room_id": Check(
        "players with equal room_number and game_number share a room (and room_id if given)",
        "A room_id is a whole number or a short text.",
    ),
    "holdem/connect.twice": Check(
        "duplicate names in a room refused with an error message",
        "Nobody in a room may bear the name of another.",
    ),
    "holdem/connect.late": Check(
        "玩家向服务器发起连接。",
        "A connection that sends no connect within CONNECT_S is closed.",
    ),
    "holdem/connect.room": Check(
        "当一个房间的连接人数到达设定人数后，服务器开始游戏",
        "A room that is not full within ROOM_S is closed.",
    ),
    "holdem/ready.status": Check("start表示准备开始，exit表示退出", "status must be start or exit."),
    "holdem/ready.late": Check(
        "在第二局及之后的游戏开始前，每个玩家需向服务器发送玩家预备消息",
        "A player who sends no ready within READY_S has left.",
    ),
    "holdem/action.form": Check(
        "一次动作的描述信息  call, check, r1234, fold",
        "The field `action` must be a string; what it says is judged at the table.",
    ),
    "holdem/action.turn": Check(
        "若消息中的action_position字段与position字段相同，则说明轮到该玩家执行动作",
        "An action out of turn: error, and that player is folded (all in, the hand stays).",
    ),
    "holdem/action.illegal": Check(
        "call和check必定只有一个有效",
        "An action that is not on the list of legal ones: error, and the player is folded.",
    ),
    "holdem/action.range": Check(
        "可加注范围，长度为2,　分别表示最小加注和最大加注",
        "A raise to an amount outside raise_range: error, and the player is folded.",
    ),
    "holdem/action.time": Check(
        "thinking time limit (default 30 s) folds",
        "A player who does not act in time is folded.",
    ),
    "holdem/order": Check(
        "消息收发时序",
        "A message that does not belong here: error; during a hand its sender is folded.",
    ),
    "holdem/state.form": Check(
        "将该条状态消息群发给所有玩家，表明目前的游戏状态",
        "A state has the fields of the table, each of its type.",
    ),
    "holdem/state.position": Check(
        "当前玩家所在的座位号，小盲位编号为0，依次增加",
        "The players sit at 0, 1, 2 …, each once; the one at `position` bears our name.",
    ),
    "holdem/state.action_position": Check(
        "目前需要执行动作的玩家所在的座位号 […] one more state with action_position: -1",
        "The seat to act is one of the table, or -1.",
    ),
    "holdem/state.legal_actions": Check(
        "某个动作，包含call, check, raise, fold […] call和check必定只有一个有效",
        "Only these four, each once; who is to act has exactly one of call and check.",
    ),
    "holdem/state.raise_range": Check(
        "仅当raise为合法动作时该字段有效。表示当前轮次的加注筹码总量范围。",
        "Empty, or two amounts, the least first; two when the one to act may raise.",
    ),
    "holdem/history": Check(
        "所有玩家执行过的动作记录，列表长度为目前的轮数",
        "A list a street, at most four; an entry has position, action (or acion), timestamp.",
    ),
    "holdem/money": Check(
        "moneyLeft | decimal | 玩家剩余金额",
        "Money is a finite number of sane size; both spellings are read and must not differ.",
    ),
    "holdem/result.form": Check(
        "当一局对战游戏达到结束状态时，服务器将该条游戏结果消息群发给所有玩家。",
        "A result has the fields of the table, each of its type.",
    ),
    "holdem/result.sum": Check(
        "玩家本局赢到的钱",
        "What some win the others lose: win_money adds up to 0.",
    ),
    "holdem/text": Check(
        '{"info":"error","text":…}',
        "The text of error and success is a string of at most TEXT_MAX characters.",
    ),
    "holdem/limit.connections": Check(
        "玩家向服务器发起连接。",
        "A server holds at most CONNECTIONS_MAX connections and ROOMS_MAX rooms.",
    ),
    "holdem/limit.buffer": Check(
        "首先发送长度为4的数据包长度，再发送数据包。",
        "All half-received packets together hold at most BUFFERED_MAX bytes.",
    ),
    "holdem/limit.refusals": Check(
        "and the match goes on for the rest",
        "After REFUSALS_MAX refused messages a connection is closed.",
    ),
    "holdem/limit.silence": Check(
        "服务器将不断向玩家发送游戏状态消息",
        "A client that hears nothing for SILENCE_S gives up.",
    ),
}
