"""The systems of a draft: a bot with its options, or people, and how many of each are wanted."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from webapp.models import Campaign, Conversation, Event, QuotaCell, ReplyJob, Seat, System
from webapp.services import access, audit, campaigns, system_fields
from webapp.services.fields import Invalid, Raw, shown
from webapp.services.system_fields import kinds

__all__ = ["System", "add_system", "change_system", "kinds", "of", "one", "remove_system"]

MOST = 20  # systems of a campaign
OWED = (ReplyJob.State.QUEUED, ReplyJob.State.CLAIMED, ReplyJob.State.ANSWERED)


class Refused(Exception):
    """The change cannot be made; the text says why."""


def of(campaign: Campaign) -> QuerySet[System]:
    """Return the campaign's systems with their cells."""
    return System.objects.filter(campaign=campaign).select_related("cell").order_by("id")


def one(campaign: Campaign, pk: int) -> System:
    """Return one of the campaign's systems."""
    system = of(campaign).filter(pk=pk).first()
    if system is None:
        raise access.NotFound(f"system {pk} of campaign {campaign.pk}")
    return system


def add_system(*, campaign: Campaign, bot: str, raw: Raw, by: Any, now: datetime) -> System:
    """Add a system to a draft, or raise `Invalid` with every complaint."""
    values = system_fields.read(campaign, bot, raw)
    target = values.pop("target")
    with transaction.atomic():
        row = campaigns.lock_draft(campaign)
        if of(row).count() >= MOST:
            raise Invalid({"name": _("is one too many: a campaign has at most 20 systems")})
        _refuse_taken(row, values["name"], None)
        system = System.objects.create(campaign=row, bot=bot, **values)
        QuotaCell.objects.create(system=system, target=target)
        _note(row, by, "system added", system, now)
        return system


def change_system(*, system: System, raw: Raw, by: Any, now: datetime) -> System:
    """Change a system of a draft; another bot's options have to be rehearsed again."""
    values = system_fields.read(system.campaign, system.bot, raw)
    target = values.pop("target")
    with transaction.atomic():
        row = campaigns.lock_draft(system.campaign)
        _refuse_taken(row, values["name"], system)
        fresh = one(row, system.pk)
        other = any(getattr(fresh, name) != values[name] for name in ("options", "sees_persona"))
        if other:
            _refuse_used(fresh)
            values |= {"rehearsal": System.Rehearsal.UNTESTED, "rehearsal_note": "", "version": {}}
        System.objects.filter(pk=fresh.pk).update(**values)
        QuotaCell.objects.filter(system=fresh).update(target=target)
        fresh.refresh_from_db()
        _note(row, by, "system changed", fresh, now)
        return fresh


def remove_system(*, system: System, by: Any, now: datetime) -> None:
    """Remove a system from a draft; one that answered contexts stays."""
    with transaction.atomic():
        row = campaigns.lock_draft(system.campaign)
        fresh = one(row, system.pk)
        _refuse_used(fresh)
        _delete_tests(fresh)
        QuotaCell.objects.filter(system=fresh).delete()
        _note(row, by, "system removed", fresh, now)
        fresh.delete()


def _refuse_taken(campaign: Campaign, name: str, system: System | None) -> None:
    same = of(campaign).filter(name=name).first()
    if same is not None and same != system:
        complaint = _("%(value)s is the name of another system here; choose another")
        raise Invalid({"name": complaint % {"value": shown(name)}})


def _refuse_used(system: System) -> None:
    answered = system.conversations.exclude(purpose=Conversation.Purpose.REHEARSAL)
    if answered.exists() or system.candidates.exists():
        raise Refused(_("Its replies were already collected, so it stays. Add another system."))


def _delete_tests(system: System) -> None:
    """Delete rehearsals and test chats, which are no data of the study, unless one is under way."""
    tests = system.conversations.filter(purpose=Conversation.Purpose.REHEARSAL)
    jobs = ReplyJob.objects.filter(conversation__in=tests)
    if jobs.filter(state__in=OWED).exists():
        raise Refused(_("It is being tested. Wait until its test has ended, then remove it."))
    jobs.delete()
    Event.objects.filter(conversation__in=tests).delete()
    Seat.objects.filter(conversation__in=tests).delete()
    tests.delete()


def _note(campaign: Campaign, by: Any, action: str, system: System, now: datetime) -> None:
    audit.append(
        actor=by.get_username(), action=action, campaign=campaign, now=now, system=system.name
    )
