"""The crossed model: against statsmodels, exact tests, refits; moments against the likelihood."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from analysis.scores import crossed
from analysis.scores.crossed import CrossedDesign, CrossedFit
from analysis.scores.incidence import Incidence, distinct, incidence, together
from analysis.stats.intervals import Floats
from tests.benchmarks.crossed import oracle


def _static(raters: int, votes: int, seed: int) -> tuple[Incidence, Floats]:
    """Return 4 systems x 12 items, `votes` of the raters an item, with tastes."""
    chance = np.random.default_rng(seed)
    item = np.repeat(np.arange(48), votes)
    system = item // 12
    rater = np.concatenate([chance.choice(raters, votes, False) for _ in range(48)])
    value = chance.normal(0, 0.7, raters)[rater] + chance.normal(0, 0.6, 48)[item]
    value += chance.normal(0, 0.5, (raters, 4))[rater, system] + chance.normal(0, 0.8, len(item))
    effects = {"rater": rater, "item": item, "taste": together(rater, system)}
    return incidence(system, effects), np.round(3 + value, 1)


@pytest.mark.parametrize(("raters", "votes"), [(4, 4), (9, 3)], ids=["all rate all", "a pool"])
def test_it_is_the_crossed_model_of_statsmodels(raters: int, votes: int) -> None:
    of, values = _static(raters, votes, seed=3)
    mine = _fitted(of, values)
    variances, mean, covariance = oracle(of, values)
    assert mine.variances == pytest.approx(variances, abs=1e-4)
    assert mine.mean == pytest.approx(mean, abs=1e-4)
    # Its covariance is the inverse of a Hessian that is a little off at its optimum.
    assert mine.covariance == pytest.approx(covariance, rel=5e-3)


def test_errors_of_moments_are_those_of_ratings_drawn_with_the_variances(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    of, _ = _static(9, 3, seed=3)
    monkeypatch.setattr(crossed, "MOST", 0)
    design, variances, chance = CrossedDesign(of), np.array([0.6, 0.5, 0.4, 0.2]), []
    rng = np.random.default_rng(0)
    for _ in range(crossed.DRAWS):
        value = rng.normal(0, np.sqrt(variances[0]), of.ratings)
        for variance, codes in zip(variances[1:], of.effects.values(), strict=True):
            value += rng.normal(0, np.sqrt(variance), codes.max() + 1)[codes]
        chance.append(design._solved(value - (np.bincount(of.system, value) / of.n)[of.system]))
    assert design.expected(variances).errors == pytest.approx(np.cov(np.array(chance).T), rel=1e-9)


def test_errors_are_the_same_however_many_draws_are_made_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    of, values = _static(9, 3, seed=3)
    monkeypatch.setattr(crossed, "MOST", 0)
    whole = _fitted(of, values).errors
    monkeypatch.setattr(crossed, "TOGETHER", 7 * of.ratings)
    assert _fitted(of, values).errors == pytest.approx(whole, rel=1e-12)


def _fitted(of: Incidence, values: Floats) -> CrossedFit:
    found = CrossedDesign(of).fit(values)
    assert found is not None
    return found


@pytest.mark.parametrize("odd", [0.0, 1e-3, 0.5], ids=["exact", "nearly", "not"])
def test_ratings_that_raters_explain_to_the_last_have_no_error(odd: float) -> None:
    """A likelihood without an end is no estimate; a little of a residual is one."""
    rater, system = np.repeat(np.arange(3), 2), np.tile([0, 1], 3)
    value = rater + system + np.array([odd, 0, 0, 0, 0, odd])
    found = CrossedDesign(incidence(system, {"rater": rater})).fit(value)
    assert (found is None) == (odd == 0.0)


def test_a_balanced_panel_with_tastes_has_the_exact_test() -> None:
    """Two systems: the paired t test of raters' mean differences, df raters - 1."""
    chance = np.random.default_rng(5)
    rater, system = np.repeat(np.arange(6), 20), np.tile(np.repeat([0, 1], 10), 6)
    taste = chance.normal(0, 1, (6, 2))[rater, system]
    value = taste + chance.normal(0, 0.5, 120)
    of = incidence(system, {"rater": rater, "taste": together(rater, system)})
    found = _fitted(of, value)
    gaps = [value[(rater == r) & (system == 0)].mean() - value[(rater == r) & (system == 1)].mean()
            for r in range(6)]  # fmt: skip
    exact = stats.ttest_1samp(gaps, 0.0)
    pair = found.pair(0, 1)
    assert found.df(pair) == pytest.approx(5, rel=1e-3)
    assert (pair @ found.mean) / found.se(pair) == pytest.approx(exact.statistic, rel=1e-4)


def test_a_design_is_prepared_once_for_many_vectors() -> None:
    of, values = _static(9, 3, seed=1)
    design, chance = CrossedDesign(of), np.random.default_rng(2)
    for _ in range(3):
        again = design.fit(values)
        other = _fitted(of, values)
        assert again is not None
        assert again.mean == pytest.approx(other.mean)
        values = values + chance.normal(0, 0.3, len(values))


def test_moments_take_over_where_levels_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a balanced design both are the classical estimates of an analysis of variance."""
    chance = np.random.default_rng(7)
    rater, system = np.repeat(np.arange(40), 8), np.tile(np.arange(4), 80)
    taste = chance.normal(0, 0.6, (40, 4))[rater, system]
    value = chance.normal(0, 1, 40)[rater] + taste + chance.normal(0, 0.5, 320)
    of = incidence(system, {"rater": rater, "taste": together(rater, system)})
    monkeypatch.setattr(crossed, "MOST", sum(of.levels))
    exact = _fitted(of, value)
    monkeypatch.setattr(crossed, "MOST", sum(of.levels) - 1)
    quick = _fitted(of, value)
    assert (exact.is_likelihood, quick.is_likelihood) == (True, False)
    assert quick.variances == pytest.approx(exact.variances, rel=1e-3)
    assert quick.mean == pytest.approx(exact.mean)
    assert quick.se(quick.pair(0, 1)) == pytest.approx(exact.se(exact.pair(0, 1)), rel=1e-3)
    # 80 draws tell degrees of freedom to about a third.
    assert quick.df(quick.pair(0, 1)) == pytest.approx(exact.df(exact.pair(0, 1)), rel=0.35)


def test_what_cannot_be_told_apart_is_left_out() -> None:
    system = np.tile([0, 1], 10)
    once = np.arange(20)
    assert list(incidence(system, {"rater": once}).effects) == []
    pairs = np.repeat(np.arange(10), 2)
    both = incidence(system, {"rater": pairs, "item": pairs, "taste": together(pairs, system)})
    assert list(both.effects) == ["rater"]
    assert both.confounded == ()
    assert incidence(system, {"rater": system}).confounded == ("rater",)
    assert list(incidence(system, {"rater": system}).effects) == []


def test_nothing_that_varies_has_no_fit() -> None:
    of = incidence(np.tile([0, 1], 10), {"rater": np.repeat(np.arange(10), 2)})
    assert CrossedDesign(of).fit(np.tile([2.0, 4.0], 10)) is None
    assert CrossedDesign(of).fit(np.full(20, 3.0)) is None


def test_errors_of_all_pairs_at_once_are_those_of_each() -> None:
    of, values = _static(9, 3, seed=1)
    fit = _fitted(of, values)
    first, second = np.triu_indices(4, 1)
    errors, freedom = fit.of_pairs(first, second)
    each = [fit.pair(int(a), int(b)) for a, b in zip(first, second, strict=True)]
    assert errors == pytest.approx([fit.se(one) for one in each], rel=1e-12)
    assert freedom == pytest.approx([fit.df(one) for one in each], rel=1e-12)


@pytest.mark.parametrize("most", [9, 1000])
def test_codes_are_told_apart_alike_by_counting_and_by_sorting(most: int) -> None:
    codes = np.random.default_rng(0).integers(most, size=50)
    found, position = distinct(codes)
    assert found.tolist() == sorted(set(codes.tolist()))
    assert (found[position] == codes).all()
