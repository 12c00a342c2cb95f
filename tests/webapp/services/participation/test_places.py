"""Places at their edges: who is let in, who comes back, what a waiting page is told (R1, R16).

Long because each edge of a place is a test of its own.
"""

from __future__ import annotations

import hashlib
import shutil
import uuid
from collections import namedtuple
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection

from tests.factories import NOW, make_campaign, make_participation, make_system
from tests.webapp.services.people import (
    after,
    bot_says,
    conversation_of,
    join,
    people_campaign,
    send_message,
    start,
)
from tests.webapp.services.third import chatted, labeling
from webapp.models import (
    Assignment,
    Campaign,
    Consent,
    Conversation,
    ExternalId,
    Item,
    Participation,
    QuotaCell,
)
from webapp.services.conversation import chat, matching, opening
from webapp.services.participation import consents, enrolment, privacy, stopping
from webapp.services.rules import access

pytestmark = pytest.mark.django_db
V = Campaign.State
Usage = namedtuple("Usage", "total used free")


def come(campaign: Campaign, name: str, **changes: Any) -> tuple[Participation, str]:
    """Return somebody who came by a panel's link, and the secret of their cookie."""
    given: dict[str, Any] = {"platform": "prolific", "language": "en", "now": NOW, **changes}
    return enrolment.join(campaign=campaign, external_id=name, **given)


def reread(person: Participation) -> Participation:
    return Participation.objects.get(pk=person.pk)


# --- coming


def test_the_longest_id_is_taken_whole() -> None:
    campaign = make_campaign()
    for length in (127, 128):
        person, _ = come(campaign, "x" * length)
        assert ExternalId.objects.get(participation=person).value == "x" * length
    with pytest.raises(consents.Closed) as refusal:
        come(campaign, "x" * 129)
    assert (refusal.value.notice, str(refusal.value)) == ("bad_link", "bad_link")


def test_what_is_written_of_somebody_new() -> None:
    """R1: the consent is to the text that was shown; the words are cut to what is stored."""
    campaign = make_campaign()
    make_participation(campaign)
    person, secret = come(campaign, "A1", platform="p" * 21, language="l" * 11)
    assert (person.state, person.state_at, person.seen_at) == ("READY", NOW, NOW)
    assert access.participation(campaign.slug, secret) == person
    assert ExternalId.objects.get(participation=person).platform == "p" * 20
    consent = Consent.objects.get(participation=person)
    assert consent.language == "l" * 10
    assert consent.text_hash == hashlib.sha256(campaign.consent.encode()).hexdigest()


def test_of_two_at_once_for_one_person_the_second_resumes() -> None:
    """R1: the other one comes between the look-up and the INSERT; the constraint decides."""
    campaign = make_campaign()
    first: list[Participation] = []

    def come_between(execute: Any, sql: str, *more: Any) -> Any:
        found = execute(sql, *more)
        if '"pseudonym" IN' in sql and not first:
            first.append(make_participation(campaign))  # so that the next look-up passes by here
            first[0] = join(campaign, "A1")
        return found

    with connection.execute_wrapper(come_between):
        second, secret = come(campaign, "A1", now=after(1), is_proven=True)
    assert second == first[0]
    assert campaign.participations.count() == 2
    assert Consent.objects.filter(participation=second).count() == 1
    assert access.participation(campaign.slug, secret) == second


def test_a_row_that_cannot_be_written_for_another_reason_is_an_error() -> None:
    def fail(execute: Any, sql: str, *more: Any) -> Any:
        if sql.startswith('INSERT INTO "webapp_participation"'):
            raise IntegrityError("another constraint")
        return execute(sql, *more)

    campaign = make_campaign()
    with connection.execute_wrapper(fail), pytest.raises(IntegrityError, match="another"):
        join(campaign, "A1")
    assert not Participation.objects.exists()


def test_a_volunteer_gets_a_name_that_nobody_guesses() -> None:
    person, _ = come(make_campaign(), "")
    external = ExternalId.objects.get(participation=person)
    assert (external.platform, len(external.value)) == ("volunteer", 32)


def test_who_judges_others_may_not_have_chatted_and_the_notice_says_so() -> None:
    """ME-P3: refused before anything is written, by id and by the cookies of the browser."""
    source = chatted()
    campaign = labeling(source)
    secret = access.new_secret()
    source.participations.filter(external__value="p1").update(
        secret_hash=access.secret_hash(secret)
    )
    for name, browser in (("p0", ()), ("somebody", (secret,))):
        with pytest.raises(consents.Closed) as refusal:
            come(campaign, name, browser=browser, is_proven=not browser)
        assert refusal.value.notice == "took_part"
    assert not campaign.participations.exists()
    assert come(campaign, "somebody", browser=("of nobody",))[0].campaign == campaign


@pytest.mark.parametrize(
    ("total", "free", "busy"),
    [
        (10_000_000_000, 499_999_999, True),  # below 500 MB
        (10_000_000_000, 500_000_000, False),
        (20_000_000_000, 999_999_999, True),  # below 5 %
        (20_000_000_000, 1_000_000_000, False),
    ],
)
def test_new_people_are_refused_before_the_disk_is_full(
    total: int, free: int, busy: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R23: below 500 MB or 5 %; who is here already comes in."""
    campaign = make_campaign()
    join(campaign, "here")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(total, total - free, free))
    assert join(campaign, "here").state == "READY"
    if busy:
        with pytest.raises(consents.Closed, match="busy_for_new"):
            join(campaign, "new")
    else:
        assert join(campaign, "new").state == "READY"


# --- coming back


def test_coming_back_is_a_sign_of_life_in_the_same_browser_and_in_another_one() -> None:
    campaign = make_campaign()
    person, old = come(campaign, "A1")
    again, same = come(campaign, "A1", now=after(70), browser=[old])
    assert (again, again.seen_at, same) == (person, after(70), old)
    again, new = come(campaign, "A1", now=after(80), is_proven=True)
    assert (again, again.seen_at) == (person, after(80))
    assert {access.participation(campaign.slug, secret) for secret in (old, new)} == {person}


def test_who_withdrew_does_not_come_back() -> None:
    """S14: their words are gone, and so is their way in."""
    campaign = make_campaign()
    person, _ = come(campaign, "A1")
    privacy.withdraw(token=privacy.withdraw_token(person), now=after(5))
    with pytest.raises(consents.Closed) as refusal:
        come(campaign, "A1", now=after(9), is_proven=True)
    assert refusal.value.notice == "withdrawn"
    with pytest.raises(consents.Closed) as refusal:
        come(campaign, "A1", now=after(9))
    assert refusal.value.notice == "claimed"


def declined(campaign: Campaign) -> Participation:
    """Return somebody who stopped before any work: their link may begin anew."""
    return stopping.stop(person=join(campaign, "A1"), now=after(5))


def test_who_ended_without_pay_begins_anew_where_there_is_room() -> None:
    campaign = make_campaign(systems={"humans": "people"})
    Participation.objects.filter(pk=declined(campaign).pk).update(
        system=campaign.systems.get(), notice="left"
    )
    back = join(campaign, "A1", after(60))
    assert (back.state, back.outcome, back.ended_at) == ("READY", "", None)
    assert (back.notice, back.state_at, back.system) == ("", after(60), None)


@pytest.mark.parametrize("state", [V.PAUSED, V.STOPPED, V.CLOSED])
def test_who_ended_without_pay_stays_ended_while_the_campaign_is_not_open(state: str) -> None:
    campaign = make_campaign()
    person = declined(campaign)
    Campaign.objects.update(state=state)
    assert join(Campaign.objects.get(), "A1").outcome == person.outcome == "DECLINED"


def test_who_ended_without_pay_stays_ended_where_there_is_no_room() -> None:
    campaign = make_campaign(target=1)
    declined(campaign)
    QuotaCell.objects.update(reserved=1)
    assert join(campaign, "A1").state == "ENDED"


def test_who_was_paid_does_not_begin_anew() -> None:
    campaign = make_campaign(quit_rule="FULL", least_work=1)
    person = start(campaign, "A1")
    send_message(person, "Hello.")
    stopping.stop(person=person, now=after(5))
    assert join(campaign, "A1").outcome == "QUIT"


def left_unrated(campaign: Campaign) -> Participation:
    """Return somebody who finished a chat, left the form unanswered, and was given up."""
    person = start(campaign, "A1")
    send_message(person, "Hello.")
    room = conversation_of(person)
    bot_says(room, "Hello to you.")
    Conversation.objects.update(minimum=1)
    chat.finish(person=person, client_id=uuid.uuid4(), now=after(9))
    stopping.give_away(person=person, now=after(3600))
    return reread(person)


def test_who_left_their_form_unanswered_comes_back_to_it() -> None:
    """R21: the link resumes, and what they finished is kept."""
    campaign = make_campaign(target=2)
    beside = make_participation(campaign)
    person = left_unrated(campaign)
    assert (person.outcome, QuotaCell.objects.get().reserved) == ("LEFT", 0)
    Participation.objects.filter(pk=person.pk).update(notice="left")
    back = reread(join(campaign, "A1", after(4000)))
    assert (back.state, back.outcome, back.ended_at, back.notice) == ("RATING", "", None, "")
    assert (back.state_at, back.holds_slot) == (after(4000), True)
    assert not reread(beside).holds_slot
    assert Assignment.objects.get().state == "RESERVED"
    assert Item.objects.get().reserved == 1
    assert QuotaCell.objects.get().reserved == 1


@pytest.mark.parametrize(
    ("conversation", "form"),
    [
        ({"state": "ABANDONED"}, {}),
        ({"purpose": "REHEARSAL"}, {}),
        ({}, {"state": "DONE"}),
        ({}, {"state": "RESERVED"}),
    ],
    ids=["broken off", "a test chat", "answered", "open"],
)
def test_a_form_that_is_not_of_a_finished_study_or_not_given_back_is_not_resumed(
    conversation: dict[str, str], form: dict[str, str]
) -> None:
    campaign = make_campaign(target=2)
    left_unrated(campaign)
    if conversation:
        Conversation.objects.update(**conversation)
    if form:
        Assignment.objects.update(**form)
    assert join(campaign, "A1", after(4000)).state == "READY"


def test_a_form_that_somebody_else_left_is_not_resumed() -> None:
    campaign = make_campaign(target=2)
    left_unrated(campaign)
    other = stopping.stop(person=join(campaign, "B1"), now=after(5))
    Participation.objects.filter(pk=other.pk).update(system=campaign.systems.get())
    assert (other.outcome, join(campaign, "B1", after(9)).state) == ("DECLINED", "READY")
    assert Assignment.objects.get().state == "RELEASED"


def test_the_form_that_is_left_waits_while_its_system_has_no_place() -> None:
    campaign = make_campaign(target=1)
    left_unrated(campaign)
    QuotaCell.objects.update(reserved=1)
    assert join(campaign, "A1", after(4000)).state == "ENDED"
    assert Assignment.objects.get().state == "RELEASED"


# --- starting


def test_starting_with_a_bot_is_a_sign_of_life_and_takes_the_notice_away() -> None:
    person = join(make_campaign())
    Participation.objects.update(notice="missed")
    enrolment.start(person=person, now=after(40))
    person = reread(person)
    assert (person.state, person.seen_at, person.notice) == ("CHATTING", after(40), "")
    assert person.state_at == after(40)


def test_starting_to_wait_begins_the_place_in_the_queue() -> None:
    person = join(people_campaign())
    Participation.objects.update(notice="missed")
    waiting = enrolment.start(person=person, now=after(40))
    assert (waiting.state, waiting.waiting_at, waiting.state_at) == ("WAITING", *[after(40)] * 2)
    assert (reread(person).seen_at, reread(person).notice) == (after(40), "")


def test_starting_beside_somebody_who_waits_is_told_of_the_match_at_once() -> None:
    campaign = people_campaign()
    start(campaign)
    assert start(campaign, now=after(1)).state == "MATCHED"


def test_starting_to_judge_is_a_sign_of_life_and_takes_the_notice_away() -> None:
    campaign = labeling(chatted())
    person = join(campaign, "stranger")
    Participation.objects.filter(pk=person.pk).update(notice="missed")
    judging = enrolment.start(person=person, now=after(40))
    assert (judging.state, judging.notice) == ("RATING", "")
    assert (judging.state_at, judging.seen_at) == (after(40), after(40))


def test_where_nothing_is_left_to_judge_the_participation_ends_unpaid() -> None:
    campaign = labeling(chatted())
    person = join(campaign, "stranger")
    Item.objects.filter(campaign=campaign).update(target=0)
    assert enrolment.start(person=person, now=after(1)).outcome == "FULL"


@pytest.mark.parametrize("state", [V.STOPPED, V.CLOSED])
def test_nobody_starts_once_the_campaign_is_over(state: str) -> None:
    """R22."""
    person = join(make_campaign())
    Campaign.objects.update(state=state)
    assert enrolment.start(person=person, now=after(1)).outcome == "FULL"
    assert QuotaCell.objects.get().reserved == 0


# --- what pages ask for


@pytest.mark.parametrize(("seconds", "noted"), [(1.9, False), (2.0, False), (2.1, True)])
def test_a_sign_of_life_is_written_every_two_seconds_for_one_person(
    seconds: float, noted: bool
) -> None:
    campaign = make_campaign(personas=0)
    person, beside = make_participation(campaign), make_participation(campaign)
    enrolment.note_sign_of_life(person=person, now=after(seconds))
    assert reread(person).seen_at == (after(seconds) if noted else NOW)
    assert reread(beside).seen_at == NOW


def test_asking_for_the_status_is_a_sign_of_life() -> None:
    """R9: a page that only waits is present."""
    person = join(make_campaign())
    Participation.objects.update(notice="away")
    shown = enrolment.status(person=person, now=after(30))
    assert reread(person).seen_at == after(30)
    assert shown == {
        "state": "READY",
        "stamp": f"READY-{NOW.timestamp():.6f}-0-0",
        "screen": "ready",
        "notice": "away",
        "choices": [],
        "character": person.persona_id,
    }


def test_the_place_in_the_queue_counts_who_waits_longer_for_the_same_partners() -> None:
    campaign = people_campaign(wait_seconds=60)
    others = make_system(campaign, "others", bot="people")
    person = start(campaign, now=after(100))
    Participation.objects.update(system=campaign.systems.get(name="humans"))

    def wait(seconds: float, **changes: Any) -> None:
        fields = {"system": person.system, "state": "WAITING", "waiting_at": after(seconds)}
        make_participation(campaign, **fields | changes)

    person = reread(person)
    wait(90, system=others)
    wait(90, state="CHATTING")
    wait(100)
    wait(110)
    assert enrolment.status(person=person, now=after(100))["position"] == 1
    wait(99)
    wait(98)
    shown = enrolment.status(person=person, now=after(161))
    assert (shown["position"], shown["seconds_waiting"], shown["seconds_left"]) == (3, 61.0, 0.0)
    assert shown["choices"] == ["give_up"]
    assert shown["stamp"].endswith("-1-0")


def test_the_ready_check_counts_down_and_knows_who_answered() -> None:
    """R17."""
    campaign = people_campaign()
    first, second = start(campaign), start(campaign)
    opening.meet(person=first, now=after(3))
    shown = [enrolment.status(person=one, now=after(5)) for one in (first, second)]
    assert [(one["seconds_left"], one["ready"]) for one in shown] == [(10.0, True), (10.0, False)]
    assert "place" not in shown[0]
    assert enrolment.status(person=second, now=after(20))["seconds_left"] == 0.0
    Conversation.objects.update(deadline_at=None)
    assert enrolment.status(person=second, now=after(5))["seconds_left"] == 0.0


def test_who_chats_is_told_of_no_queue() -> None:
    shown = enrolment.status(person=start(make_campaign()), now=after(5))
    assert (shown["screen"], shown["choices"]) == ("chat", [])
    assert {"position", "seconds_waiting", "seconds_left"}.isdisjoint(shown)


def test_who_waits_for_nobody_has_waited_no_time() -> None:
    person = join(make_campaign(personas=0))
    assert matching.seconds_waiting(person, after(50)) == 0.0
    assert timedelta(seconds=10) > enrolment.SEEN_EVERY
