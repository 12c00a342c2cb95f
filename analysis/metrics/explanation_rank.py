"""Normalized rank of systems ranked together, 0 for the top and 1 for the bottom, lower is better.

L2E (NLP4ConvAI 2019; spec, protocol NL-P8 and metrics section 6): (position - 1)/(k - 1), averaged
over a participant's prompts, then over participants. The paper's interval is a bootstrap over
participants; ours is its percentile form with 10,000 seeded resamples. A tie shares its places.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.groups import Asked, questions
from analysis.intervals import NONE, Interval, percentile_interval
from analysis.preferences import positions
from analysis.tables import RatingTable
from analysis.tidy import tidy

DRAWS = 10_000
PIECE = 1000  # resamples in memory at once
ONE_RATER = "one participant only: no interval over participants"


def explanation_rank(ratings: RatingTable, *, seed: int = 0) -> pd.DataFrame:
    """Return a row per question of ranks and system."""
    asked = questions(ratings, "rank")
    return tidy("explanation_rank", (row for one in asked for row in _rows(one, seed)))


def _rows(asked: Asked, seed: int) -> Iterator[dict[str, object]]:
    placed = positions(asked)
    placed["rank"] = (placed["position"] - 1) / (placed["of"] - 1)
    for system, rows in placed.groupby("system", sort=True):
        means = rows.groupby("rater")["rank"].mean()
        low, high = _interval(means, seed)
        yield {
            **asked.name,
            "system": system,
            "estimate": float(means.mean()),
            "low": low,
            "high": high,
            "n": len(means),
            "judgments": len(rows),
            "reason": ONE_RATER if len(means) < 2 else None,
        }


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
