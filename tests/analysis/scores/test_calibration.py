"""The sampler against integration on a grid, which has no error of sampling."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

from analysis import RatingTable
from analysis.scores import calibration
from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.scores.severity import flat_scores, sums
from tests.analysis.examples import triples

EXAMPLE = [(0, 0, 3), (0, 1, 2), (0, 2, 2), (1, 1, 1), (1, 2, 0), (0, 1, 3), (1, 2, 1)]
ONE_RATER = [(0, 0, 3), (1, 0, 0), (0, 0, 3)]
EXTREME = [(0, 0, 5), (0, 1, 5), (1, 0, 5), (1, 2, 4)]


def _asked(table: RatingTable) -> QuestionRatings:
    return next(questions(table, "ordinal"))


def _on_a_grid(asked: QuestionRatings) -> tuple[list[float], list[float], float]:
    """Return means, SDs and P(first > second) of two systems, by integration."""
    flat, (low, high) = flat_scores(sums(asked)), asked.ends
    axis = np.linspace(low - 6, high + 6, 1501)
    a, b = np.meshgrid(axis, axis, indexing="ij")
    precision = np.linalg.inv(flat.covariance)
    x, y = a - flat.mean[0], b - flat.mean[1]
    density = np.exp(
        -0.5 * (precision[0, 0] * x * x + precision[1, 1] * y * y) - precision[0, 1] * x * y
    )
    for score in (a, b):
        density *= ndtr(score - low) - ndtr(score - high)
    density /= density.sum()
    means = [float((density * score).sum()) for score in (a, b)]
    squares = [float((density * score**2).sum()) for score in (a, b)]
    sds = [float(np.sqrt(s - m * m)) for s, m in zip(squares, means, strict=True)]
    return means, sds, float(density[a > b].sum() + density[a == b].sum() / 2)


@pytest.mark.parametrize("given", [EXAMPLE, ONE_RATER, EXTREME])
@pytest.mark.parametrize(("low", "high"), [(0, 5), (-20, 20)])
def test_the_posterior_is_that_of_a_grid(
    given: list[tuple[float, float, float]], low: int, high: int
) -> None:
    asked = _asked(triples(given, scale_low=low, scale_high=high))
    means, sds, wins = _on_a_grid(asked)
    found = calibration.posterior(asked, seed=0)
    assert found.mean == pytest.approx(means, abs=0.01)
    assert found.sd == pytest.approx(sds, abs=0.01)
    assert found.wins[0, 1] == pytest.approx(wins, abs=0.004)


def test_the_seed_decides() -> None:
    asked = _asked(triples(EXAMPLE, scale_low=0, scale_high=3))
    first, second, other = (calibration.posterior(asked, seed=s).mean[0] for s in (1, 1, 2))
    assert first == second
    assert first != other


def test_a_scale_far_from_unit_variance_is_noted() -> None:
    wide = [(i, j, 20 * s + 7 * ((i + j) % 3)) for i, j, s in EXAMPLE]
    note = calibration.unit_variance_note(_asked(triples(wide)))
    assert note is not None
    assert "calibrated_score_learned" in note
    assert calibration.unit_variance_note(_asked(triples(EXAMPLE))) is None
