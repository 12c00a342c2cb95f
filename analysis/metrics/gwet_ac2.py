"""Gwet's AC2: AC1 with part of an agreement for answers that are near (Gwet 2014, chapter 5).

Weights are Gwet's ordinal ones for an ordinal question, and quadratic ones for an interval question
(Handbook of Inter-Rater Reliability, 4th ed., section 3.5). Gaps and categories are as in AC1: the
agreement over items with two ratings or more, the shares over all rated items, the categories those
given to the question in any system. The interval is a bootstrap over items.
"""

from __future__ import annotations

from functools import partial

import pandas as pd

from analysis import agreement, kappas
from analysis.agreement import Statistic
from analysis.groups import questions
from analysis.tables import RatingTable
from analysis.tidy import tidy
from analysis.votes import Votes


def gwet_ac2(ratings: RatingTable, *, seed: int = 0) -> pd.DataFrame:
    """Return a row per ordinal or interval question and system, and one for all systems."""
    found = (
        {**row, "weights": _weights(asked.level)}
        for asked in questions(ratings, "ordinal", "interval")
        for row in agreement.rows([asked], _statistic, seed=seed)
    )
    return tidy("gwet_ac2", found)


def _weights(level: str) -> kappas.Weights:
    return "ordinal" if level == "ordinal" else "quadratic"


def _statistic(given: Votes) -> Statistic | str:
    reason = kappas.no_chance(given) or kappas.too_many(given)
    return reason or partial(kappas.gwet, kind=_weights(given.level))
