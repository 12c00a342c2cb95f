"""Checks of messages: PERSONA-CHAT's word limit and its rule against copying one's persona."""

from __future__ import annotations

import pytest

from evaluation import MaxWords, MinWords, NoPersonaCopy, word_count

PERSONA = ("I have two dogs.", "My father worked for Ford.", "I'm a nurse")


def test_words_are_whitespace_tokens() -> None:
    assert word_count("  one two\tthree\nfour - five  ") == 6


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("犬", 1),
        ("犬が", 1),
        ("犬が好", 2),
        ("私は犬が好きです。", 4),  # the full stop is none
        ("東京tower", 2),
        ("我有一条狗，叫小白。", 5),
        ("ฉันมีหมา", 4),
        ("我 有", 2),
        ("한국어 말", 2),  # has blanks
        ("naïve – «déjà»", 3),
    ],
)
def test_two_characters_of_a_script_without_blanks_count_as_a_word(text: str, words: int) -> None:
    assert word_count(text) == words


def test_fifteen_words_pass_and_the_sixteenth_is_refused() -> None:
    assert MaxWords(15)("word " * 15, ()) is None
    assert "at most 15 words; this message has 16" in str(MaxWords(15)("word " * 16, ()))


def test_three_words_pass_and_two_are_refused() -> None:
    assert [MinWords(3)("word " * count, ()) for count in (3, 4)] == [None, None]
    assert "at least 3 words; this message has 2" in str(MinWords(3)("word " * 2, ()))


@pytest.mark.parametrize(
    "copied",
    ["I have two dogs.", "Yes, I have two dogs. And you?", "well father worked for Ford. yes"],
)
def test_a_copied_sentence_is_refused_and_named(copied: str) -> None:
    assert "own words" in str(NoPersonaCopy()(copied, PERSONA))


def test_the_released_rule_minds_case_and_final_punctuation_and_ours_does_not() -> None:
    text = "HAVE TWO DOGS and so on"
    assert NoPersonaCopy(lenient_match=False)(text, PERSONA) is None
    assert NoPersonaCopy()(text, PERSONA) is not None


def test_own_words_pass() -> None:
    assert NoPersonaCopy()("There are two hounds at my place", PERSONA) is None
    assert NoPersonaCopy()("anything", ("I", "")) is None
