"""Self-test: campaigns of known truth on the incidence at hand, and what is done with it."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.metrics.rank_probability import rank_probability
from analysis.metrics.system_difference import system_difference
from analysis.metrics.system_score import system_score
from analysis.output.terminal import rendered
from analysis.planning.power import RatingPlan, power
from analysis.planning.variances import Variances
from analysis.reports.summary import summary
from analysis.scores.crossed import CrossedDesign
from analysis.scores.incidence import incidence
from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.scores.system_scores import ScoredDesign, scored_design, system_scores
from analysis.self_test import measured
from analysis.self_test.fitted import population, variants
from analysis.self_test.measured import QUICK, SelfTest, measure
from analysis.self_test.population import AnswerScale, Population, answer_scale
from analysis.self_test.thinned import thinned
from analysis.simulation.campaigns import Design
from analysis.simulation.cases.crossing import DESIGNS
from analysis.stats.intervals import Floats
from analysis.tables.options import BadOption
from analysis.tables.schema import RatingTable
from tests.analysis.examples import labels, ratings

FEW_RATERS = "3 raters see every system"
SAME_RATERS = "the same 3 raters, unlike replies"
CONFOUNDED = "one rater per system"


def drawn(family: str, seed: int = 1, **changes: float) -> RatingTable:
    draw, own = DESIGNS[family]
    design = replace(Design(gap=0.0), **{**own, **changes})  # type: ignore[arg-type]
    return draw(design, np.random.default_rng(seed))


def designed(table: RatingTable) -> tuple[ScoredDesign, Floats, Population]:
    question = next(iter(questions(table, "ordinal", "nominal")))
    design, values = scored_design(question)
    fit = system_scores(question).fit
    assert fit is not None
    return design, values, population(design, values, fit)


@pytest.mark.parametrize(
    "scale",
    [
        AnswerScale(1, 5, 1.0),
        AnswerScale(0, 1, 1.0),
        AnswerScale(1, 5, 0.5),
        AnswerScale(0, 100, None),
        AnswerScale(-np.inf, np.inf, 1.0),
    ],
)
def test_the_truth_is_the_mean_of_what_is_drawn(scale: AnswerScale) -> None:
    center = np.array([0.2, 4.6])
    system = np.repeat([0, 1], 40_000)
    each = np.arange(len(system))
    of = Population(system, {"rater": each}, center, {"rater": 0.4}, 0.6, scale, {})
    campaign = of.drawn(np.random.default_rng(1))
    for k in (0, 1):
        assert campaign.values[system == k].mean() == pytest.approx(campaign.truth[k], abs=0.03)
    assert set(np.diff(np.unique(campaign.values))) <= {scale.step} or scale.step is None


@pytest.mark.parametrize(
    ("values", "step"), [([1, 5], 1.0), ([1.5, 4], 0.5), ([0.1, 0.7], 0.1), ([0.123, 2], None)]
)
def test_the_step_of_a_scale_is_read_off_its_answers(values: list[float], step: float) -> None:
    assert answer_scale(np.array(values, dtype=float), (0.0, 5.0)).step == step


@pytest.mark.parametrize("family", [FEW_RATERS, "10 points", "yes or no, 20 raters"])
def test_campaigns_look_like_the_table_they_are_drawn_for(family: str) -> None:
    table = drawn(family, conversations=200)
    design, values, of = designed(table)
    found = [of.drawn(np.random.default_rng(k)).values for k in range(40)]
    n = design.incidence.n
    means = np.mean([np.bincount(of.system, one) / n for one in found], axis=0)
    assert means == pytest.approx(np.bincount(of.system, values) / n, abs=0.1 * np.ptp(values))
    assert np.mean([one.var() for one in found]) == pytest.approx(values.var(), rel=0.25)


def test_an_estimator_that_does_not_know_the_items_is_found_out_and_widened() -> None:
    design, _, of = designed(drawn(SAME_RATERS))
    blind = replace(design, incidence=incidence(of.system, {"rater": of.effects["rater"]}))
    honest = measured._measured(design, of, 60, 0)
    found = measured._measured(blind, of, 60, 0)
    assert np.mean(found.pairs) < 0.88 < np.mean(honest.pairs)
    assert min(found.widened_pairs) > 1.1
    assert found.false <= 0.1
    assert max(honest.widened_pairs) == 1.0


def test_what_is_widened_is_printed_wide() -> None:
    scores = system_scores(next(iter(questions(drawn(FEW_RATERS), "ordinal"))))
    size = len(scores.systems)
    wide = replace(scores, widened=np.full(size, 2.0), widened_pairs=np.full((size, size), 2.0))
    assert wide.se(0) == pytest.approx(2 * scores.se(0))
    assert wide.interval(0).low < scores.interval(0).low
    assert wide.differences[0].se == pytest.approx(2 * scores.differences[0].se)
    assert wide.differences[0].p > scores.differences[0].p
    ranks = wide.rank_shares(0), scores.rank_shares(0)
    assert ranks[0] is not None
    assert ranks[1] is not None
    assert np.ptp(ranks[0]) < np.ptp(ranks[1])


def test_a_miss_of_one_half_width_is_the_end_of_the_interval() -> None:
    scores = system_scores(next(iter(questions(drawn(FEW_RATERS), "ordinal"))))
    for k in range(len(scores.systems)):
        low, high = scores.interval(k)
        assert scores.miss(k, low) == pytest.approx(1)
        assert scores.miss(k, high) == pytest.approx(1)
        assert scores.miss(k, (low + scores.means[k]) / 2) < 1 < scores.miss(k, low - 0.01)


def test_measured_numbers_are_beside_every_row_only_where_asked() -> None:
    table = drawn(FEW_RATERS)
    for metric in (system_score, system_difference):
        assert "measured_coverage" not in metric(table)
        rows = metric(table, simulate=40, seed=3)
        assert rows["measured_coverage"].between(0.8, 1).all()
        assert (rows["simulated_campaigns"] == 40).all()
        assert rows.equals(metric(table, simulate=40, seed=3))
    assert len(rank_probability(table, simulate=40, seed=3)) == 16


@pytest.mark.parametrize("campaigns", [-2, 1, 39])
def test_too_few_campaigns_are_refused(campaigns: int) -> None:
    with pytest.raises(BadOption, match=r"simulate is '-?\d+'; right would be 40 campaigns"):
        SelfTest(campaigns)
    assert [SelfTest(number).campaigns for number in (QUICK, 0, 40)] == [QUICK, 0, 40]


def test_what_was_measured_is_read_from_the_cache(tmp_path: Path) -> None:
    table = drawn(FEW_RATERS)
    question = next(iter(questions(table, "ordinal")))
    (design, values), scores = scored_design(question), system_scores(question)
    first = measure(design, values, scores, 40, 5, tmp_path)
    (file,) = tmp_path.iterdir()
    measured._KNOWN.clear()
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('"campaigns": 40', '"campaigns": 41'), encoding="utf-8")
    assert measure(design, values, scores, 40, 5, tmp_path) == replace(first, campaigns=41)
    measure(design, values, scores, 40, 6, tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_large_design_is_thinned_to_whole_items_with_what_varies_as_it_was() -> None:
    design, _, of = designed(drawn(SAME_RATERS, conversations=60))
    part = thinned(design, 0, design.incidence.ratings // 3)
    assert part is not None
    items = design.known["item"]
    assert set(items[part.rows]).isdisjoint(np.delete(items, part.rows))
    assert 0.25 < part.share == len(part.rows) / design.incidence.ratings <= 1 / 3
    assert list(part.design.incidence.effects) == list(design.incidence.effects)
    drawn_of = part.of(of)
    assert drawn_of.variances == of.variances
    for name, codes in of.effects.items():
        pairs = set(zip(codes[part.rows], drawn_of.effects[name], strict=True))
        assert len(pairs) == len(set(codes[part.rows])) == drawn_of.effects[name].max() + 1
    assert (drawn_of.system == of.system[part.rows]).all()
    assert thinned(design, 0, len(design.systems) - 1) is None  # some system would lack
    whole = thinned(design, 0)
    assert whole is not None
    assert (whole.design, whole.share) == (design, 1.0)


def test_a_larger_table_has_no_larger_self_test_and_says_of_what_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    simulated: list[int] = []

    def counted(self: ScoredDesign, values: Floats, real=ScoredDesign.scores) -> object:  # type: ignore[no-untyped-def]
        simulated.append(len(values))
        return real(self, values)

    monkeypatch.setattr(ScoredDesign, "scores", counted)
    monkeypatch.setattr(measured, "thinned", partial(thinned, most=100))
    monkeypatch.setattr(measured, "BUDGET", 400.0)
    costs = []
    for conversations in (40, 120):
        simulated.clear()
        table = drawn(SAME_RATERS, conversations=conversations)
        text = " ".join(rendered(summary(table, simulate=QUICK)).split())
        assert max(simulated[:-1]) == len(table)  # the headline is of all ratings
        costs.append(sum(each for each in simulated if each < len(table)))
        assert "of this very design" not in text
        share = thinned(designed(table)[0], 0, 100).share  # type: ignore[union-attr]
        assert f"whole items or conversations with {100 * share:.2g} % of its ratings" in text
        assert f"with {100 * share:.2g} % of a question's ratings or more" in text
    assert costs[1] == pytest.approx(costs[0], rel=0.1)


def test_as_many_campaigns_as_asked_for_are_of_the_whole_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(measured, "thinned", partial(thinned, most=100))
    rows = system_score(drawn(FEW_RATERS), simulate=40)
    assert (rows["simulated_part"] == 1).all()


def test_variants_break_one_thing_each() -> None:
    _, _, of = designed(drawn(SAME_RATERS))
    found = variants(of)
    assert set(found) == {
        "tastes added", "one odd rater", "item SD doubled", "ceiling", "loss by quality"
    }  # fmt: skip
    assert found["item SD doubled"].variances["item"] == pytest.approx(4 * of.variances["item"])
    lost = found["loss by quality"].drawn(np.random.default_rng(0))
    assert lost.values[lost.kept].mean() > lost.values.mean() + 0.1
    top = found["ceiling"].drawn(np.random.default_rng(0))
    assert (top.values == 5).mean() > (of.drawn(np.random.default_rng(0)).values == 5).mean() + 0.1


def test_errors_are_expected_without_ratings() -> None:
    for family in (FEW_RATERS, SAME_RATERS):
        question = next(iter(questions(drawn(family), "ordinal")))
        (design, _), fit = scored_design(question), system_scores(question).fit
        assert fit is not None
        found = CrossedDesign(design.incidence).expected(fit.variances)
        assert found.covariance == pytest.approx(fit.covariance)
        assert found.df(found.pair(0, 1)) == pytest.approx(fit.df(fit.pair(0, 1)))


def test_one_rater_per_system_is_told_how_many_would_do() -> None:
    question = next(iter(questions(drawn(CONFOUNDED), "ordinal")))
    found = measured.tested(question, SelfTest(40))
    assert found.measured is None
    assert found.needed is not None
    assert found.needed.startswith("These systems cannot be told apart with these raters; ")
    assert " more raters of every system would tell a difference of " in found.needed


@pytest.mark.parametrize("each", [20, 40])
def test_people_of_one_conversation_each_are_told_how_many_more_of_the_same_kind(each: int) -> None:
    """Twice too few: the number was of raters who judge every system, and was not said to be."""
    of_one = np.tile([2.0, 2, 3, 4, 4], each // 5)
    rows = [{"system": name, "item": f"{name}{n}", "rater": f"{name}{n}", "value": value}
            for name in ("alpha", "beta") for n, value in enumerate(of_one)]  # fmt: skip
    table = ratings(rows, scale_low=1, scale_high=5)
    question = next(iter(questions(table, "ordinal")))
    text = measured.tested(question, SelfTest(40)).needed
    assert text is not None
    found = re.search(r"; (\d+) more raters of one system each would tell a .* of 0\.40 ", text)
    assert found, text
    group = each + int(found[1]) // 2
    plan = RatingPlan(group, 2 * group, 1, systems=2, judges=1)
    planned = power(plan, Variances(0, 0, float(np.std(of_one, ddof=1))), 0.4, seed=1)
    assert planned.power == pytest.approx(0.8, abs=0.025), "as the planner of new campaigns has it"


def test_more_is_needed_for_a_smaller_difference() -> None:
    def raters(noise: float) -> int:
        table = drawn(FEW_RATERS, noise=noise)
        text = measured.tested(next(iter(questions(table, "ordinal"))), SelfTest(40)).needed
        assert text is not None
        return int(text.split("; ")[1].split(" ")[0])

    assert raters(0.8) < raters(1.6)


def test_the_report_says_what_was_done_and_only_that() -> None:
    table = drawn(FEW_RATERS)
    without = rendered(summary(table))
    assert "coverage" not in without.split("Methods")[1].split("Computation of each number")[0]
    text = " ".join(rendered(summary(table, simulate=40)).split())
    assert "40 simulated campaigns of this very design" in text
    assert "Coverage was measured for this design: 40 campaigns per question" in text
    assert "more raters would tell a difference" in text
    confounded = " ".join(rendered(summary(drawn(CONFOUNDED), simulate=40)).split())
    assert "Coverage was measured" not in confounded
    assert "more raters of every system would tell a difference" in confounded


def test_nothing_is_simulated_for_what_no_ranking_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    known: list[str] = []

    def told(question: QuestionRatings, options: SelfTest) -> object:
        known.append(question.question)
        return real(question, options)

    real = measured._tested
    monkeypatch.setattr(measured, "_tested", told)
    both = labels([("s", f"i{k}", f"r{k % 3}", k % 2, k % 2) for k in range(12)])
    twice = [both, both.assign(system="t", answer=both["answer"] + "t")]
    both = RatingTable(pd.concat(twice, ignore_index=True))
    text = rendered(summary(both, simulate=40))
    assert known == []
    assert "has the highest SSA" in text
    alone = RatingTable(both[both["question"] == "specific"].reset_index(drop=True))
    rendered(summary(alone, simulate=40))
    assert set(known) == {"specific"}  # without the other label there is no SSA, but a ranking
