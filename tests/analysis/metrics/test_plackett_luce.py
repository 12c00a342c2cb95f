"""Plackett-Luce: against choix, planted worths, and rankings it cannot use."""

from __future__ import annotations

import choix
import numpy as np
import pytest
from scipy import special

from analysis.comparisons import plackett_luce as model
from analysis.metrics.plackett_luce import FEW, REFITS, _rankings, plackett_luce
from analysis.scores.question_ratings import questions
from analysis.stats.intervals import percentile_interval
from analysis.tables.schema import RatingTable
from tests.analysis.preferring import Act, preferring


def rankings(seed: int, worth: dict[str, float], count: int) -> list[Act]:
    """Gumbel noise on log-worths gives rankings of this model."""
    chance = np.random.default_rng(seed)
    names = list(worth)
    acts: list[Act] = []
    for k in range(count):
        felt = np.array(list(worth.values())) + chance.gumbel(size=len(names))
        position = (-felt).argsort().argsort() + 1
        acts.append((f"{k}", f"r{k % 20}", names, position.tolist()))
    return acts


def test_random_rankings_agree_with_choix() -> None:
    chance = np.random.default_rng(5)
    data = np.array([chance.permutation(5) for _ in range(60)])
    other = choix.ilsr_rankings(5, [tuple(row) for row in data], tol=1e-12)
    assert model.fit(data, 5, np.ones(60)) == pytest.approx(other - other.mean(), abs=1e-6)


def test_planted_worths_come_back() -> None:
    worth = {"a": 0.6, "b": 0.1, "c": -0.2, "d": -0.5}
    for row in plackett_luce(preferring(rankings(6, worth, 300))).to_dict("records"):
        assert row["estimate"] == pytest.approx(worth[row["system"]], abs=0.25)
        assert row["low"] < row["estimate"] < row["high"]


def test_tied_rankings_are_left_out_and_counted() -> None:
    acts = rankings(7, {"a": 0.3, "b": -0.3, "c": 0.0}, 60)
    more: list[Act] = [*acts, ("tied", "r1", "abc", (1, 1, 2))]
    assert set(plackett_luce(preferring(more))["tied_left_out"]) == {1}
    one, other = plackett_luce(preferring(more)), plackett_luce(preferring(acts))
    assert one["estimate"].tolist() == other["estimate"].tolist()


def test_who_was_never_placed_first_or_never_last_has_a_reason() -> None:
    found = plackett_luce(preferring([("1", "r", "abc", (1, 2, 3)), ("2", "s", "abc", (1, 3, 2))]))
    assert found["estimate"].isna().all()
    assert found["reason"].str.contains("won, or lost, every comparison").all()


def test_resamples_at_once_are_those_fitted_one_after_the_other() -> None:
    """Rankings of some of the systems, so that sets to choose from differ; draws of raters."""
    chance = np.random.default_rng(8)
    data = np.full((90, 5), -1)
    for row in data:
        shown = chance.permutation(5)[: int(chance.integers(2, 6))]
        row[: len(shown)] = shown
    rater = np.arange(90) % 30
    drawn = chance.multinomial(30, np.full(30, 1 / 30), size=20)
    found = model.Choices(data, 5, rater).worths(drawn.astype(float), np.zeros(5))
    for weights, worths in zip(drawn, found, strict=True):
        alone = model.fit(data, 5, weights[rater].astype(float))
        assert worths == pytest.approx(alone, abs=1e-8)


def test_many_raters_are_drawn_as_the_seed_says() -> None:
    raters = FEW + 20
    acts = rankings(6, {"a": 0.6, "b": 0.1, "c": -0.2, "d": -0.5}, 240)
    table = preferring([(act[0], str(k % raters), *act[2:]) for k, act in enumerate(acts)])
    found = plackett_luce(table, seed=3)
    names, data, rater, _ = _rankings(next(questions(table, "rank")))
    chance, drawn = np.random.default_rng(3), []
    for _ in range(REFITS):
        weights = np.bincount(chance.integers(0, raters, raters), minlength=raters)
        drawn.append(model.fit(data, len(names), weights[rater].astype(float)))
    ends = [percentile_interval(column, raters) for column in np.array(drawn).T]
    assert found["low"].tolist() == pytest.approx([each.low for each in ends], abs=1e-8)
    assert found["high"].tolist() == pytest.approx([each.high for each in ends], abs=1e-8)


def test_few_raters_are_left_out_one_by_one() -> None:
    table = preferring(rankings(6, {"a": 0.6, "b": 0.1, "c": -0.2, "d": -0.5}, 100))
    found = plackett_luce(table).set_index("system")
    raters = sorted(table["rater"].unique())
    left = [
        plackett_luce(RatingTable(table[table["rater"] != one])).set_index("system")["estimate"]
        for one in raters
    ]
    count = len(raters)
    error = (count - 1) / np.sqrt(count) * np.std(left, axis=0, ddof=1)
    half = special.stdtrit(count - 1, 0.975) * error
    assert (found["high"] - found["estimate"]).tolist() == pytest.approx(half.tolist(), rel=1e-6)
    assert (found["estimate"] - found["low"]).tolist() == pytest.approx(half.tolist(), rel=1e-6)
