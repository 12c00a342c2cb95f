"""Tokenizers: the rules of metrics, and that bots follow the same."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from analysis.text import tokens
from bots.text import tokens as spoken
from evaluation import checks


def test_split_sets_marks_apart_and_keeps_case() -> None:
    assert tokens.split("Hi, Bo! Isn't it 5:30?") == [
        "Hi",
        ",",
        "Bo",
        "!",
        "Isn't",
        "it",
        "5",
        ":",
        "30",
        "?",
    ]
    assert tokens.split_lower("Hi.") == ["hi", "."]


def test_normalize_answer_drops_articles_and_marks() -> None:
    assert tokens.normalize_answer("The cat, an OWL & a(n) thatch!") == "cat owl n thatch"


def test_ngrams_of_short_texts_are_none() -> None:
    assert tokens.ngrams(["a", "b", "c"], 2) == [("a", "b"), ("b", "c")]
    assert tokens.ngrams(["a"], 2) == []
    assert tokens.counted(["a", "b", "a", "b"], 2) == {("a", "b"): 2, ("b", "a"): 1}


@given(st.text())
def test_bots_and_metrics_count_the_same_words(said: str) -> None:
    for rule in ("split", "normalize_answer", "words", "nonstop", "key"):
        assert getattr(tokens, rule)(said) == getattr(spoken, rule)(said)
    assert tokens.STOP == spoken.STOP == frozenset(checks.STOP_WORDS)
    assert tokens.words(said) == checks.plain_words(said)
