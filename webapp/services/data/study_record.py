"""Record of how a campaign's ratings came about, as analysis reads it from its export too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from analysis import BadTable, RatingTable, rating_table
from analysis.output import heds
from analysis.tables.campaign_record import CampaignRecord
from webapp.models import Campaign, Participation
from webapp.services.campaign import launch
from webapp.services.data import codebook, conversation_records, reply_records, tables

Rows = Sequence[Mapping[str, Any]]
COUNTS = dict.fromkeys(("conversations", "least_work"), "int64")  # of the participants' table


def study(
    campaign: Campaign,
    whole: RatingTable,
    people: pd.DataFrame | None = None,
    calls: Rows | None = None,
) -> CampaignRecord:
    """Return the plan, people and answers; a draft's plan is the one that it would freeze.

    `people` are the campaign's participants, and `calls` the counts of its systems' calls, where
    somebody has read them already, or wants none.
    """
    if calls is None:
        calls = list(reply_records.event_rows(campaign))
    return CampaignRecord(
        plan=campaign.plan or launch.plan_of(Campaign.objects.get(pk=campaign.pk)),
        plan_sha256=campaign.plan_hash,
        state=campaign.state,
        people=people_of(campaign) if people is None else people,
        answers=whole,
        replies=pd.DataFrame(calls, columns=list(codebook.REPLY_EVENTS)),
        withdrew=withdrew(campaign),
        outcomes=outcomes(),
        amendments=[each.text for each in campaign.amendments.order_by("pk")],
        datasheet=campaign.datasheet,
    )


def people_of(campaign: Campaign) -> pd.DataFrame:
    """Return the rows of the participants' table, who withdrew left out."""
    types = dict.fromkeys(codebook.PARTICIPANTS, "str") | COUNTS
    return tables.compact(conversation_records.participants(campaign), types)


def heds_text(campaign: Campaign, whole: RatingTable, people: pd.DataFrame | None = None) -> str:
    """Return the datasheet as the form of HEDS 3.0 loads it, of the answers that count.

    Names may be categories. Of answers that cannot be analyzed it says nothing: the data is handed
    out all the same.
    """
    kept = whole[whole["excluded"] == ""].reset_index(drop=True)
    try:
        ratings = rating_table(kept, coded=True)
    except BadTable:
        ratings = RatingTable(kept.iloc[:0])
    return heds.written(heds.heds(ratings, study(campaign, whole, people, calls=())))


def withdrew(campaign: Campaign) -> int:
    """Return how many people took their data back: of them nothing else is told."""
    return campaign.participations.exclude(withdrawn_at=None).count()


def outcomes() -> dict[str, str]:
    """Return the name of each outcome."""
    return {str(name): str(label) for name, label in Participation.Outcome.choices}
