"""Record of how a campaign's ratings came about, as analysis reads it from its export too."""

from __future__ import annotations

import pandas as pd

from analysis import RatingTable
from analysis.tables.campaign_record import CampaignRecord
from webapp.models import Campaign, Participation
from webapp.services.campaign import launch
from webapp.services.data import codebook, conversation_records


def study(campaign: Campaign, whole: RatingTable) -> CampaignRecord:
    """Return the plan, people and answers; a draft's plan is the one that it would freeze."""
    people = list(conversation_records.participants(campaign))
    return CampaignRecord(
        plan=campaign.plan or launch.plan_of(Campaign.objects.get(pk=campaign.pk)),
        plan_sha256=campaign.plan_hash,
        state=campaign.state,
        people=pd.DataFrame(people, columns=list(codebook.PARTICIPANTS)),
        answers=whole,
        withdrew=withdrew(campaign),
        outcomes=outcomes(),
        amendments=[each.text for each in campaign.amendments.order_by("pk")],
    )


def withdrew(campaign: Campaign) -> int:
    """Return how many people took their data back: of them nothing else is told."""
    return campaign.participations.exclude(withdrawn_at=None).count()


def outcomes() -> dict[str, str]:
    """Return the name of each outcome."""
    return {str(name): str(label) for name, label in Participation.Outcome.choices}
