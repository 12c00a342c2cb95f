"""Normalized rank score of systems ranked together, with hredGAN's standard error.

Olabiyi et al. 2019 (hredGAN, NLP4ConvAI; spec, metrics section 6): of N replies the lowest scores 0
and the best N - 1, over N - 1, so that the scores of all systems add up to N/2. `se` is the paper's
formula: per sample the variance between judges, summed over samples, over n², and its root; it
leaves out how samples differ, so the interval is not of it, but a t interval clustered by rater and
by sample (`analysis.stats.clustering`). A tie shares its places, which is ours: the paper allows
none.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.comparisons.preferences import positions
from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.stats.clustering import codes, error_of_ratio
from analysis.stats.intervals import NONE, Interval, t_interval
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import tidy

ALONE = "one judge per sample: the formula's variance between judges is undefined"
ONE_RATER = "one rater only: no interval over raters"
ALIKE = "too few samples, or all ranked equally: no interval"


def rank_score(ratings: RatingTable) -> pd.DataFrame:
    """Return a row per question of ranks and system."""
    rated = questions(ratings, "rank")
    return tidy("rank_score", (row for one in rated for row in _question_rows(one)))


def _question_rows(question: QuestionRatings) -> Iterator[dict[str, object]]:
    placed = positions(question)
    placed["score"] = (placed["of"] - placed["position"]) / (placed["of"] - 1)
    for system, rows in placed.groupby("system", sort=True):
        samples = rows.groupby("item")["score"]
        n = samples.ngroups
        means, variances = samples.mean(), samples.var(ddof=1)
        estimate = float(means.mean())
        raters = rows["rater"].nunique()
        low, high = _interval(rows, estimate)
        judged = variances.notna().all()
        yield {
            **question.name,
            "system": system,
            "estimate": estimate,
            "low": low,
            "high": high,
            "n": n,
            "se": float(np.sqrt(variances.sum()) / n) if judged else float("nan"),
            "judgments": len(rows),
            "reason": _reason(raters, low) or (None if judged else ALONE),
        }


def _reason(raters: int, low: float) -> str | None:
    if raters < 2:
        return ONE_RATER
    return ALIKE if np.isnan(low) else None


def _interval(rows: pd.DataFrame, estimate: float) -> Interval:
    """Return the t interval of the mean over samples, within the ends that a score can have."""
    weight = 1 / rows.groupby("item")["score"].transform("size").to_numpy(dtype=float)
    above = weight * rows["score"].to_numpy(dtype=float)
    error = error_of_ratio(above, weight, codes(rows["rater"]), codes(rows["item"]))
    if rows["rater"].nunique() < 2 or not error.se > 0:
        return NONE
    low, high = t_interval(estimate, error.se, error.df)
    return Interval(max(low, 0.0), min(high, 1.0))
