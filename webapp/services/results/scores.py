"""The scores of a running campaign as they fill in: the same numbers as on the results page.

Apart because they are a few quick metrics, and the results page has all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, cast

from analysis import RatingTable, get_metric
from analysis.planning.sequential import Look
from analysis.planning.stop import looks, overall, planned_stop
from webapp.services.data import tables
from webapp.services.results.selection import chosen
from webapp.services.results.shown import Score, ShownPair
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


def stop_looks(plan: Mapping[str, Any], whole: RatingTable) -> dict[str, Any] | None:
    """Return the look at each pair of the plan's systems by its stop rule; None without a rule."""
    settled = planned_stop(plan)
    if settled is None:
        return None
    whole = chosen(whole, "counted")
    found = looks(whole, settled)
    pairs = [asdict(_pair(names, each)) for names, each in found.items()]
    return {**plan["stop_rule"], "verdict": overall(found), "pairs": pairs}


def _pair(names: tuple[str, str], found: Look) -> ShownPair:
    numbers = (found.estimate, *found.interval)
    estimate, low, high = (None if math.isnan(each) else float(each) for each in numbers)
    return ShownPair(
        *names,
        estimate=estimate,
        low=low,
        high=high,
        verdict=found.verdict,
        reason=found.reason,
        chance=found.chance,
        items=found.items,
        raters=found.raters,
    )


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
