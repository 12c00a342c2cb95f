"""Selection of the answers that a campaign's results are of."""

from __future__ import annotations

from analysis import BadTable, RatingTable, rating_table
from analysis.raters.raters import planned_control, profiles, without_flagged
from analysis.tables.campaign_record import CampaignRecord


def chosen(whole: RatingTable, choice: str, study: CampaignRecord | None = None) -> RatingTable:
    """Return the answers of a choice: those not set aside unless it is "all".

    Raters are flagged by the control of the plan too, where `study` has one.
    """
    if choice == "all":
        return whole
    kept = whole[whole["excluded"] == ""]
    kept = kept[kept["flags"] == ""] if choice == "unflagged" else kept
    found = RatingTable(kept.reset_index(drop=True))
    return _careful(found, study) if choice == "careful" else found


def _careful(ratings: RatingTable, study: CampaignRecord | None) -> RatingTable:
    """Leave out flagged raters; a table that is wrong is left as it is, and told to be."""
    try:
        found = profiles(rating_table(ratings), control=planned_control(ratings, study))
        return without_flagged(ratings, found)
    except BadTable:
        return ratings
