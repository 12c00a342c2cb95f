"""People in a campaign, brought to the step a test is about by the services themselves."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from typing import Any

from tests.factories import NOW, make_campaign
from webapp.models import Campaign, Conversation, Event, Participation
from webapp.services.conversation import chat, matching, opening
from webapp.services.participation import enrolment
from webapp.services.rules import events


def after(seconds: float) -> datetime:
    """Return a time so many seconds after the tests' beginning."""
    return NOW + timedelta(seconds=seconds)


def people_campaign(**changes: Any) -> Campaign:
    """Return a campaign whose only system is people; both rate, so that either can be followed."""
    settings = {"rate.sides": "both"} | changes.pop("changes", {})
    systems = {"humans": "people"}
    return make_campaign("personachat_human", systems=systems, changes=settings, **changes)


def join(campaign: Campaign, name: str = "", now: datetime = NOW) -> Participation:
    """Return somebody who came by a panel's link and consented; their id counts as proven."""
    person, _ = enrolment.join(
        campaign=campaign,
        platform="prolific",
        external_id=name or uuid.uuid4().hex,
        language="en",
        now=now,
        is_proven=True,
    )
    return person


def start(campaign: Campaign, name: str = "", now: datetime = NOW) -> Participation:
    """Return somebody who came and pressed start."""
    return enrolment.start(person=join(campaign, name, now), now=now)


def see(*people: Participation, now: datetime) -> None:
    """Let people give a sign of life."""
    for person in people:
        enrolment.note_sign_of_life(person=person, now=now)


def pair(campaign: Campaign, now: datetime = NOW) -> tuple[Participation, Participation]:
    """Return two people whose conversation is open."""
    first, second = start(campaign, now=now), start(campaign, now=now)
    for person in (first, second):
        opening.meet(person=person, now=now)
    first.refresh_from_db()
    second.refresh_from_db()
    return first, second


def meet_bot(person: Participation) -> Conversation:
    """Let somebody who waits, in a campaign of bots and people, answer a bot's ready check."""
    assert person.partner_at is not None
    made = matching.match_with_bot(person=person, now=person.partner_at)
    assert made is not None
    opening.meet(person=person, now=person.partner_at)
    opening.answer_checks(now=after(3600), person=person)
    person.refresh_from_db()
    return Conversation.objects.get(pk=made.pk)


def conversation_of(person: Participation) -> Conversation:
    """Return the person's latest conversation."""
    seat = person.seats.order_by("-pk")[0]
    return Conversation.objects.get(pk=seat.conversation_id)


def send_message(person: Participation, text: str, now: datetime = NOW) -> Event:
    """Let a person say something."""
    return chat.send_message(person=person, client_id=uuid.uuid4(), text=text, now=now)


def bot_says(conversation: Conversation, text: str) -> Event:
    """Append a bot's message as a delivered reply."""
    return events.append(
        conversation=conversation,
        kind=Event.Kind.MESSAGE,
        side=1,
        content={"text": text},
        in_reply_to=conversation.last_seq,
    )
