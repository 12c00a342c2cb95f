"""Log-worths of systems from rankings of several without ties.

Plackett 1975 (JRSS C 24) and Luce 1959, fitted by Hunter 2004
(`analysis.comparisons.plackett_luce`), around a mean of 0. Intervals are Student's, by a sandwich
clustered by rater and by context at once (Cameron, Gelbach & Miller 2011;
`analysis.comparisons.clustered`). Rankings with a tie are left out and counted; two systems shown
together are the case of Bradley and Terry.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pandas as pd

from analysis.comparisons import bradley_terry as pairs
from analysis.comparisons import likelihoods
from analysis.comparisons import plackett_luce as model
from analysis.comparisons.clustered import clustered
from analysis.comparisons.preferences import ACT, contexts, too_few
from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.stats.intervals import NONE
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import tidy


def plackett_luce(ratings: RatingTable) -> pd.DataFrame:
    """Return a row per question of ranks and system."""
    rated = questions(ratings, "rank")
    return tidy("plackett_luce", (row for one in rated for row in _question_rows(one)))


def _question_rows(question: QuestionRatings) -> Iterator[dict[str, object]]:
    names, rankings, rater, context, tied = _rankings(question)
    if not len(rankings):
        return
    reason = pairs.undefined(_pairs(rankings, len(names)))
    count = np.bincount(rankings[rankings >= 0], minlength=len(names))
    common = {**question.name, "tied_left_out": tied}
    if reason is not None:
        for k, system in enumerate(names):
            yield {**common, "system": system, "n": int(count[k]), "reason": reason}
        return
    worth = model.fit(rankings, len(names), np.ones(len(rankings)))
    likelihood = likelihoods.of_rankings(rankings, worth)
    ends = clustered(likelihood, rater, context).intervals(worth)
    for k, system in enumerate(names):
        ends_of = {"low": ends[k].low, "high": ends[k].high}
        why = too_few(rater, context) if ends[k] == NONE else None
        row = {**common, "system": system, "estimate": worth[k], **ends_of, "n": int(count[k])}
        yield {**row, "reason": why}


def _pairs(rankings: np.ndarray, systems: int) -> pairs.PairCounts:
    """Count who stands before whom, of every two of each ranking."""
    won = np.zeros((systems, systems))
    for better, worse in combinations(rankings.T, 2):
        both = worse >= 0
        np.add.at(won, (better[both], worse[both]), 1)
    none = np.zeros_like(won)
    return pairs.PairCounts(won, none, none)


def _whole(question: QuestionRatings) -> pd.DataFrame:
    """Return the acts of ranking that have no tie and more than one system."""
    acts = question.rows.groupby(ACT)["value"]
    sizes, different = acts.size(), acts.nunique()
    return sizes[(sizes > 1) & (sizes == different)].reset_index()[ACT]


Rankings = tuple[list[str], np.ndarray, np.ndarray, np.ndarray, int]


def _rankings(question: QuestionRatings) -> Rankings:
    """Return names, rankings, the rater and the context of each, and how many had a tie."""
    names, code = np.unique(question.rows["system"].astype(str), return_inverse=True)
    rows = question.rows.assign(code=code, value=question.values).merge(_whole(question), on=ACT)
    acts = question.rows.groupby(ACT).size()
    rows = rows.sort_values([*ACT, "value"], kind="stable")
    act = rows.groupby(ACT, sort=False).ngroup().to_numpy()
    position = rows.groupby(ACT, sort=False).cumcount().to_numpy()
    size = int(act.max()) + 1 if len(act) else 0
    rankings = np.full((size, int(position.max()) + 1 if size else 0), -1)
    rankings[act, position] = rows["code"].to_numpy()
    of = rows.assign(context=contexts(rows)).groupby(ACT, sort=False)[["rater", "context"]].first()
    rater, context = (pd.factorize(of[name].astype(str), sort=True)[0] for name in of.columns)
    return names.tolist(), rankings, rater, context, int((acts > 1).sum()) - size
