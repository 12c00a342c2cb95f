"""Messages of conversations as items for third parties to judge (ME-P3, ME-P4).

Those of people are taken from campaigns that have ended. They stay where they are: what is
withdrawn there is not shown here. Those of bots, or of people, come with imported transcripts.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext as _

from webapp.models import (
    PEOPLE,
    Assignment,
    Campaign,
    Candidate,
    Conversation,
    Event,
    ExternalId,
    Item,
    Participation,
    QuotaCell,
    Seat,
    System,
)
from webapp.services.campaign import campaigns
from webapp.services.rating import third_parties, transcripts
from webapp.services.rating.transcripts import HUMAN
from webapp.services.rules import access, audit, identity, payment, quota, states
from webapp.services.rules.access import AnyCampaign, row_of
from webapp.services.rules.protocols import protocol_of
from webapp.services.staff_forms.fields import Invalid, shown

ENDED = (Campaign.State.CLOSED, Campaign.State.STOPPED)


@dataclass(frozen=True)
class SourceCampaign:
    """An ended campaign that messages can be taken from; `unknown` people came without an id."""

    campaign: Campaign
    conversations: int
    messages: int
    taken: int
    unknown: int

    @property
    def left(self) -> int:
        return self.messages - self.taken


def sources(*, campaign: AnyCampaign, user: access.User) -> list[SourceCampaign]:
    """Return the ended campaigns in which people finished conversations with each other."""
    if not third_parties.judges(campaign):
        return []
    campaigns = _finished().values("campaign")
    rows = access.campaigns(user).filter(state__in=ENDED, pk__in=campaigns).exclude(pk=campaign.pk)
    return [_source(campaign, row) for row in rows.order_by("-pk")]


def take(*, campaign: AnyCampaign, source: str, by: Any, now: datetime) -> int:
    """Make an item of every message of an ended campaign's people; a repeat adds what is missing.

    Returns how many were made. `source` is the campaign's number as a form sends it.
    """
    with transaction.atomic():
        row = campaigns.lock_draft(campaign)
        rate = protocol_of(row).after
        known = {str(one.campaign.pk): one.campaign for one in sources(campaign=row, user=by)}
        if source not in known or rate is None:
            complaint = _("%(value)s is not one of the campaigns listed; choose one of them")
            raise Invalid({"source": complaint % {"value": shown(source)}})
        messages = _messages(row, known[source])
        items = _items(row, messages, rate.votes)
        people = _people(row)
        _candidates(items, messages, {each.conversation_id: people.pk for each in messages})
        audit.append(
            actor=by.get_username(),
            action="messages taken",
            campaign=row,
            now=now,
            source=known[source].pk,
            count=len(items),
        )
        return len(items)


def add_imported(*, campaign: Campaign, conversations: Sequence[Conversation]) -> int:
    """Make an item of every judged message of imported conversations, where messages are judged.

    Called in the transaction of the import.
    """
    rate = protocol_of(campaign).after
    if rate is None or not rate.by_third_parties:
        return 0
    rows = transcripts.judged_messages(campaign).filter(conversation__in=conversations)
    messages = _in_drawn_order(campaign, list(rows.order_by("conversation", "seq")), "imported")
    items = _items(campaign, messages, rate.votes)
    _candidates(items, messages, {each.pk: each.system_id for each in conversations})
    return len(items)


def clear(*, campaign: AnyCampaign, by: Any, now: datetime) -> int:
    """Remove everything that a draft has taken; one that takes none keeps its systems."""
    with transaction.atomic():
        row = campaigns.lock_draft(campaign)
        if not third_parties.judges(row):
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
    for item in taken.filter(conversation__in=_finished()).prefetch_related("candidates"):
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
    """Return how many messages were taken, and of how many conversations."""
    return row_of(campaign).items.aggregate(
        messages=Count("pk"), conversations=Count("conversation", distinct=True)
    )


def digests(campaign: AnyCampaign) -> list[dict[str, Any]]:
    """Return the messages as a plan has them: where each stands, and its words by hash.

    Of conversations that are judged as a whole, all of them.
    """
    rate = protocol_of(campaign).after
    if rate is not None and rate.over == "conversations":
        rows = Event.objects.filter(conversation__in=transcripts.of(campaign)).order_by("pk")
        return [
            {"key": f"{row.conversation_id}:{row.seq}", "sha256": _sha256(row.content["text"])}
            for row in rows
        ]
    taken = Item.objects.shared().filter(campaign=campaign.pk, conversation__isnull=False)
    keys = taken.order_by("order")
    logged = Event.objects.filter(conversation__in=keys.order_by().values("conversation"))
    words = {
        f"{conversation}:{seq}": content["text"]
        for conversation, seq, content in logged.filter(kind=Event.Kind.MESSAGE).values_list(
            "conversation", "seq", "content"
        )
    }
    return [
        {"key": key, "sha256": _sha256(words[key])} for key in keys.values_list("key", flat=True)
    ]


def _sha256(words: str) -> str:
    return hashlib.sha256(words.encode()).hexdigest()


def withdraw(*, person: Participation, now: datetime) -> None:
    """Release assignments that show a withdrawn participant's conversations.

    A rater who has none left is done. Called in the transaction that deletes the words.
    """
    rows = Assignment.objects.filter(
        state=Assignment.State.RESERVED, item__conversation__seats__participation=person
    ).exclude(item__campaign=person.campaign_id)
    for rater in Participation.objects.filter(assignments__in=rows).distinct().order_by("pk"):
        _spare(rater, rows, now)


def _spare(rater: Participation, rows: QuerySet[Assignment], now: datetime) -> None:
    rater = Participation.objects.select_for_update(no_key=True).get(pk=rater.pk)
    for assignment in rows.filter(participation=rater).select_related("item").order_by("item"):
        mine = Assignment.objects.filter(pk=assignment.pk)
        if states.try_move(mine, "release", draft={}):
            quota.release(assignment.item)
    left = Assignment.objects.filter(participation=rater, state=Assignment.State.RESERVED)
    if rater.state == Participation.State.RATING and not left.exists():
        payment.settle(person=rater, outcome=Participation.Outcome.COMPLETED, now=now)


def _finished() -> QuerySet[Conversation]:
    """Return the conversations of people that may be judged: nobody withdrew, none is set aside."""
    spoiled = Q(participation__withdrawn_at__isnull=False) | ~Q(participation__excluded="")
    seats = Seat.objects.filter(spoiled, participation__isnull=False)
    rows = Conversation.objects.filter(
        system__bot=PEOPLE,
        purpose=Conversation.Purpose.STUDY,
        state=Conversation.State.FINISHED,
        excluded="",
    )
    return rows.exclude(pk__in=seats.values("conversation"))


def _messages_of(source: Campaign) -> QuerySet[Event]:
    conversations = _finished().filter(campaign=source)
    return Event.objects.filter(conversation__in=conversations, kind=Event.Kind.MESSAGE)


def _source(campaign: AnyCampaign, source: Campaign) -> SourceCampaign:
    taken = row_of(campaign).items.filter(conversation__in=_finished().filter(campaign=source))
    chatted = Participation.objects.filter(
        seats__conversation__in=_finished().filter(campaign=source)
    ).distinct()
    named = ExternalId.objects.exclude(platform=identity.VOLUNTEER)
    return SourceCampaign(
        campaign=source,
        conversations=_finished().filter(campaign=source).count(),
        messages=_messages_of(source).count(),
        taken=taken.count(),
        unknown=chatted.exclude(pk__in=named.values("participation")).count(),
    )


def _messages(campaign: Campaign, source: Campaign) -> list[Event]:
    """Return the messages not taken yet: conversations in an order drawn, each from its start."""
    taken = campaign.items.values("conversation")
    rows = _messages_of(source).exclude(conversation__in=taken)
    return _in_drawn_order(campaign, list(rows.order_by("conversation", "seq")), source.pk)


def _in_drawn_order(campaign: Campaign, messages: Sequence[Event], seed: object) -> list[Event]:
    drawn = list(dict.fromkeys(event.conversation_id for event in messages))
    random.Random(f"{campaign.seed}:messages:{seed}").shuffle(drawn)  # noqa: S311 (repeatable)
    position = {pk: number for number, pk in enumerate(drawn)}
    return sorted(messages, key=lambda event: (position[event.conversation_id], event.seq))


def _items(campaign: Campaign, messages: Sequence[Event], votes: int) -> list[Item]:
    first = campaign.items.count()
    return Item.objects.bulk_create(
        [
            Item(
                campaign=campaign,
                key=f"{event.conversation_id}:{event.seq}",
                conversation_id=event.conversation_id,
                target=votes,
                order=order,
            )
            for order, event in enumerate(messages, start=first)
        ],
        batch_size=500,
    )


def _candidates(
    items: Sequence[Item], messages: Sequence[Event], systems: Mapping[int, int]
) -> None:
    """Let a message be judged under a key that does not reveal its conversation's system."""
    Candidate.objects.bulk_create(
        [
            Candidate(
                item=item,
                key=f"r{item.pk}",
                conversation_id=event.conversation_id,
                system_id=systems[event.conversation_id],
                seq=event.seq,
                side=event.side or 0,
            )
            for item, event in zip(items, messages, strict=True)
        ],
        batch_size=500,
    )


def _people(campaign: Campaign) -> System:
    """Return the system of the people who wrote the messages; imported ones may have it too."""
    system, is_new = System.objects.get_or_create(
        campaign=campaign, name=HUMAN, defaults={"bot": PEOPLE}
    )
    if is_new:
        QuotaCell.objects.create(system=system, target=0)
    return system
