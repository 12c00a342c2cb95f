"""Bradley-Terry as a metric: abilities with clustered intervals, or the reason for none."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.comparisons import bradley_terry as model
from analysis.comparisons.preferences import compared
from analysis.metrics.bradley_terry import bradley_terry
from analysis.scores.question_ratings import questions
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


def test_errors_of_votes_that_are_independent_are_those_of_the_information() -> None:
    """With a rater and a context for each vote, and no ties, a sandwich is close to the model."""
    acts = [(f"{k}", f"r{k}", *act[2:]) for k, act in enumerate(votes(3, 60, 20))]
    table = preferring([act for act in acts if tuple(act[3]) != (1, 1)])
    (pairs,) = [compared(asked) for asked in questions(table, "rank")]
    assert pairs is not None
    fitted = model.fit(pairs.counts().halved(), order=True)
    plain = np.sqrt(np.diag(fitted.covariance))
    assert bradley_terry(table)["se"].tolist() == pytest.approx(plain.tolist(), rel=0.05)


@pytest.mark.parametrize(
    ("raters", "contexts", "held"), [(4, 4, True), (3, 4, False), (4, 3, False)]
)
def test_fewer_than_four_raters_or_contexts_have_no_interval(
    raters: int, contexts: int, held: bool
) -> None:
    chance = np.random.default_rng(5)
    acts: list[Act] = [
        (f"i{k}", f"r{rater}", "ab", (1, 2) if chance.random() < 0.5 else (2, 1))
        for rater in range(raters)
        for k in range(contexts)
    ]
    found = bradley_terry(preferring(acts))
    assert found["estimate"].notna().all()
    assert found["low"].notna().all() == held
    if not held:
        assert found["reason"].str.contains("4 raters about 4 contexts").all()
        assert found["se"].isna().all()


def test_contexts_that_are_named_are_what_votes_share() -> None:
    """Twelve contexts that raters agree on say less than as many items on their own."""
    chance, acts = np.random.default_rng(6), []
    for k in range(120):
        better = (k % 12) % 2 if chance.random() < 0.9 else k % 2
        acts.append((f"i{k}", f"r{k}", "ab", (1, 2) if better else (2, 1)))
    alone = preferring(acts)
    named = alone.assign(context="c" + (alone["item"].str[1:].astype(int) % 12).astype(str))
    widths = [(rows["high"] - rows["low"]).iloc[0]
              for rows in map(bradley_terry, (alone, named))]  # fmt: skip
    assert widths[1] > 1.5 * widths[0]
