"""The slope of clustered pairs, by the whole matrices that the formulas are about."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg
from statsmodels.api import OLS, add_constant

from analysis.stats.clustering import slope_t

SEED = 4


def test_the_slope_is_cr2_with_bell_and_mccaffrey_s_degrees_of_freedom() -> None:
    rng = np.random.default_rng(SEED)
    by = np.repeat(np.arange(7), [1, 2, 3, 4, 2, 3, 5])
    x, y = rng.normal(size=(2, len(by))) + rng.normal(size=(2, 7))[:, by]
    design = np.column_stack([np.ones_like(x), x])
    inverse = np.linalg.inv(design.T @ design)
    left = np.eye(len(x)) - design @ inverse @ design.T
    gaps, columns, variance = left @ y, [], 0.0
    for k in range(7):
        own = by == k
        raised = linalg.fractional_matrix_power(left[np.ix_(own, own)], -0.5)
        weight = raised @ design[own] @ inverse[:, 1]
        variance += float(weight @ gaps[own]) ** 2
        columns.append(left[:, own] @ weight)
    crossed = np.array(columns) @ np.array(columns).T
    slope = float(OLS(y, add_constant(x)).fit().params[1])
    t, df = slope_t(x, y, by)
    assert t == pytest.approx(slope / np.sqrt(variance))
    assert df == pytest.approx(np.trace(crossed) ** 2 / (crossed**2).sum())


def test_pairs_of_their_own_are_hc2() -> None:
    x, noise = np.random.default_rng(SEED).normal(size=(2, 30))
    y = x + noise
    known = OLS(y, add_constant(x)).fit(cov_type="HC2").tvalues[1]
    assert slope_t(x, y, np.arange(30))[0] == pytest.approx(known)
