"""Campaigns as a requester writes them: created from a protocol, changed while they are drafts."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction

from evaluation import Protocol
from webapp.models import Campaign
from webapp.services.accounts import projects
from webapp.services.rules import audit
from webapp.services.rules.access import AnyCampaign, StaffProtocol
from webapp.services.rules.protocols import original_of, protocol_of
from webapp.services.staff_forms import source_settings

Values = Mapping[str, Any]  # by the names of columns
QUIT_RULES: Mapping[str, str] = dict(Campaign.QuitRule.choices)
USUAL_QUIT_RULE = Campaign.QuitRule.SHARE.value
PANELS: Mapping[str, str] = dict(Campaign.Panel.choices)
PLATFORMS: Mapping[str, str] = dict(Campaign.Platform.choices)
USUAL_PANEL = Campaign.Panel.WORKER.value


class NotDraft(Exception):
    """The campaign was launched: its plan is frozen, and only amendments change it."""

    def __init__(self, campaign: Campaign) -> None:
        super().__init__(f"campaign {campaign.pk} is {campaign.state}, not a draft")
        self.state = campaign.state


def source(campaign: AnyCampaign) -> Protocol:
    """Return the campaign's protocol as its source has it."""
    return original_of(campaign)


def create(
    *,
    owner: Any,
    protocol: str,
    values: Values,
    now: datetime,
    own: StaffProtocol | None = None,
    project: int | None = None,
) -> Campaign:
    """Create a draft from a form's values; `own` is the version of a protocol that staff built.

    project: one of the owner's, by default the first in which the owner may run campaigns.
    """
    with transaction.atomic():
        campaign = Campaign.objects.create(
            owner=owner,
            project_id=project or projects.first_of(owner),
            protocol=protocol,
            own_protocol_id=own.pk if own else None,
            **values,
        )
        _note(campaign, owner, "campaign created", now)
        return campaign


def change(*, campaign: AnyCampaign, by: Any, values: Values, now: datetime) -> Campaign:
    """Change a draft; a new seed shuffles its personas anew."""
    with transaction.atomic():
        row = lock_draft(campaign)
        for name, value in values.items():
            setattr(row, name, value)
        row.save(update_fields=list(values))
        _shuffle(row)
        _note(row, by, "campaign changed", now)
        return row


def lock_draft(campaign: AnyCampaign) -> Campaign:
    """Return the draft as it is now, locked until the transaction ends, or raise `NotDraft`."""
    row = Campaign.objects.select_for_update().get(pk=campaign.pk)
    if row.state != Campaign.State.DRAFT:
        raise NotDraft(row)
    return row


def persona_order(seed: int, key: str) -> int:
    """Return a persona's place in the stack, drawn from the campaign's seed."""
    return random.Random(f"{seed}:order:{key}").getrandbits(31)  # noqa: S311 (to be repeated)


def hourly(pay: Decimal, minutes: int) -> Decimal:
    """Return the pay for an hour of this work."""
    return round(pay * 60 / max(1, minutes), 2)


def protocol_and_changes(campaign: AnyCampaign) -> tuple[Protocol, list[dict[str, Any]]]:
    """Return the campaign's protocol as changed, and what departs from the source."""
    original = original_of(campaign)
    return protocol_of(campaign), source_settings.departures(
        original, campaign.changes, campaign.translations
    )


def _shuffle(campaign: Campaign) -> None:
    personas = list(campaign.personas.all())
    for persona in personas:
        persona.order = persona_order(campaign.seed, persona.key)
    campaign.personas.bulk_update(personas, ["order"], batch_size=500)


def _note(campaign: Campaign, by: Any, action: str, now: datetime) -> None:
    audit.append(actor=by.get_username(), action=action, campaign=campaign, now=now)
