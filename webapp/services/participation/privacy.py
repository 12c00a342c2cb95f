"""Pseudonyms, withdrawal without an account, and the end of outside ids (S14)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.core import signing
from django.db import transaction
from django.db.models import Exists, OuterRef

from webapp.models import (
    AdmissionTry,
    Assignment,
    Campaign,
    CompletionCode,
    Contribution,
    Conversation,
    Event,
    ExternalId,
    Flag,
    Participation,
    ProblemReport,
    Rating,
    Receipt,
    ReplyJob,
    Seat,
    ServiceCall,
)
from webapp.services.campaign import message_items, written_materials
from webapp.services.conversation import crisis
from webapp.services.participation import stopping
from webapp.services.replies import calls
from webapp.services.rules import audit, erasure, identity, payment, persona_stack, quota

SALT = "parley.withdraw"
SWEEPER = "sweeper"  # who deletes what is kept no longer
AT_ONCE = 20  # people of whom a tick deletes it
Kind = Event.Kind


class BadToken(LookupError):
    """A private link that this server did not sign."""

    notice = "bad_link"


@dataclass(frozen=True)
class Withdrawn:
    """The page of a person who withdrew: the pay does not change."""

    person: Participation
    code: CompletionCode | None


def withdraw_token(person: Participation) -> str:
    """Return the token of the private link: its holder goes on, sees the code, withdraws, for ever.

    It holds as long as the key that signed it is the server's, or one of the former ones.
    """
    return signing.dumps(person.pk, salt=SALT)


def holder(token: str) -> Participation:
    """Return whose private link this is."""
    try:
        pk = signing.loads(token, salt=SALT)
        return Participation.objects.select_related("campaign").get(pk=pk)
    except (signing.BadSignature, Participation.DoesNotExist):
        raise BadToken(token) from None


def withdraw(*, token: str, now: datetime) -> Withdrawn:
    """Delete a person's messages and answers; their pay does not change. A repeat does nothing."""
    person = stopping.stop(person=holder(token), now=now)
    _delete(person, now, actor=f"participation {person.pk}", action="withdrawn")
    person.refresh_from_db()
    return Withdrawn(person, payment.code_of(person))


def _delete(person: Participation, now: datetime, *, actor: str, action: str, **about: int) -> None:
    with transaction.atomic():
        quota.locked(person)
        rows = Participation.objects.filter(pk=person.pk, withdrawn_at=None)
        if rows.update(withdrawn_at=now):
            for seat in Seat.objects.filter(participation=person).select_related("conversation"):
                _delete_words(seat)
            _delete_answers(person)
            AdmissionTry.objects.filter(participation=person).update(answers={}, wrong=[])
            _uncount(person)
            message_items.withdraw(person=person, now=now)
            written_materials.withdraw(person)
            _delete_calls(person)
            ExternalId.objects.filter(participation=person).delete()
            Receipt.objects.filter(participation=person).update(salt="")
            Flag.objects.filter(participation=person).update(detail="")
            ProblemReport.objects.filter(participation=person).delete()
            audit.append(actor=actor, action=action, campaign=person.campaign, now=now, **about)
            erasure.empty_results()
            erasure.empty_log_on_commit()


def _delete_words(seat: Seat) -> None:
    """Blank the person's side; a bot's replies too, because they may repeat the messages."""
    conversation = seat.conversation
    with_bot = conversation.seats.filter(participation=None).exists()
    rows = Event.objects.filter(conversation=conversation)
    rows = rows if with_bot else rows.filter(side=seat.side)
    for event in rows:
        event.content = _blank(event.content)
        event.save(update_fields=["content"])
    if with_bot:
        ReplyJob.objects.filter(conversation=conversation).update(text="", error="")
        calls.forget(conversation)
        Flag.objects.filter(conversation=conversation).update(detail="")
    if conversation.state == Conversation.State.FINISHED:  # else they were pushed back before
        for one in conversation.seats.all() if with_bot else [seat]:
            persona_stack.push_back_of(one)


def _blank(content: dict[str, object]) -> dict[str, object]:
    if content.get("notice") == crisis.NOTICE:
        return {"withdrawn": True}
    words = ("text", "refused", "complaint", "value")
    return {name: "" if name in words else content[name] for name in content} | {"withdrawn": True}


def _delete_answers(person: Participation) -> None:
    assignments = Assignment.objects.filter(participation=person)
    Rating.objects.filter(assignment__in=assignments).delete()
    done = assignments.filter(state=Assignment.State.DONE).order_by("item_id")
    for assignment in done.exclude(contribution__state=Contribution.State.REFUSED):
        quota.withdraw(assignment.item)
    assignments.update(draft={})


def _delete_calls(person: Participation) -> None:
    """Delete what a chat service was still to be sent."""
    known = ExternalId.objects.filter(participation=person, platform=identity.TELEGRAM)
    ServiceCall.objects.filter(recipient__in=known.values("value")).delete()


def _uncount(person: Participation) -> None:
    for seat in person.seats.select_related("conversation"):
        if seat.outcome and payment.counts(person.campaign, seat.outcome):
            quota.uncount(seat)


def purge_ids(*, now: datetime) -> int:
    """Delete the outside ids of campaigns whose payment closed long ago; return how many."""
    before = now - timedelta(days=settings.KEEP_IDS_DAYS)
    theirs = ExternalId.objects.filter(participation__campaign=OuterRef("pk"))
    done = 0
    for campaign in Campaign.objects.filter(Exists(theirs), ended_at__lt=before):
        with transaction.atomic():
            rows = ExternalId.objects.filter(participation__campaign=campaign)
            if count := rows.delete()[0]:
                about: dict[str, Any] = {"actor": SWEEPER, "campaign": campaign, "now": now}
                audit.append(action="outside ids deleted", count=count, **about)
        done += count
    return done


def delete_overdue(*, now: datetime) -> int:
    """Delete what people wrote in campaigns that keep it no longer; return of how many people.

    It is what a withdrawal deletes; some people in one call, the next one goes on.
    """
    campaigns = Campaign.objects.filter(keep_days__isnull=False)
    old = [each for each in campaigns if _is_over(each, now)]
    rows = Participation.objects.filter(campaign__in=old, withdrawn_at=None)
    people = rows.select_related("campaign").order_by("pk")[:AT_ONCE]
    for person in people:
        stopped = stopping.stop(person=person, now=now)
        _delete(stopped, now, actor=SWEEPER, action="retention over", participation=person.pk)
    return len(people)


def _is_over(campaign: Campaign, now: datetime) -> bool:
    return campaign.ended_at is not None and campaign.ended_at < now - timedelta(
        days=campaign.keep_days or 0
    )
