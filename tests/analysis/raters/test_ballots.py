"""What depends on who said what: Conger's kappa, and resamples of raters."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from analysis.raters import ballots, kappas
from analysis.raters.alpha import alpha, alphas
from analysis.raters.cohen import cohen
from analysis.scores.question_ratings import questions
from tests.analysis.examples import by_raters
from tests.analysis.matrices import ballots_of, votes_of
from tests.analysis.tables_with_gaps import complete, gappy


def test_conger_of_two_raters_is_cohen() -> None:
    for table in gappy(20, raters=(2, 3)):
        rated = complete(table)
        if rated.shape[1] > 1 and len(np.unique(rated)) > 1:
            given = ballots_of(rated)
            assert ballots.conger(given) == pytest.approx(cohen(given).estimate)


def test_conger_of_one_rater_is_undefined() -> None:
    assert np.isnan(ballots.conger(ballots_of([[1, 2]])))


def test_equal_weights_change_nothing() -> None:
    for table in gappy(20):
        for level in ("nominal", "ordinal", "interval"):
            given = ballots_of(table, level)
            weighed = ballots.Weighing(given)(np.ones(given.raters))
            assert alpha(weighed) == pytest.approx(alpha(given.votes))
            ours, usual = (kappas.estimate(v, kappas.gwet) for v in (weighed, given.votes))
            assert ours == pytest.approx(usual)


def test_leaving_a_rater_out_is_a_weight_of_nothing() -> None:
    for table in gappy(20, raters=(3, 6)):
        given = ballots_of(table)
        weight = np.ones(given.raters)
        weight[0] = 0
        without = votes_of(table[1:], "nominal")
        if without.undefined is None:
            assert alpha(ballots.Weighing(given)(weight)) == pytest.approx(alpha(without))


def test_a_rater_drawn_twice_agrees_with_nobody_more() -> None:
    given = ballots_of([[1, 1, 2, 2], [1, 2, 1, 2]])
    twice = ballots.Weighing(given)(np.array([2.0, 1.0]))
    for statistic in (kappas.percents, partial(kappas.percents, kind="quadratic")):
        assert kappas.estimate(twice, statistic) == pytest.approx(0.5)


def test_a_unit_of_one_drawn_rater_is_a_lone_vote() -> None:
    given = ballots_of([[1.0, 1.0], [2.0, 1.0], [np.nan, 2.0]])
    votes_of_two = ballots.Weighing(given)(np.array([2.0, 0.0, 1.0]))
    assert votes_of_two.units == 1
    assert list(votes_of_two.lone) == [1, 0]


def test_the_interval_over_raters_holds_and_is_wider_than_nothing() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, size=60)
    careless = rng.random((8, 1)) * 0.6
    table = np.where(rng.random((8, 60)) < careless, rng.integers(0, 2, (8, 60)), truth)
    given = ballots_of(table)
    first = ballots.rater_intervals(given, [alphas, kappas.gwet], seed=1)
    assert first == ballots.rater_intervals(given, [alphas, kappas.gwet], seed=1)
    assert first[0].low < alpha(given.votes) < first[0].high


def test_few_raters_have_no_interval() -> None:
    found = ballots.rater_intervals(ballots_of([[1, 2], [1, 1]]), [alphas], seed=0)
    assert np.isnan(found[0].low)


def test_names_of_raters_do_not_matter() -> None:
    data = [[1, 2, 3, 1], [1, 2, 2, 1], [2, 2, 3, 3], [1, 1, 3, 1], [3, 2, 3, 1]]
    usual, turned = (
        ballots.ballots(asked, asked.rows)
        for rows in (data, data[::-1])
        for asked in questions(by_raters(rows, "ordinal"), "ordinal")
    )
    one, other = (ballots.rater_intervals(given, [alphas], seed=2) for given in (usual, turned))
    assert one[0] == pytest.approx(other[0])
