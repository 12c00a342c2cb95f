"""How a campaign's ratings came about, as analysis reads it: the same as from its export."""

from __future__ import annotations

import pandas as pd

from analysis import RatingTable
from analysis.study import Study
from webapp.models import Campaign, Participation
from webapp.services import codebook, dialogues, launch


def study(campaign: Campaign, whole: RatingTable) -> Study:
    """Return the plan, people and answers; a draft's plan is the one that it would freeze."""
    people = [
        [record[name] for name in codebook.PARTICIPANTS]
        for record in dialogues.participants(campaign)
    ]
    return Study(
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
    """Return what each way to end is called."""
    return {str(name): str(label) for name, label in Participation.Outcome.choices}
