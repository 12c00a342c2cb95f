"""Coefficients corrected for chance: weights, gaps, and where none is defined."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.raters import kappas
from tests.analysis.matrices import votes_of, votes_of_counts


def test_weights_of_gwet() -> None:
    values = np.array([1.0, 2.0, 3.0, 4.0])
    ordinal = kappas.agreement_weights(values, "ordinal")
    # 1 - C(|k - l| + 1, 2) / C(4, 2)
    assert ordinal[0] == pytest.approx([1, 5 / 6, 3 / 6, 0])
    assert kappas.agreement_weights(values, "linear")[0] == pytest.approx([1, 2 / 3, 1 / 3, 0])
    assert kappas.agreement_weights(values, "quadratic")[1] == pytest.approx(
        [8 / 9, 1, 8 / 9, 5 / 9]
    )
    assert (kappas.agreement_weights(values, "identity") == np.eye(4)).all()
    assert kappas.agreement_weights(np.array([2.0]), "quadratic") == 1


def test_what_alpha_counts_serves_the_shares_of_units_with_equally_many_votes() -> None:
    table = np.random.default_rng(0).integers(1, 5, size=(3, 40)).astype(float)
    given = votes_of(table, "interval")
    drawn = (
        np.random.default_rng(1)
        .multinomial(40, np.full(40, 1 / 40), size=(2, 6))[..., : len(given.times)]
        .astype(float)
    )
    for resamples in (*drawn, drawn[0]):
        frequencies = resamples @ given.counts.toarray()
        assert given.frequencies(resamples) == pytest.approx(frequencies)
        lone = np.zeros((len(resamples), len(given.lone)))
        whole = np.hstack([resamples, lone])
        shares = resamples @ given.unit_shares.toarray() / resamples.sum(axis=1)[:, None]
        observed = kappas.percents(given, resamples)
        expected = (shares * (1 - shares)).sum(axis=1) / (shares.shape[1] - 1)
        found = (observed - expected) / (1 - expected)
        assert kappas.gwet(given, whole) == pytest.approx(found, abs=1e-12)


def test_ac1_stays_where_kappa_falls() -> None:
    """The paradox of Feinstein & Cicchetti 1990: much agreement, one category common."""
    table = np.ones((2, 50))
    table[0, :2] = table[1, 2:4] = 0
    given = votes_of(table, "nominal")
    assert kappas.estimate(given, kappas.percents) == pytest.approx(0.92)
    assert kappas.estimate(given, kappas.fleiss) < 0
    assert kappas.estimate(given, kappas.gwet) > 0.9


def test_a_category_that_nobody_used_counts_for_ac1() -> None:
    one = votes_of_counts([[2, 0], [2, 0]], [0.0, 1.0], "nominal")
    assert kappas.no_chance(one) is None
    assert kappas.estimate(one, kappas.gwet) == 1
    assert np.isnan(kappas.estimate(one, kappas.fleiss))
    assert "only one category" in str(kappas.no_chance(votes_of_counts([[2]], [0.0], "nominal")))
    nobody = votes_of([[1.0, np.nan], [np.nan, 2.0]], "nominal")
    assert "no item was rated by two" in str(kappas.no_chance(nobody))


def test_lone_votes_count_in_the_shares() -> None:
    without = votes_of([[1, 2], [1, 1]], "nominal")
    lone = votes_of([[1.0, 2.0, 2.0, 2.0], [1.0, 1.0, np.nan, np.nan]], "nominal")
    assert kappas.estimate(without, kappas.percents) == kappas.estimate(lone, kappas.percents)
    # Shares 3/4 and 1/4 without, (1 + .5) / 4 and (.5 + 2) / 4 with them.
    assert kappas.estimate(without, kappas.fleiss) == pytest.approx((0.5 - 0.625) / 0.375)
    chance = 0.375**2 + 0.625**2
    assert kappas.estimate(lone, kappas.fleiss) == pytest.approx((0.5 - chance) / (1 - chance))


def test_too_many_categories_are_told() -> None:
    table = np.arange(2.0 * 1001).reshape(2, -1)
    assert "2002 different values" in str(kappas.too_many(votes_of(table, "interval")))
    assert kappas.too_many(votes_of([[1, 2]], "interval")) is None
