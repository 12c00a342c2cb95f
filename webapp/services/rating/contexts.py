"""Fixed contexts that every system continues once; the replies become items for raters (ME-P1)."""

from __future__ import annotations

import random
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from webapp.models import Campaign, Candidate, Context, Conversation, Event, Item, Seat, System
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
    systems = [system for system in campaign.systems.all() if not system.is_people]
    missing = [
        (context, system)
        for context in campaign.contexts.all()
        for system in systems
        if (context.key, system.pk) not in begun
    ]
    for context, system in missing:
        _continue(context, system, now)
    return len(missing)


def _continuations(campaign: Campaign) -> QuerySet[Conversation]:
    return campaign.conversations.filter(purpose=Conversation.Purpose.CONTEXT)


def _continue(context: Context, system: System, now: datetime) -> None:
    with transaction.atomic():
        conversation = Conversation.objects.create(
            campaign=context.campaign,
            system=system,
            purpose=Conversation.Purpose.CONTEXT,
            context=context.key,
            seed=_draw(context.campaign, context.key, system.name, "reply").getrandbits(63),
            started_at=now,
        )
        Seat.objects.create(conversation=conversation, side=PERSON, active=False)
        Seat.objects.create(conversation=conversation, side=BOT, sees_persona=system.sees_persona)
        last = len(context.messages) - 1
        for number, text in enumerate(context.messages):
            event = events.append(
                conversation=conversation,
                kind=Event.Kind.MESSAGE,
                side=(last - number) % 2,
                content={"text": text},
            )
        queue.queue(conversation=conversation, in_reply_to=event.seq)


def settle(*, campaign: Campaign, now: datetime) -> int:
    """Make an item of every continuation that was answered; return how many."""
    answered = _continuations(campaign).filter(
        state=Conversation.State.OPEN, events__in_reply_to__isnull=False
    )
    rows = list(answered.select_related("system"))
    return sum(_settle(conversation, now) for conversation in rows)


def _settle(conversation: Conversation, now: datetime) -> bool:
    rate = protocol_of(conversation.campaign).after
    if rate is None:
        return False
    with transaction.atomic():
        try:
            states.move(conversation, "finish", ended_at=now, ended_because="answered")
        except states.Illegal:  # another process was first
            return False
        reply = conversation.events.get(in_reply_to__isnull=False)
        item_key = f"{conversation.context}:{_number(conversation)}"
        item = Item.objects.create(
            campaign=conversation.campaign,
            key=item_key,
            conversation=conversation,
            target=rate.votes,
            order=_draw(conversation.campaign, item_key, "order").getrandbits(31),
        )
        Candidate.objects.create(
            item=item, key=f"r{item.pk}", system=conversation.system, seq=reply.seq, side=BOT
        )
        return True


def _number(conversation: Conversation) -> int:
    """Return the opaque number of a system's reply to a context: another draw for each context."""
    systems = list(conversation.campaign.systems.values_list("pk", flat=True))
    _draw(conversation.campaign, conversation.context, "numbers").shuffle(systems)
    return systems.index(conversation.system_id) + 1


def _draw(campaign: Campaign, *what: str) -> random.Random:
    return random.Random(":".join((str(campaign.seed), *what)))  # noqa: S311 (to be repeated)
