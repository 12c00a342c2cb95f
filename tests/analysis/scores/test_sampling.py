"""NUTS on the published and the ordinal model: the closed forms it agrees with, and its gate."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("numpyro", reason="the sampler is an optional extra")

from analysis.__main__ import main
from analysis.scores import calibration, sampling
from analysis.scores.latent import latent
from analysis.scores.question_ratings import QuestionRatings, questions
from tests.analysis.examples import triples

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


def asked(answers: int = 240, raters: int = 24) -> QuestionRatings:
    chance = np.random.default_rng(4)
    bias = chance.normal(0, 0.7, raters)
    rows = []
    for k in range(answers):
        system, rater = k % 3, int(chance.integers(raters))
        felt = 2.5 + 0.5 * system + bias[rater] + chance.normal(0, 0.8)
        rows.append((system, rater, float(np.clip(round(felt), 1, 5))))
    return next(questions(triples(rows, scale_low=1, scale_high=5), "ordinal"))


@pytest.mark.slow
def test_the_published_model_agrees_with_gibbs() -> None:
    given = asked()
    found = sampling.sample(given, draws=1500, seed=1).frame.set_index("system")
    other = calibration.posterior(given, seed=1)
    for k, system in enumerate(other.sums.systems):
        assert found.loc[system, "mean"] == pytest.approx(other.mean[k], abs=0.03)
        assert found.loc[system, "sd"] == pytest.approx(other.sd[k], abs=0.02)
    assert (found["r_hat"] < 1.01).all()
    assert (found["ess"] > 400).all()


@pytest.mark.slow
def test_the_ordinal_model_agrees_with_laplace() -> None:
    given = asked()
    sampled = sampling.sample(given, model="ordinal", draws=700, seed=2)
    fitted = latent(given).fitted.scores
    for k in (0, 1):
        apart = sampled.draws[:, 2] - sampled.draws[:, k]
        variance = fitted.covariance[2, 2] + fitted.covariance[k, k] - 2 * fitted.covariance[2, k]
        assert apart.mean() == pytest.approx(fitted.mean[2] - fitted.mean[k], abs=0.1)
        assert apart.std() == pytest.approx(np.sqrt(variance), rel=0.1)


def chains(apart: float, draws: int) -> np.ndarray:
    """Return four chains [chain, draw, system], one of which is elsewhere."""
    drawn = np.random.default_rng(0).normal(size=(4, draws, 2))
    drawn[0] += apart
    return drawn


def test_what_has_not_converged_is_not_shown() -> None:
    assert sampling._checked(("a", "b"), chains(0.0, 500)).frame["ess"].min() > 1000
    for bad in (chains(1.0, 500), chains(0.0, 60)):
        with pytest.raises(sampling.Unconverged, match=r"right would be r-hat below 1.01"):
            sampling._checked(("a", "b"), bad)


def test_the_command_refuses_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "ratings.csv"
    asked().rows.to_csv(path, index=False)
    assert main(["sample", str(path), "--question", "charm"]) == 2
    assert "no such ordinal or interval question; there are: q" in capsys.readouterr().err
    assert main(["sample", str(tmp_path / "none.csv")]) == 2
    assert "none.csv" in capsys.readouterr().err


@pytest.mark.slow
def test_the_command_prints_what_converged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "ratings.csv"
    asked().rows.to_csv(path, index=False)
    assert main(["sample", str(path), "--draws", "1500"]) == 0
    said = capsys.readouterr().out
    assert "p, q (published model, NUTS):" in said
    assert said.index("m2") < said.index("m0")  # the better first
