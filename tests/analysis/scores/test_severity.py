"""The linear model against the same model written out with full matrices."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.scores.question_ratings import questions
from analysis.scores.severity import fit, flat_scores, sums
from tests.analysis.examples import triples


def _simulated(seed: int, severity: float, residual: float) -> list[tuple[float, float, float]]:
    rng = np.random.default_rng(seed)
    biases = rng.normal(0, severity, 150)
    return [
        (i, j, 10.0 + i + bias + rng.normal(0, residual))
        for j, bias in enumerate(biases)
        for i in rng.choice(4, 3, replace=False)
    ]


def test_flat_scores_are_generalized_least_squares() -> None:
    given = _simulated(1, 2.0, 1.5)[:40]
    found_sums = sums(next(questions(triples(given), "ordinal")))
    found = flat_scores(found_sums, severity=2.0, residual=1.5)
    systems, raters, scores = (np.array(part) for part in zip(*given, strict=True))
    names = [float(name[1:]) for name in found_sums.systems]
    x = (systems[:, None] == np.array(names)).astype(float)
    v = 4.0 * (raters[:, None] == raters[None, :]) + 2.25 * np.eye(len(scores))
    covariance = np.linalg.inv(x.T @ np.linalg.solve(v, x))
    assert found.mean == pytest.approx(covariance @ x.T @ np.linalg.solve(v, scores))
    assert found.covariance == pytest.approx(covariance)


def test_known_variances_and_scores_are_recovered() -> None:
    given = _simulated(2, 3.0, 1.5)
    found = fit(sums(next(questions(triples(given), "ordinal"))))
    assert found is not None
    assert found.severity == pytest.approx(3.0, abs=0.4)
    assert found.residual == pytest.approx(1.5, abs=0.12)
    assert np.diff(found.scores.mean) == pytest.approx([1, 1, 1], abs=0.5)
    assert found.separable


def test_without_severity_scores_are_means() -> None:
    rng = np.random.default_rng(5)
    given = [(i, k, 1.0 * i + rng.normal()) for i in range(2) for k in range(i * 30, i * 30 + 30)]
    asked = next(questions(triples(given), "ordinal"))
    found = fit(sums(asked))
    assert found is not None
    assert not found.separable
    assert found.severity == 0.0
    assert found.scores.mean == pytest.approx(sums(asked).raw)


def test_no_residual_means_no_fit() -> None:
    same = [(0, 0, 3), (0, 1, 3), (1, 0, 3), (1, 1, 3)]
    assert fit(sums(next(questions(triples(same), "ordinal")))) is None
    alone = [(0, 0, 3), (1, 1, 4)]
    assert fit(sums(next(questions(triples(alone), "ordinal")))) is None
