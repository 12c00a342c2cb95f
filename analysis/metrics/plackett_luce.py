"""Log-worths of systems from rankings of several without ties.

Plackett 1975 (JRSS C 24) and Luce 1959, fitted by Hunter 2004 (`analysis.plackett_luce`), around a
mean of 0. Intervals are a percentile bootstrap over raters. Rankings with a tie are left out and
counted; two systems shown together are the case of Bradley and Terry.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis import bradley_terry as pairs
from analysis import plackett_luce as model
from analysis.groups import Asked, questions
from analysis.intervals import NONE, Floats, Interval, percentile_interval
from analysis.preferences import ACT, compared, resampled
from analysis.tables import RatingTable
from analysis.tidy import tidy

REFITS = 200


def plackett_luce(ratings: RatingTable, *, seed: int = 0) -> pd.DataFrame:
    """Return a row per question of ranks and system."""
    asked = questions(ratings, "rank")
    return tidy("plackett_luce", (row for one in asked for row in _rows(one, seed)))


def _rows(asked: Asked, seed: int) -> Iterator[dict[str, object]]:
    names, rankings, rater, tied = _rankings(asked)
    if not len(rankings):
        return
    untied = asked.rows.merge(_whole(asked), on=ACT)
    found = compared(Asked(asked.protocol, asked.question, asked.level, untied))
    reason = None if found is None else pairs.undefined(found.counts())
    count = np.bincount(rankings[rankings >= 0], minlength=len(names))
    common = {**asked.name, "tied_left_out": tied}
    if reason is not None:
        for k, system in enumerate(names):
            yield {**common, "system": system, "n": int(count[k]), "reason": reason}
        return
    worth = model.fit(rankings, len(names), np.ones(len(rankings)))
    ends = _intervals(rankings, rater, worth, seed)
    for k, system in enumerate(names):
        ends_of = {"low": ends[k].low, "high": ends[k].high}
        yield {**common, "system": system, "estimate": worth[k], **ends_of, "n": int(count[k])}


def _whole(asked: Asked) -> pd.DataFrame:
    """Return the acts of ranking that have no tie and more than one system."""
    acts = asked.rows.groupby(ACT)["value"]
    sizes, different = acts.size(), acts.nunique()
    return sizes[(sizes > 1) & (sizes == different)].reset_index()[ACT]


def _rankings(asked: Asked) -> tuple[list[str], np.ndarray, np.ndarray, int]:
    names, code = np.unique(asked.rows["system"].astype(str), return_inverse=True)
    rows = asked.rows.assign(code=code, value=asked.values).merge(_whole(asked), on=ACT)
    acts = asked.rows.groupby(ACT).size()
    rows = rows.sort_values([*ACT, "value"], kind="stable")
    act = rows.groupby(ACT, sort=False).ngroup().to_numpy()
    position = rows.groupby(ACT, sort=False).cumcount().to_numpy()
    size = int(act.max()) + 1 if len(act) else 0
    rankings = np.full((size, int(position.max()) + 1 if size else 0), -1)
    rankings[act, position] = rows["code"].to_numpy()
    rater = rows.groupby(ACT, sort=False)["rater"].first().astype(str).to_numpy()
    codes = np.unique(rater, return_inverse=True)[1]
    return names.tolist(), rankings, codes, int((acts > 1).sum()) - size


def _intervals(rankings: np.ndarray, rater: np.ndarray, start: Floats, seed: int) -> list[Interval]:
    """Resample raters; a draw in which no finite worths exist is left out."""
    count, systems = int(rater.max()) + 1, len(start)
    if count < 2:
        return [NONE] * systems
    choices = model.Choices(rankings, systems, rater)
    pieces = []
    for weights in resampled(count, REFITS, seed=seed, cells=choices.cells):
        won = choices.ordered(weights)
        known = pairs.finite(pairs.Counts(won, np.zeros_like(won), np.zeros_like(won)))
        pieces.append(choices.worths(weights[known], start))
    drawn = np.concatenate(pieces)
    if len(drawn) < REFITS / 2:
        return [NONE] * systems
    return [percentile_interval(column, count) for column in drawn.T]
