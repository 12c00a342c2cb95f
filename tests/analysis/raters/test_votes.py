"""Votes are counted once per distinct pattern, the same whichever way they are read."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.raters import votes
from analysis.raters.alpha import alpha
from analysis.scores import integer_codes
from analysis.scores.question_ratings import questions
from tests.analysis.examples import by_raters, ratings
from tests.analysis.matrices import votes_of, votes_of_counts
from tests.analysis.tables_with_gaps import gappy


def _counted(given: votes.Votes) -> list[tuple[tuple[float, ...], float]]:
    rows = given.counts.toarray()
    return sorted(zip(map(tuple, rows), given.times, strict=True))


def _plain(table: np.ndarray) -> list[tuple[tuple[float, ...], float]]:
    values = np.unique(table[~np.isnan(table)])
    counts = np.array([(table == value).sum(axis=0) for value in values]).T
    shared = counts[counts.sum(axis=1) > 1].astype(float)
    rows, times = np.unique(shared, axis=0, return_counts=True)
    return sorted(zip(map(tuple, rows), times.astype(float), strict=True))


@pytest.mark.parametrize("direct", [1, votes.DIRECT])
def test_every_way_of_reading_counts_the_same(direct: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(votes, "DIRECT", direct)
    for table in gappy(20):
        expected = _plain(table)
        from_matrix = votes_of(table, "nominal")
        assert _counted(from_matrix) == expected
        lone = (~np.isnan(table)).sum(axis=0) == 1
        assert from_matrix.lone.sum() == lone.sum()
        assert from_matrix.ratings == (~np.isnan(table)).sum()
        rows = [[None if np.isnan(cell) else cell for cell in row] for row in table]
        asked = next(questions(by_raters(rows, "nominal"), "nominal"))
        assert _counted(votes.votes(asked, "all", slice(None))) == expected


def test_counts_of_items_are_votes_too() -> None:
    given = votes_of_counts([[2, 0], [0, 1], [1, 1], [2, 0]], [1.0, 2.0], "interval")
    assert given.units == 3
    assert list(given.lone) == [0, 1]
    assert given.ratings == 7


def test_categories_are_those_of_the_question_whichever_rows_are_asked_for() -> None:
    table = ratings(
        [{"value": v, "system": s} for v, s in ((1, "a"), (5, "b"), (3, "b"))], level="interval"
    )
    asked = next(questions(table, "interval"))
    of_one = votes.votes(asked, "a", np.flatnonzero(asked.rows["system"] == "a"))
    assert list(of_one.values) == [1, 3, 5]


def test_words_stand_in_the_order_of_their_names() -> None:
    table = ratings([{"value": v, "item": "i"} for v in ("red", "blue", 3)], level="nominal")
    asked = next(questions(table, "nominal"))
    code, values = integer_codes.coded(asked, asked.rows, "nominal")
    assert list(code) == [2, 1, 0]
    assert list(values) == [0, 1, 2]


def test_why_nothing_is_defined() -> None:
    assert "no item was rated by two" in str(votes_of([[1.0, np.nan]], "nominal").undefined)
    assert "only one category" in str(votes_of([[1, 1], [1, 1]], "nominal").undefined)
    assert votes_of([[1, 2], [1, 1]], "nominal").undefined is None
    assert votes_of([[np.nan, np.nan]], "nominal").units == 0


def test_why_equal_numbers_are_missed() -> None:
    one_or_two = votes_of([[1.0, 2.0], [1.0, np.nan]], "nominal")
    assert "items have 1 to 2 ratings" in str(one_or_two.unequal)
    assert votes_of([[1, 2], [1, 1]], "nominal").unequal is None


def test_many_values_that_few_share_are_counted_as_they_are() -> None:
    rng = np.random.default_rng(0)
    table = rng.normal(size=(3, 400)).round(2)
    table[rng.random(table.shape) < 0.2] = np.nan
    given = votes_of(table, "interval")
    assert len(given.values) > 100
    pairs = np.isfinite(table).sum(axis=0)
    assert given.units == (pairs > 1).sum()
    assert abs(alpha(given)) < 0.1
