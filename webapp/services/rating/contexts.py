"""Fixed contexts that every system continues once; the replies become items for raters (ME-P1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from webapp.models import (
    Campaign,
    Context,
    Contribution,
    Conversation,
    Event,
    Seat,
    System,
)
from webapp.services.rating import context_items
from webapp.services.replies import queue
from webapp.services.rules import events, states
from webapp.services.rules.access import AnyCampaign, row_of
from webapp.services.rules.protocols import protocol_of

AT_ONCE = 500  # conversations of one statement
PERSON, BOT = 0, 1  # the sides of a continuation; its last message before the reply is a person's


@dataclass(frozen=True)
class FixedReply:
    """What one system replies to a context, as if it had given it.

    intended: what it was meant to be taken for. written: the contribution that it is, where
    participants wrote it.
    """

    context: Context
    system: System
    text: str = ""
    intended: str = ""
    written: Contribution | None = None


def build(*, campaign: AnyCampaign, now: datetime) -> int:
    """Let every system continue every context; return how many continuations were begun.

    The replies come through the reply workers; `settle` makes items of them. A repeat
    begins only what is missing.
    """
    campaign = row_of(campaign)
    begun = set(_continuations(campaign).values_list("context", "system_id"))
    systems = [system for system in campaign.systems.all() if system.is_bot]
    missing = [
        (context, system)
        for context in campaign.contexts.all()
        for system in systems
        if context.messages
        and not context.known  # else there is nothing to reply to
        and (context.key, system.pk) not in begun
    ]
    for context, system in missing:
        _continue(context, system, now)
    return len(missing)


def _continuations(campaign: Campaign) -> QuerySet[Conversation]:
    return campaign.conversations.filter(purpose=Conversation.Purpose.CONTEXT)


def _continue(context: Context, system: System, now: datetime) -> None:
    with transaction.atomic():
        ((conversation, last),) = _begin([FixedReply(context, system)], now)
        queue.queue(conversation=conversation, in_reply_to=last)


def _begin(replies: Sequence[FixedReply], now: datetime) -> list[tuple[Conversation, int]]:
    """Write contexts into new conversations; return each with the seq of its last message, or 0."""
    names = _draw_names(replies)
    made = Conversation.objects.bulk_create(
        Conversation(
            campaign=reply.context.campaign,
            system=reply.system,
            purpose=Conversation.Purpose.CONTEXT,
            context=reply.context.key,
            intended=reply.intended,
            written=reply.written,
            seed=context_items.draw(reply.context.campaign, *name).getrandbits(63),
            started_at=now,
        )
        for reply, name in zip(replies, names, strict=True)
    )
    Seat.objects.bulk_create(
        seat
        for each in made
        for seat in (
            Seat(conversation=each, side=PERSON, active=False),
            Seat(conversation=each, side=BOT, sees_persona=each.system.sees_persona),
        )
    )
    events.append_all(
        [
            entry
            for reply, each in zip(replies, made, strict=True)
            for entry in _messages(reply, each)
        ]
    )
    return [(each, each.last_seq) for each in made]


def _draw_names(replies: Sequence[FixedReply]) -> list[tuple[str, ...]]:
    """Return what seeds are drawn by; one of several by one system has a number behind it."""
    there = Conversation.objects.filter(system__in={reply.system.pk for reply in replies})
    there = there.filter(context__in={reply.context.key for reply in replies})
    counts = Counter(there.values_list("system", "context"))
    found: list[tuple[str, ...]] = []
    for reply in replies:
        number = counts[reply.system.pk, reply.context.key]
        counts[reply.system.pk, reply.context.key] += 1
        name = (reply.context.key, reply.system.name, "reply")
        found.append((*name, str(number)) if number else name)
    return found


def _messages(reply: FixedReply, conversation: Conversation) -> Iterator[events.New]:
    """Yield a context's messages as they stand in the log, the last one a person's."""
    last = len(reply.context.messages) - 1
    for position, text in enumerate(reply.context.messages):
        yield _message(conversation, (last - position) % 2, text)


def _message(
    conversation: Conversation, side: int, text: str, in_reply_to: int | None = None
) -> events.New:
    content = {"text": text}
    return events.New(conversation, Event.Kind.MESSAGE, content, side, in_reply_to=in_reply_to)


def settle(*, campaign: Campaign, now: datetime) -> int:
    """Finish every continuation that was answered and make items of replies; return how many."""
    if protocol_of(campaign).after is None:
        return 0
    waiting = _continuations(campaign).filter(
        state=Conversation.State.OPEN, events__in_reply_to__isnull=False
    )
    settled = sum(_settle(conversation, now) for conversation in list(waiting))
    if settled:
        context_items.make(campaign)
    return settled


def _settle(conversation: Conversation, now: datetime) -> bool:
    try:
        states.move(conversation, "finish", ended_at=now, ended_because="answered")
    except states.Illegal:  # another process was first
        return False
    return True


def add_replies(replies: Sequence[FixedReply], *, now: datetime) -> None:
    """Store replies that a requester imported or participants wrote; thousands in one go."""
    for start in range(0, len(replies), AT_ONCE):
        with transaction.atomic():
            _add(replies[start : start + AT_ONCE], now)


def _add(replies: Sequence[FixedReply], now: datetime) -> None:
    begun = _begin(replies, now)
    rows = zip(replies, begun, strict=True)
    events.append_all([_message(row, BOT, reply.text, last) for reply, (row, last) in rows])
    for written, because in ((False, "imported"), (True, "written")):
        pks = [row.pk for row, _ in begun if (row.written_id is not None) is written]
        finished = Conversation.objects.filter(pk__in=pks)
        states.try_move(finished, "finish", ended_at=now, ended_because=because)
