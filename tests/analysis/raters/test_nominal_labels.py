"""Labels of a question, and why no model of raters can be fitted to some."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.raters.nominal_labels import Labels, labels, why_not
from analysis.scores.question_ratings import questions
from tests.analysis.examples import by_raters


def _of(item: list[int], rater: list[int], label: list[int], categories: int = 2) -> Labels:
    return Labels(np.array(item), np.array(rater), np.array(label), categories)


def test_labels_of_a_question_have_raters_with_names() -> None:
    found, names = labels(next(questions(by_raters([[1, 2], [2, None]], "nominal"), "nominal")))
    assert names == ["r0", "r1"]
    assert (found.items, found.raters, found.categories) == (2, 2, 2)
    assert found.shares == pytest.approx(np.array([[0.5, 0.5], [0, 1]]))
    assert list(found.by_item(np.array([1.0, 10.0, 100.0]))) in ([101, 10], [11, 100])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (_of([0, 0], [0, 1], [0, 1]), "2 raters are too few"),
        (_of([0, 0, 0], [0, 1, 2], [0, 0, 0], categories=1), "only one category"),
        (_of([0, 0, 0], [0, 1, 2], [0, 1, 0], categories=21), "21 categories are too many"),
        (_of([0, 1, 2], [0, 1, 2], [0, 1, 0]), "fewer than two labels on average"),
    ],
)
def test_why_no_model_is_fitted(given: Labels, told: str) -> None:
    assert told in str(why_not(given))


def test_three_raters_of_the_same_items_are_enough() -> None:
    assert why_not(_of([0, 0, 0], [0, 1, 2], [0, 1, 0])) is None
