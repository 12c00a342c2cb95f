"""Finished conversations of one's own campaigns, to be compared as wholes (ACUTE-Eval).

They are taken beside imported ones and stay where they were held. Apart from `message_items`, which
makes items at once: pairs wait for the launch, when it is known what there is to pair.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from webapp.models import Campaign, Control, Conversation, QuotaCell, System, TakenConversation
from webapp.services.campaign import campaigns, message_items
from webapp.services.rating.judged_conversations import finished
from webapp.services.rules import access, audit
from webapp.services.rules.access import AnyCampaign
from webapp.services.rules.protocols import protocol_of
from webapp.services.staff_forms.fields import Invalid, shown


@dataclass(frozen=True)
class ConversationSource:
    """An ended campaign with the finished conversations of each system; `left` are not taken yet.

    unknown: people who came without an id.
    """

    campaign: Campaign
    by_system: tuple[tuple[str, int], ...]
    conversations: int
    left: int
    unknown: int


@dataclass(frozen=True)
class TakenCount:
    """How many conversations of a system were taken, and as what control, "" for none."""

    system: str
    control: str
    conversations: int


def takes(campaign: AnyCampaign) -> bool:
    """Tell whether whole conversations of other campaigns can be compared in a campaign."""
    rate = protocol_of(campaign).after
    return rate is not None and rate.over == "speakers"


def roles(campaign: AnyCampaign) -> list[tuple[str, str]]:
    """Return value and label of what taken conversations can be; none without known answers."""
    if protocol_of(campaign).onboarding is None:
        return []
    return [("", _("to be compared")), *((str(v), str(label)) for v, label in Control.choices)]


def sources(*, campaign: AnyCampaign, user: access.User) -> list[ConversationSource]:
    """Return the ended campaigns with finished conversations, the newest first."""
    if not takes(campaign):
        return []
    held = finished().values("campaign")
    rows = access.campaigns(user).filter(state__in=message_items.ENDED, pk__in=held)
    return [_source(campaign, row) for row in rows.exclude(pk=campaign.pk).order_by("-pk")]


def take(
    *,
    campaign: AnyCampaign,
    source: str,
    systems: Collection[str],
    by: Any,
    now: datetime,
    control: str = "",
) -> int:
    """Take the finished conversations of some systems of an ended campaign; return how many.

    A repeat adds what is missing. control: what they are in pairs with known answers, "" for those
    that are compared. What was withdrawn is not among them. Raises `Invalid`.
    """
    with transaction.atomic():
        row = campaigns.lock_draft(campaign)
        known = {str(each.campaign.pk): each for each in sources(campaign=row, user=by)}
        _check(known, source, systems)
        _check_control(row, control)
        rows = finished().filter(campaign=known[source].campaign, system__name__in=systems)
        rows = rows.exclude(taken__campaign=row).select_related("system").order_by("pk")
        made = _add(row, list(rows), control)
        audit.append(
            actor=by.get_username(),
            action="conversations taken",
            campaign=row,
            now=now,
            source=known[source].campaign.pk,
            count=made,
            control=control,
        )
        return made


def clear(*, campaign: AnyCampaign, by: Any, now: datetime) -> int:
    """Remove what a draft has taken, and the systems that nothing else is of."""
    with transaction.atomic():
        row = campaigns.lock_draft(campaign)
        count, _kinds = row.taken_conversations.all().delete()
        unused = row.systems.filter(candidates=None, conversations=None)
        keys = list(unused.values_list("pk", flat=True)) if count else []
        QuotaCell.objects.filter(system__in=keys).delete()
        row.systems.filter(pk__in=keys).delete()
        who = by.get_username()
        audit.append(actor=who, action="conversations removed", campaign=row, now=now, count=count)
        return count


def counts(campaign: AnyCampaign) -> list[TakenCount]:
    """Count what a campaign has taken and still may show, by system and control."""
    rows = TakenConversation.objects.filter(campaign=campaign.pk, conversation__in=finished())
    found = Counter(rows.values_list("system__name", "control"))
    return [TakenCount(*key, count) for key, count in sorted(found.items())]


def copy(*, source: Campaign, draft: Campaign, systems: Mapping[int, System]) -> None:
    """Take the same conversations for a duplicate; `systems` maps old to new."""
    rows = source.taken_conversations.filter(conversation__in=finished()).order_by("pk")
    TakenConversation.objects.bulk_create(
        TakenConversation(
            campaign=draft,
            conversation_id=row.conversation_id,
            system=systems[row.system_id],
            control=row.control,
        )
        for row in rows
    )


def _check(known: Mapping[str, ConversationSource], source: str, systems: Collection[str]) -> None:
    if source not in known:
        complaint = _("%(value)s is not one of the campaigns listed; choose one of them")
        raise Invalid({"source": complaint % {"value": shown(source)}})
    names = [name for name, _count in known[source].by_system]
    if not systems or not set(systems) <= set(names):
        raise Invalid(
            {"system": _("choose one or more of: %(right)s") % {"right": ", ".join(names)}}
        )


def _check_control(campaign: Campaign, control: str) -> None:
    if control and protocol_of(campaign).onboarding is None:
        raise Invalid(
            {"control": _("cannot be used: the protocol has no pairs with known answers")}
        )
    if control not in ("", *Control.values):
        complaint = _("%(value)s is no role; choose one of: %(right)s")
        right = {"value": shown(control), "right": ", ".join(Control.values)}
        raise Invalid({"control": complaint % right})


def _add(campaign: Campaign, rows: list[Conversation], control: str) -> int:
    systems = {each.system_id: each.system for each in rows}
    own = {pk: message_items.system_of(campaign, system) for pk, system in systems.items()}
    made = TakenConversation.objects.bulk_create(
        TakenConversation(
            campaign=campaign, conversation=row, system=own[row.system_id], control=control
        )
        for row in rows
    )
    return len(made)


def _source(campaign: AnyCampaign, source: Campaign) -> ConversationSource:
    rows = finished().filter(campaign=source)
    systems = Counter(rows.order_by("system").values_list("system__name", flat=True))
    taken = rows.filter(taken__campaign=campaign.pk).count()
    return ConversationSource(
        campaign=source,
        by_system=tuple(systems.items()),
        conversations=systems.total(),
        left=systems.total() - taken,
        unknown=message_items.without_id(source),
    )
