"""The coefficients against independent packages, on 200 random tables with gaps each.

krippendorff, irrCAC, statsmodels, scikit-learn and pingouin; equal to 1e-9, irrCAC to what it
rounds to (we ask for 12 digits), the ends of pingouin's intervals to its 2 decimals.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import krippendorff
import numpy as np
import pandas as pd
import pytest
from scipy import special
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa

from analysis import ballots, cohen, icc, kappas, votes
from analysis.alpha import alpha
from tests.analysis.tables_with_gaps import TABLES, complete, gappy

EXACT = 1e-9
# The packages that take long are asked about all tables only with script/test --full.
SOME = pytest.mark.parametrize("tables", [15, pytest.param(TABLES, marks=pytest.mark.slow)])


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_alpha_is_that_of_krippendorff(level: votes.Scale) -> None:
    for table in gappy():
        expected = krippendorff.alpha(table, level_of_measurement=level)
        assert alpha(votes.of_matrix(table, level)) == pytest.approx(expected, abs=1e-12)


def _cac(table: np.ndarray, weights: str) -> Any:
    # With pandas 3 irrCAC takes a gap for a category of its own, unless told which there are.
    from irrCAC.raw import CAC

    categories = [float(value) for value in np.unique(table[~np.isnan(table)])]
    return CAC(pd.DataFrame(table.T), weights=weights, categories=categories, digits=12)


STATISTICS: dict[str, Callable[..., Any]] = {
    "gwet": kappas.gwet,
    "fleiss": kappas.fleiss,
    "bp": kappas.brennan_prediger,
}


@SOME
@pytest.mark.parametrize("kind", ["identity", "linear", "quadratic", "ordinal"])
def test_coefficients_are_those_of_irrcac(kind: kappas.Weights, tables: int) -> None:
    for table in gappy(tables):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            package = _cac(table, kind)
            expected = {
                name: float(getattr(package, name)()["est"]["coefficient_value"])
                for name in (*STATISTICS, "conger")
            }
        given = votes.of_matrix(table, "ordinal")
        for name, statistic in STATISTICS.items():
            ours = kappas.estimate(given, partial(statistic, kind=kind))
            assert ours == pytest.approx(expected[name], abs=EXACT), name
        ours = ballots.conger(ballots.of_matrix(table), kind)
        assert ours == pytest.approx(expected["conger"], abs=EXACT)


def test_fleiss_is_that_of_statsmodels() -> None:
    compared = 0
    for table in gappy(raters=(3, 7)):
        rated = complete(table)
        if rated.shape[1] < 2 or len(np.unique(rated)) < 2:
            continue
        counts, values = aggregate_raters(rated.T)
        given = votes.of_counts(counts, np.asarray(values, dtype=float), "nominal")
        ours = kappas.estimate(given, kappas.fleiss)
        assert ours == pytest.approx(fleiss_kappa(counts), abs=EXACT)
        compared += 1
    assert compared > 100


def _two(table: np.ndarray) -> tuple[np.ndarray, list[float]]:
    """Return what both first raters judged, and all numbers from the lowest to the highest."""
    both = complete(table[:2])
    values = np.unique(table[:2][~np.isnan(table[:2])])
    return both, [float(value) for value in values]


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_cohen_is_that_of_scikit_learn(weights: str | None) -> None:
    kind: Any = weights or "identity"
    compared = 0
    for table in gappy():
        both, values = _two(table)
        evenly = len(values) > 1 and bool((np.diff(values) == 1).all())
        if both.shape[1] < 2 or len(np.unique(both)) < 2 or not evenly:
            continue
        expected = cohen_kappa_score(*both, weights=weights, labels=values)
        found = cohen.cohen(ballots.of_matrix(table[:2]), kind)
        assert found.estimate == pytest.approx(expected, abs=EXACT)
        compared += 1
    assert compared > 100


@pytest.mark.parametrize("kind", ["identity", "linear", "quadratic"])
def test_cohen_and_its_error_are_those_of_statsmodels(kind: Any) -> None:
    compared = 0
    for table in gappy():
        both, values = _two(table)
        if both.shape[1] < 3 or len(np.unique(both)) < 2:
            continue
        cross = np.array(
            [[((both[0] == a) & (both[1] == b)).sum() for b in values] for a in values]
        )
        plain = kind == "identity"
        # It divides by its error under no agreement, which is 0 where a rater said one thing only.
        with np.errstate(invalid="ignore", divide="ignore"):
            weights = None if plain else np.array(values)
            expected = cohens_kappa(cross, weights=weights, wt=None if plain else kind)
        found = cohen.cohen(ballots.of_matrix(table[:2]), kind)
        assert found.estimate == pytest.approx(expected.kappa, abs=EXACT)
        error = (found.estimate - found.interval.low) / special.stdtrit(both.shape[1] - 1, 0.975)
        # It takes the root of a variance of 0 that rounding may have made negative.
        assert error == pytest.approx(np.nan_to_num(expected.std_kappa), abs=1e-7)
        compared += 1
    assert compared > 100


@SOME
def test_icc_is_that_of_pingouin(tables: int) -> None:
    import pingouin

    rng = np.random.default_rng(1979)
    compared = 0
    while compared < tables:
        raters, items = int(rng.integers(2, 6)), int(rng.integers(5, 30))
        noise = rng.normal(size=(items, raters))
        table = rng.normal(size=(items, 1)) * 2 + rng.normal(size=raters) + noise
        table[rng.random(table.shape) < 0.08] = np.nan
        kept = table[~np.isnan(table).any(axis=1)]
        if len(kept) < 3:
            continue
        rows = pd.DataFrame(table).reset_index().melt(id_vars="index", var_name="rater")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = pingouin.intraclass_corr(
                rows, targets="index", raters="rater", ratings="value", nan_policy="omit"
            )
        # The package leaves out items with a gap, also where the one-way forms need not.
        ours = {found.form: found for found in icc.of_matrix(kept)}
        with_gaps = {found.form: found for found in icc.of_matrix(table)}
        for form, row in zip(icc.FORMS, expected.to_dict("records"), strict=True):
            assert ours[form].estimate == pytest.approx(row["ICC"], abs=EXACT)
            assert ours[form].interval == pytest.approx(tuple(row["CI95"]), abs=0.00501)
            if form[0] != "1":
                assert with_gaps[form].estimate == pytest.approx(row["ICC"], abs=EXACT)
        compared += 1
