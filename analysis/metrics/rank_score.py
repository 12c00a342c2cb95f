"""Rank score of systems shown together, with its printed standard error, and its mirror image.

hredGAN (Olabiyi et al. 2019; NLP4CONVAI): of N systems ranked without ties the best gets N - 1
points, the last 0; divided by N - 1 a column sums to N/2 over systems. Its standard error: for each
sample the variance between judges, summed over samples, divided by n², and the root of that; what
samples differ in is not in it, so the interval is a percentile bootstrap over raters instead (Efron
& Tibshirani 1993, ch. 13). `explanation_rank` is L2E's (2019; NLP4CONVAI): (position - 1)/(k - 1),
0 best. A tie gets the mean of its positions, which keeps the sums [ours]. Where all see as many
systems, the score is the rate of wins with ties as half.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.groups import Asked, questions
from analysis.intervals import NONE, Floats, Interval, bootstrap, by_content, percentile_interval
from analysis.preferences import ACT
from analysis.tables import RatingTable
from analysis.tidy import tidy

ONE_RATER = "one rater only: no interval over raters"


def rank_score(ratings: RatingTable, *, seed: int = 0) -> pd.DataFrame:
    """Return two rows per question of ranks and system: the score, and the rank from 0 to 1."""
    asked = questions(ratings, "rank")
    return tidy("rank_score", (row for one in asked for row in _rows(one, seed)))


def _rows(asked: Asked, seed: int) -> Iterator[dict[str, object]]:
    scored = _scored(asked.rows)
    sums = scored.pivot_table(index="rater", columns="system", values="score", aggfunc="sum")
    counts = scored.pivot_table(index="rater", columns="system", values="score", aggfunc="size")
    for system, rows in scored.groupby("system", sort=True):
        gained, given = (table[system].fillna(0).to_numpy(dtype=float) for table in (sums, counts))
        low, high = _interval(gained, given, seed)
        mean = float(rows["score"].mean())
        about = {
            **asked.name,
            "system": str(system),
            "n": len(rows),
            "se": _standard_error(rows),
            "samples": int(rows["item"].nunique()),
            "reason": ONE_RATER if np.isnan(low) else None,
        }
        yield {**about, "estimate": mean, "low": low, "high": high}
        turned = {"estimate": 1 - mean, "low": 1 - high, "high": 1 - low}
        yield {**about, "metric": "explanation_rank", **turned}


def _scored(rows: pd.DataFrame) -> pd.DataFrame:
    """Return each system's score in each act of ranking two systems or more."""
    acts = rows.assign(value=rows["value"].astype(float)).groupby(ACT)["value"]
    shown = acts.transform("size")
    score = (shown - acts.rank(method="average")) / (shown - 1)
    return rows.assign(score=score)[shown > 1]


def _interval(gained: Floats, given: Floats, seed: int) -> Interval:
    order = by_content(gained, given)
    gained, given = gained[order], given[order]
    if np.count_nonzero(given) < 2:
        return NONE

    def mean(drawn: Floats) -> Floats:
        with np.errstate(invalid="ignore"):
            return np.asarray((drawn @ gained) / (drawn @ given))

    return percentile_interval(bootstrap(mean, len(given), seed=seed))


def _standard_error(rows: pd.DataFrame) -> float:
    """Return hredGAN's: a sample with one judge tells nothing of their variance."""
    variances = rows.groupby("item")["score"].var(ddof=1).dropna()
    return float(np.sqrt(variances.sum()) / len(variances)) if len(variances) else float("nan")
