"""The words: two bytes, three fields."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.briscola.checks import CHECKS
from nodes.briscola.messages import (
    NOBODY,
    Ack,
    Code,
    EndGame,
    EnemyCard,
    Error,
    GiveCard,
    Init,
    Search,
    UseCard,
    Word,
    card_id,
    decode,
    pack,
)
from nodes.briscola.rules import DECK, Card
from nodes.core import RemoteProtocolError

cards = st.sampled_from(DECK)
players = st.integers(0, 63)
seven_bits = st.integers(0, 127)
all_words: st.SearchStrategy[Word] = st.one_of(
    st.builds(Ack, seven_bits),
    st.builds(Init, st.integers(0, 3), st.integers(0, 10), st.booleans(), players),
    st.builds(GiveCard, cards),
    st.builds(EnemyCard, cards),
    st.builds(EndGame, players | st.just(NOBODY)),
    st.builds(Search, players),
    st.builds(UseCard, cards),
    st.builds(Error, seven_bits),
)


@settings(deadline=None)
@given(all_words)
def test_a_word_decodes_to_what_was_encoded(word: Word) -> None:
    data = word.encode()
    assert len(data) == 2
    assert decode(data) == word
    assert decode(data).fields() == word.fields()


def test_each_of_the_65536_words_is_a_message_or_breaks_a_clause() -> None:
    refused: dict[int, RemoteProtocolError] = {}
    for value in range(1 << 16):
        try:
            word = decode(value.to_bytes(2, "big"))
        except RemoteProtocolError as error:
            refused[value] = error
            continue
        assert int.from_bytes(word.encode(), "big") == value
    assert {refusal.check for refusal in refused.values()} <= set(CHECKS)
    for value, refusal in refused.items():
        assert (refusal.reply_hint is None) == (value >> 13 in (0, 7)), "ACK and ERR draw no ERR"


def test_the_info_bits_of_a_card_word_are_kept_but_not_looked_at() -> None:
    for op in (2, 3, 6):
        word, extended = decode(pack(op, 0b01_0001, 0)), decode(pack(op, 0b01_0001, 5))
        assert extended == word
        assert extended.fields()["info"] == 5


@settings(deadline=None)
@given(st.binary(max_size=40).filter(lambda data: len(data) != 2))
def test_a_datagram_of_another_size_is_refused_with_err_1(data: bytes) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        decode(data)
    assert caught.value.check == "briscola/size"
    assert caught.value.reply_hint == Error(Code.MALFORMED)


@pytest.mark.parametrize(
    ("word", "hexadecimal", "kind", "meaning"),
    [
        (Ack(), "0000", "ACK", {"count": 0}),
        (Ack(42), "002a", "ACK", {"count": 42}),
        (Init(1, 1, True, 5), "28c5", "INIT", {"suit": 1, "number": 1, "first": True, "player": 5}),
        (Init(3, 0, False, 0), "3800", "INIT", {"suit": 3, "number": 0, "first": False, "player": 0}),
        (GiveCard(Card(0, 10)), "4500", "GIV_C", {"suit": 0, "number": 10}),
        (EnemyCard(Card(3, 7)), "7b80", "ENM_C", {"suit": 3, "number": 7}),
        (EndGame(5), "8005", "END_G", {"player": 5}),
        (EndGame(NOBODY), "807f", "END_G", {"player": 127}),
        (Search(5), "a005", "SEARCH", {"player": 5}),
        (UseCard(Card(1, 1)), "c880", "USE_C", {"suit": 1, "number": 1}),
        (Error(Code.ID_IN_USE), "e003", "ERR", {"code": 3}),
    ],
)
def test_the_bits_are_where_the_text_puts_them(
    word: Word, hexadecimal: str, kind: str, meaning: dict[str, object]
) -> None:
    assert word.encode().hex() == hexadecimal
    assert decode(bytes.fromhex(hexadecimal)) == word
    assert word.kind == kind
    bits = int(hexadecimal, 16)
    assert word.fields() == {"op": bits >> 13, "card": bits >> 7 & 0x3F, "info": bits & 0x7F, **meaning}


@pytest.mark.parametrize(
    ("data", "check", "code"),
    [
        (pack(2, 0, 0), "briscola/card.number", Code.NO_SUCH_CARD),
        (pack(3, 0b01_1011, 0), "briscola/card.number", Code.NO_SUCH_CARD),
        (pack(6, 0b11_1111, 0), "briscola/card.number", Code.NO_SUCH_CARD),
        (pack(1, 0b00_1100, 0), "briscola/card.number", Code.NO_SUCH_CARD),
        (pack(5, 1, 5), "briscola/card.unused", Code.MALFORMED),
        (pack(4, 1, 5), "briscola/card.unused", Code.MALFORMED),
        (pack(0, 1, 5), "briscola/card.unused", None),
        (pack(7, 1, 5), "briscola/card.unused", None),
        (pack(5, 0, 64), "briscola/search.id", Code.MALFORMED),
        (pack(4, 0, 64), "briscola/end.player", Code.MALFORMED),
        (pack(4, 0, 126), "briscola/end.player", Code.MALFORMED),
    ],
)
def test_a_broken_clause_names_its_check_and_its_err(data: bytes, check: str, code: Code | None) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        decode(data)
    assert caught.value.check == check
    assert caught.value.reply_hint == (None if code is None else Error(code))


def test_init_may_tell_the_suit_only() -> None:
    assert Init(2, 0, False, 1).card is None
    assert Init(2, 3, False, 1).card == Card(2, 3)


def test_every_card_has_its_own_id() -> None:
    assert len({card_id(card) for card in DECK}) == 40
    assert card_id(Card(1, 1)) == 0b01_0001
