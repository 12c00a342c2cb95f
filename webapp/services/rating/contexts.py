"""Fixed contexts that every system continues once; the replies become items for raters (ME-P1)."""

from __future__ import annotations

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

PERSON, BOT = 0, 1  # the sides of a continuation; its last message before the reply is a person's


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
        conversation, last = _begin(context, system, now)
        queue.queue(conversation=conversation, in_reply_to=last)


def _begin(
    context: Context, system: System, now: datetime, *, intended: str = ""
) -> tuple[Conversation, int]:
    """Write a context into a new conversation; return the seq of its last message too, 0 if none.

    One of several replies by one system has a number behind the context in its draw.
    """
    number = system.conversations.filter(context=context.key).count()
    name = (context.key, system.name, "reply", *([str(number)] if number else []))
    conversation = Conversation.objects.create(
        campaign=context.campaign,
        system=system,
        purpose=Conversation.Purpose.CONTEXT,
        context=context.key,
        intended=intended,
        seed=context_items.draw(context.campaign, *name).getrandbits(63),
        started_at=now,
    )
    Seat.objects.create(conversation=conversation, side=PERSON, active=False)
    Seat.objects.create(conversation=conversation, side=BOT, sees_persona=system.sees_persona)
    last = len(context.messages) - 1
    for position, text in enumerate(context.messages):
        events.append(
            conversation=conversation,
            kind=Event.Kind.MESSAGE,
            side=(last - position) % 2,
            content={"text": text},
        )
    return conversation, conversation.last_seq


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


def add_reply(
    *,
    context: Context,
    system: System,
    text: str,
    intended: str,
    now: datetime,
    written: Contribution | None = None,
) -> Conversation:
    """Store a reply that a requester imported, as if the system had given it.

    written: the contribution that it is, where participants wrote it.
    """
    with transaction.atomic():
        conversation, last = _begin(context, system, now, intended=intended)
        events.append(
            conversation=conversation,
            kind=Event.Kind.MESSAGE,
            side=BOT,
            content={"text": text},
            in_reply_to=last,
        )
        because = "written" if written else "imported"
        states.move(conversation, "finish", ended_at=now, ended_because=because, written=written)
        return conversation
