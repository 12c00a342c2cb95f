"""Word F1."""

from __future__ import annotations

import pytest

from analysis.metrics.word_f1 import word_f1
from tests.analysis.prediction_tables import estimate, said

TOY = "i am you to do and your is like"


def test_published_examples() -> None:
    assert estimate(word_f1(said((TOY, "I like to ski, and you?"))), "word_f1") == pytest.approx(
        2 / 3
    )
    assert estimate(word_f1(said(("the cat", "a cat"))), "word_f1") == 1


def test_words_count_as_often_as_they_occur_and_the_best_reference_is_taken() -> None:
    found = word_f1(said(("no no no", ["yes", "no no"]), ("tea", "coffee"), ("...", "tea")))
    assert estimate(found, "word_f1") == pytest.approx((2 * (2 / 3) / (1 + 2 / 3) + 0 + 0) / 3)
    assert found["n"].item() == 3
    assert found["low"].item() < found["estimate"].item() < found["high"].item()


def test_rows_without_a_reference_do_not_count() -> None:
    assert word_f1(said(("tea", None))).empty
