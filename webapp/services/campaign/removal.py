"""Removal from the list of campaigns: a draft is deleted, what has data is only archived."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from webapp.models import (
    Campaign,
    Candidate,
    Event,
    PowerPlan,
    QuotaCell,
    ReplyJob,
    Seat,
    TranscriptNote,
)
from webapp.services.campaign import amendments, campaigns, systems
from webapp.services.rules import audit, states
from webapp.services.rules.access import AnyCampaign
from webapp.services.staff_forms.fields import Invalid, shown


def read_name(campaign: AnyCampaign, raw: Mapping[str, str]) -> None:
    """Check that the campaign's name was typed. Raises `Invalid`."""
    typed = " ".join(raw.get("name", "").split())
    if typed != " ".join(campaign.name.split()):
        complaint = _("%(value)s is not the name of this campaign; type %(name)s")
        names = {"value": shown(typed), "name": f"“{campaign.name}”"}
        raise Invalid({"name": complaint % names})


def delete(*, campaign: AnyCampaign, by: Any, now: datetime) -> None:
    """Delete a draft with everything in it but the audit log. Raises `NotDraft`.

    Raises `systems.SystemRefused` while a reply is under way: a worker could not store it.
    """
    with transaction.atomic():
        row = campaigns.lock_draft(campaign)
        if ReplyJob.objects.filter(conversation__campaign=row, state__in=systems.OWED).exists():
            text = _("A system is being tested or replies are being collected. Wait until it ends.")
            raise systems.SystemRefused(text)
        detail = {"name": row.name, "protocol": row.protocol, "project": row.project_id}
        _delete_rows(row)
        audit.append(
            actor=by.get_username(), action="campaign deleted", campaign=row, now=now, **detail
        )
        row.delete()


def _delete_rows(draft: Campaign) -> None:
    """Delete from the leaves up, since every row protects what it belongs to."""
    Candidate.objects.filter(item__campaign=draft).delete()
    draft.taken_conversations.all().delete()
    draft.items.all().delete()
    for kind in (ReplyJob, Event, Seat, TranscriptNote):
        kind.objects.filter(conversation__campaign=draft).delete()
    draft.conversations.all().delete()
    draft.personas.all().delete()
    draft.contexts.all().delete()
    QuotaCell.objects.filter(system__campaign=draft).delete()
    draft.systems.all().delete()
    PowerPlan.objects.filter(campaign=draft).delete()


def archive(*, campaign: AnyCampaign, by: Any, now: datetime) -> None:
    """Take a campaign that is not running out of the list; its data and results stay.

    Raises `states.Illegal` while it runs. A repeat changes nothing.
    """
    with transaction.atomic():
        row = Campaign.objects.select_for_update().get(pk=campaign.pk)
        if row.state in amendments.RUNNING:
            raise states.Illegal(row, "archive", row.state)
        if row.archived_at is None:
            _set(row, now, "campaign archived", by, now)


def unarchive(*, campaign: AnyCampaign, by: Any, now: datetime) -> None:
    """Put an archived campaign back into the list. A repeat changes nothing."""
    with transaction.atomic():
        row = Campaign.objects.select_for_update().get(pk=campaign.pk)
        if row.archived_at is not None:
            _set(row, None, "campaign unarchived", by, now)


def _set(row: Campaign, at: datetime | None, action: str, by: Any, now: datetime) -> None:
    row.archived_at = at
    row.save(update_fields=["archived_at"])
    audit.append(actor=by.get_username(), action=action, campaign=row, now=now)
