"""Comparisons as a rating table: a row for each system shown, its position the value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from analysis import RatingTable
from tests.analysis.examples import ratings

Act = tuple[str, str, Sequence[str], Sequence[float]]


def preferring(acts: Iterable[Act]) -> RatingTable:
    """Return a table of (item, rater, systems as shown, their positions)."""
    rows: list[dict[str, object]] = [
        {"item": item, "rater": rater, "system": system, "value": value, "place": place}
        for item, rater, systems, values in acts
        for place, (system, value) in enumerate(zip(systems, values, strict=True))
    ]
    return ratings(rows, level="rank")
