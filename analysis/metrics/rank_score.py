"""Normalized rank score of systems ranked together, with hredGAN's standard error.

Olabiyi et al. 2019 (hredGAN, NLP4ConvAI; spec, metrics section 6): of N replies the lowest scores 0
and the best N - 1, over N - 1, so that the scores of all systems add up to N/2. `se` is the paper's
formula: per sample the variance between judges, summed over samples, over n², and its root; it
leaves out how samples differ, so the interval is not of it, but a t interval clustered by rater
(Cameron & Miller 2015, eq. 11). A tie shares its places, which is ours: the paper allows none.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.groups import Asked, questions
from analysis.intervals import t_interval
from analysis.preferences import positions
from analysis.tables import RatingTable
from analysis.tidy import tidy

ALONE = "one judge a sample: the formula's variance between judges is undefined"
ONE_RATER = "one rater only: no interval over raters"


def rank_score(ratings: RatingTable) -> pd.DataFrame:
    """Return a row per question of ranks and system."""
    asked = questions(ratings, "rank")
    return tidy("rank_score", (row for one in asked for row in _rows(one)))


def _rows(asked: Asked) -> Iterator[dict[str, object]]:
    placed = positions(asked)
    placed["score"] = (placed["of"] - placed["position"]) / (placed["of"] - 1)
    for system, rows in placed.groupby("system", sort=True):
        samples = rows.groupby("item")["score"]
        n = samples.ngroups
        means, variances = samples.mean(), samples.var(ddof=1)
        estimate = float(means.mean())
        error, raters = _clustered(rows, estimate, n)
        low, high = t_interval(estimate, error, raters - 1)
        judged = variances.notna().all()
        yield {
            **asked.name,
            "system": system,
            "estimate": estimate,
            "low": low,
            "high": high,
            "n": n,
            "se": float(np.sqrt(variances.sum()) / n) if judged else float("nan"),
            "judgments": len(rows),
            "reason": ONE_RATER if raters < 2 else None if judged else ALONE,
        }


def _clustered(rows: pd.DataFrame, estimate: float, n: int) -> tuple[float, int]:
    """Return the standard error of the mean over samples, clustered by rater, and the raters."""
    weight = 1 / (n * rows.groupby("item")["score"].transform("size"))
    gaps = (weight * (rows["score"] - estimate)).groupby(rows["rater"]).sum()
    raters = len(gaps)
    spread = float((gaps**2).sum())
    return (float(np.sqrt(raters / (raters - 1) * spread)) if raters > 1 else float("nan")), raters
