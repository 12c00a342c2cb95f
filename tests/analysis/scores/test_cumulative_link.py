"""The cumulative link model: against statsmodels, and against answers drawn from known values."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import special
from statsmodels.miscmodels.ordinal_model import OrderedModel

from analysis.scores import cumulative_link
from analysis.scores.cumulative_link import OrderedAnswers, fit

SCORES = np.array([-1.0, 0.0, 0.5, 1.2])
THRESHOLDS = np.array([-1.5, 0.0, 1.0, 2.0])


def draw(
    seed: int, answers: int, raters: int, severity: float
) -> tuple[OrderedAnswers, np.ndarray]:
    """Draw answers of 1 to 5 by raters of different severity."""
    chance = np.random.default_rng(seed)
    system = chance.integers(0, len(SCORES), answers)
    rater = np.arange(answers) % raters
    bias = chance.normal(0, severity, raters)
    felt = chance.logistic(size=answers) + SCORES[system] + bias[rater]
    values = (felt[:, None] > THRESHOLDS).sum(axis=1)
    return OrderedAnswers(values, 5, system, len(SCORES), {"rater": rater}), bias


def test_without_effects_it_is_the_model_of_statsmodels() -> None:
    answers, _ = draw(1, 900, 30, 0.0)
    found = fit(OrderedAnswers(answers.values, 5, answers.system, 4, {}))
    dummies = pd.get_dummies(answers.system, drop_first=True).astype(float)
    other = OrderedModel(answers.values, dummies, distr="logit").fit(method="bfgs", disp=0)
    apart = found.scores.mean[1:] - found.scores.mean[0]
    assert apart == pytest.approx(np.asarray(other.params[:3]), rel=3e-3)  # their prior is flat
    covariance = found.scores.covariance
    for k in (1, 2, 3):
        variance = covariance[0, 0] + covariance[k, k] - 2 * covariance[0, k]
        assert np.sqrt(variance) == pytest.approx(other.bse.iloc[k - 1], rel=3e-3)
    assert np.diff(found.thresholds) == pytest.approx(np.exp(other.params[4:7]), rel=3e-3)


def test_it_finds_scores_severities_and_their_spread() -> None:
    answers, bias = draw(2, 2400, 80, 1.0)
    found = fit(answers)
    mean = found.scores.mean
    assert mean - mean.mean() == pytest.approx(SCORES - SCORES.mean(), abs=0.25)
    assert found.sds["rater"] == pytest.approx(1.0, abs=0.25)
    assert np.corrcoef(found.effects["rater"], bias)[0, 1] > 0.9
    assert np.diff(found.thresholds) == pytest.approx(np.diff(THRESHOLDS), abs=0.25)


def test_yes_and_no_are_a_logistic_regression() -> None:
    """One system, no effects: the score is the log-odds, but for a prior as weak as it is."""
    values = np.repeat([0, 1], [30, 70])
    found = fit(OrderedAnswers(values, 2, np.zeros(100, dtype=int), 1, {}))
    assert found.scores.mean[0] == pytest.approx(special.logit(0.7), abs=2e-3)
    assert found.shares_above(float(found.scores.mean[0]))[0][0] == pytest.approx(0.7, abs=1e-3)
    assert found.scores.sd[0] == pytest.approx(1 / np.sqrt(100 * 0.21), rel=2e-3)


def test_a_system_that_always_gets_yes_keeps_a_finite_score() -> None:
    values = np.array([1] * 20 + [0, 1] * 10)
    system = np.repeat([0, 1], 20)
    found = fit(OrderedAnswers(values, 2, system, 2, {}))
    assert 2 < found.scores.mean[0] < 10
    assert found.scores.sd[0] > found.scores.sd[1]


def test_many_answers_get_the_spread_from_some_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    answers, _ = draw(4, 4000, 200, 0.8)
    whole = fit(answers)
    monkeypatch.setattr(cumulative_link, "MOST_FOR_SDS", 2000)
    part = fit(answers)
    assert part.sds["rater"] != whole.sds["rater"]
    assert part.sds["rater"] == pytest.approx(whole.sds["rater"], abs=0.2)
    assert part.scores.mean == pytest.approx(whole.scores.mean, abs=0.1)


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """20 campaigns: the gap between two systems lies within 1.96 SD in 16 at least."""
    held = 0
    for seed in range(20):
        found = fit(draw(100 + seed, 240, 24, 0.8)[0]).scores
        gap = found.mean[3] - found.mean[0]
        variance = found.covariance[0, 0] + found.covariance[3, 3] - 2 * found.covariance[0, 3]
        held += abs(gap - (SCORES[3] - SCORES[0])) < 1.96 * np.sqrt(variance)
    assert held >= 16


def _nested(levels: int) -> cumulative_link._Model:
    """Return a model of raters, items, and conversations of five items each."""
    chance = np.random.default_rng(levels)
    item, rater = chance.integers(150, size=700), chance.integers(20, size=700)
    effects = {"rater": rater, "item": item, "conversation": item // 5}
    values = chance.integers(levels, size=700)
    return cumulative_link._Model(OrderedAnswers(values, levels, item // 5 % 4, 4, effects))


@pytest.mark.parametrize("levels", [2, 5])
def test_raters_may_be_left_for_last_as_items_are_within_conversations(
    levels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = _nested(levels).answers
    monkeypatch.setattr(cumulative_link, "MOST_FOR_SDS", 500)
    expected = fit(answers)
    monkeypatch.setattr(cumulative_link, "DENSE", 0)
    last = cumulative_link._Model(answers, is_whole=False)
    assert last.has_last
    assert last.sizes[-1] == 20
    found = fit(answers)
    assert found.joint == pytest.approx(expected.joint, abs=1e-7)
    assert found.scores.mean == pytest.approx(expected.scores.mean, abs=1e-7)


@pytest.mark.parametrize("levels", [2, 5])
@pytest.mark.parametrize("most", [1500, 0], ids=["of the inverse", "by differences"])
def test_the_slope_is_how_much_the_deviance_rises(
    levels: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cumulative_link, "TOLERANCE", 1e-13)
    monkeypatch.setattr(cumulative_link, "MOST_DENSE", most)
    model, logs, step = _nested(levels), np.array([-0.3, 0.2, -0.9]), 1e-4
    slope = model.deviance(np.exp(logs))[1]
    rises = [
        model.deviance(np.exp(logs + move))[0] - model.deviance(np.exp(logs - move))[0]
        for move in step * np.eye(3)
    ]
    # Differences are taken ahead only, over .001, where the deviance bends by some ten.
    rel, near = (1e-4, 1e-6) if most else (1e-3, 0.1)
    assert slope == pytest.approx(np.array(rises) / (2 * step), rel=rel, abs=near)


def test_the_spreads_are_found_in_few_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search without slopes looked 40 to 160 times, and found less."""
    looks = []
    whole = cumulative_link._Model.deviance

    def counted(model: cumulative_link._Model, sds: np.ndarray) -> tuple[float, np.ndarray]:
        looks.append(sds)
        return whole(model, sds)

    monkeypatch.setattr(cumulative_link._Model, "deviance", counted)
    answers, _ = draw(2, 3000, 60, 0.8)
    found = fit(answers)
    assert len(looks) <= 10
    best = whole(cumulative_link._Model(answers), np.array([found.sds["rater"]]))
    assert abs(best[1][0]) < 0.05


@pytest.mark.parametrize("severity", [0.0, 0.1, 0.2, 0.4, 1.5])
@pytest.mark.parametrize("seed", range(3))
def test_no_other_spread_fits_better_least_of_all_none(severity: float, seed: int) -> None:
    """At nothing the deviance is level whatever the answers, and a search must not end there."""
    answers, _ = draw(seed, 400, 40, severity)
    model = cumulative_link._Model(answers)
    found = model.deviance(np.array([fit(answers).sds["rater"]]))[0]
    spreads = [0.001, 0.01, *np.arange(0.05, 3, 0.05)]
    others = [model.deviance(np.array([spread]))[0] for spread in spreads]
    assert found <= min(others) + 1e-3


@pytest.mark.parametrize("far", [-1e4, 1e4])
def test_a_step_too_far_is_not_taken_and_warns_nobody(far: float) -> None:
    answers, _ = draw(3, 60, 6, 1.0)
    model = cumulative_link._Model(answers)
    at = model.start.copy()
    at[: model.starts[1]] = far  # the scores alone
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not model._point(at, np.ones_like(at)).height > -1e6
