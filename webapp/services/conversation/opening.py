"""Opening of a conversation: its sides, their personas, its length, and who speaks first."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F

from evaluation import Chat, Protocol
from webapp.models import (
    Campaign,
    Conversation,
    Event,
    Participation,
    Persona,
    Seat,
    System,
)
from webapp.services.conversation import briefs, entrance
from webapp.services.rating import items
from webapp.services.replies import delivery, pace, queue
from webapp.services.rules import events, persona_stack, protocols, rounds, states

C = Conversation.State


class NotMeeting(Exception):
    """This step of the conversation is over, or not yet reached."""

    notice = "not_now"


def open_with_bot(
    *,
    person: Participation,
    system: System,
    now: datetime,
    known: rounds.Rounds | None = None,
    slot: Mapping[str, Any] | None = None,
) -> Conversation:
    """Begin a person's conversation with a system's bot; the person moves to the chat.

    known: what this transaction has seen of the person's rounds. slot: what the move is to store
    of the slot that they took.
    """
    chat = _chat_of(person)
    with transaction.atomic():
        about: dict[str, Any] = {"state_at": now, "seen_at": now, "waiting_at": None, "notice": ""}
        states.move(person, "chat", **{"system": system, **(slot or {}), **about})
        known = known or rounds.of(person)
        conversation = _begin(person, known, system, chat, now, state=C.OPEN)
        mine = {"person": person, "round": known.over, "ready_at": now}
        _seat_both(conversation, chat, mine, {"sees_persona": system.sees_persona, "rates": False})
        _begin_with_bot(conversation, person, now)
    return conversation


def ask_before_bot(*, person: Participation, system: System, at: datetime) -> Conversation:
    """Ask a person whether they are there, as before a person's conversation; a bot answers too."""
    chat = _chat_of(person)
    bot_answers_at = entrance.answers_at(person, at)
    with transaction.atomic():
        known = rounds.of(person)
        conversation = _begin(person, known, system, chat, at, **_check(at))
        mine = {"person": person, "round": known.over, "checked_at": at}
        bots = {"sees_persona": system.sees_persona, "rates": False, "answers_at": bot_answers_at}
        _seat_both(conversation, chat, mine, {"checked_at": at, **bots})
    return conversation


def open_with_person(
    *, first: Participation, second: Participation, system: System, now: datetime
) -> Conversation:
    """Seat two people and ask whether they are there; pairing has moved both to that step."""
    chat = _chat_of(first)
    with transaction.atomic():
        known = rounds.of(first)
        conversation = _begin(first, known, system, chat, now, **_check(now))
        rating = _rating_sides(conversation, protocols.protocol_of(first.campaign))
        one = {"person": first, "round": known.over, "rates": 0 in rating}
        other = {"person": second, "round": rounds.done(second), "rates": 1 in rating}
        _seat_both(conversation, chat, {"checked_at": now, **one}, {"checked_at": now, **other})
    return conversation


def _rating_sides(conversation: Conversation, protocol: Protocol) -> tuple[int, ...]:
    """Return the sides of two people that are asked about the partner; one is drawn by the seed."""
    if not protocol.one_rates:
        return (0, 1)
    draw = random.Random(f"{conversation.seed}:rates")  # noqa: S311 (repeatable)
    return (draw.randrange(2),)


def _check(at: datetime) -> dict[str, object]:
    deadline = at + timedelta(seconds=entrance.READY_SECONDS)
    return {"state": C.CHECKING, "deadline_at": deadline}


def _chat_of(person: Participation) -> Chat:
    protocol = protocols.protocol_of(person.campaign)
    if protocol.chat is None:
        raise LookupError(f"protocol {protocol.name} has no chat")
    return protocol.chat


def meet(*, person: Participation, now: datetime) -> Conversation:
    """Note that a person is there; when both are, the conversation opens. A repeat does nothing."""
    with transaction.atomic():
        seat = Seat.objects.filter(participation=person, active=True).first()
        if seat is None:
            raise NotMeeting(f"participation {person.pk} has no partner")
        conversation = events.lock(seat.conversation_id)
        Seat.objects.filter(pk=seat.pk, ready_at=None).update(ready_at=now)
        _open_if_both(conversation, now)
    return conversation


def answer_checks(*, now: datetime, person: Participation | None = None) -> int:
    """Let bots answer the ready checks whose time has come, of everybody or one; say how many."""
    due = Seat.objects.filter(
        conversation__state=C.CHECKING, ready_at=None, answers_at__lte=now
    ).order_by("pk")
    if person is not None:
        due = due.filter(conversation__seats__participation=person)
    return sum(_answer_check(pk, now) for pk in due.values_list("conversation", flat=True))


def _answer_check(pk: int, now: datetime) -> int:
    with transaction.atomic():
        return _open_if_both(events.lock(pk), now)


def _open_if_both(conversation: Conversation, now: datetime) -> int:
    """Open a conversation whose sides are both there; return how many bots answered for it."""
    if conversation.state != C.CHECKING:
        return 0
    due = conversation.seats.filter(ready_at=None, answers_at__lte=now)
    answered = due.update(ready_at=F("answers_at"))
    seats = list(conversation.seats.select_related("participation__campaign"))
    if all(one.ready_at for one in seats):
        _both_are_there(conversation, seats, now)
    return answered


def _both_are_there(conversation: Conversation, seats: list[Seat], now: datetime) -> None:
    states.move(conversation, "meet", deadline_at=None, started_at=now)
    for seat in sorted(seats, key=lambda one: one.participation_id or 0):
        if seat.participation is not None:
            states.move(seat.participation, "meet", state_at=now, seen_at=now, notice="")
    people = [seat.participation for seat in seats if seat.participation is not None]
    if len(people) < len(seats):
        _begin_with_bot(conversation, people[0], now)


def _begin(
    person: Participation,
    known: rounds.Rounds,
    system: System,
    chat: Chat,
    now: datetime,
    **fields: object,
) -> Conversation:
    about = f"{person.campaign.seed}:{person.pk}:{known.seats}"
    draw = random.Random(about)  # noqa: S311 (repeatable)
    seed = draw.getrandbits(48)
    return Conversation.objects.create(
        campaign=person.campaign,
        system=system,
        seed=seed,
        first_side=_first_side(person.campaign, chat, seed),
        minimum=draw.choice(chat.minimum.options),
        maximum=chat.maximum,
        started_at=now,
        **fields,
    )


def _first_side(campaign: Campaign, chat: Chat, seed: int) -> int:
    """Return the side that writes the first message; a draw follows from the seed.

    Of two people only one can be "the participant": where bots and people are mixed it is drawn
    for both, or who is written to first would know a person.
    """
    drawn = random.Random(f"{seed}:first").randrange(2)  # noqa: S311 (repeatable)
    stated = {"participant": 0, "partner": 1}.get(chat.first, drawn)
    return stated if stated == drawn or not pace.is_mixed(campaign) else drawn


def _seat_both(
    conversation: Conversation, chat: Chat, first: Mapping[str, Any], second: Mapping[str, Any]
) -> None:
    """Seat both sides of a new conversation, by one statement."""
    mine = _seat(conversation, chat, 0, **first)
    persona = [mine.persona] if mine.persona is not None else []
    both = [mine, _seat(conversation, chat, 1, beside=persona, **second)]
    if chat.brief is not None:
        briefs.draw_topic(conversation, chat.brief, [one.persona for one in both if one.persona])
    Seat.objects.bulk_create(both)


def _seat(
    conversation: Conversation,
    chat: Chat,
    side: int,
    *,
    person: Participation | None = None,
    beside: Sequence[Persona] = (),
    **fields: Any,
) -> Seat:
    """Return a seat that is not stored yet, with the persona that the side has from now on."""
    taken = _persona(conversation, chat, side, person, beside)
    return Seat(
        conversation=conversation,
        side=side,
        participation=person,
        persona=taken.persona if taken else None,
        persona_counted=bool(taken and taken.counted),
        persona_form=chat.form if person else chat.partner_form,
        **fields,
    )


def _persona(
    conversation: Conversation,
    chat: Chat,
    side: int,
    person: Participation | None,
    partners: Sequence[Persona],
) -> persona_stack.Taken | None:
    """Return the persona that a person waited with; a bot's, and one of too few, is drawn here."""
    if not chat.pool:
        return None
    beside, group = {each.pk for each in partners}, briefs.group_of(chat.brief, partners)
    held = persona_stack.take_along(person, beside=beside, group=group) if person else None
    return held or persona_stack.pop(
        campaign=conversation.campaign,
        split=chat.pool,
        seed=conversation.seed + side,
        beside=beside,
        group=group,
    )


def _begin_with_bot(conversation: Conversation, person: Participation, now: datetime) -> None:
    """Ask for the labels of a chat, and let the bot open it where it is to."""
    protocol = protocols.protocol_of(person.campaign)
    if protocol.live:
        items.open_live(person=person, conversation=conversation, now=now)
    if protocol.chat and conversation.first_side == 1:
        _let_bot_begin(conversation, protocol.chat.opening)


def _let_bot_begin(conversation: Conversation, text: str) -> None:
    """Let the bot open with the protocol's fixed words, or with its own where there are none."""
    if not text:
        queue.queue(conversation=conversation, in_reply_to=0)  # shown when it is due
        return
    if pace.is_paced_like_people(conversation):
        seconds = pace.seconds_to_open(conversation)
        delivery.show_later(conversation, text, in_reply_to=0, seconds=seconds)
        return
    first = events.New(conversation, Event.Kind.MESSAGE, {"text": text}, side=1, in_reply_to=0)
    events.append_one(first)
