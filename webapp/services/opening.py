"""How a conversation begins: its sides, their personas, its length, and who speaks first."""

from __future__ import annotations

import random
from datetime import datetime, timedelta

from django.db import transaction

from evaluation import Chat
from webapp.models import Conversation, Event, Participation, Persona, Seat, System
from webapp.services import events, items, personas, plans, states

READY_SECONDS = 15  # to answer the ready check (R17)
C = Conversation.State


class NotNow(Exception):
    """This step of the conversation is over, or not yet reached."""

    notice = "not_now"


def open_with_bot(*, person: Participation, system: System, now: datetime) -> Conversation:
    """Begin a person's conversation with a system's bot; the person moves to the chat."""
    protocol = plans.protocol_of(person.campaign)
    if protocol.chat is None:
        raise LookupError(f"protocol {protocol.name} has no chat")
    with transaction.atomic():
        states.move(person, "chat", system=system, state_at=now, waiting_at=None)
        conversation = _begin(person, system, protocol.chat, now, state=C.OPEN)
        _seat(conversation, protocol.chat, 0, person=person, now=now)
        _seat(conversation, protocol.chat, 1, sees_persona=system.sees_persona)
        if protocol.live:
            items.open_live(person=person, conversation=conversation, now=now)
        if protocol.chat.first == "partner":
            _greet(conversation, protocol.chat.opening)
    return conversation


def open_with_person(
    *, first: Participation, second: Participation, system: System, now: datetime
) -> Conversation:
    """Seat two people and ask whether they are there; pairing has moved both to that step."""
    protocol = plans.protocol_of(first.campaign)
    if protocol.chat is None:
        raise LookupError(f"protocol {protocol.name} has no chat")
    deadline = now + timedelta(seconds=READY_SECONDS)
    with transaction.atomic():
        conversation = _begin(
            first, system, protocol.chat, now, state=C.CHECKING, deadline_at=deadline
        )
        _seat(conversation, protocol.chat, 0, person=first)
        _seat(conversation, protocol.chat, 1, person=second)
    return conversation


def meet(*, person: Participation, now: datetime) -> Conversation:
    """Note that a person is there; when both are, the conversation opens. A repeat does nothing."""
    with transaction.atomic():
        seat = Seat.objects.filter(participation=person, active=True).first()
        if seat is None:
            raise NotNow(f"participation {person.pk} has no partner")
        conversation = events.lock(seat.conversation_id)
        Seat.objects.filter(pk=seat.pk, ready_at=None).update(ready_at=now)
        if conversation.state != C.CHECKING:
            return conversation
        seats = list(conversation.seats.select_related("participation"))
        if all(one.ready_at for one in seats):
            _both_are_there(conversation, seats, now)
    return conversation


def _both_are_there(conversation: Conversation, seats: list[Seat], now: datetime) -> None:
    states.move(conversation, "meet", deadline_at=None, started_at=now)
    for seat in sorted(seats, key=lambda one: one.participation_id or 0):
        if seat.participation is not None:
            states.move(seat.participation, "meet", state_at=now, seen_at=now, notice="")


def _begin(
    person: Participation, system: System, chat: Chat, now: datetime, **fields: object
) -> Conversation:
    earlier = Seat.objects.filter(participation=person).count()
    draw = random.Random(f"{person.campaign.seed}:{person.pk}:{earlier}")  # noqa: S311 (repeatable)
    return Conversation.objects.create(
        campaign=person.campaign,
        system=system,
        seed=draw.getrandbits(48),
        minimum=draw.choice(chat.minimum.options),
        maximum=chat.maximum,
        started_at=now,
        **fields,
    )


def _seat(
    conversation: Conversation,
    chat: Chat,
    side: int,
    *,
    person: Participation | None = None,
    sees_persona: bool = True,
    now: datetime | None = None,
) -> Seat:
    return Seat.objects.create(
        conversation=conversation,
        side=side,
        participation=person,
        persona=_persona(conversation, chat, side),
        sees_persona=sees_persona,
        ready_at=now,
    )


def _persona(conversation: Conversation, chat: Chat, side: int) -> Persona | None:
    if not chat.pool:
        return None
    taken = [seat.persona_id for seat in conversation.seats.all()]
    return personas.pop(
        campaign=conversation.campaign,
        split=chat.pool,
        seed=conversation.seed + side,
        beside=[pk for pk in taken if pk is not None],
    )


def _greet(conversation: Conversation, text: str) -> None:
    """Let the bot open with the protocol's fixed words."""
    events.append(
        conversation=conversation,
        kind=Event.Kind.MESSAGE,
        content={"text": text},
        side=1,
        in_reply_to=0,
    )
