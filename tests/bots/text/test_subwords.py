"""Byte-pair encoding as a codec."""

from __future__ import annotations

import json

import pytest

from bots.text.subwords import SPACE, SubwordCodec, learn_subwords
from bots.text.tokens import split
from bots.text.vocabulary import MARKS, UNKNOWN
from tests.bots.examples import demo

TEXTS = [turn.text for each in demo("train") for turn in each.turns]


@pytest.fixture(scope="module")
def codec() -> SubwordCodec:
    return learn_subwords(TEXTS, 600)


def test_text_comes_back_as_whole_words_would(codec: SubwordCodec) -> None:
    for text in TEXTS[:200]:
        assert codec.decode(codec.encode(text)) == " ".join(split(text.lower()))


def test_words_never_seen_are_spelled(codec: SubwordCodec) -> None:
    ids = codec.encode("Unbelievably flummoxing!")
    assert UNKNOWN not in ids
    assert len(ids) > 3
    assert codec.decode(ids) == "unbelievably flummoxing !"
    assert codec.tokens(ids)[0].startswith(SPACE)


def test_letters_never_seen_are_unknown(codec: SubwordCodec) -> None:
    ids = codec.encode("snow ☃")
    assert UNKNOWN in ids
    assert codec.decode(ids).startswith("snow")
    assert codec.encode("") == []


def test_frequent_words_are_one_piece_and_more_pieces_make_shorter_texts(
    codec: SubwordCodec,
) -> None:
    assert codec.size == 600
    assert len(codec.encode("you")) == 1
    larger = learn_subwords(TEXTS, 1500)
    assert larger.size == 1500
    lengths = [sum(len(each.encode(text)) for text in TEXTS[:300]) for each in (larger, codec)]
    assert lengths[0] < lengths[1]


def test_it_is_kept_as_text_and_learned_the_same_each_time(codec: SubwordCodec) -> None:
    assert learn_subwords(TEXTS, 600).words == codec.words
    again = SubwordCodec(tuple(json.loads(json.dumps(codec.words))))
    assert [again.encode(text) for text in TEXTS[:50]] == [codec.encode(t) for t in TEXTS[:50]]
    assert again.tokens(range(4)) == MARKS


def test_marks_in_a_text_are_text(codec: SubwordCodec) -> None:
    ids = codec.encode(f"__end__ {SPACE} a{SPACE}b")
    assert all(each == UNKNOWN or each >= len(MARKS) for each in ids)
