"""Selection of the answers that a campaign's results are of."""

from __future__ import annotations

from analysis import BadTable, RatingTable, rating_table
from analysis.raters.raters import profiles, without_flagged


def chosen(whole: RatingTable, choice: str) -> RatingTable:
    """Return the answers of a choice: those not set aside unless it is "all"."""
    if choice == "all":
        return whole
    kept = whole[whole["excluded"] == ""]
    kept = kept[kept["flags"] == ""] if choice == "unflagged" else kept
    found = RatingTable(kept.reset_index(drop=True))
    return _careful(found) if choice == "careful" else found


def _careful(ratings: RatingTable) -> RatingTable:
    """Leave out flagged raters; a table that is wrong is left as it is, and told to be."""
    try:
        return without_flagged(ratings, profiles(rating_table(ratings)))
    except BadTable:
        return ratings
