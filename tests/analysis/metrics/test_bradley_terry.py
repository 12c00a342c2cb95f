"""Bradley-Terry as a metric: abilities with intervals over raters, or the reason for none."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.comparisons import bradley_terry as model
from analysis.comparisons.preferences import compared
from analysis.metrics.bradley_terry import REFITS, bradley_terry
from analysis.scores.question_ratings import questions
from analysis.stats.intervals import percentile_interval
from tests.analysis.preferring import Act, preferring

TRUTH = {"a": 0.8, "b": 0.0, "c": -0.8}


def votes(seed: int, raters: int = 30, each: int = 12) -> list[Act]:
    chance = np.random.default_rng(seed)
    acts: list[Act] = []
    for rater in range(raters):
        for k in range(each):
            one, two = chance.choice(list(TRUTH), 2, replace=False)
            felt = TRUTH[one] - TRUTH[two] + chance.logistic()
            values = (1, 1) if abs(felt) < 0.2 else (1, 2) if felt > 0 else (2, 1)
            acts.append((f"{rater}-{k}", f"r{rater}", (str(one), str(two)), values))
    return acts


def test_planted_abilities_come_back_with_their_intervals() -> None:
    found = bradley_terry(preferring(votes(1)))
    for row in found.to_dict("records"):
        truth = TRUTH[row["system"]]
        assert row["low"] - 0.1 < truth < row["high"] + 0.1
        assert 0.3 < (row["high"] - row["low"]) / (3.92 * row["se"]) < 2
    assert abs(found["share"].sum() - 1) < 1e-9
    assert abs(float(found["shown_first"].iloc[0])) < 3 * float(found["shown_first_se"].iloc[0])


def test_who_never_lost_has_no_finite_ability() -> None:
    found = bradley_terry(preferring([("1", "r", "ab", (1, 2)), ("2", "s", "ab", (1, 2))]))
    assert found["estimate"].isna().all()
    assert found["reason"].str.contains("won, or lost, every comparison").all()


@pytest.mark.parametrize(("raters", "each"), [(30, 12), (8, 6)])
def test_all_resamples_at_once_give_the_interval_of_one_after_the_other(
    raters: int, each: int
) -> None:
    """With few raters some draws have no finite abilities, and both leave out the same."""
    table = preferring(votes(2, raters, each))
    found = bradley_terry(table, seed=7)
    (pairs,) = [compared(asked) for asked in questions(table, "rank")]
    assert pairs is not None
    start = model.fit(pairs.counts().halved(), order=True).mean
    chance, drawn = np.random.default_rng(7), []
    for _ in range(REFITS):
        rater = chance.integers(0, raters, raters)
        counts = pairs.of_resamples(np.bincount(rater, minlength=raters)[None].astype(float))
        alone = model.PairCounts(*(part[0] for part in counts))
        if model.undefined(alone) is None:
            drawn.append(model.fit(alone.halved(), order=True, start=start).mean)
    assert len(drawn) > REFITS / 2
    ends = [percentile_interval(column, raters) for column in np.array(drawn).T]
    assert found["low"].tolist() == pytest.approx([each.low for each in ends], abs=1e-9)
    assert found["high"].tolist() == pytest.approx([each.high for each in ends], abs=1e-9)
