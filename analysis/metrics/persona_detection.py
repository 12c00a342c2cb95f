"""Share of raters who told the partner's persona from a random one; chance is .5.

PERSONA-CHAT (Zhang et al. 2018, section 5.2): after the dialogue two personas are shown, and the
answer is right (1) or wrong (0). SD is √(p(1 - p)), which agrees with table 4 of the paper;
the interval is Wilson's. Where raters answered more than once, answers count for as many as
clustered ones are worth (`analysis.stats.clustering`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.stats.clustering import codes, share_intervals
from analysis.stats.intervals import Interval, wilson_interval
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import tidy

NAME = re.compile("persona|profile|detection", re.IGNORECASE)
CHANCE = 0.5


def persona_detection(ratings: RatingTable) -> pd.DataFrame:
    """Return a row per system and right-or-wrong question whose name speaks of a persona."""
    rated = (one for one in questions(ratings, "nominal") if NAME.search(one.question))
    return tidy(
        "persona_detection", (row for one in rated if one.is_yes_no for row in _question_rows(one))
    )


def _question_rows(question: QuestionRatings) -> Iterator[dict[str, object]]:
    of_systems = list(question.by_system())
    ends = _intervals([rows for _, rows in of_systems])
    for (system, rows), (low, high) in zip(of_systems, ends, strict=True):
        right, n = float(rows["value"].sum()), len(rows)
        sd = float(np.sqrt(right / n * (1 - right / n)))
        yield {
            **question.name,
            "system": system,
            "estimate": right / n,
            "low": low,
            "high": high,
            "n": n,
            "sd": sd,
            "se": sd / np.sqrt(n),
            "chance": CHANCE,
        }


def _intervals(of_systems: Sequence[pd.DataFrame]) -> list[Interval]:
    """Return Wilson's intervals; clustered where somebody, but not all of them one, said more."""
    values = [rows["value"].to_numpy(dtype=float) for rows in of_systems]
    raters = [codes(rows["rater"]) for rows in of_systems]
    if any(0 < who.max() < len(who) - 1 for who in raters):
        by = [who if who.max() > 0 else np.arange(len(who)) for who in raters]
        return share_intervals([(one, [who]) for one, who in zip(values, by, strict=True)])
    return [wilson_interval(float(one.sum()), len(one)) for one in values]
