"""Actions in a conversation at their edges: repeats, what is written, who may not (R4, R13).

Long because each action has its own edges.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from tests.factories import NOW, make_campaign, make_participation
from tests.webapp.services.people import (
    after,
    bot_says,
    conversation_of,
    pair,
    people_campaign,
    send_message,
    start,
)
from tests.webapp.services.queries import moved
from webapp import realtime
from webapp.models import (
    Assignment,
    Conversation,
    Event,
    Flag,
    Item,
    Participation,
    Persona,
    QuotaCell,
    ReplyJob,
    Seat,
)
from webapp.services.conversation import chat
from webapp.services.replies import delivery
from webapp.services.rules import events, refusals

pytestmark = pytest.mark.django_db
P = Participation.State
Action = Callable[..., Any]


def refusal(action: Action, **how: Any) -> str:
    with pytest.raises(refusals.NotNow) as problem:
        action(**how)
    return problem.value.notice


def acting(person: Participation, key: UUID | None = None, **more: Any) -> dict[str, Any]:
    """Return the arguments of an action."""
    return {"person": person, "client_id": key or uuid4(), "now": after(9), **more}


def labeling() -> tuple[Participation, dict[str, Any]]:
    """Return somebody who chats with a bot that opened, and a label of its opening."""
    person = start(make_campaign("meena_interactive"))
    asked: dict[str, Any] = {"seq": 1, "question": "sensible", "value": "1", "revision": 1}
    return person, acting(person, **asked)


def failed() -> tuple[Participation, Conversation]:
    """Return somebody whose message got no answer, and the conversation."""
    person = start(make_campaign())
    send_message(person, "Hello.")
    fail(person)
    return person, conversation_of(person)


def fail(person: Participation) -> None:
    assert delivery.give_up(conversation_of(person).jobs.latest("in_reply_to"), "no answer")


def away_from(person: Participation) -> int:
    """Return a conversation that is no active one of the person's, whose turn came before."""
    room = Conversation.objects.create(
        campaign=person.campaign,
        system=conversation_of(person).system,
        seed=1,
        started_at=NOW,
        state="ABANDONED",
    )
    Seat.objects.create(conversation=room, side=0, participation=person, active=False)
    return room.pk


# --- labels


def test_a_label_is_logged_and_a_repeat_returns_the_first_entry() -> None:
    """R4, R20."""
    person, asked = labeling()
    first = chat.label(**asked)
    assert (first.seq, first.kind, first.side) == (2, "label", 0)
    assert first.client_id == asked["client_id"]
    assert first.content == {"of": 1, "question": "sensible", "value": "1", "revision": 1}
    assert chat.label(**asked) == first
    with pytest.raises(events.Conflict):
        chat.label(**asked | {"value": "0"})
    assert conversation_of(person).last_seq == 2


@pytest.mark.parametrize("seq", [0, 2, 3])
def test_only_a_message_of_the_partner_is_labeled(seq: int) -> None:
    person, asked = labeling()
    send_message(person, "Hello.")
    events.append(
        conversation=conversation_of(person), kind="notice", content={"notice": "slow"}, side=1
    )
    assert refusal(chat.label, **asked | {"seq": seq}) == "not_now"


def test_nothing_is_labeled_after_the_end() -> None:
    _, asked = labeling()
    Conversation.objects.update(state="FINISHED")
    assert refusal(chat.label, **asked) == "not_now"
    Conversation.objects.update(state="OPEN")
    Participation.objects.update(state="RATING")
    assert refusal(chat.label, **asked) == "not_now"


@pytest.mark.parametrize(
    "action", [chat.finish, chat.retry, chat.give_up], ids=lambda one: one.__name__
)
def test_nothing_is_done_in_a_conversation_that_is_over(action: Action) -> None:
    person, _ = failed()
    Conversation.objects.update(minimum=1, state="ABANDONED")
    assert refusal(action, **acting(person)) == "not_now"
    Conversation.objects.update(state="OPEN")
    Participation.objects.update(state="RATING")
    assert refusal(action, **acting(person)) == "not_now"


def test_an_action_is_of_the_active_conversation_unless_its_page_names_another() -> None:
    """R10: what comes without a name goes to the active one, never to another one's."""
    start(make_campaign())  # so that no conversation of the person is the first of all
    person, room = failed()
    old = away_from(person)
    label = {"seq": 1, "question": "sensible", "value": "1", "revision": 1}
    actions: list[tuple[Action, dict[str, Any]]] = [
        (chat.retry, {}),
        (chat.give_up, {}),
        (chat.finish, {}),
        (chat.label, label),
    ]
    for action, more in actions:
        assert refusal(action, **acting(person, conversation_id=old, **more)) == "not_now"
    chat.take_over(person=person, tab="one", now=NOW, conversation_id=old)
    chat.take_over(person=person, tab="two", now=NOW)
    first = room.events.get(seq=1).client_id
    assert first is not None
    assert (
        chat.send_message(person=person, client_id=first, text="Hello.", now=NOW).conversation
        == room
    )
    retried = chat.retry(**acting(person))
    assert retried.conversation == room
    assert delivery.give_up(room.jobs.get(), "no answer")
    assert chat.give_up(**acting(person)).outcome == "FAILED"


def test_labeling_and_finishing_are_of_the_active_conversation_as_well() -> None:
    start(make_campaign())
    person, asked = labeling()
    room = conversation_of(person)
    away_from(person)
    assert chat.label(**asked).conversation == room
    Conversation.objects.update(minimum=1)
    chat.label(**acting(person, seq=1, question="specific", value="1", revision=2))
    assert chat.finish(**acting(person)).outcome == "COMPLETED"


# --- the end


def finishing(protocol: str = "personachat_bot", **changes: Any) -> Participation:
    """Return somebody whose chat has reached its least length."""
    person = start(make_campaign(protocol, **changes))
    send_message(person, "Hello.")
    bot_says(conversation_of(person), "Hello to you.")
    Conversation.objects.update(minimum=2)
    return person


def test_what_is_written_when_a_chat_is_finished() -> None:
    person = finishing()
    Participation.objects.update(notice="away")
    key = uuid4()
    ended = chat.finish(**acting(person, key))
    assert ended is person
    assert (person.state, person.state_at, person.notice) == (P.RATING, after(9), "")
    room = conversation_of(person)
    assert (room.state, room.ended_at, room.ended_because) == ("FINISHED", after(9), "finished")
    entry = room.events.latest("seq")
    assert (entry.kind, entry.content, entry.side) == ("state", {"state": "finished"}, 0)
    assert entry.client_id == key
    form = Assignment.objects.get()
    assert (form.participation, form.item.conversation, form.made_at) == (person, room, after(9))
    assert not person.seats.filter(active=True).exists()
    assert set(Persona.objects.filter(taken=1).values_list("pk", flat=True)) == set(
        room.seats.values_list("persona", flat=True)
    )


def test_a_repeat_of_finishing_tells_where_the_person_is_now() -> None:
    """R4."""
    person = finishing()
    stale = Participation.objects.get(pk=person.pk)
    key = uuid4()
    chat.finish(**acting(person, key))
    again = chat.finish(**acting(stale, key))
    assert (again, again.state) == (stale, P.RATING)
    assert conversation_of(person).events.filter(kind="state").count() == 1


@pytest.mark.parametrize(("minimum", "missing"), [(3, 1), (5, 3)])
def test_what_is_missing_is_counted(minimum: int, missing: int) -> None:
    person = finishing()
    Conversation.objects.update(minimum=minimum)
    with pytest.raises(refusals.NotNow) as problem:
        chat.finish(**acting(person))
    assert problem.value.values == {"count": missing}


def test_finishing_touches_nobody_elses_chat() -> None:
    beside, person = finishing(), finishing()
    chat.finish(**acting(person))
    beside.refresh_from_db()
    assert (beside.state, conversation_of(beside).state) == (P.CHATTING, "OPEN")
    assert beside.seats.filter(active=True).exists()


def test_where_labels_were_all_that_was_asked_the_end_is_the_end() -> None:
    """ME-P2: the live form is closed with it, and the time is that of the end."""
    person = finishing("meena_interactive")
    form = Assignment.objects.get()
    for revision, seq in enumerate((1, 3), start=1):
        chat.label(**acting(person, seq=seq, question="sensible", value="0", revision=revision))
    ended = chat.finish(**acting(person))
    assert (ended.outcome, ended.ended_at) == ("COMPLETED", after(9))
    form.refresh_from_db()
    assert (form.state, form.done_at) == ("DONE", after(9))
    assert (form.item.completed, form.item.reserved) == (1, 0)


def two(*said: int, **changes: Any) -> tuple[Participation, Participation]:
    """Return two people who chat; `said` are the sides that have spoken, in order."""
    both = pair(people_campaign(**changes))
    for number, side in enumerate(said):
        send_message(both[side], f"This is number {number}.")
    return both


def test_both_go_on_to_rate_each_other_in_the_one_order_of_rows() -> None:
    first, second = two(0, 1)
    Conversation.objects.update(minimum=1)
    Seat.objects.filter(side=0).update(participation=None)
    Seat.objects.filter(side=1).update(participation=first)
    Seat.objects.filter(side=0).update(participation=second)
    assert moved(lambda: chat.finish(**acting(second))) == [first.pk, second.pk]
    for person, judged in ((first, 0), (second, 1)):
        person.refresh_from_db()
        assert person.state == P.RATING
        form = person.assignments.get()
        assert form.item.key.endswith(f":{judged}:after")


def test_a_chat_that_nobody_goes_on_with_ends_in_its_log_too() -> None:
    first, _ = two(0, 1)
    room = conversation_of(first)
    with transaction.atomic():
        chat.end_idle(conversation=events.lock(room.pk), now=after(99))
    room.refresh_from_db()
    assert (room.state, room.ended_because) == ("FINISHED", "idle")
    entry = room.events.latest("seq")
    assert (entry.kind, entry.content, entry.side) == ("state", {"state": "finished"}, None)


def test_messages_that_an_earlier_version_did_not_count_are_enough_to_finish() -> None:
    first, _ = two(0, 1)
    Conversation.objects.update(minimum=2, messages_0=0, messages_1=0, counted_seq=0)
    assert chat.finish(**acting(first)).state == P.RATING


@pytest.mark.parametrize("number", [0, 1])
def test_who_rates_alone_holds_both_slots_whoever_finishes(number: int) -> None:
    """R16: the other one's is not free before the rating is there."""
    both = two(0, 1, changes={"rate.sides": "one"})
    Conversation.objects.update(minimum=1)
    chat.finish(**acting(both[number]))
    rater = Participation.objects.get(state=P.RATING)
    assert (rater.holds_slot, rater.holds_partners_slot) == (True, True)
    assert Participation.objects.filter(holds_slot=True).count() == 1
    assert QuotaCell.objects.values_list("reserved", "completed").get() == (2, 0)


def test_who_ends_with_the_chat_is_reviewed() -> None:
    """R37: a protocol without questions at the end asks for no rating that would do it."""
    changes = {"chat.minimum": [2]}
    campaign = make_campaign(
        "meena_human", systems={"people": "people"}, personas=0, changes=changes
    )
    first, second = pair(campaign)
    for person in (first, second) * 2:
        send_message(person, "Too much to have been written in no time. " * 9)
    chat.finish(**acting(first))
    for person in (first, second):
        assert Flag.objects.filter(participation=person).exists()


def test_the_seats_of_a_chat_that_ends_are_looked_up_once() -> None:
    """Besides the one look that finds the conversation of who ends it."""
    first, _ = two(0, 1)
    Conversation.objects.update(minimum=1)
    with CaptureQueriesContext(connection) as queries:
        chat.finish(**acting(first))
    looks = [each["sql"].partition(" WHERE ")[0] for each in queries]
    assert sum('FROM "webapp_seat"' in sql and '"persona_form"' in sql for sql in looks) == 2


# --- leaving


def test_who_leaves_ends_no_conversation_of_others() -> None:
    beside = start(make_campaign())
    person = start(make_campaign())
    gone = make_participation(person.campaign)
    for one in (person, gone):  # who sits nowhere leaves nothing
        chat.leave(person=one, now=after(9), because="vanished")
    assert conversation_of(person).state == "ABANDONED"
    assert conversation_of(beside).state == "OPEN"
    assert beside.seats.get().active


def test_what_is_written_when_somebody_leaves_a_partner_who_had_spoken() -> None:
    """R21."""
    first, second = two(0, 1)
    room = conversation_of(first)
    chat.leave(person=first, now=after(9), because="vanished")
    room.refresh_from_db()
    assert (room.state, room.ended_at, room.ended_because) == ("ABANDONED", after(9), "vanished")
    entry = room.events.latest("seq")
    assert (entry.kind, entry.content) == ("state", {"state": "left"})
    assert not room.seats.filter(active=True).exists()
    assert not Persona.objects.filter(taken__gt=0).exists()
    second.refresh_from_db()
    assert (second.state, second.notice) == (P.RATING, "partner_left")
    assert second.state_at == after(9)
    assert second.assignments.get().item.conversation == room
    first.refresh_from_db()
    assert first.state == P.CHATTING  # theirs is the caller's to settle
    assert not first.assignments.exists()


def test_who_is_left_before_they_spoke_waits_again_and_is_told_why() -> None:
    """R17: what the other one said is not theirs."""
    first, second = two(0)
    chat.leave(person=first, now=after(9), because="left")
    second.refresh_from_db()
    assert (second.state, second.notice) == (P.WAITING, "partner_missed")
    assert second.state_at == after(9)
    assert second.waiting_at == NOW
    assert not second.seats.filter(active=True).exists()


def test_who_is_left_before_they_spoke_waits_on_with_their_persona() -> None:
    first, second = two(0)
    mine = second.seats.get().persona
    assert mine is not None
    chat.leave(person=first, now=after(9), because="left")
    second.refresh_from_db()
    assert second.persona == mine
    assert list(Persona.objects.filter(taken__gt=0)) == [mine]


def test_leaving_where_labels_were_asked_still_ends_the_other_as_left() -> None:
    """R21: a protocol without questions at the end pays the partner at once."""
    changes = {"chat.minimum": [2]}
    campaign = make_campaign(
        "meena_human", systems={"people": "people"}, personas=0, changes=changes
    )
    first, second = pair(campaign)
    send_message(first, "Hello.")
    send_message(second, "Hello to you.")
    chat.leave(person=first, now=after(9), because="left")
    second.refresh_from_db()
    assert (second.outcome, second.ended_at) == ("PARTNER_LEFT", after(9))


def test_leaving_a_bot_drops_the_answer_that_it_owes() -> None:
    person = start(make_campaign())
    send_message(person, "Hello.")
    beside = start(make_campaign())
    send_message(beside, "Hello.")
    chat.leave(person=person, now=after(9), because="left")
    assert conversation_of(person).jobs.get().state == "DROPPED"
    assert conversation_of(beside).jobs.get().state == "QUEUED"
    assert conversation_of(beside).state == "OPEN"
    assert beside.seats.filter(active=True).exists()


@pytest.mark.parametrize("state", ["FINISHED", "FAILED"])
def test_nothing_is_left_where_nothing_goes_on(state: str) -> None:
    alone = make_participation(make_campaign(personas=0))
    chat.leave(person=alone, now=NOW, because="left")
    person = start(make_campaign())
    Conversation.objects.update(state=state)
    chat.leave(person=person, now=after(9), because="left")
    assert conversation_of(person).state == state
    assert not conversation_of(person).events.exists()


# --- an answer that did not come


def test_a_second_try_is_logged_and_a_repeat_returns_the_first_entry() -> None:
    """R4, R13."""
    person, room = failed()
    key = uuid4()
    first = chat.retry(**acting(person, key))
    assert (first.kind, first.content, first.side) == ("state", {"state": "retried"}, 0)
    assert first.client_id == key
    assert chat.retry(**acting(person, key)) == first
    assert room.jobs.get().state == "QUEUED"
    assert refusal(chat.retry, **acting(person)) == "not_now"


def test_a_second_try_is_given_for_each_message() -> None:
    """R13: what was asked again for an earlier message does not count for this one."""
    person, room = failed()
    chat.retry(**acting(person))
    bot_says(room, "Here it is.")
    ReplyJob.objects.update(state="DONE")
    send_message(person, "And then?")
    fail(person)
    chat.retry(**acting(person))
    assert [job.state for job in room.jobs.order_by("pk")] == ["DONE", "QUEUED"]


def test_other_entries_after_a_failure_do_not_take_the_second_try_away() -> None:
    person, room = failed()
    events.append(conversation=room, kind="state", content={"refused": "x", "complaint": "y"})
    events.append(conversation=room, kind="notice", content={"notice": "slow", "state": "retried"})
    assert chat.retry(**acting(person)).content == {"state": "retried"}


@pytest.mark.parametrize(("maximum", "refused"), [(1, True), (2, False), (None, False)])
def test_no_answer_is_asked_for_again_that_would_be_one_message_too_many(
    maximum: int | None, refused: bool
) -> None:
    person, room = failed()
    Conversation.objects.filter(pk=room.pk).update(maximum=maximum)
    if refused:
        assert refusal(chat.retry, **acting(person)) == "not_now"
    else:
        assert chat.retry(**acting(person)).content == {"state": "retried"}


@pytest.mark.parametrize("action", [chat.retry, chat.give_up], ids=lambda one: one.__name__)
def test_nothing_failed_so_nothing_is_asked_for_again_nor_given_up(action: Action) -> None:
    person = start(make_campaign())
    assert refusal(action, **acting(person)) == "not_now"  # nothing was owed yet
    send_message(person, "Hello.")
    assert refusal(action, **acting(person)) == "not_now"  # it is still owed
    ReplyJob.objects.update(state="FAILED")
    bot_says(conversation_of(person), "Late.")
    send_message(person, "And?")
    assert refusal(action, **acting(person)) == "not_now"  # a newer one is owed


def test_what_is_written_when_an_answer_is_given_up() -> None:
    """R13, R21: the failure is ours, so it is paid in full."""
    person, room = failed()
    stale = Participation.objects.get(pk=person.pk)
    key = uuid4()
    chat.give_up(**acting(person, key))
    room.refresh_from_db()
    assert (room.state, room.ended_at, room.ended_because) == ("FAILED", after(9), "no_answer")
    entry = room.events.latest("seq")
    assert (entry.kind, entry.content, entry.side) == ("state", {"state": "failed"}, 0)
    assert entry.client_id == key
    assert (person.outcome, person.ended_at) == ("FAILED", after(9))
    again = chat.give_up(**acting(stale, key))
    assert (again, again.outcome) == (stale, "FAILED")
    assert room.events.filter(kind="state").count() == 1


# --- tabs and signs of life


def test_the_newest_tab_is_one_persons_and_a_sign_of_life() -> None:
    """R10: saying it again changes nothing."""
    campaign = make_campaign()
    beside, person = start(campaign), start(campaign)
    chat.take_over(person=person, tab="one", now=after(5))
    person.refresh_from_db()
    assert (person.tab, person.seen_at) == ("one", after(5))
    chat.take_over(person=person, tab="one", now=after(7))
    chat.note_sign_of_life(person=person, now=after(8))
    person.refresh_from_db()
    assert person.seen_at == after(5)
    chat.take_over(person=person, tab="two", now=after(9))
    person.refresh_from_db()
    assert (person.tab, person.seen_at) == ("two", after(9))
    beside.refresh_from_db()
    assert (beside.tab, beside.seen_at) == ("", NOW)


def test_pages_are_called_when_another_tab_takes_over(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    """R10: the tab of before says at once that it does not control any more."""
    person = start(make_campaign())
    told: list[realtime.Grown] = []
    monkeypatch.setattr(realtime, "tell", told.extend)
    for tab, calls in (("one", 1), ("one", 0), ("two", 1)):
        told.clear()
        with django_capture_on_commit_callbacks(execute=True):
            chat.take_over(person=person, tab=tab, now=after(5))
        assert [each.conversation for each in told] == [conversation_of(person).pk] * calls


def test_a_sign_of_life_in_a_chat_is_of_one_person() -> None:
    campaign = make_campaign()
    beside, person = start(campaign), start(campaign)
    chat.note_sign_of_life(person=person, now=after(30))
    for one, at in ((person, after(30)), (beside, NOW)):
        one.refresh_from_db()
        assert one.seen_at == at


def test_an_entry_is_found_again_by_its_own_side_only() -> None:
    first, second = two(0, 1)
    Conversation.objects.update(minimum=1)
    key = uuid4()
    room = conversation_of(first)
    events.append(
        conversation=room, kind="state", content={"state": "finished"}, side=0, client_id=key
    )
    ended = chat.finish(**acting(second, key))
    assert ended.state == P.RATING
    assert Event.objects.filter(client_id=key).count() == 2
    assert Item.objects.count() == 2
