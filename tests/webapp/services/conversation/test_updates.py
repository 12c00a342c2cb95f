"""What a browser is told of its conversation: entries, status, and nothing about others (S11).

Long because each field of the status has its edges.
"""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.db import connection

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
from tests.webapp.services.queries import rows_read
from webapp import notices
from webapp.models import Conversation, Event, Participation, ReplyJob
from webapp.services.conversation import chat, updates
from webapp.services.replies import delivery
from webapp.services.rules import access, events

pytestmark = pytest.mark.django_db
Frame = dict[str, Any]


def status(person: Participation, seconds: float = 0, **more: Any) -> Frame:
    person.refresh_from_db()
    return updates.status(person=person, now=after(seconds), **more)


def updates_of(person: Participation, last_seq: int = 0, **more: Any) -> list[Frame]:
    return updates.conversation_updates(person=person, after=last_seq, now=NOW, **more)


def entry(conversation: Conversation, kind: str, content: Frame, side: int | None = None) -> Event:
    return events.append(conversation=conversation, kind=kind, content=content, side=side)


def written_at(event: Event, seconds: float) -> None:
    Event.objects.filter(pk=event.pk).update(made_at=after(seconds))


def request(person: Participation, last_seq: int, conversation: int = 0) -> updates.UpdateRequest:
    """Return what a browser of this person asks."""
    secret = f"secret of {person.pk}"
    Participation.objects.filter(pk=person.pk).update(secret_hash=access.secret_hash(secret))
    slug = person.campaign.slug
    return updates.UpdateRequest(slug, secret, last_seq, "tab", conversation)


def seqs(frames: object) -> list[int]:
    assert isinstance(frames, list)
    return [frame["seq"] for frame in frames if frame["type"] == "event"]


def test_status_comes_last_and_tells_all_that_a_page_needs() -> None:
    person = start(make_campaign())
    shown = status(person)
    room = conversation_of(person)
    assert shown == {
        "type": "status",
        "turn": "you",
        "free": False,
        "messages": 0,
        "minimum": room.minimum,
        "maximum": None,
        "may_finish": False,
        "must_finish": False,
        "unlabeled": [],
        "slow": False,
        "failed": False,
        "may_retry": False,
        "present": True,
        "tab_is_newest": True,
        "ended": False,
    }
    send_message(person, "Hello.")
    bot_says(room, "Hello to you.")
    frames = updates_of(person)
    assert [frame["type"] for frame in frames] == ["event", "event", "status"]
    assert frames[-1] == status(person)
    assert (frames[-1]["messages"], frames[-1]["turn"]) == (2, "you")


def test_a_page_that_names_no_conversation_is_told_of_the_active_one() -> None:
    start(make_campaign())  # so that no conversation of the person is the first of all
    person = start(make_campaign())
    send_message(person, "Hello.")
    requests = request(person, 0)
    unnamed = updates.UpdateRequest(requests.slug, requests.secret, 0, "tab")
    found = updates.conversation_updates_all([unnamed], now=NOW)
    assert [seqs(one) for one in found] == [[1]]
    assert seqs(updates.conversation_updates(person=person, after=0, now=NOW)) == [1]
    assert updates.status(person=person, now=NOW)["messages"] == 1
    assert access.seat(person).conversation == conversation_of(person)


def test_an_entry_is_told_with_its_side_time_and_ones_own_id() -> None:
    first, second = pair(people_campaign())
    key = uuid.uuid4()
    event = chat.send_message(person=first, client_id=key, text="Hello.", now=NOW)
    result = {
        "type": "event",
        "seq": 1,
        "kind": "message",
        "at": event.made_at.isoformat(timespec="milliseconds"),
        "text": "Hello.",
    }
    assert updates_of(first)[0] == result | {"side": "you", "id": str(key)}
    assert updates_of(second)[0] == result | {"side": "partner"}
    assert updates.follow(person=second, after=0) == [result | {"side": "partner"}]
    assert updates.follow(person=second, after=1) == []


def test_what_is_not_for_a_persons_eyes_keeps_only_its_place() -> None:
    """S11, R5: no gap in the order, and nothing to be read from it."""
    first, second = pair(people_campaign())
    room = conversation_of(first)
    label = {"of": 1, "question": "sensible", "value": "1", "revision": 4}
    entry(room, "label", label | {"more": "x"}, side=0)
    entry(room, "state", {"refused": "my words", "complaint": "too long"}, side=0)
    entry(room, "state", {"state": "retried"}, side=1)
    entry(room, "notice", {"notice": "slow"})
    hidden = {"kind": "state", "side": None}
    mine, theirs = updates_of(first)[:-1], updates_of(second)[:-1]
    for frames, sides in ((mine, ("you", "partner")), (theirs, ("partner", "you"))):
        assert [frame.pop("seq") for frame in frames] == [1, 2, 3, 4]
        for frame in frames:
            assert frame.pop("type") == "event"
            assert frame.pop("at")
        assert frames[1] == hidden
        assert frames[2] == {"kind": "state", "side": sides[1], "state": "retried"}
        words = {"code": "slow", "notice": notices.text("slow")}
        assert frames[3] == {"kind": "notice", "side": None} | words
    assert mine[0] == {"kind": "label", "side": "you"} | label
    assert theirs[0] == hidden


@pytest.mark.parametrize("count", [1, 2, 3])
def test_whose_turn_it_is_follows_the_last_message(count: int) -> None:
    first, second = pair(people_campaign())
    for number in range(count):
        send_message((first, second)[number % 2], f"Number {number}.")
    turns = ("you", "partner") if count % 2 == 0 else ("partner", "you")
    assert (status(first)["turn"], status(second)["turn"]) == turns


@pytest.mark.parametrize(("minimum", "may"), [(1, True), (2, True), (3, False)])
def test_a_chat_may_be_finished_from_its_minimum_on(minimum: int, may: bool) -> None:
    person = start(make_campaign())
    room = conversation_of(person)
    send_message(person, "Hello.")
    bot_says(room, "Hello to you.")
    Conversation.objects.update(minimum=minimum)
    assert status(person)["may_finish"] == may
    Participation.objects.update(state="RATING")
    assert not status(person)["may_finish"]
    assert status(person)["ended"]


@pytest.mark.parametrize(("maximum", "must"), [(1, True), (2, True), (3, False), (None, False)])
def test_a_chat_must_be_finished_at_its_maximum(maximum: int | None, must: bool) -> None:
    person = start(make_campaign())
    room = conversation_of(person)
    send_message(person, "Hello.")
    bot_says(room, "Hello to you.")
    Conversation.objects.update(maximum=maximum)
    shown = status(person)
    assert (shown["must_finish"], shown["turn"]) == (must, None if must else "you")
    assert shown["maximum"] == maximum
    Conversation.objects.update(state="FINISHED")
    shown = status(person)
    assert (shown["must_finish"], shown["turn"], shown["ended"]) == (False, None, True)


@pytest.mark.parametrize(("seconds", "slow"), [(19.9, False), (20.0, True), (20.1, True)])
def test_after_twenty_seconds_the_partner_still_thinks(seconds: float, slow: bool) -> None:
    """R13: of the partner only, and counted from the last message."""
    first, second = pair(people_campaign())
    written_at(send_message(first, "Hello."), 100)
    Conversation.objects.update(counted_seq=0)  # the log was changed: it is counted anew
    assert status(first, 100 + seconds)["slow"] == slow
    assert not status(second, 100 + seconds)["slow"]


def test_before_the_first_message_the_wait_counts_from_the_start() -> None:
    first, second = pair(people_campaign())
    Conversation.objects.update(started_at=after(50))
    assert status(first, 70)["turn"] == "you"
    assert [status(second, at)["slow"] for at in (69, 70)] == [False, True]
    assert status(second)["turn"] == "partner"


@pytest.mark.parametrize(("seconds", "present"), [(29.9, True), (30.0, False), (30.1, False)])
def test_a_partner_without_a_sign_of_life_for_thirty_seconds_is_away(
    seconds: float, present: bool
) -> None:
    """R9: the partner of this conversation, whoever else has a page open."""
    first, second = pair(people_campaign())
    pair(first.campaign)
    Participation.objects.exclude(pk=second.pk).update(seen_at=after(999))
    Participation.objects.filter(pk=second.pk).update(seen_at=after(100))
    assert status(first, 100 + seconds)["present"] == present
    assert status(second, 100 + seconds)["present"]


def test_a_bot_is_always_present() -> None:
    assert status(start(make_campaign()), 10**6)["present"]


def failing() -> tuple[Participation, Conversation]:
    """Return somebody whose message got no answer, and the conversation."""
    person = start(make_campaign())
    send_message(person, "Hello.")
    room = conversation_of(person)
    assert delivery.give_up(room.jobs.get(), "no answer in time")
    return person, room


def test_a_failure_is_told_where_it_happened() -> None:
    """R13: not to who waits for another answer, of another conversation or another message."""
    person, _ = failing()
    beside = start(person.campaign)
    send_message(beside, "Hello.")
    found = updates.conversation_updates_all([request(person, 0), request(beside, 0)], now=NOW)
    last = [frames[-1] for frames in found if isinstance(frames, list)]
    assert [(one["failed"], one["may_retry"]) for one in last] == [(True, True), (False, False)]
    assert not status(beside)["failed"]
    ReplyJob.objects.update(in_reply_to=9)
    assert not status(person)["failed"]


def test_a_failed_answer_can_be_asked_for_again_once() -> None:
    person, room = failing()
    assert status(person)["may_retry"]
    entry(room, "state", {"state": "left"})
    entry(room, "message", {"state": "retried", "text": ""}, side=0)
    Event.objects.filter(kind="message", seq__gt=1).update(
        kind="notice", content={"notice": "slow", "state": "retried"}
    )
    Conversation.objects.update(counted_seq=0)  # the log was changed: it is counted anew
    assert status(person)["may_retry"]
    entry(room, "state", {"state": "retried"}, side=0)
    assert (status(person)["failed"], status(person)["may_retry"]) == (True, False)


@pytest.mark.parametrize(
    ("newest", "asks", "is_newest"), [("", "a", True), ("a", "a", True), ("a", "b", False)]
)
def test_an_older_tab_is_told_that_it_is_not_the_newest(
    newest: str, asks: str, is_newest: bool
) -> None:
    """R10."""
    person = start(make_campaign())
    Participation.objects.update(tab=newest)
    assert status(person, tab=asks)["tab_is_newest"] == is_newest


def test_who_has_no_conversation_is_told_so() -> None:
    person = start(make_campaign())
    alone = make_participation(make_campaign(personas=0))
    for wanted, conversation in ((alone, 0), (alone, conversation_of(person).pk)):
        with pytest.raises(access.NotFound, match=f"participation {alone.pk}"):
            updates_of(wanted, conversation_id=conversation)


def test_each_of_many_is_told_what_they_have_not_seen_of_their_own() -> None:
    """R7: whatever others have seen, in whatever conversation."""
    long, short, new = (start(make_campaign()) for _ in range(3))
    for number in range(3):
        send_message(long, f"Number {number}.")
        bot_says(conversation_of(long), f"Answer {number}.")
    send_message(short, "Only this.")
    requests = [
        request(long, 4),
        request(short, 0),
        request(new, 0),
        request(long, 2),
        request(long, 6),
    ]
    requests.append(updates.UpdateRequest("nowhere", "nothing", 0, "tab"))
    found = updates.conversation_updates_all(requests, now=NOW)
    assert [seqs(one) for one in found[:5]] == [[5, 6], [1], [], [3, 4, 5, 6], []]
    assert isinstance(found[5], access.NotFound)
    assert str(found[5]) == "participation in nowhere"
    last = [one[-1]["messages"] for one in found[:5] if isinstance(one, list)]
    assert last == [6, 1, 0, 6, 6]


def test_what_everybody_has_seen_and_what_nobody_asked_about_is_not_read() -> None:
    """S1: what is told of the log is read from the least that anybody of it has not seen."""
    one, other, beside = (start(make_campaign()) for _ in range(3))
    for person in (one, other, beside):
        send_message(person, "Hello.")
        bot_says(conversation_of(person), "Hello to you.")
    room = conversation_of(one)
    requests = [request(one, 1), request(other, 2)]

    def ask() -> None:
        found = updates.conversation_updates_all(requests, now=NOW)
        assert [seqs(frames) for frames in found] == [[2], []]

    rows = [row for row in rows_read(ask, "webapp_event") if len(row) > 4]
    assert [row[1:3] for row in rows] == [(room.pk, 2)]
    assert len(rows_read(ask, "webapp_event")) == len(rows)  # messages are counted on the row
    jobs = rows_read(ask, "webapp_replyjob")
    assert not jobs


def test_failures_and_partners_of_other_conversations_are_not_read() -> None:
    person, room = failing()
    failing()
    pair(people_campaign())

    def ask() -> None:
        status(person)

    assert rows_read(ask, "webapp_replyjob") == [(room.pk, 1)]
    seats = [row for row in rows_read(ask, "webapp_seat") if len(row) == 3]
    assert [row[:2] for row in seats] == [(room.pk, 0)]


def test_messages_alone_are_counted() -> None:
    person = start(make_campaign())
    room = conversation_of(person)
    entry(room, "notice", {"notice": "slow"})
    send_message(person, "Hello.")
    entry(room, "state", {"state": "retried"})
    assert status(person)["messages"] == 1


def test_labels_are_asked_for_where_the_protocol_has_them() -> None:
    person = start(make_campaign("meena_interactive"))
    Conversation.objects.update(minimum=1)
    shown = status(person)
    assert (shown["unlabeled"], shown["may_finish"]) == ([1], False)
    plain = start(make_campaign())
    assert status(plain)["unlabeled"] == []


@pytest.mark.parametrize("last_seq", [0, 1])
def test_an_entry_and_the_turn_after_it_are_told_together(last_seq: int) -> None:
    """A reply is committed between the queries of a look: a page is told of both, or of neither."""
    person = start(make_campaign())
    send_message(person, "hello")
    answers = iter([lambda: bot_says(conversation_of(person), "hi")])

    def interrupted(execute: Any, sql: str, *rest: Any) -> Any:
        found = execute(sql, *rest)
        if sql.startswith("SELECT") and '"webapp_seat"' in sql and (answer := next(answers, None)):
            answer()
        return found

    with connection.execute_wrapper(interrupted):
        *entries, shown = updates_of(person, last_seq)
    assert next(answers, None) is None
    assert (seqs(entries)[-1:] or [last_seq], shown["turn"]) == ([1], "partner")
    *entries, shown = updates_of(person, 1)
    assert (seqs(entries), shown["turn"]) == ([2], "you")
