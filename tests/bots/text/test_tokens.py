"""Tokenizers and display."""

from __future__ import annotations

import pytest

from bots.text import tokens


def test_split_puts_spaces_round_marks() -> None:
    assert tokens.split("I like to ski, and you?") == [
        "I",
        "like",
        "to",
        "ski",
        ",",
        "and",
        "you",
        "?",
    ]


def test_normalize_answer_drops_articles_punctuation_and_case() -> None:
    assert tokens.normalize_answer("The  cat's on _a_ mat!") == "cat s on mat"
    assert tokens.normalize_answer("the cat") == tokens.normalize_answer("a cat")


def test_nonstop_leaves_words_with_meaning() -> None:
    assert tokens.nonstop("My father worked for Ford.") == ["father", "worked", "ford"]
    assert tokens.nonstop("I’m not the one") == []


def test_key_ignores_case_punctuation_and_white_space() -> None:
    assert tokens.key("Good  morning!") == tokens.key("good morning") != tokens.key("good evening")


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("hi , how are you ?", "Hi, how are you?"),
        ("i think i'm fine . and you ? i'd say so !", "I think I'm fine. And you? I'd say so!"),
        ("  it is   late ; so what ", "It is late; so what"),
        ("so do i.", "So do I."),
        ("salt, i.e. 3 of them", "Salt, i.e. 3 of them"),
        ("iPhone in Illinois", "IPhone in Illinois"),
    ],
)
def test_display_detokenizes_and_capitalizes(raw: str, shown: str) -> None:
    assert tokens.display(raw) == shown


def test_display_leaves_well_written_text_alone() -> None:
    for written in ("I've been to Lyon, twice.", "Ha! You keep bees?", "Wait... what?"):
        assert tokens.display(written) == written
