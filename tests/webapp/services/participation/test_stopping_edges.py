"""Stopping at its edges: what counts as work, who is silent for how long, what is left behind."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

import pytest

from tests.factories import NOW, make_campaign, make_participation
from tests.webapp.services.people import (
    after,
    bot_says,
    conversation_of,
    join,
    pair,
    people_campaign,
    send_message,
    start,
)
from webapp.models import (
    AdmissionTry,
    Assignment,
    Campaign,
    Conversation,
    Event,
    Flag,
    Item,
    Participation,
    Persona,
    ReplyJob,
    Seat,
)
from webapp.services.conversation import chat
from webapp.services.participation import stopping
from webapp.services.rules import events, work

pytestmark = pytest.mark.django_db


def reread(person: Participation) -> Participation:
    return Participation.objects.get(pk=person.pk)


def judged(person: Participation, conversation: Conversation, state: str) -> None:
    """Let a person hold a form about a conversation, in this state."""
    item = Item.objects.create(
        campaign=person.campaign, key=f"i{person.pk}", conversation=conversation, target=1
    )
    Assignment.objects.create(item=item, participation=person, place=0, state=state)


# --- what counts as work (R21)


def test_what_others_said_or_judged_is_not_ones_own_work() -> None:
    first, second = pair(people_campaign())
    room = conversation_of(first)
    send_message(first, "Hello.")
    events.append(conversation=room, kind="state", content={"refused": "x"}, side=1)
    judged(first, room, "DONE")
    assert work.of(first).done
    assert not work.of(second).done
    send_message(second, "Hello to you.")
    assert work.of(second).done


def test_what_was_said_in_an_earlier_conversation_is_work() -> None:
    first, second = pair(people_campaign())
    send_message(first, "Hello.")
    chat.leave(person=second, now=after(5), because="left")
    Participation.objects.filter(pk=first.pk).update(state="WAITING")
    assert work.of(first).done
    stranger = make_participation(first.campaign)
    room = Conversation.objects.create(
        campaign=first.campaign, system=first.campaign.systems.get(), seed=1, started_at=NOW
    )
    Seat.objects.create(conversation=room, side=0, participation=stranger, active=False)
    assert not work.of(stranger).done


@pytest.mark.parametrize("state", ["DONE", "RESERVED", "RELEASED"])
def test_a_form_about_a_chat_adds_no_work(state: str) -> None:
    """R21: where there is a chat only its messages count, answered questions or not."""
    person = start(make_campaign())
    judged(person, conversation_of(person), state)
    assert work.of(person) == work.Work()
    send_message(person, "Hello.")
    assert work.of(person).done == 1


def test_what_is_written_when_somebody_stops() -> None:
    """S13: a flag tells of who stopped after a word, and of nobody else."""
    beside, person = start(make_campaign()), start(make_campaign())
    send_message(person, "Hello.")
    stopping.stop(person=person, now=after(5))
    flag = Flag.objects.get()
    assert (flag.kind, flag.campaign, flag.participation) == (
        "stopped_early",
        person.campaign,
        person,
    )
    room = conversation_of(person)
    assert (room.ended_because, room.ended_at) == ("stopped", after(5))
    assert reread(person).ended_at == after(5)
    stopping.stop(person=person, now=after(9))
    assert reread(person).ended_at == after(5)
    assert Flag.objects.count() == 1
    stopping.stop(person=beside, now=after(5))
    assert reread(beside).outcome == "DECLINED"
    assert Flag.objects.count() == 1


# --- silence


@pytest.mark.parametrize(("seconds", "gone"), [(89.9, False), (90.0, False), (90.1, True)])
def test_a_silent_partner_is_waited_for_ninety_seconds(seconds: float, gone: bool) -> None:
    first, second = pair(people_campaign())
    if not gone:
        with pytest.raises(stopping.CameBack):
            stopping.vanish(person=first, now=after(seconds))
        assert conversation_of(first).state == "OPEN"
        assert reread(first).state == "CHATTING"
        return
    stopping.vanish(person=first, now=after(seconds))
    room = conversation_of(first)
    assert (room.state, room.ended_because, room.ended_at) == (
        "ABANDONED",
        "vanished",
        after(seconds),
    )
    person = reread(first)
    assert (person.state, person.notice, person.state_at) == ("READY", "away", after(seconds))
    assert reread(second).state == "WAITING"


@pytest.mark.parametrize("state", ["WAITING", "RATING", "READY"])
def test_who_does_not_chat_any_more_does_not_vanish(state: str) -> None:
    first, _ = pair(people_campaign())
    Participation.objects.filter(pk=first.pk).update(state=state)
    with pytest.raises(stopping.CameBack):
        stopping.vanish(person=first, now=after(500))
    assert reread(first).state == state
    assert conversation_of(first).state == "OPEN"


@pytest.mark.parametrize(("seconds", "gone"), [(1799.9, False), (1800.0, False), (1800.1, True)])
def test_after_half_an_hour_of_silence_a_participation_ends(seconds: float, gone: bool) -> None:
    """R21: nothing is paid, and the link leads on."""
    person = start(make_campaign())
    if not gone:
        with pytest.raises(stopping.CameBack):
            stopping.give_away(person=person, now=after(seconds))
        assert conversation_of(person).state == "OPEN"
        return
    stopping.give_away(person=person, now=after(seconds))
    ended = reread(person)
    assert (ended.state, ended.outcome, ended.ended_at) == ("ENDED", "LEFT", after(seconds))
    assert conversation_of(person).ended_because == "left"
    with pytest.raises(stopping.CameBack):
        stopping.give_away(person=person, now=after(seconds + 9))


# --- with the campaign


def test_what_is_written_when_a_campaign_stops() -> None:
    """R22: the conversation is closed with an entry, and both are paid, one after the other."""
    campaign = people_campaign()
    first, second = pair(campaign)
    beside = pair(campaign)
    send_message(first, "Hello.")
    Campaign.objects.update(state="STOPPED")
    for person in (first, second):
        stopping.end_with_campaign(person=person, now=after(9))
    room = conversation_of(first)
    assert (room.state, room.ended_at, room.ended_because) == (
        "ABANDONED",
        after(9),
        "campaign stopped",
    )
    kinds = list(room.events.values_list("kind", "content", "side"))
    assert kinds[1:] == [("state", {"state": "stopped"}, None)]
    for person in (first, second):
        ended = reread(person)
        assert (ended.outcome, ended.ended_at) == ("STOPPED", after(9))
        assert not person.seats.filter(active=True).exists()
    assert conversation_of(beside[0]).state == "OPEN"
    assert Persona.objects.filter(taken=1).count() == 2  # of those who still chat


def test_a_stopped_campaign_takes_no_answer_of_a_bot() -> None:
    person = start(make_campaign())
    send_message(person, "Hello.")
    stopping.end_with_campaign(person=person, now=after(9))
    assert conversation_of(person).jobs.get().state == "DROPPED"


def test_a_conversation_that_ended_before_stays_as_it_ended() -> None:
    """Who rates has no active seat: what they finished counts as finished."""
    person = start(make_campaign())
    send_message(person, "Hello.")
    bot_says(conversation_of(person), "Hello to you.")
    Conversation.objects.update(minimum=1)
    chat.finish(person=person, client_id=uuid.uuid4(), now=after(5))
    Conversation.objects.update(state="OPEN")  # as a mistake elsewhere would leave it
    stopping.end_with_campaign(person=person, now=after(9))
    room = conversation_of(person)
    assert (room.state, room.ended_because) == ("OPEN", "finished")
    assert reread(person).outcome == "STOPPED"


def test_who_has_no_conversation_is_ended_with_the_campaign_too() -> None:
    person: Any = join(make_campaign())
    stopping.end_with_campaign(person=person, now=after(9))
    assert reread(person).outcome == "STOPPED"


# --- who makes no progress (R40)


@pytest.mark.parametrize(("seconds", "stalls"), [(-0.1, True), (0.0, False), (0.1, False)])
def test_a_try_of_the_quiz_is_progress_until_the_place_was_kept_for_its_time(
    seconds: float, stalls: bool
) -> None:
    """Of who tried, and of nobody else."""
    campaign = make_campaign()
    person, beside = (
        make_participation(campaign, state="ADMISSION", state_at=after(-60)) for _ in range(2)
    )
    AdmissionTry.objects.create(
        participation=person,
        step="quiz",
        number=1,
        answers={},
        wrong=[],
        passed=False,
        made_at=after(seconds),
    )
    found = set(stopping.stalled(NOW + stopping.KEPT))
    assert found == ({person, beside} if stalls else {beside})


# --- a conversation in which nobody writes


IDLE = 600  # of the protocol


def silent(*, writes: bool) -> Participation:
    """Return somebody to whom a bot has just written, after they did, or who never wrote."""
    person = start(make_campaign("convai2_wild"))
    if writes:
        send_message(person, "Hello.")
    bot_says(conversation_of(person), "Hello, who are you?")
    Event.objects.update(made_at=NOW)
    return person


@pytest.mark.parametrize(("seconds", "ends"), [(-0.1, False), (0.0, True), (0.1, True)])
def test_it_ends_after_so_long_without_a_message_and_not_before(seconds: float, ends: bool) -> None:
    person = silent(writes=False)
    now = after(IDLE + seconds)
    if ends:
        stopping.fall_silent(person=person, now=now)
    else:
        with pytest.raises(stopping.CameBack):
            stopping.fall_silent(person=person, now=now)
    assert (reread(person).outcome == "LEFT") is ends


def test_who_wrote_judges_a_silent_conversation_and_who_did_not_has_left() -> None:
    one, other = silent(writes=True), silent(writes=False)
    for person in (one, other):
        stopping.fall_silent(person=person, now=after(IDLE))
    assert (reread(one).state, reread(one).outcome) == ("RATING", "")
    assert (reread(other).state, reread(other).outcome) == ("ENDED", "LEFT")
    left = conversation_of(other)
    assert (left.state, left.ended_because) == ("ABANDONED", "idle")
    last = conversation_of(one).events.latest("seq")
    assert (last.kind, last.content) == ("state", {"state": "finished"})


# --- who came back meanwhile


def test_who_wrote_a_moment_ago_is_not_given_away_though_no_sign_of_life_was_noted() -> None:
    person = start(make_campaign())
    send_message(person, "Hello.")
    now = after(3600)
    Event.objects.filter(side=0).update(made_at=after(3599))
    with pytest.raises(stopping.CameBack):
        stopping.give_away(person=person, now=now)
    assert reread(person).state == "CHATTING"
    Event.objects.filter(side=0).update(made_at=NOW)
    stopping.give_away(person=person, now=now)
    assert reread(person).outcome == "LEFT"


def test_who_wrote_a_moment_ago_in_a_later_conversation_is_not_given_away() -> None:
    person = start(make_campaign())
    person.seats.update(active=False)
    later = Conversation.objects.create(
        campaign=person.campaign, system=person.campaign.systems.get(), seed=2, started_at=NOW
    )
    Seat.objects.create(conversation=later, side=0, participation=person, active=True)
    events.append(conversation=later, kind="message", content={"text": "Hello."}, side=0)
    Event.objects.filter(conversation=later).update(made_at=after(3599))
    with pytest.raises(stopping.CameBack):
        stopping.give_away(person=person, now=after(3600))
    assert reread(person).state == "CHATTING"


@pytest.mark.parametrize(
    ("at", "came_back"),
    [
        (after(1799.9), False),
        (after(1800), True),
        (after(3899.9), True),
        (after(3900), False),
    ],
)
def test_a_message_counts_from_the_silence_on_and_not_from_a_clock_far_ahead(
    at: datetime, came_back: bool
) -> None:
    person = start(make_campaign())
    send_message(person, "Hello.")
    Event.objects.filter(side=0).update(made_at=at)
    if came_back:
        with pytest.raises(stopping.CameBack):
            stopping.give_away(person=person, now=after(3600))
    else:
        stopping.give_away(person=person, now=after(3600))
    assert reread(person).state == ("CHATTING" if came_back else "ENDED")


def test_who_got_no_answer_and_makes_no_progress_is_paid_in_full() -> None:
    """R21: it was ours to go on."""
    person = start(make_campaign())
    send_message(person, "Hello.")
    ReplyJob.objects.update(state="FAILED")
    Participation.objects.filter(pk=person.pk).update(state_at=after(-10))
    Event.objects.update(made_at=after(-10))
    stopping.release(person=person, now=NOW + stopping.KEPT)
    person = reread(person)
    assert (person.outcome, person.code.kind) == ("FAILED", "FULL")
    assert conversation_of(person).events.latest("seq").content == {"state": "failed"}


def test_who_wrote_a_moment_ago_has_not_vanished_from_a_pair() -> None:
    first, second = pair(people_campaign())
    send_message(first, "Hello.")
    Event.objects.filter(side=first.seats.get().side).update(made_at=after(99))
    with pytest.raises(stopping.CameBack):
        stopping.vanish(person=first, now=after(100))
    assert [reread(one).state for one in (first, second)] == ["CHATTING", "CHATTING"]
    Event.objects.update(made_at=NOW)
    send_message(second, "Are you there?")
    Event.objects.filter(side=second.seats.get().side).update(made_at=after(99))
    stopping.vanish(person=first, now=after(100))  # that the partner writes is no sign of theirs
    assert reread(first).state == "READY"


@pytest.mark.parametrize(("seconds", "stalls"), [(-0.1, True), (0.0, False), (0.1, False)])
def test_a_form_that_was_filled_in_is_progress(seconds: float, stalls: bool) -> None:
    campaign = make_campaign()
    person, beside = (
        make_participation(campaign, state="RATING", state_at=after(-60)) for _ in range(2)
    )
    item = Item.objects.create(campaign=campaign, key="i", target=1)
    about = {"item": item, "participation": person, "place": 0, "state": "DONE"}
    Assignment.objects.create(**about, done_at=after(seconds))
    found = set(stopping.stalled(NOW + stopping.KEPT))
    assert found == ({person, beside} if stalls else {beside})


def test_who_went_on_meanwhile_keeps_the_place() -> None:
    person, stalls = start(make_campaign()), start(make_campaign())
    Participation.objects.filter(pk=person.pk).update(state_at=after(10))
    Participation.objects.filter(pk=stalls.pk).update(state_at=after(-10))
    with pytest.raises(stopping.CameBack):
        stopping.release(person=person, now=NOW + stopping.KEPT)
    assert reread(person).state == "CHATTING"
