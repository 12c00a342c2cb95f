"""Gwet's AC2: AC1 with part of an agreement for answers that are near (Gwet 2014, chapter 5).

Weights are Gwet's ordinal ones for an ordinal question, and quadratic ones for an interval question
(Handbook of Inter-Rater Reliability, 4th ed., section 3.5). Gaps and categories are as in AC1: the
agreement over items with two ratings or more, the shares over all rated items, the categories those
given to the question in any system. The interval is a bootstrap over items.
"""

from __future__ import annotations

from functools import partial

import pandas as pd

from analysis.raters import agreement, kappas
from analysis.raters.agreement import Statistic
from analysis.raters.votes import Votes
from analysis.scores.question_ratings import questions
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import tidy


def gwet_ac2(ratings: RatingTable, *, seed: int = 0) -> pd.DataFrame:
    """Return a row per ordinal or interval question and system, and one for all systems."""
    found = (
        {**row, "weights": _weights(question.level)}
        for question in questions(ratings, "ordinal", "interval")
        for row in agreement.rows([question], _statistic, seed=seed)
    )
    return tidy("gwet_ac2", found)


def _weights(level: str) -> kappas.Weights:
    return "ordinal" if level == "ordinal" else "quadratic"


def _statistic(votes: Votes) -> Statistic | str:
    reason = kappas.no_chance(votes) or kappas.too_many(votes)
    return reason or partial(kappas.gwet, kind=_weights(votes.level))
