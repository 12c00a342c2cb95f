"""Power: the published table is reproduced, and what holds stands beside it."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from analysis.planning.power import (
    RatingPlan,
    claimed_power,
    items_needed,
    loaded_raters_needed,
    power,
    raters_needed,
)
from analysis.planning.variances import PUBLISHED, Variances
from analysis.tables.options import BadOption

DIFFERENCES, ITEMS = (0.05, 0.1, 0.15, 0.2), (50, 100, 500)
# Card et al. 2020, github dallascard/NLP-power-analysis, data/human_eval/highvar_lowmer_lmer.csv
# (Apache-2.0): 200 campaigns a cell; by differences, then items.
TABLE = {
    ("card-high", 3): ".235 .27 .27 .44 .555 .545 .69 .75 .75 .89 .885 .92",
    ("card-high", 10): ".24 .315 .34 .70 .795 .87 .955 .98 .995 .995 1 1",
    ("card-low", 3): ".455 .60 .665 .94 .945 .975 1 1 1 1 1 1",
    ("card-low", 10): ".575 .835 .95 .985 1 1 1 1 1 1 1 1",
}
POINTS = Variances(taste=0.3, item=0.4, noise=0.8)


def test_all_48_cells_of_the_published_table_are_reproduced() -> None:
    gaps = []
    for (name, workers), row in TABLE.items():
        cells = [(b, items) for b in DIFFERENCES for items in ITEMS]
        for (b, items), published in zip(cells, map(float, row.split()), strict=True):
            plan = RatingPlan(items, workers, workers)
            found = claimed_power(plan, PUBLISHED[name], b, seed=1)
            assert found is not None
            error = np.sqrt(found * (1 - found) * (1 / 200 + 1 / 2000))
            gaps.append((found - published) / max(error, 1 / 200))
    assert len(gaps) == 48
    assert np.abs(gaps).max() < 3
    assert np.sqrt(np.mean(np.square(gaps))) == pytest.approx(1, abs=0.35)


@pytest.mark.parametrize(
    ("workers", "holds", "published", "false"), [(3, 0.19, 0.885, 0.116), (10, 0.68, 1.0, 0.045)]
)
def test_what_holds_at_a_true_difference_stands_beside_the_claim(
    workers: int, holds: float, published: float, false: float
) -> None:
    """High variance, 100 items, a true difference of .20 (figures of the project's findings)."""
    plan = RatingPlan(100, workers, workers)
    found = power(plan, PUBLISHED["card-high"], 0.2, seed=2, campaigns=10_000)
    assert found.power == pytest.approx(holds, abs=0.03)
    assert found.claimed == pytest.approx(published, abs=0.05)
    assert found.claimed_false == pytest.approx(false, abs=0.02)


def test_ratings_drawn_one_by_one_have_the_power_of_the_closed_form() -> None:
    """With all raters but one on each item there is hardly a gap; both ways must agree."""
    crossed = power(RatingPlan(60, 8, 8), POINTS, 0.4, seed=3, campaigns=4000)
    turns = power(RatingPlan(60, 8, 7), POINTS, 0.4, seed=3, campaigns=4000)
    assert turns.power == pytest.approx(crossed.power, abs=0.05)
    assert turns.width == pytest.approx(crossed.width, rel=0.04)
    assert turns.false == pytest.approx(0.05, abs=0.015)


def test_the_width_that_is_planned_is_that_of_a_formula_with_many_raters() -> None:
    found = power(RatingPlan(100, 100, 1), Variances(0, 0, 1.0), 0.5, seed=4, campaigns=500)
    assert found.width == pytest.approx(2 * 1.98 * np.sqrt(2 / 100), rel=0.05)


def test_the_fewest_items_reach_the_power_and_clearly_fewer_do_not() -> None:
    found = items_needed(RatingPlan(2, 20, 3), POINTS, 0.5, 0.8, seed=5)
    assert found is not None
    assert power(found, POINTS, 0.5, seed=6).power == pytest.approx(0.8, abs=0.04)
    fewer = replace(found, items=found.items // 2)
    assert power(fewer, POINTS, 0.5, seed=6).power < 0.7


def test_where_tastes_do_not_average_out_only_raters_help() -> None:
    taste = Variances(taste=0.5, item=0.4, noise=0.8)
    assert items_needed(RatingPlan(2, 4, 4), taste, 0.4, 0.8, seed=7) is None
    found = raters_needed(RatingPlan(200, 4, 4), taste, 0.4, 0.8, seed=7)
    assert found is not None
    assert 20 < found.raters < 60


def test_more_systems_need_more() -> None:
    two, four = (
        power(RatingPlan(40, 20, 3, systems), POINTS, 0.5, seed=8, campaigns=1000)
        for systems in (2, 4)
    )
    assert four.power < two.power - 0.1
    assert four.width > two.width


def test_one_vote_per_item_has_no_published_claim() -> None:
    assert power(RatingPlan(40, 20, 1), POINTS, 0.5, seed=9, campaigns=200).claimed is None


@pytest.mark.parametrize(
    ("numbers", "name"),
    [((1, 3, 3), "items"), ((9, 1, 1), "raters"), ((9, 3, 4), "votes"), ((9, 3, 3, 1), "systems")],
)
def test_a_number_that_no_campaign_can_have_is_named(numbers: tuple[int, ...], name: str) -> None:
    with pytest.raises(BadOption, match=f"^{name} is"):
        RatingPlan(*numbers)


def test_raters_of_one_system_each_have_the_power_of_two_samples() -> None:
    """One rating each: Student's t of two independent samples, whose power is a noncentral t's."""
    variances = Variances(taste=0.3, item=0.4, noise=0.8, severity=0.7)
    sd = np.sqrt(0.3**2 + 0.4**2 + 0.8**2 + 0.7**2)
    plan = RatingPlan(20, 40, 1, 2, judges=1)
    found = power(plan, variances, 1.0, seed=3, campaigns=4000)
    t, shift = stats.t.ppf(0.975, 38), 1 / (sd * np.sqrt(2 / 20))
    expected = stats.nct.sf(t, 38, shift) + stats.nct.cdf(-t, 38, shift)
    assert found.power == pytest.approx(expected, abs=0.025)
    assert found.false == pytest.approx(0.05, abs=0.015)
    assert found.claimed is None
    every = power(replace(plan, judges=0), variances, 1.0, seed=3)
    assert every.power > found.power + 0.1  # severity cancels where each judges both


def test_a_pair_has_the_raters_who_judge_both_of_its_systems() -> None:
    """Blocks of two of four systems: of 48 raters each pair has 8, with their ratings."""
    plan = RatingPlan(24, 48, 2, 4, judges=2)
    blocks = [tuple(pair) for pair in combinations(range(4), 2)] * 8
    assert plan.of_pair == blocks.count((0, 1)) == 8
    each = plan.ratings // (plan.raters * plan.judges)  # of a rater, of each system judged
    assert plan.tested.items * plan.tested.votes == 8 * each
    assert (plan.tested.pairs, plan.tested.judges) == (6, 0)
    few, whole = (power(one, POINTS, 0.8, seed=4) for one in (plan, replace(plan, judges=4)))
    assert few.power == power(plan.tested, POINTS, 0.8, seed=4).power
    assert few.power < whole.power
    assert whole == power(replace(plan, judges=0), POINTS, 0.8, seed=4)


@pytest.mark.parametrize(
    ("raters", "judges", "option"),
    [(11, 2, "raters"), (12, 2, ""), (13, 2, ""), (7, 1, "raters"), (8, 1, ""), (9, 5, "judges")],
)
def test_a_pair_needs_two_raters(raters: int, judges: int, option: str) -> None:
    if option:
        with pytest.raises(BadOption) as told:
            RatingPlan(4, raters, 1, 4, judges)
        assert told.value.option == option
    else:
        plan = RatingPlan(4, raters, 1, 4, judges)
        assert (plan.of_pair, plan.fewest) == (2, 12 if judges == 2 else 8)


@pytest.mark.parametrize("seed", range(4))
def test_the_fewest_raters_reach_the_power_that_is_shown_and_few_more_than_they_must(
    seed: int,
) -> None:
    """Four campaigns in five, within 1.2 points: what a few campaigns reach is luck (it was 2)."""
    own = replace(POINTS, severity=0.6)
    bare = RatingPlan(2, 4, 1, systems=2, judges=1)
    found = loaded_raters_needed(bare, 1, own, 0.5, 0.8, seed=seed)
    assert found is not None
    assert power(found, own, 0.5, seed=seed).power >= 0.8
    assert 0.793 < power(found, own, 0.5, seed=999, campaigns=40_000).power < 0.812
