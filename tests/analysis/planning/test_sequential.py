"""Confidence sequences: hardly ever wrong at any look, yet short enough to stop early."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from analysis.planning.components import ClusteredMean, cluster_sums, clustered_mean
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
from analysis.simulation.cases.planning import Differences, stopped

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
