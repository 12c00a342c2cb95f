"""Stopping by choice, by absence, with the campaign: who worked is paid (S13, R21, R22).

How much is in `test_quit_rule.py`.
"""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest

from tests.factories import NOW, make_campaign
from tests.webapp.services.people import (
    after,
    conversation_of,
    join,
    pair,
    people_campaign,
    see,
    send_message,
    start,
)
from webapp.models import (
    Campaign,
    CompletionCode,
    Conversation,
    Flag,
    Participation,
    Persona,
    QuotaCell,
)
from webapp.services.conversation import chat
from webapp.services.participation import enrolment, stopping
from webapp.services.rating import submission

pytestmark = pytest.mark.django_db


def test_stopping_after_some_work_is_paid_and_flagged_and_frees_the_place() -> None:
    person = start(make_campaign(quit_rule="FULL", least_work=1))
    send_message(person, "hello")
    ended = stopping.stop(person=person, now=after(5))
    assert (ended.outcome, ended.code.kind) == ("QUIT", "FULL")
    assert Flag.objects.get(participation=person).kind == "stopped_early"
    assert QuotaCell.objects.get().free == 10
    assert conversation_of(person).state == Conversation.State.ABANDONED
    assert not Persona.objects.filter(taken__gt=0).exists()
    assert stopping.stop(person=person, now=after(6)).code == ended.code


@pytest.mark.parametrize("started", [False, True])
def test_stopping_before_any_word_is_declining(started: bool) -> None:
    campaign = make_campaign()
    person = start(campaign) if started else join(campaign)
    ended = stopping.stop(person=person, now=after(5))
    assert ended.outcome == "DECLINED"
    assert not CompletionCode.objects.exists()


def test_stopping_after_waiting_in_vain_gives_waiting_pay() -> None:
    person = start(people_campaign(wait_seconds=60))
    assert stopping.outcome_of_stopping(person, after(59)) == "DECLINED"
    assert stopping.stop(person=person, now=after(60)).code.kind == "WAITING"


def test_the_partner_of_who_stops_rates_and_both_are_paid() -> None:
    first, second = pair(people_campaign(quit_rule="FULL", least_work=2))
    send_message(first, "hello there")
    send_message(second, "hi you")
    assert stopping.stop(person=first, now=after(9)).code.kind == "FULL"
    second.refresh_from_db()
    assert (second.state, second.notice) == ("RATING", "partner_left")
    mine = conversation_of(second).seats.exclude(participation=second).get().persona
    assert mine is not None
    answers = {"p.fluency": "3", "p.engagingness": "2", "p.consistency": "4", "p.persona": mine.key}
    code = submission.submit(person=second, answers=answers, now=after(60))
    second.refresh_from_db()
    assert code is not None
    assert (second.outcome, code.kind) == ("PARTNER_LEFT", "FULL")
    assert QuotaCell.objects.get().completed == 0


def test_who_stops_during_the_ready_check_sends_the_other_back_to_the_front() -> None:
    campaign = people_campaign()
    first, second = start(campaign), start(campaign)
    conversation = conversation_of(first)
    assert conversation.state == Conversation.State.CHECKING
    assert stopping.stop(person=first, now=after(3)).outcome == "DECLINED"
    conversation.refresh_from_db()
    second.refresh_from_db()
    assert (conversation.state, conversation.ended_because) == ("ABANDONED", "stopped")
    assert not conversation.seats.filter(active=True).exists()
    assert list(Persona.objects.filter(taken=1)) == [second.persona]  # who waits on keeps theirs
    assert (second.state, second.notice, second.waiting_at) == ("WAITING", "partner_missed", NOW)
    third = start(campaign, now=after(4))
    assert (third.state, conversation_of(second)) == ("MATCHED", conversation_of(third))


def test_who_vanishes_from_a_pair_may_start_again() -> None:
    campaign = people_campaign()
    gone, waiting = pair(campaign)
    send_message(gone, "hello there")
    with pytest.raises(stopping.CameBack):
        stopping.vanish(person=gone, now=after(90))
    gone.refresh_from_db()
    assert gone.state == "CHATTING"
    stopping.vanish(person=gone, now=after(91))
    gone.refresh_from_db()
    waiting.refresh_from_db()
    assert (gone.state, gone.notice, gone.holds_slot) == ("READY", "away", False)
    assert (waiting.state, waiting.waiting_at) == ("WAITING", NOW)
    assert QuotaCell.objects.get().reserved == 1
    assert enrolment.start(person=gone, now=after(92)).state == "WAITING"


def test_a_sign_of_life_keeps_the_conversation() -> None:
    gone, _ = pair(people_campaign())
    see(gone, now=after(20))
    with pytest.raises(stopping.CameBack):
        stopping.vanish(person=gone, now=after(100))
    assert conversation_of(gone).state == Conversation.State.OPEN


def test_who_left_for_long_is_ended_and_their_link_resumes() -> None:
    campaign = make_campaign()
    person = start(campaign, "A1")
    send_message(person, "hello")
    stopping.give_away(person=person, now=after(1801))
    person.refresh_from_db()
    assert (person.outcome, CompletionCode.objects.count()) == ("LEFT", 0)
    assert QuotaCell.objects.get().reserved == 0
    assert conversation_of(person).events.filter(kind="message", side=0).count() == 1
    back = join(campaign, "A1", after(2000))
    assert (back.state, back.outcome) == ("READY", "")
    assert enrolment.start(person=back, now=after(2001)).state == "CHATTING"


@pytest.mark.parametrize(("seconds", "is_gone"), [(59, False), (60, False), (61, True)])
def test_the_silence_that_is_waited_for_can_be_named(seconds: int, is_gone: bool) -> None:
    person = start(make_campaign())
    silent = timedelta(seconds=60)
    if is_gone:
        stopping.give_away(person=person, now=after(seconds), silent=silent)
    else:
        with pytest.raises(stopping.CameBack):
            stopping.give_away(person=person, now=after(seconds), silent=silent)
    person.refresh_from_db()
    assert (person.outcome == "LEFT") == is_gone


def test_who_left_the_form_finds_it_again() -> None:
    campaign = make_campaign(changes={"chat.minimum": [2], "chat.pace": 0.0})
    person = start(campaign, "A1")
    conversation = conversation_of(person)
    Conversation.objects.filter(pk=conversation.pk).update(minimum=1)
    send_message(person, "hello")
    chat.finish(person=person, client_id=uuid.uuid4(), now=after(5))
    stopping.give_away(person=person, now=after(1806))
    assert QuotaCell.objects.get().reserved == 0
    back = join(campaign, "A1", after(2000))
    assert (back.state, back.holds_slot) == ("RATING", True)
    form = submission.current(back)
    assert form is not None
    assert (form.item.conversation, form.item.reserved) == (conversation, 1)
    assert QuotaCell.objects.get().reserved == 1


def test_a_stopped_campaign_pays_everybody_in_it() -> None:
    campaign = people_campaign()
    people: list[Participation] = [*pair(campaign), join(campaign)]
    Campaign.objects.update(state=Campaign.State.STOPPED)
    for person in people:
        stopping.end_with_campaign(person=person, now=after(9))
        person.refresh_from_db()
    assert [person.outcome for person in people] == ["STOPPED"] * 3
    assert [code.kind for code in CompletionCode.objects.all()] == ["FULL"] * 3
    assert conversation_of(people[0]).ended_because == "campaign stopped"
    assert QuotaCell.objects.get().reserved == 0
