"""Conversations between people that have ended, and third parties who judge their messages."""

from __future__ import annotations

import uuid

from tests.factories import NOW, make_campaign, make_staff
from tests.webapp.services.people import after, join, send_message
from webapp.models import Campaign, Participation
from webapp.services.campaign import message_items
from webapp.services.conversation import chat, opening
from webapp.services.participation import enrolment
from webapp.services.rating import submission

MESSAGES = 4  # of a conversation; the journey has as many as the protocol asks for


def of_people() -> Campaign:
    """Return an open campaign in which people chat, briefly."""
    changes = {"chat.minimum": [2]}
    return make_campaign("meena_human", systems={"people": "people"}, personas=0, changes=changes)


def chatted(talks: int = 1, *, messages: int = MESSAGES, first: int = 0) -> Campaign:
    """Return an ended campaign in which the people p0 and p1, p2 and p3 ... have chatted."""
    campaign = of_people()
    for number in range(first, first + talks):
        talk(campaign, f"p{2 * number}", f"p{2 * number + 1}", messages)
    Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.CLOSED)
    campaign.refresh_from_db()
    return campaign


def talk(
    campaign: Campaign, one: str, two: str, messages: int = MESSAGES
) -> tuple[Participation, Participation]:
    """Let two people chat to the end."""
    both = [enrolment.start(person=join(campaign, name), now=NOW) for name in (one, two)]
    for person in both:
        opening.meet(person=person, now=NOW)
    for number in range(messages):
        send_message(both[number % 2], f"Line {number} of {one} and {two}.", after(10 * number))
    chat.finish(person=both[0], client_id=uuid.uuid4(), now=after(500))
    for person in both:
        person.refresh_from_db()
    return both[0], both[1]


def draft_of(**changes: object) -> Campaign:
    """Return a draft that has no messages yet."""
    draft = make_campaign(
        "meena_third_party",
        state=Campaign.State.DRAFT,
        opened_at=None,
        personas=0,
        changes=changes,
    )
    draft.systems.get().cell.delete()
    draft.systems.all().delete()
    draft.refresh_from_db()
    return draft


def labeling(source: Campaign, **changes: object) -> Campaign:
    """Return an open campaign whose raters judge the messages of an ended one."""
    draft = draft_of(**changes)
    message_items.take(campaign=draft, source=str(source.pk), by=make_staff(), now=NOW)
    Campaign.objects.filter(pk=draft.pk).update(state=Campaign.State.OPEN)
    draft.refresh_from_db()
    return draft


def came(campaign: Campaign, name: str) -> Participation:
    """Return somebody who came to judge and began."""
    return enrolment.start(person=join(campaign, name), now=NOW)


def judge(person: Participation, sensible: int = 1, specific: int = 0) -> bool:
    """Answer the person's current form; False where there is none."""
    form = submission.current(person)
    if form is None:
        return False
    key = form.item.candidates.get().key
    specific = specific if sensible else 0
    answers = {f"{key}.sensible": str(sensible), f"{key}.specific": str(specific)}
    submission.submit(person=person, answers=answers, now=after(600))
    return True


def judge_all(campaign: Campaign, name: str, sensible: int = 1, specific: int = 0) -> Participation:
    """Let somebody come and judge a whole batch."""
    person = came(campaign, name)
    while judge(person, sensible, specific):
        pass
    person.refresh_from_db()
    return person
