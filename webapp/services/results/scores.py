"""The scores of a running campaign as they fill in: the same numbers as on the results page.

Apart because they are a few quick metrics, and the results page has all.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

from analysis import RatingTable, get_metric
from webapp.services.data import tables
from webapp.services.results.selection import chosen
from webapp.services.results.shown import Score
from webapp.services.rules.access import AnyCampaign, row_of

METRICS = ("likert", "ssa", "persona_detection")  # quick ones; the results page has them all


def scores(campaign: AnyCampaign) -> list[Score]:
    """Return the scores so far of what counts; what has no estimate yet is left out."""
    return of_ratings(tables.ratings(row_of(campaign)))


def of_ratings(whole: RatingTable) -> list[Score]:
    """Return the scores of a table's ratings that are not set aside."""
    ratings = chosen(whole, "counted")
    if ratings.empty:
        return []
    return [score for name in METRICS for score in _of(name, ratings)]


def _of(name: str, ratings: RatingTable) -> list[Score]:
    metric = cast(Callable[[Any], Any], get_metric(name))
    rows = metric(ratings).to_dict("records")
    return [_score(name, row) for row in rows if not math.isnan(row["estimate"])]


def _score(name: str, row: dict[str, Any]) -> Score:
    low, high = (None if math.isnan(row[end]) else float(row[end]) for end in ("low", "high"))
    question = row["question"] if name == "likert" else str(row["metric"]).replace("_", " ")
    return Score(
        str(question), str(row["system"]), float(row["estimate"]), low, high, int(row["n"])
    )
