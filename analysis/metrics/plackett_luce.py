"""Log-worths of systems from rankings of several without ties.

Plackett 1975 (JRSS C 24) and Luce 1959, fitted by Hunter 2004
(`analysis.comparisons.plackett_luce`), around a mean of 0. Intervals are a percentile bootstrap
over raters, or of few raters t by a jackknife over them. Rankings with a tie are left out and
counted; two systems shown together are the case of Bradley and Terry.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.comparisons import bradley_terry as pairs
from analysis.comparisons import plackett_luce as model
from analysis.comparisons.preferences import ACT, compared, resampled
from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.stats.intervals import NONE, Floats, Interval, percentile_interval, t_interval
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import tidy

REFITS = 200
# Up to so many raters the interval is t, by leaving out each.
FEW = 100
LOOSE = "one rater only, or without some of them worths are not finite: no interval"


def plackett_luce(ratings: RatingTable, *, seed: int = 0) -> pd.DataFrame:
    """Return a row per question of ranks and system."""
    rated = questions(ratings, "rank")
    return tidy("plackett_luce", (row for one in rated for row in _question_rows(one, seed)))


def _question_rows(question: QuestionRatings, seed: int) -> Iterator[dict[str, object]]:
    names, rankings, rater, tied = _rankings(question)
    if not len(rankings):
        return
    untied = question.rows.merge(_whole(question), on=ACT)
    found = compared(QuestionRatings(question.protocol, question.question, question.level, untied))
    reason = None if found is None else pairs.undefined(found.counts())
    count = np.bincount(rankings[rankings >= 0], minlength=len(names))
    common = {**question.name, "tied_left_out": tied}
    if reason is not None:
        for k, system in enumerate(names):
            yield {**common, "system": system, "n": int(count[k]), "reason": reason}
        return
    worth = model.fit(rankings, len(names), np.ones(len(rankings)))
    ends = _intervals(rankings, rater, worth, seed)
    for k, system in enumerate(names):
        ends_of = {"low": ends[k].low, "high": ends[k].high}
        why = LOOSE if ends[k] == NONE else None
        row = {**common, "system": system, "estimate": worth[k], **ends_of, "n": int(count[k])}
        yield {**row, "reason": why}


def interval_name(question: QuestionRatings) -> str:
    """Return the kind of interval that the worths of a question have."""
    raters = len(set(_rankings(question)[2]))
    return "t by a jackknife over raters" if raters <= FEW else "bootstrap over raters"


def _whole(question: QuestionRatings) -> pd.DataFrame:
    """Return the acts of ranking that have no tie and more than one system."""
    acts = question.rows.groupby(ACT)["value"]
    sizes, different = acts.size(), acts.nunique()
    return sizes[(sizes > 1) & (sizes == different)].reset_index()[ACT]


def _rankings(question: QuestionRatings) -> tuple[list[str], np.ndarray, np.ndarray, int]:
    names, code = np.unique(question.rows["system"].astype(str), return_inverse=True)
    rows = question.rows.assign(code=code, value=question.values).merge(_whole(question), on=ACT)
    acts = question.rows.groupby(ACT).size()
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
    if count <= FEW:
        return _jackknifed(choices, start, count)
    pieces = []
    for weights in resampled(count, REFITS, seed=seed, cells=choices.cells):
        known = _finite(choices.ordered(weights))
        pieces.append(choices.worths(weights[known], start))
    drawn = np.concatenate(pieces)
    if len(drawn) < REFITS / 2:
        return [NONE] * systems
    return [percentile_interval(column, count) for column in drawn.T]


def _jackknifed(choices: model.Choices, start: Floats, count: int) -> list[Interval]:
    """Return t intervals by leaving out each rater in turn, where all of these worths are finite.

    Tukey 1958 (Annals of Mathematical Statistics 29, 614). Resamples of so few raters spread too
    little: their middle 95 % held .90.
    """
    weights = 1 - np.eye(count)
    if not _finite(choices.ordered(weights)).all():
        return [NONE] * len(start)  # and `LOOSE` says why
    left = choices.worths(weights, start)
    errors = np.sqrt((count - 1) / count * ((left - left.mean(axis=0)) ** 2).sum(axis=0))
    return [t_interval(at, error, count - 1) for at, error in zip(start, errors, strict=True)]


def _finite(above: Floats) -> np.ndarray:
    """Tell of each table [resample, above, below] whether finite worths exist."""
    return pairs.finite(pairs.PairCounts(above, np.zeros_like(above), np.zeros_like(above)))
