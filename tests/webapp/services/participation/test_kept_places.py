"""A place is kept by progress, not by asking: squatters lose it, who works keeps it (R40, R21)."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from tests.factories import NOW, make_campaign
from tests.webapp.services.people import (
    after,
    bot_says,
    conversation_of,
    join,
    pair,
    people_campaign,
    see,
    send_message,
    start,
)
from webapp.models import (
    CompletionCode,
    Conversation,
    Participation,
    QuotaCell,
    ReplyJob,
)
from webapp.services.conversation import chat
from webapp.services.ops import sweeper
from webapp.services.participation import consents, enrolment, stopping
from webapp.services.rating import submission

pytestmark = pytest.mark.django_db
KEPT = 1800.0
EVERY = 600.0  # seconds between two requests for the status


def poll(*people: Participation, until: float, since: float = 0.0) -> None:
    """Let people ask for their status every few minutes, and the sweeper do its work."""
    moment = since
    while moment < until:
        moment = min(until, moment + EVERY)
        for person in people:
            enrolment.status(person=reread(person), now=after(moment))
        sweeper.tick(after(moment))


def reread(person: Participation) -> Participation:
    return Participation.objects.get(pk=person.pk)


def test_fourteen_ids_that_never_write_do_not_close_a_study() -> None:
    """T5: an honest person finds a place as soon as the time is over, and the turns are kept."""
    campaign = make_campaign(target=14)
    squatters = [start(campaign, f"squatter {number}") for number in range(14)]
    with pytest.raises(consents.Closed, match="full"):
        join(campaign, "too early", after(1))
    poll(*squatters, until=KEPT)
    assert QuotaCell.objects.get().reserved == 14
    poll(*squatters, since=KEPT, until=KEPT + 1)
    assert QuotaCell.objects.get().reserved == 0
    assert set(Participation.objects.values_list("outcome", flat=True)) == {"LEFT"}
    assert not CompletionCode.objects.exists()
    assert start(campaign, "honest", after(KEPT + 2)).state == "CHATTING"
    assert join(campaign, "squatter 1", after(KEPT + 3)).state == "READY"  # their link resumes


def write(person: Participation, seconds: float) -> None:
    room = conversation_of(person)
    send_message(person, "A thought that took long.", after(seconds))
    bot_says(room, "I see.")
    room.events.update(made_at=after(seconds))


def label(person: Participation, seconds: float) -> None:
    room = conversation_of(person)
    about: dict[str, Any] = {
        "seq": bot_says(room, "Hello.").seq,
        "question": "sensible",
        "value": "1",
    }
    chat.label(person=person, client_id=uuid.uuid4(), revision=1, now=after(seconds), **about)
    room.events.filter(side=0).update(made_at=after(seconds))


def begin_to_rate(person: Participation, seconds: float) -> None:
    send_message(person, "Hello.")
    bot_says(conversation_of(person), "Hello.")
    Conversation.objects.update(minimum=1)
    chat.finish(person=person, client_id=uuid.uuid4(), now=after(seconds))


def draft(person: Participation, seconds: float) -> None:
    kept = submission.save_draft(
        person=reread(person), answers={"p.fluency": "3"}, now=after(seconds)
    )
    assert kept


@pytest.mark.parametrize(
    ("protocol", "progress"),
    [
        ("personachat_bot", write),
        ("meena_interactive", label),
        ("personachat_bot", begin_to_rate),
        ("personachat_bot", draft),
    ],
)
def test_who_does_something_keeps_the_place_and_loses_it_after_the_last_of_it(
    protocol: str, progress: Callable[[Participation, float], None]
) -> None:
    person = start(make_campaign(protocol, target=2))
    if progress is draft:
        begin_to_rate(person, 5)
    at = KEPT - 60
    poll(person, until=at)
    progress(person, at)
    poll(person, since=at, until=at + KEPT)
    assert reread(person).outcome == ""
    if progress is draft:  # the same draft again is none
        draft(person, at + KEPT)
    poll(person, since=at + KEPT, until=at + KEPT + 1)
    assert reread(person).outcome == "LEFT"


def test_who_waits_for_a_partners_answer_is_not_the_one_who_stalls() -> None:
    first, second = pair(people_campaign())
    send_message(first, "Hello, are you there?")
    poll(first, second, until=KEPT + 1)
    assert reread(second).outcome == "LEFT"
    assert (reread(first).state, reread(first).outcome) == ("RATING", "")


def test_who_got_no_answer_from_us_is_paid_in_full_and_nobody_is_blamed_while_we_owe() -> None:
    campaign = make_campaign(target=2)
    person = start(campaign)
    send_message(person, "Hello.")
    conversation_of(person).events.update(made_at=NOW)
    see(person, now=after(KEPT + 1))
    assert not stopping.stalled(after(KEPT + 1)).exists()
    ReplyJob.objects.update(state=ReplyJob.State.FAILED)
    assert sweeper.tick(after(KEPT + 1))["stalled"] == 1
    person = reread(person)
    assert (person.outcome, CompletionCode.objects.get().amount) == ("FAILED", person.pay)
    assert QuotaCell.objects.get().reserved == 0


def test_a_wait_has_its_own_time_first_and_its_own_pay() -> None:
    campaign = people_campaign(wait_seconds=600, waiting_pay="0.50")
    person = start(campaign)
    poll(person, until=600 + KEPT - 1)
    assert reread(person).state == "WAITING"
    poll(person, since=600 + KEPT - 1, until=600 + KEPT)
    assert (reread(person).outcome, str(CompletionCode.objects.get().amount)) == ("NOBODY", "0.50")
