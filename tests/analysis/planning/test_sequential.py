"""Confidence sequences: hardly ever wrong at any look, yet short enough to stop early."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from analysis.planning.components import ClusteredMean, OwnRaters, cluster_sums, clustered_mean
from analysis.planning.sequential import (
    FUTILE,
    LEAST_ITEMS,
    LEAST_RATERS,
    StopRule,
    best_chance,
    chance_of_decision,
    look,
    quantile,
    radius,
)
from analysis.simulation.campaigns import Design
from analysis.simulation.cases.planning import Differences, stopped, sums_by_look

RULE = StopRule(expected=0.5)
STREAM = Design(
    systems=2, conversations=60, votes=3, severity=0.7, taste=0.3, conversation_sd=0.4, noise=0.8
)


def _stops(gap: float, campaigns: int) -> float:
    chance, design = np.random.default_rng(11), replace(STREAM, gap=gap)
    drawn = (Differences(20)(design, chance) for _ in range(campaigns))
    return float(np.mean([stopped(one, 0)["p"].iloc[0] == 0 for one in drawn]))


def test_looks_after_every_item_stop_for_a_difference_and_hardly_without() -> None:
    """Whole figures: docs/planning.md; 60 items, 3 of 20 raters an item, scale of 1 to 5."""
    assert _stops(0.0, 60) <= 0.05
    assert _stops(1.0, 15) == 1.0


def test_the_boundary_is_robbins_where_the_variance_is_known() -> None:
    """1970, with 100 observations of variance 1 and a prior of variance 1/4."""
    known = np.sqrt(104 / 100 * np.log(104 / (4 * 0.05**2)))
    assert float(quantile(1 / 100, 1e9, StopRule(expected=0.5))) == pytest.approx(known, rel=1e-6)


def test_an_estimated_variance_and_more_pairs_widen() -> None:
    few = float(quantile(0.01, 10, RULE))
    assert few > float(quantile(0.01, 1000, RULE))
    assert float(quantile(0.01, 10, replace(RULE, pairs=3))) > few


def _own(gap: float, seed: int, *, items: int = 60, each: int = 1) -> OwnRaters:
    """Looks at two systems, of which each has raters of its own, after each conversation."""
    chance = np.random.default_rng([seed, 5])
    sides = []
    for quality in (gap / 2, -gap / 2):
        rater = np.arange(items) // each
        felt = 3 + quality + chance.normal(0, 0.8, items)[rater] + chance.normal(0, 0.9, items)
        value = np.clip(np.round(felt), 1, 5)
        sides.append(clustered_mean(sums_by_look(value, rater, np.arange(items))))
    return OwnRaters(*sides)


@pytest.mark.parametrize("each", [1, 3])
def test_systems_with_raters_of_their_own_hardly_stop_without_a_difference(each: int) -> None:
    """2,000 campaigns: docs/planning.md."""
    for gap, least, most in ((0.0, 0.0, 0.05), (1.5, 0.95, 1.0)):
        drawn = (_own(gap, seed, each=each) for seed in range(200))
        stops = [bool((np.abs(one.mean) > radius(one, RULE)).any()) for one in drawn]
        assert least <= np.mean(stops) <= most


def test_means_of_own_raters_are_compared_as_welch_does() -> None:
    """1947; scipy's test of two independent samples is the other implementation."""
    one, other = np.random.default_rng(2).normal((0, 1), (2, 1), (20, 2)).T
    sides = [one, other[:12]]
    own = OwnRaters(*(
        clustered_mean(cluster_sums(each, np.arange(len(each)), np.arange(len(each))))
        for each in sides
    ))  # fmt: skip
    found = stats.ttest_ind(*sides, equal_var=False)
    assert float(own.mean / np.sqrt(own.variance)) == pytest.approx(found.statistic)
    assert float(own.df) == pytest.approx(found.df)
    assert (int(own.items), int(own.raters)) == (12, 12)


def _found(items: int, raters: int = 20, gap: float = 0.0, seed: int = 3) -> ClusteredMean:
    design = replace(STREAM, conversations=items, gap=gap)
    drawn = Differences(raters)(design, np.random.default_rng(seed))
    return clustered_mean(cluster_sums(drawn["value"], drawn["rater"], drawn["item"]))


@pytest.mark.parametrize(("items", "ready"), [(7, False), (8, True), (9, True)])
def test_there_is_no_interval_before_eight_items(items: int, ready: bool) -> None:
    assert LEAST_ITEMS == 8
    assert bool(np.isfinite(radius(_found(items), RULE))) is ready


@pytest.mark.parametrize(("raters", "ready"), [(4, False), (5, True), (6, True)])
def test_there_is_no_interval_with_fewer_than_five_raters(raters: int, ready: bool) -> None:
    assert LEAST_RATERS == 5
    assert bool(np.isfinite(radius(_found(30, raters), RULE))) is ready


def test_a_constant_difference_is_no_decision() -> None:
    item = np.repeat(np.arange(10), 5)
    same = clustered_mean(cluster_sums(np.ones(50), np.tile(np.arange(5), 10), item))
    assert look(same, RULE).verdict == "not yet"


def test_a_large_difference_is_decided_either_way() -> None:
    higher = look(_found(60, gap=1.5), RULE)
    assert (higher.verdict, higher.reason, higher.chance) == ("decided", "higher", None)
    lower = look(_found(60, gap=-1.5), RULE)
    assert (lower.verdict, lower.reason) == ("decided", "lower")


def test_a_difference_within_the_margin_is_equivalence() -> None:
    found = _found(400)
    assert look(found, RULE).verdict == "not yet"
    decided = look(found, replace(RULE, margin=1.0))
    assert (decided.verdict, decided.reason) == ("decided", "equivalent")
    high = decided.interval.high
    assert look(found, replace(RULE, margin=max(high, -decided.interval.low))).reason == ""


def test_a_budget_that_is_too_small_is_said_and_one_that_is_not_gives_a_chance() -> None:
    found = _found(30)
    small = look(found, replace(RULE, budget=32))
    assert small.verdict == "cannot be decided with this budget"
    assert small.chance is not None
    assert small.chance < FUTILE
    assert best_chance(found, replace(RULE, budget=32)) < FUTILE
    near = _found(20, gap=0.6, seed=5)
    assert look(near, RULE).verdict == "not yet"
    large = look(near, replace(RULE, budget=200))
    assert large.verdict == "not yet"
    assert large.chance is not None
    assert large.chance > 0.3


def test_few_items_do_not_give_up_on_a_difference_that_they_leave_open() -> None:
    """The present mean alone would: a wide interval still has differences that would decide."""
    found, rule = _found(10, seed=8), replace(RULE, budget=60)
    assert chance_of_decision(found, rule) < best_chance(found, rule)
    assert look(found, rule).verdict == "not yet"


def test_a_used_up_budget_decides_nothing_more() -> None:
    found = _found(30)
    assert chance_of_decision(found, replace(RULE, budget=30)) == 0
    assert chance_of_decision(_found(5), replace(RULE, budget=8)) == 1
    assert chance_of_decision(_found(5), replace(RULE, budget=7)) == 0


def test_the_chance_of_a_decision_is_what_comes_true() -> None:
    """Of looks after 20 items that give such a chance, about so many are decided at 60."""
    chance, rule = np.random.default_rng(7), replace(RULE, budget=60)
    said, came = [], []
    for _ in range(150):
        drawn = Differences(20)(replace(STREAM, gap=float(chance.normal(0, 0.6))), chance)
        early = drawn[drawn["item"] < 20]
        now = clustered_mean(cluster_sums(early["value"], early["rater"], early["item"]))
        end = clustered_mean(cluster_sums(drawn["value"], drawn["rater"], drawn["item"]))
        said.append(chance_of_decision(now, rule))
        came.append(abs(float(end.mean)) > float(radius(end, rule)))
    assert np.mean(said) == pytest.approx(np.mean(came), abs=0.08)


def test_new_raters_of_one_system_bring_information_and_the_same_ones_hardly_do() -> None:
    """Tastes of few raters do not average out over more items; those of new raters do."""
    chance = np.random.default_rng(9)
    rater = np.repeat(np.arange(6), 10)
    sides = [
        clustered_mean(cluster_sums(
            chance.normal(0, 0.8, 6)[rater] + chance.normal(0, 0.5, 60), rater, np.arange(60)
        ))
        for _ in range(2)
    ]  # fmt: skip
    own, rule = OwnRaters(*sides), replace(RULE, budget=2000)
    assert look(own, rule).verdict == "not yet"
    assert best_chance(own, rule) > best_chance(sides[0], rule) - 1e-9
    found = look(own, replace(RULE, budget=61))
    assert found.verdict == "cannot be decided with this budget"
    assert found.items == 60
