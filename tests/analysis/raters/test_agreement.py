"""Rows of a coefficient, and resamples of items drawn pattern by pattern."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import krippendorff
import numpy as np
import pytest

from analysis.raters import agreement, kappas
from analysis.raters.alpha import alphas
from analysis.raters.votes import Votes, of_codes
from analysis.scores.integer_codes import Scale
from analysis.scores.question_ratings import questions
from analysis.stats.intervals import percentile_interval
from tests.analysis.examples import ratings
from tests.analysis.matrices import votes_of
from tests.analysis.tables_with_gaps import gappy


def _resampled_by_the_package(table: np.ndarray, draws: int) -> np.ndarray:
    rng = np.random.default_rng(7)
    rated = table[:, (~np.isnan(table)).sum(axis=0) > 1]
    columns = rated.shape[1]
    drawn = (rated[:, rng.integers(columns, size=columns)] for _ in range(draws))
    return np.array([krippendorff.alpha(each, level_of_measurement="interval") for each in drawn])


def test_drawing_patterns_is_drawing_items() -> None:
    table = next(table for table in gappy(40, raters=(4, 6)) if table.shape[1] > 30)
    table = np.concatenate([table] * 4, axis=1)
    given = votes_of(table, "interval")
    ours = agreement.resamples(given, alphas, seed=1, draws=2000)
    theirs = _resampled_by_the_package(table, 600)
    for share in (0.025, 0.25, 0.5, 0.75, 0.975):
        # The error of a quantile of 600 draws is below a sixth of their SD, but at the ends.
        assert np.quantile(ours, share) == pytest.approx(
            np.quantile(theirs, share), abs=0.25 * theirs.std()
        )


def test_few_alike_are_drawn_one_by_one_to_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    table = next(gappy(1, raters=(5, 6)))
    given = votes_of(table, "ordinal")
    monkeypatch.setattr(agreement, "ALIKE", 1e-9)
    usual = agreement.resamples(given, alphas, seed=1, draws=3000)
    monkeypatch.setattr(agreement, "ALIKE", 1e9)
    one_by_one = agreement.resamples(replace(given), alphas, seed=1, draws=3000)
    assert np.quantile(one_by_one, 0.1) == pytest.approx(np.quantile(usual, 0.1), abs=0.05)
    assert not np.array_equal(one_by_one, usual)


@pytest.mark.parametrize(("scale", "points"), [("ordinal", 5), ("nominal", 3), ("interval", 101)])
@pytest.mark.parametrize("statistic", [alphas, kappas.percents])
def test_of_many_items_the_jackknife_is_the_bootstrap(
    scale: Scale, points: int, statistic: agreement.Statistic, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = np.random.default_rng(0)
    unit = np.repeat(np.arange(3000), 3)
    felt = chance.normal(size=3000)[unit] + chance.normal(size=len(unit))
    code = np.clip(np.round((felt / 6 + 0.5) * (points - 1)), 0, points - 1).astype(int)
    given = of_codes(unit, code, np.arange(float(points)), scale)
    straight = agreement.interval(given, statistic, seed=1)
    monkeypatch.setattr(agreement, "SKEWED", -1.0)
    usual = agreement.interval(given, statistic, seed=1)
    sd = (usual.high - usual.low) / 3.92
    assert straight != usual
    assert straight == pytest.approx(usual, abs=0.25 * sd)


@pytest.mark.slow
@pytest.mark.parametrize(("scale", "points"), [("ordinal", 5), ("nominal", 3), ("interval", 101)])
@pytest.mark.parametrize("items", [agreement.FEW + 1, 500])
def test_the_jackknife_covers_what_all_items_of_the_kind_would_tell(
    scale: Scale, points: int, items: int
) -> None:
    def drawn(chance: np.random.Generator, count: int) -> Votes:
        unit = np.repeat(np.arange(count), 3)
        felt = chance.normal(size=count)[unit] + chance.normal(size=len(unit))
        code = np.clip(np.round((felt / 6 + 0.5) * (points - 1)), 0, points - 1).astype(int)
        return of_codes(unit, code, np.arange(float(points)), scale)

    truth = kappas.estimate(drawn(np.random.default_rng(9), 400_000), alphas)
    chance = np.random.default_rng(1)
    found = [agreement.interval(drawn(chance, items), alphas, seed=1) for _ in range(1000)]
    assert 0.93 <= np.mean([each.low <= truth <= each.high for each in found]) <= 0.97


def test_where_few_of_many_items_tell_the_most_they_are_drawn() -> None:
    unit = np.repeat(np.arange(2000), 2)
    code = np.zeros(len(unit), dtype=int)
    code[:3] = 1  # two items, of which one is of one mind
    given = of_codes(unit, code, np.arange(2.0), "nominal")
    found = agreement.interval(given, alphas, seed=1)
    assert found == percentile_interval(agreement.resamples(given, alphas, seed=1), 2000)


def test_a_large_table_has_fewer_resamples() -> None:
    assert agreement.affordable(10, 2000) == 2000
    assert agreement.affordable(10**6, 2000) == 200
    assert agreement.affordable(10**9, 2000) == 200


def test_parts_are_systems_and_all_of_them_where_something_is_shared() -> None:
    rows: list[dict[str, object]] = [
        {"value": k, "item": "i", "system": system, "rater": f"r{k}"}
        for system in ("a", "b")
        for k in range(2)
    ]
    asked = next(questions(ratings(rows), "ordinal"))
    assert [name for name, _ in agreement.parts(asked)] == ["a", "b", "(all)"]
    alone = next(questions(ratings([{"value": 1}, {"value": 2, "system": "b"}]), "ordinal"))
    assert [name for name, _ in agreement.parts(alone)] == ["(all)"]


def test_a_row_has_a_number_or_a_reason() -> None:
    asked = questions(ratings([{"value": 1, "item": "i"}, {"value": 2, "item": "i"}]), "ordinal")
    (row,) = agreement.rows(asked, lambda given: kappas.percents, seed=0)
    assert (row["estimate"], row["low"], row["n"], row["reason"]) == (0, 0, 1, None)
    asked = questions(ratings([{"value": 1}]), "ordinal")
    (row,) = agreement.rows(asked, lambda given: "no", seed=0)
    assert row["reason"] == "no"
    assert "estimate" not in row


def test_resamples_that_are_not_kept_are_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    table = next(gappy(1, raters=(5, 6)))
    kept = votes_of(table, "interval")
    gwet = partial(kappas.gwet, kind="quadratic")
    statistics: list[agreement.Statistic] = [alphas, kappas.percents, gwet]
    expected = [agreement.resamples(kept, each, seed=1, draws=50) for each in statistics]
    monkeypatch.setattr(agreement, "KEPT", 0)
    passes = []
    drawn = agreement._drawn

    def counted(*given: Any) -> Any:
        passes.append(given)
        return drawn(*given)

    monkeypatch.setattr(agreement, "_drawn", counted)
    again = votes_of(table, "interval")
    for each, values in zip(statistics, expected, strict=True):
        assert np.array_equal(agreement.resamples(again, each, seed=1, draws=50), values)
    assert len(passes) == 1


def test_groups_that_are_left_out_are_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where patterns are many; each coefficient is what it is alone."""
    table = next(gappy(1, raters=(5, 6)))
    statistics: list[agreement.Statistic] = [
        alphas,
        kappas.percents,
        partial(kappas.gwet, kind="quadratic"),
    ]
    monkeypatch.setattr(agreement, "GROUPS", 3)
    sample = votes_of(table, "interval")
    assert len(sample.times) > agreement.GROUPS
    for each in statistics:
        alone = votes_of(table, "interval")
        parts = [each(alone, rest) for rest, *_ in agreement._without(alone, 1)]
        assert np.array_equal(agreement._left_out(sample, each, 1)[0], np.concatenate(parts))
    passes = []
    monkeypatch.setattr(agreement, "_without", lambda *given: passes.append(given))
    for each in statistics:
        agreement._left_out(sample, each, 1)
    assert not passes
