"""The most disputed items, and that disputes add up to alpha."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.raters.alpha import alpha
from analysis.raters.disputed import disputed
from analysis.scores.question_ratings import questions
from tests.analysis.examples import by_raters, labels, ratings, worked
from tests.analysis.matrices import votes_of
from tests.analysis.tables_with_gaps import gappy


def _of(table: np.ndarray, level: Any) -> pd.DataFrame:
    rows = [[None if np.isnan(cell) else cell for cell in row] for row in table]
    return disputed(next(questions(by_raters(rows, level), level)), most=10_000)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alpha_is_what_the_mean_dispute_leaves(level: Any) -> None:
    for table in gappy(15):
        found = _of(table, level)
        given = votes_of(table, level)
        lost = (found["dispute"] * found["n"]).sum() / (given.times @ given.per_unit)
        assert 1 - lost == pytest.approx(alpha(given))


def test_the_worst_item_is_first_and_its_answers_are_told() -> None:
    data = worked("krippendorff2011_C")["data"]
    found = disputed(next(questions(by_raters(data, "nominal"), "nominal")))
    assert found["item"].iloc[0] == "i5"
    assert found["answers"].iloc[0] == "1 ×1, 2 ×1, 3 ×1, 4 ×1"
    assert (found["dispute"] > 0).all()
    assert len(found) == 3


def test_words_are_told_as_they_are() -> None:
    table = ratings([{"value": v, "item": "i"} for v in ("red", "red", "blue")], level="nominal")
    assert disputed(next(questions(table, "nominal")))["answers"].iloc[0] == "blue ×1, red ×2"


def test_nothing_is_disputed_where_all_agree() -> None:
    agreed = labels([("s", "i", rater, 1, 1) for rater in ("a", "b")])
    assert disputed(next(questions(agreed, "nominal"))).empty
    assert disputed(next(questions(ratings([{"value": 1}]), "ordinal"))).empty
