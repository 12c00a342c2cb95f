"""Steps of one person through a campaign by the services, and what each asks of the database.

A step follows from the state that the person is in: a protocol that has other states has others.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext

from evaluation import Shown, form_of
from tests import serving
from tests.contracts.test_protocols import all_answers, answer
from tests.factories import NOW
from tests.webapp.services import people
from tests.webapp.sockets.browsing import CONTROL
from webapp.inference import respond_here
from webapp.models import Campaign, Conversation, Event, Participation
from webapp.services.conversation import chat
from webapp.services.participation import admission, enrolment, screens, stopping
from webapp.services.rating import labels, submission
from webapp.services.rules import protocols, tally

P = Participation.State
PAUSE = timedelta(seconds=40)  # before each step
Fields = dict[str, Any]
Action = tuple[str, Callable[[], object]]  # its name, and what it does


@dataclass(frozen=True)
class Step:
    """A step of somebody: by its action and the states that it leads from and to."""

    name: str
    statements: list[str]


def statements(work: Callable[[], object]) -> list[str]:
    """Return what some work asks of the database, but for where transactions begin and end."""
    with CaptureQueriesContext(connection) as queries:
        work()
    return [query["sql"] for query in queries if not query["sql"].startswith(CONTROL)]


def taken(campaign: Campaign) -> Iterator[Step]:
    """Yield each step of somebody, from the consent to the page of the code."""
    asked = statements(partial(people.join, campaign))
    person, now = _reread(campaign), NOW
    yield Step(f"join, to {person.state}", asked)
    while person.state != P.ENDED:
        now += PAUSE
        (action, work), before = NEXT[P(person.state)](person, now), person.state
        asked = statements(work)
        person = _reread(campaign)
        yield Step(f"{action}, {before} to {person.state}", asked)
    page = partial(screens.show, person=person, now=now)
    yield Step("page of the code", statements(page))


def _reread(campaign: Campaign) -> Participation:
    """Return who came last, as pages look them up."""
    return campaign.participations.select_related("campaign", "system").latest("pk")


def _admission(person: Participation, now: datetime) -> Action:
    step = admission.pending(person)
    assert step is not None
    answers = all_answers(form_of(step), Shown((step.prefix,)))
    answers[admission.TRY] = admission.try_name(person, step)
    return "answers", partial(admission.answer, person=person, answers=answers, now=now)


def _ready(person: Participation, now: datetime) -> Action:
    return "start", partial(enrolment.start, person=person, now=now)


def _chatting(person: Participation, now: datetime) -> Action:
    talk = people.conversation_of(person)
    who: Fields = {"person": person, "conversation_id": talk.pk, "now": now}
    who["client_id"] = uuid.uuid4()
    if talk.last_side == 0:
        bot = partial(serving.serve, bot=talk.system.bot, owner="test", respond=respond_here)
        return "reply", bot
    if wanted := labels.unlabeled(talk):
        return "label", partial(chat.label, **who, **_label(talk, wanted[0]))
    if tally.count(talk) < talk.minimum:
        text = f"Do you like boats, or number {talk.last_seq}?"
        return "message", partial(chat.send_message, **who, text=text)
    if protocols.is_endless(talk.campaign):
        return "stop", partial(stopping.stop, person=person, now=now)
    return "finish", partial(chat.finish, **who)


def _label(talk: Conversation, seq: int) -> Fields:
    """Return the next label that a message wants: to the first question that has none."""
    rate = protocols.protocol_of(talk.campaign).live
    assert rate is not None
    number = talk.events.filter(kind=Event.Kind.LABEL, content__of=seq).count()
    value = answer(rate.each[number], rate, Shown((f"m{seq}",)))
    about = {"question": rate.each[number].name, "value": value}
    return {"seq": seq, "revision": talk.last_seq, **about}


def _rating(person: Participation, now: datetime) -> Action:
    assignment = submission.current(person)
    assert assignment is not None
    answers = all_answers(submission.rate_of(person), submission.shown_to(assignment))
    return "form", partial(submission.submit, person=person, answers=answers, now=now)


NEXT: Mapping[P, Callable[[Participation, datetime], Action]] = {
    P.ADMISSION: _admission,
    P.READY: _ready,
    P.CHATTING: _chatting,
    P.RATING: _rating,
}
