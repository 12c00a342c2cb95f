"""Finished conversations, or their messages, as items for third parties to judge (ME-P3, CA-P3).

They are taken from campaigns that have ended. They stay where they are: what is withdrawn there is
not shown here. Of a conversation with a bot the bot is judged, of one between people both. Others
come with imported transcripts (ME-P4).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext as _

from webapp.models import (
    IMPORTED,
    PEOPLE,
    Assignment,
    Campaign,
    Candidate,
    Contribution,
    Conversation,
    Event,
    ExternalId,
    Item,
    Participation,
    QuotaCell,
    System,
)
from webapp.models.rating import ItemQuery
from webapp.services.campaign import campaigns
from webapp.services.rating import conversation_items, third_parties, transcripts
from webapp.services.rating.judged_conversations import (
    FROM_SECOND,
    JudgedSpeaker,
    Taking,
    finished,
    imported,
    judged,
    messages_of,
    taking,
)
from webapp.services.rating.transcripts import HUMAN
from webapp.services.rules import access, audit, identity, payment, quota, states
from webapp.services.rules.access import AnyCampaign, row_of
from webapp.services.rules.protocols import protocol_of
from webapp.services.staff_forms.fields import Invalid, shown

ENDED = (Campaign.State.CLOSED, Campaign.State.STOPPED)


@dataclass(frozen=True)
class SourceCampaign:
    """An ended campaign that items can be taken from; `unknown` people came without an id.

    systems: the number of finished conversations of each. items: how many can be made in all.
    """

    campaign: Campaign
    systems: Mapping[str, int]
    conversations: int
    items: int
    taken: int
    unknown: int

    @property
    def left(self) -> int:
        return self.items - self.taken

    @property
    def by_system(self) -> list[tuple[str, int]]:
        return list(self.systems.items())


def sources(*, campaign: AnyCampaign, user: access.User) -> list[SourceCampaign]:
    """Return the ended campaigns with finished conversations, those of the same study first."""
    if not third_parties.uses_others(campaign):
        return []
    campaigns = finished().values("campaign")
    rows = access.beside(campaign, user).filter(state__in=ENDED, pk__in=campaigns)
    study = row_of(campaign).study_id
    ordered = sorted(rows.order_by("-pk"), key=lambda row: study is None or row.study_id != study)
    return [_source(campaign, row) for row in ordered]


def take(
    *,
    campaign: AnyCampaign,
    source: str,
    by: Any,
    now: datetime,
    systems: Collection[str] | None = None,
) -> int:
    """Make items of an ended campaign's conversations; a repeat adds what is missing.

    Returns how many were made. `source` is the campaign's number as a form sends it; `systems`
    names those whose conversations are taken, by default all. Raises `Invalid`.
    """
    with transaction.atomic():
        row = campaigns.lock_draft(campaign)
        wanted = taking(row)
        known = {str(one.campaign.pk): one for one in sources(campaign=row, user=by)}
        if source not in known or wanted is None:
            complaint = _("%(value)s is not one of the campaigns listed; choose one of them")
            raise Invalid({"source": complaint % {"value": shown(source)}})
        names = set(known[source].systems if systems is None else systems)
        if not names or not names <= set(known[source].systems):
            right = ", ".join(known[source].systems)
            raise Invalid({"system": _("choose one or more of: %(right)s") % {"right": right}})
        drawn = judged(row, known[source].campaign, wanted, names)
        items = _items(row, drawn, wanted.people)
        _candidates(items, drawn, _systems(row, drawn))
        audit.append(
            actor=by.get_username(),
            action="conversations taken" if wanted.is_whole else "messages taken",
            campaign=row,
            now=now,
            source=known[source].campaign.pk,
            count=len(items),
        )
        return len(items)


def add_imported(*, campaign: Campaign, conversations: Sequence[Conversation]) -> int:
    """Make an item of every judged message of imported conversations, where messages are judged.

    Called in the transaction of the import.
    """
    wanted = taking(campaign)
    if wanted is None:
        return 0
    drawn = imported(campaign, wanted, conversations)
    items = _items(campaign, drawn, wanted.people)
    _candidates(items, drawn, {each.system_id: each.system for each in conversations})
    return len(items)


def clear(*, campaign: AnyCampaign, by: Any, now: datetime) -> int:
    """Remove everything that a draft has taken; one that takes none keeps its systems."""
    with transaction.atomic():
        row = campaigns.lock_draft(campaign)
        if not third_parties.uses_others(row):
            return 0
        Candidate.objects.filter(item__campaign=row).delete()
        count, _kinds = row.items.all().delete()
        transcripts.remove(row)
        QuotaCell.objects.filter(system__campaign=row).delete()
        row.systems.all().delete()
        audit.append(
            actor=by.get_username(), action="messages removed", campaign=row, now=now, count=count
        )
        return count


def copy(*, source: Campaign, draft: Campaign, systems: Mapping[int, System]) -> None:
    """Take the messages of a source's duplicate, in the same order; `systems` maps old to new.

    What was withdrawn or set aside since stays away.
    """
    taken = source.items.exclude(conversation__campaign=source.pk).order_by("order")
    for item in taken.filter(conversation__in=finished()).prefetch_related("candidates"):
        made = Item.objects.create(
            campaign=draft,
            key=item.key,
            conversation_id=item.conversation_id,
            target=item.target,
            order=item.order,
        )
        for old in item.candidates.all():
            system = systems[old.system_id]
            new = {"key": f"r{made.pk}", "system": system, "seq": old.seq, "side": old.side}
            Candidate.objects.create(item=made, conversation_id=old.conversation_id, **new)


def counts(campaign: AnyCampaign) -> dict[str, int]:
    """Return how many items were taken, and of how many conversations."""
    return row_of(campaign).items.aggregate(
        messages=Count("pk"), conversations=Count("conversation", distinct=True)
    )


def digests(campaign: AnyCampaign) -> list[dict[str, Any]]:
    """Return what is judged as a plan has it: where it stands, and its words by hash."""
    rate = protocol_of(campaign).after
    if rate is not None and rate.over == "speakers":
        found = {one.conversation.pk: one for one in conversation_items.compared(row_of(campaign))}
        rows = Event.objects.filter(conversation__in=found, kind=Event.Kind.MESSAGE).order_by("pk")
        return [
            {"key": f"{row.conversation_id}:{row.seq}", "sha256": _sha256(row.content["text"])}
            | ({"control": control} if (control := found[row.conversation_id].control) else {})
            for row in rows
        ]
    taken = Item.objects.shared().filter(campaign=campaign.pk, conversation__isnull=False)
    judged_here = taken.order_by("order").prefetch_related("candidates")
    words = _words(taken)
    return [
        {"key": item.key, "sha256": _sha256(words[one.conversation_id, one.seq])}
        for item in judged_here
        for one in item.candidates.all()
    ]


def _words(items: ItemQuery) -> dict[tuple[int, int | None], str]:
    """Return the text of each message of the items' conversations, and under None of all of one."""
    logged = Event.objects.filter(conversation__in=items.values("conversation"))
    rows = logged.filter(kind=Event.Kind.MESSAGE).order_by("conversation", "seq")
    words: dict[tuple[int, int | None], str] = {}
    for conversation, seq, content in rows.values_list("conversation", "seq", "content"):
        words[conversation, seq] = content["text"]
        words[conversation, None] = words.get((conversation, None), "") + content["text"] + "\n"
    return words


def _sha256(words: str) -> str:
    return hashlib.sha256(words.encode()).hexdigest()


def withdraw(*, person: Participation, now: datetime) -> None:
    """Release assignments that show a withdrawn participant's conversations, or texts.

    A rater who has none left is done. Called in the transaction that deletes the words.
    """
    own = Contribution.objects.filter(assignment__participation=person)
    shown = Q(item__conversation__seats__participation=person)
    shown |= Q(item__persona__written__in=own)
    shown |= Q(item__candidates__conversation__written__in=own)
    shown |= Q(item__candidates__conversation__seats__participation=person)
    found = Assignment.objects.filter(shown, state=Assignment.State.RESERVED)
    keys = found.exclude(item__campaign=person.campaign_id).values("pk")
    rows = Assignment.objects.filter(pk__in=list(keys.values_list("pk", flat=True)))
    for rater in Participation.objects.filter(assignments__in=rows).distinct().order_by("pk"):
        _spare(rater, rows, now)


def _spare(rater: Participation, rows: QuerySet[Assignment], now: datetime) -> None:
    rater = Participation.objects.select_for_update(no_key=True).get(pk=rater.pk)
    for assignment in rows.filter(participation=rater).select_related("item").order_by("item"):
        mine = Assignment.objects.filter(pk=assignment.pk)
        if states.try_move(mine, "release", draft={}):
            quota.release(assignment.item)
    left = Assignment.objects.filter(participation=rater, state=Assignment.State.RESERVED)
    at_work = (Participation.State.RATING, Participation.State.WRITING)
    if rater.state in at_work and not left.exists():
        payment.settle(person=rater, outcome=Participation.Outcome.COMPLETED, now=now)


def _source(campaign: AnyCampaign, source: Campaign) -> SourceCampaign:
    taken = row_of(campaign).items.filter(conversation__in=finished().filter(campaign=source))
    rows = finished().filter(campaign=source).order_by("system")
    systems = Counter(rows.values_list("system__name", flat=True))
    return SourceCampaign(
        campaign=source,
        systems=systems,
        conversations=systems.total(),
        items=_most(source, taking(campaign), systems.total()),
        taken=taken.count(),
        unknown=without_id(source),
    )


def without_id(source: Campaign) -> int:
    """Count the people of finished conversations who came without an id."""
    chatted = Participation.objects.filter(
        seats__conversation__in=finished().filter(campaign=source)
    ).distinct()
    named = ExternalId.objects.exclude(platform=identity.VOLUNTEER)
    return chatted.exclude(pk__in=named.values("participation")).count()


def _most(source: Campaign, wanted: Taking | None, conversations: int) -> int:
    """Return how many items can be made of so many conversations."""
    if wanted is not None and wanted.is_whole:
        return conversations
    if wanted is None or wanted.cuts is None:
        return messages_of(source).count()
    counts = messages_of(source).values_list("conversation").annotate(Count("pk")).order_by()
    return sum(min(wanted.cuts, count - FROM_SECOND) for _, count in counts)


def _items(campaign: Campaign, judged: Sequence[JudgedSpeaker], votes: int) -> list[Item]:
    first = campaign.items.count()
    return Item.objects.bulk_create(
        [
            Item(
                campaign=campaign,
                key=each.key,
                conversation=each.conversation,
                target=votes,
                order=order,
            )
            for order, each in enumerate(judged, start=first)
        ],
        batch_size=500,
    )


def _candidates(
    items: Sequence[Item], judged: Sequence[JudgedSpeaker], systems: Mapping[int, System]
) -> None:
    """Let each be judged under a key that does not reveal the author."""
    Candidate.objects.bulk_create(
        [
            Candidate(
                item=item,
                key=f"r{item.pk}",
                conversation=each.conversation,
                system=systems[each.conversation.system_id],
                seq=each.seq,
                side=each.side,
            )
            for item, each in zip(items, judged, strict=True)
        ],
        batch_size=500,
    )


def _systems(campaign: Campaign, judged: Sequence[JudgedSpeaker]) -> dict[int, System]:
    """Return the campaign's own system for each that is judged, under the same name.

    A bot's does not answer here: what it said is there already. People are all one.
    """
    found = {each.conversation.system_id: each.conversation.system for each in judged}
    return {pk: system_of(campaign, system) for pk, system in found.items()}


def system_of(campaign: Campaign, judged: System) -> System:
    """Return the campaign's own system of the same name, made where there is none."""
    bot, name = (PEOPLE, HUMAN) if judged.is_people else (IMPORTED, judged.name)
    same = campaign.systems.filter(bot=bot).filter(Q(name=name) | Q(bot=PEOPLE)).first()
    if judged.is_people and same is None:  # people whose conversations were imported
        same = campaign.systems.filter(name=HUMAN, conversations__isnull=False).first()
    if same is not None:
        return same
    taken = campaign.systems.filter(name=name).exists()  # a bot that is called as people are
    system = System.objects.create(
        campaign=campaign, bot=bot, name=f"{name}-{bot}" if taken else name
    )
    QuotaCell.objects.create(system=system, target=0)
    return system
