"""Materials that participants of another campaign wrote: personas, revisions, replies to contexts.

A draft takes what was accepted there. The texts are copied and keep who wrote them, so that a
withdrawal finds every copy and empties it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from webapp.models import (
    IMPORTED,
    Campaign,
    Context,
    Contribution,
    Conversation,
    Event,
    Participation,
    Persona,
    QuotaCell,
    System,
)
from webapp.models.rating import WITHDRAWN
from webapp.services.campaign import campaigns
from webapp.services.rating import contexts
from webapp.services.rules import access, audit
from webapp.services.rules.access import AnyCampaign
from webapp.services.rules.protocols import protocol_of
from webapp.services.staff_forms.fields import Invalid, shown
from webapp.services.writing import decisions, writing_items

HUMAN = "human"  # the system that people are, in every table
PERSONAS, CONTEXTS, DATA = "personas", "contexts", "data"  # for whom: the last are for bots
KIND_OF = {"persona": PERSONAS, "revision": PERSONAS, "reply": CONTEXTS, "paraphrase": DATA}


@dataclass(frozen=True)
class WrittenSource:
    """A campaign whose accepted contributions a draft can take; `left` are not taken yet."""

    campaign: Campaign
    accepted: int
    left: int


def wants(campaign: AnyCampaign) -> str:
    """Return what a campaign can take from others: personas, contexts with replies, or nothing."""
    protocol = protocol_of(campaign)
    if protocol.write is not None:
        return PERSONAS if protocol.write.makes == "revision" else ""
    if protocol.chat is not None:
        return PERSONAS if protocol.chat.pool else ""
    return CONTEXTS if protocol.after is not None and protocol.after.over == "contexts" else ""


def sources(*, campaign: AnyCampaign, user: access.User) -> list[WrittenSource]:
    """Return the campaigns with accepted contributions that fit, the newest first."""
    wanted = wants(campaign)
    accepted = Contribution.objects.filter(state=Contribution.State.ACCEPTED)
    keys = accepted.values("assignment__item__campaign")
    rows = access.beside(campaign, user).filter(pk__in=keys).order_by("-pk")
    return [_source(campaign, row, wanted) for row in rows if _kind(row) == wanted]


def take(*, campaign: AnyCampaign, source: str, by: Any, now: datetime) -> int:
    """Copy what was accepted in another campaign; a repeat adds what is missing.

    Returns how many were copied. `source` is the campaign's number as a form sends it.
    """
    with transaction.atomic():
        row = campaigns.lock_draft(campaign)
        known = {str(each.campaign.pk): each.campaign for each in sources(campaign=row, user=by)}
        if source not in known:
            complaint = _("%(value)s is not one of the campaigns listed; choose one of them")
            raise Invalid({"source": complaint % {"value": shown(source)}})
        accepted = list(_accepted(known[source]))
        copy = _persona if wants(row) == PERSONAS else _replies(row, now)
        count = sum(copy(row, each) for each in accepted)
        audit.append(
            actor=by.get_username(),
            action="contributions taken",
            campaign=row,
            now=now,
            source=known[source].pk,
            count=count,
        )
        return count


def _kind(campaign: Campaign) -> str:
    write = protocol_of(campaign).write
    return KIND_OF[write.makes] if write else ""


def _accepted(source: Campaign) -> QuerySet[Contribution]:
    """Return what may be used: what a reviewer set aside, or whose original is gone, may not."""
    rows = decisions.of_campaign(source).filter(
        state=Contribution.State.ACCEPTED, assignment__participation__excluded=""
    )
    return rows.exclude(assignment__item__persona__sentences=[]).select_related(
        "assignment__item__context"
    )


def _source(campaign: AnyCampaign, source: Campaign, wanted: str) -> WrittenSource:
    accepted = _accepted(source)
    used = Q(personas__campaign=campaign.pk) | Q(reworded_personas__campaign=campaign.pk)
    if wanted == CONTEXTS:
        used = Q(replies__campaign=campaign.pk)
    return WrittenSource(source, accepted.count(), accepted.exclude(used).count())


# --- personas -----------------------------------------------------------------------------------


def _persona(campaign: Campaign, row: Contribution) -> bool:
    """Copy a persona, or the revision of one; tell whether something was added."""
    item = row.assignment.item
    original = item.persona
    key = original.key if original else f"w{row.pk}"
    there = campaign.personas.filter(key=key).first()
    if there is not None:
        return original is not None and _add_revision(there, row)
    Persona.objects.create(
        campaign=campaign,
        key=key,
        split=writing_items.split_of(item),
        sentences=original.sentences if original else row.texts,
        revised=row.texts if original else [],
        written=original.written if original else row,
        reworded=row if original else None,
        order=campaigns.persona_order(campaign.seed, key),
    )
    return True


def _add_revision(persona: Persona, row: Contribution) -> bool:
    """Add a revision to a persona that has none yet."""
    rows = Persona.objects.filter(pk=persona.pk, revised=[])
    return rows.update(revised=row.texts, reworded=row) == 1


# --- replies ------------------------------------------------------------------------------------


def _replies(campaign: Campaign, now: datetime) -> Callable[[Campaign, Contribution], bool]:
    """Return what copies a reply, as a finished conversation of the system that people are."""
    system = _people(campaign)
    taken = set(campaign.conversations.filter(written__isnull=False).values_list("written", "pk"))
    known = {contribution for contribution, _pk in taken}

    def copy(campaign: Campaign, row: Contribution) -> bool:
        source = row.assignment.item.context
        if row.pk in known or source is None:
            return False
        reply = contexts.FixedReply(_context(campaign, source), system, row.texts[0], written=row)
        contexts.add_replies([reply], now=now)
        return True

    return copy


def _people(campaign: Campaign) -> System:
    system, is_new = System.objects.get_or_create(
        campaign=campaign, name=HUMAN, defaults={"bot": IMPORTED}
    )
    if system.bot != IMPORTED:
        complaint = _("cannot be used: here a bot is called “%(name)s”; give it another name")
        raise Invalid({"source": complaint % {"name": HUMAN}})
    if is_new:
        QuotaCell.objects.create(system=system, target=0)
    return system


def _context(campaign: Campaign, source: Context) -> Context:
    """Return the draft's context of the same messages, made where there is none."""
    there = {tuple(each.messages): each for each in campaign.contexts.all()}
    if (same := there.get(tuple(source.messages))) is not None:
        return same
    keys = {each.key for each in there.values()}
    key = source.key if source.key not in keys else f"c{source.pk}"
    values = {"messages": source.messages, "group": source.group, "about": source.about}
    return Context.objects.create(campaign=campaign, key=key, **values)


# --- withdrawal -----------------------------------------------------------------------------------


def withdraw(person: Participation) -> None:
    """Delete what a person wrote, here and wherever it was taken to.

    Called in the transaction of the withdrawal. A persona whose sentences are gone is given out no
    more; a reply whose text is gone is shown no more.
    """
    rows = Contribution.objects.filter(assignment__participation=person)
    for row in rows.order_by("pk"):
        row.personas.update(sentences=[], revised=[])
        row.reworded_personas.update(revised=[])
        for reply in Conversation.objects.filter(written=row).order_by("pk"):
            Event.objects.filter(conversation=reply, in_reply_to__isnull=False).update(
                content={"text": "", "withdrawn": True}
            )
            Conversation.objects.filter(pk=reply.pk).update(excluded=WITHDRAWN)
    rows.delete()


def count(campaign: AnyCampaign) -> int:
    """Count the contributions of a campaign."""
    return decisions.of_campaign(campaign).count()
