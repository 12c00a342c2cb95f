"""A researcher's own answers to the datasheet of a campaign: kept with it, and in its export."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from webapp.models import Campaign
from webapp.services.results import stored
from webapp.services.rules import audit
from webapp.services.rules.access import AnyCampaign

ANSWERED = "datasheet answered"
REPORT = "report/datasheet"  # the result that holds the file


def keep(
    *, campaign: AnyCampaign, answers: Mapping[str, Any], choice: str, by: str, now: datetime
) -> None:
    """Keep these answers in place of those before; the log says which numbers changed.

    A newer datasheet becomes wanted, of the rows of the `choice`.
    """
    with transaction.atomic():
        row = Campaign.objects.select_for_update().get(pk=campaign.pk)
        before = row.datasheet
        numbers = before.keys() | answers.keys()
        changed = [each for each in numbers if before.get(each) != answers.get(each)]
        if not changed:
            return
        row.datasheet = dict(answers)
        row.save(update_fields=["datasheet"])
        stored.want(of=campaign, name=REPORT, choice=choice, now=now)
        audit.append(actor=by, action=ANSWERED, campaign=row, now=now, numbers=sorted(changed))
