"""P(M_a > M_b): the probability that one system's calibrated score is above another's.

From the posterior of `calibrated_score` (Kulikov et al. 2018), for every ordered pair.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis import calibration
from analysis.groups import Asked, questions
from analysis.tables import RatingTable
from analysis.tidy import tidy


def win_probability(ratings: RatingTable, *, seed: int = 0) -> pd.DataFrame:
    """Return a row per question and ordered pair: `system` beats `other_system`."""
    asked = questions(ratings, "ordinal", "interval")
    return tidy("win_probability", (row for one in asked for row in _rows(one, seed)))


def _rows(asked: Asked, seed: int) -> Iterator[dict[str, object]]:
    if calibration.undefined(asked) is not None:
        return
    found = calibration.posterior(asked, seed=seed)
    note = calibration.unit_variance_note(asked)
    names = found.sums.systems
    for a, system in enumerate(names):
        for b, other in enumerate(names):
            if a != b:
                yield {
                    **asked.name,
                    "system": system,
                    "other_system": other,
                    "estimate": found.wins[a, b],
                    "n": int(found.sums.n[a] + found.sums.n[b]),
                    **asked.scale,
                    "note": note,
                }
