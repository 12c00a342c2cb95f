"""Prediction-powered means: equal to the package, never wider than people alone, or refused."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.planning.prediction_powered import (
    JudgeRefused,
    PoweredMean,
    independent_mean,
    powered_mean,
)
from analysis.stats.intervals import Interval

K, OTHER = np.arange(40), np.arange(100)
RATED = (K * 7 % 5 + 1).astype(float)
SCORES = RATED * 0.6 + K * 11 % 7 * 0.3
OTHERS = (OTHER * 3 % 5 + 1) * 0.6 + OTHER * 5 % 7 * 0.3


@pytest.mark.parametrize(
    ("scores", "others", "power", "figures"),
    [
        (SCORES, OTHERS, None, (3.0151623399925693, 2.696666044337119, 3.33365863564802)),
        (SCORES, OTHERS, 1.0, (3.0195000000000007, 2.6913362131727374, 3.347663786827264)),
        (10 - SCORES, 10 - OTHERS, None, (3.0, 2.5617387297117094, 3.4382612702882906)),
    ],
)
def test_independent_ratings_have_the_interval_of_ppi_python(
    scores: np.ndarray, others: np.ndarray, power: float | None, figures: tuple[float, ...]
) -> None:
    """ppi-python 0.2.3: ppi_mean_pointestimate and ppi_mean_ci(y, f, F, alpha=.05, lam=power)."""
    found = independent_mean(RATED, scores, others, power)
    assert (found.estimate, *found.interval) == pytest.approx(figures, abs=1e-9)
    assert tuple(found.people_interval) == pytest.approx(
        (2.5617387297117094, 3.4382612702882906), abs=1e-9
    )


def _campaign(items: int, chance: np.random.Generator, error: float = 0.5) -> PoweredMean:
    """Draw three of eight raters to an item, and a judge a point too high on ten times as many."""
    quality = chance.normal(0, 0.7, 11 * items)
    scores = 4 + quality + chance.normal(0, error, len(quality))
    rater = np.argsort(chance.random((items, 8)), axis=1)[:, :3].ravel()
    item = np.repeat(np.arange(items), 3)
    value = 3 + quality[item] + chance.normal(0, 0.4, 8)[rater] + chance.normal(0, 0.8, len(item))
    return powered_mean(value, rater, item, scores[item], scores[items:])


def test_intervals_hold_the_truth_and_are_never_wider_than_peoples() -> None:
    chance, found = np.random.default_rng(0), list[PoweredMean]()
    while len(found) < 300:
        try:
            found.append(_campaign(20, chance))
        except JudgeRefused:
            continue
    held = np.mean([each.interval.low <= 3 <= each.interval.high for each in found])
    assert 0.92 < held < 0.985
    widths = np.array([_width(each.interval) / _width(each.people_interval) for each in found])
    assert widths.max() <= 1
    assert widths.mean() < 0.95
    assert np.mean([each.estimate for each in found]) == pytest.approx(3, abs=0.05)


def _width(interval: Interval) -> float:
    return interval.high - interval.low


def test_a_judge_without_any_knowledge_leaves_what_people_say() -> None:
    scores, others = np.arange(40) % 3, np.arange(60) % 3
    found = powered_mean(RATED, K % 7, K, 5 - 0 * scores, 5 - 0 * others)
    assert (found.estimate, found.interval, found.power) == (
        found.people,
        found.people_interval,
        0.0,
    )


@pytest.mark.parametrize(("items", "refused"), [(9, True), (10, False), (11, False)])
def test_ten_rated_items_are_the_fewest(items: int, refused: bool) -> None:
    taken = (RATED[:items], K[:items] % 5, K[:items], SCORES[:items], SCORES[items:])
    if refused:
        with pytest.raises(JudgeRefused, match="people rated 9 of its items, and 10 are the"):
            powered_mean(*taken)
    else:
        assert powered_mean(*taken).rated == items


def test_the_easy_items_are_no_random_part() -> None:
    with pytest.raises(JudgeRefused, match="no random part"):
        powered_mean(RATED, K % 5, K, SCORES, OTHERS - 2)


def test_a_judge_of_nothing_else_adds_nothing() -> None:
    with pytest.raises(JudgeRefused, match="adds nothing"):
        powered_mean(RATED, K % 5, K, SCORES, OTHERS[:1])
