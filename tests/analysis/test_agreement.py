"""The coefficients of many resamples at once against the krippendorff package, one by one."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest

from analysis import agreement
from analysis.groups import questions
from analysis.tables import Level
from tests.analysis.examples import by_raters


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize("seed", range(5))
def test_alphas_of_resamples_are_the_packages(level: Level, seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = rng.integers(1, 6, size=(4, 25)).astype(float)
    data[rng.random(data.shape) < 0.3] = np.nan
    rows = [[None if np.isnan(cell) else cell for cell in row] for row in data]
    votes = next(agreement.parts(next(questions(by_raters(rows, level), level))))[1]
    drawn = rng.multinomial(votes.units, np.full(votes.units, 1 / votes.units), size=6)
    found = agreement.alphas(votes, drawn.astype(float))
    for weights, alpha in zip(drawn, found, strict=True):
        counts = np.repeat(votes.counts, weights, axis=0).astype(int)
        given = counts.sum(axis=0) > 0
        expected = krippendorff.alpha(
            value_counts=counts[:, given],
            value_domain=votes.values[given],
            level_of_measurement=level,
        )
        assert alpha == pytest.approx(expected, abs=1e-10)


def test_a_resample_of_one_category_is_undefined() -> None:
    votes = next(
        agreement.parts(next(questions(by_raters([[1, 2], [1, 1]], "nominal"), "nominal")))
    )
    one_category = votes[1].counts[:, 0] == 2
    assert np.isnan(agreement.alphas(votes[1], one_category[None, :].astype(float)))[0]
