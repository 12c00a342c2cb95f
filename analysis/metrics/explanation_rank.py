"""Normalized rank of systems ranked together, 0 for the top and 1 for the bottom, lower is better.

L2E (NLP4ConvAI 2019; spec, protocol NL-P8 and metrics section 6): (position - 1)/(k - 1), averaged
over a participant's prompts, then over participants. The paper's interval is a bootstrap over
participants, here with 10,000 seeded resamples: `percentile_low` and `percentile_high`. With five
participants it held .83 instead of .95 (`docs/simulation.md`). `low` and `high` are Student's over
participants, which hold. A tie shares its places.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.comparisons.preferences import positions
from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.stats.intervals import NONE, Interval, percentile_interval, t_interval
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import tidy

DRAWS = 10_000
PIECE = 1000  # resamples in memory at once
ONE_RATER = "one participant only: no interval over participants"
ALIKE = "all participants give the same rank: no variance, so no interval"


def explanation_rank(ratings: RatingTable, *, seed: int = 0) -> pd.DataFrame:
    """Return a row per question of ranks and system."""
    rated = questions(ratings, "rank")
    return tidy("explanation_rank", (row for one in rated for row in _question_rows(one, seed)))


def _question_rows(question: QuestionRatings, seed: int) -> Iterator[dict[str, object]]:
    placed = positions(question)
    placed["rank"] = (placed["position"] - 1) / (placed["of"] - 1)
    for system, rows in placed.groupby("system", sort=True):
        means = rows.groupby("rater")["rank"].mean()
        drawn = _interval(means, seed)
        low, high = _of_means(means)
        yield {
            **question.name,
            "system": system,
            "estimate": float(means.mean()),
            "low": low,
            "high": high,
            "n": len(means),
            "judgments": len(rows),
            "percentile_low": drawn.low,
            "percentile_high": drawn.high,
            "reason": _reason(means),
        }


def _of_means(means: pd.Series) -> Interval:
    """Return Student's interval, within the ends that a rank can have."""
    if _reason(means) is not None:
        return NONE
    error = float(means.std(ddof=1)) / np.sqrt(len(means))
    low, high = t_interval(float(means.mean()), error, len(means) - 1)
    return Interval(max(low, 0.0), min(high, 1.0))


def _reason(means: pd.Series) -> str | None:
    if len(means) < 2:
        return ONE_RATER
    return ALIKE if np.ptp(means) == 0 else None


def _interval(means: pd.Series, seed: int) -> Interval:
    count = len(means)
    if count < 2:
        return NONE
    chance, values = np.random.default_rng(seed), np.sort(means.to_numpy(dtype=float))
    drawn = [
        values[chance.integers(0, count, (PIECE, count))].mean(axis=1)
        for _ in range(DRAWS // PIECE)
    ]
    return percentile_interval(np.concatenate(drawn))
