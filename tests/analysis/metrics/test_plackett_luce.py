"""Plackett-Luce: against choix, planted worths, and rankings it cannot use."""

from __future__ import annotations

import choix
import numpy as np
import pytest

from analysis.comparisons import plackett_luce as model
from analysis.comparisons.likelihoods import of_rankings
from analysis.metrics.bradley_terry import bradley_terry
from analysis.metrics.plackett_luce import plackett_luce
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


@pytest.mark.parametrize("values", [(1,), (1, 1), (1, 1, 1)])
def test_a_system_of_no_ranking_without_ties_leaves_nobody_a_worth(
    values: tuple[int, ...],
) -> None:
    acts = rankings(7, {"a": 0.3, "b": -0.3}, 60)
    more: list[Act] = [*acts, ("more", "r1", "cab"[: len(values)], values)]
    found = plackett_luce(preferring(more)).set_index("system")
    assert found["estimate"].isna().all()
    assert found["reason"].str.contains("2 groups that were never compared").all()
    assert found.loc["c", "n"] == 0
    assert plackett_luce(preferring(acts))["estimate"].notna().all()


def test_two_at_a_time_have_the_intervals_of_bradley_and_terry() -> None:
    acts = rankings(8, {"a": 0.4, "b": -0.4}, 200)
    acts += [(f"x{k}", f"r{k % 20}", "bc", (1, 2) if k % 3 else (2, 1)) for k in range(90)]
    table = RatingTable(preferring(acts).assign(place=0))
    one, other = plackett_luce(table), bradley_terry(table)
    for name in ("estimate", "low", "high"):
        assert one[name].tolist() == pytest.approx(other[name].tolist(), abs=1e-6)


def test_the_gradients_are_those_of_the_likelihood() -> None:
    """By small steps, for rankings of some of the systems; at the maximum they add up to 0."""
    chance = np.random.default_rng(9)
    data = np.full((40, 5), -1)
    for row in data:
        shown = chance.permutation(5)[: int(chance.integers(2, 6))]
        row[: len(shown)] = shown
    worth = model.fit(data, 5, np.ones(40))
    found = of_rankings(data, worth)
    assert np.abs(found.gradients.sum(axis=0)).max() < 1e-6
    step = 1e-5
    for k in range(5):
        moved = step * np.eye(5)[k]
        ends = [of_rankings(data, worth + way).gradients.sum(axis=0) for way in (moved, -moved)]
        second = (ends[1] - ends[0]) / (2 * step)
        information = (found.roots.T @ found.roots).toarray()
        assert np.asarray(second).ravel() == pytest.approx(information[k], abs=1e-4)


def test_few_raters_have_no_interval() -> None:
    acts = rankings(6, {"a": 0.6, "b": 0.1, "c": -0.2, "d": -0.5}, 60)
    found = plackett_luce(
        preferring([(act[0], f"r{k % 3}", *act[2:]) for k, act in enumerate(acts)])
    )
    assert found["low"].isna().all()
    assert found["reason"].str.startswith("3 raters and 60 contexts").all()
