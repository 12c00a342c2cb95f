"""Studies of campaigns that were filled by rows."""

from __future__ import annotations

from tests.factories import NOW, make_project, make_staff
from webapp.models import Campaign, Study


def make_study(*campaigns: Campaign, name: str = "A study") -> Study:
    """Return a study of campaigns, whose phases are called p1, p2 and so on."""
    study = Study.objects.create(
        name=name, owner=make_staff(), project=make_project(), created_at=NOW
    )
    for number, campaign in enumerate(campaigns, start=1):
        campaign.study, campaign.phase = study, f"p{number}"
        campaign.save()
    return study
