"""Probabilities of ranks: they add up, and agree with the pairwise probabilities."""

from __future__ import annotations

import pytest

from analysis.metrics.rank_probability import rank_probability
from analysis.metrics.system_difference import system_difference
from tests.analysis.examples import triples

GIVEN = [(0, 0, 3), (0, 1, 2), (0, 2, 2), (1, 1, 1), (1, 2, 0), (0, 1, 3), (1, 2, 1), (1, 0, 2)]


def test_ranks_of_two_are_the_pairwise_probability() -> None:
    ratings = triples(GIVEN, scale_low=0, scale_high=3)
    ranks = rank_probability(ratings).set_index(["system", "rank"])["estimate"]
    (pair,) = system_difference(ratings).to_dict("records")
    for system, win in ((pair["system"], pair["above"]), (pair["other_system"], 1 - pair["above"])):
        assert ranks.loc[(system, 1)] == pytest.approx(win, abs=0.012)
        assert ranks.loc[system].sum() == pytest.approx(1)


def test_every_rank_is_somebodys() -> None:
    more = [*GIVEN, (2, 0, 1), (2, 1, 0), (2, 2, 1)]
    found = rank_probability(triples(more, scale_low=0, scale_high=3))
    assert found.groupby("rank")["estimate"].sum().to_numpy() == pytest.approx([1, 1, 1])
    assert len(found) == 9
