"""Finished conversations that others may judge, and those of them that a campaign draws.

Apart because what may be judged is one question, and what a campaign makes of it another.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from django.db.models import Exists, OuterRef, Q, QuerySet

from webapp.models import Campaign, Conversation, Event, Seat
from webapp.services.rating import transcripts
from webapp.services.rules.access import AnyCampaign
from webapp.services.rules.protocols import protocol_of

FROM_SECOND = 1  # of a conversation's messages: where it is cut something was said before
PARTNER = 1  # the side of the speaker who is judged where a conversation is, speaker B


@dataclass(frozen=True, kw_only=True)
class Taking:
    """What a campaign makes items of: whole conversations or messages, for so many people.

    sample: conversations per system; cuts: messages per conversation; None for all.
    """

    is_whole: bool
    people: int
    sample: int | None = None
    cuts: int | None = None


def taking(campaign: AnyCampaign) -> Taking | None:
    """Return what a campaign takes of others' conversations: to be judged, or said otherwise."""
    protocol = protocol_of(campaign)
    if protocol.write is not None and protocol.write.of_conversations:
        return Taking(is_whole=False, people=protocol.write.writers, cuts=protocol.write.cuts)
    rate = protocol.after
    if rate is None or not rate.by_third_parties:
        return None
    return Taking(is_whole=rate.over == "conversation", people=rate.votes, sample=rate.sample)


def finished() -> QuerySet[Conversation]:
    """Return the conversations that may be judged: nobody withdrew, none is set aside."""
    spoiled = Q(participation__withdrawn_at__isnull=False) | ~Q(participation__excluded="")
    seats = Seat.objects.filter(spoiled, participation__isnull=False)
    rows = Conversation.objects.filter(
        purpose=Conversation.Purpose.STUDY, state=Conversation.State.FINISHED, excluded=""
    )
    return rows.exclude(pk__in=seats.values("conversation"))


def _of_those_judged(messages: QuerySet[Event]) -> QuerySet[Event]:
    """Leave out what participants wrote to a bot: the bot is judged."""
    seats = Seat.objects.filter(conversation=OuterRef("conversation"))
    by_person = seats.filter(side=OuterRef("side"), participation__isnull=False)
    to_bot = seats.filter(participation=None).exclude(side=OuterRef("side"))
    return messages.exclude(Exists(by_person) & Exists(to_bot))


def messages_of(source: Campaign) -> QuerySet[Event]:
    """Return the messages of a campaign that may be judged."""
    conversations = finished().filter(campaign=source)
    rows = Event.objects.filter(conversation__in=conversations, kind=Event.Kind.MESSAGE)
    return _of_those_judged(rows)


@dataclass(frozen=True)
class JudgedSpeaker:
    """What an item is made of: a message, or a speaker of a whole conversation."""

    conversation: Conversation
    side: int
    seq: int | None

    @property
    def key(self) -> str:
        return f"{self.conversation.pk}:{'all' if self.seq is None else self.seq}"


def judged(
    campaign: Campaign, source: Campaign, wanted: Taking, systems: Collection[str]
) -> list[JudgedSpeaker]:
    """Return what is not taken yet: conversations in an order drawn, each from its start."""
    drawn = _drawn(campaign, source, wanted.sample, systems)
    found = _speakers(wanted, drawn, messages_of(source))
    return found if wanted.cuts is None else list(_cut(campaign, found, wanted.cuts))


def imported(
    campaign: Campaign, wanted: Taking, conversations: Sequence[Conversation]
) -> list[JudgedSpeaker]:
    """Return what is judged of imported conversations, in an order drawn, each from its start."""
    drawn = _shuffled(campaign, conversations, "imported")
    return _speakers(wanted, drawn, transcripts.judged_messages(campaign))


def _speakers(
    wanted: Taking, drawn: Sequence[Conversation], messages: QuerySet[Event]
) -> list[JudgedSpeaker]:
    if wanted.is_whole:
        return [JudgedSpeaker(each, PARTNER, None) for each in drawn]
    messages = messages.filter(conversation__in=[each.pk for each in drawn])
    by_conversation: dict[int, list[Event]] = {each.pk: [] for each in drawn}
    for event in messages.order_by("seq"):
        by_conversation[event.conversation_id].append(event)
    return [
        JudgedSpeaker(each, event.side or 0, event.seq)
        for each in drawn
        for event in by_conversation[each.pk]
    ]


def _cut(campaign: Campaign, found: Sequence[JudgedSpeaker], cuts: int) -> Iterator[JudgedSpeaker]:
    """Yield the messages that come next where each conversation is cut, in their order."""
    for conversation, own in groupby(found, key=lambda each: each.conversation.pk):
        after_others = list(own)[FROM_SECOND:]
        chance = random.Random(f"{campaign.seed}:cuts:{conversation}")  # noqa: S311 (repeatable)
        drawn = chance.sample(range(len(after_others)), min(cuts, len(after_others)))
        yield from (after_others[number] for number in sorted(drawn))


def _drawn(
    campaign: Campaign, source: Campaign, sample: int | None, systems: Collection[str]
) -> list[Conversation]:
    """Return conversations that are not taken yet, `sample` per system with those that are."""
    taken = campaign.items.values("conversation")
    rows = finished().filter(campaign=source, system__name__in=systems)
    rows = rows.exclude(pk__in=taken).select_related("system").order_by("pk")
    left = _shuffled(campaign, rows, source.pk)
    if sample is None:
        return left
    return list(_sampled(left, Counter(_taken_of(campaign)), sample))


def _shuffled(campaign: Campaign, rows: Iterable[Conversation], seed: object) -> list[Conversation]:
    drawn = list(rows)
    random.Random(f"{campaign.seed}:messages:{seed}").shuffle(drawn)  # noqa: S311 (repeatable)
    return drawn


def _sampled(
    left: Sequence[Conversation], counts: Counter[str], sample: int
) -> Iterator[Conversation]:
    for each in left:
        counts[each.system.name] += 1
        if counts[each.system.name] <= sample:
            yield each


def _taken_of(campaign: Campaign) -> list[str]:
    """Return the system's name of each conversation that the draft has taken."""
    found = Conversation.objects.filter(items__campaign=campaign).distinct()
    return list(found.values_list("system__name", flat=True))
