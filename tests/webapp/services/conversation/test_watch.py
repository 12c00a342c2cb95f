"""How the seats of conversations stand, by one look for all pages (R6, R8)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.factories import NOW, make_campaign
from tests.webapp.services.people import (
    after,
    bot_says,
    conversation_of,
    pair,
    people_campaign,
    send_message,
    start,
)
from webapp.models import Conversation, Participation, ReplyJob
from webapp.services.conversation import watch
from webapp.services.conversation.messages import FRESH
from webapp.services.conversation.updates import AWAY, SLOW, Frame
from webapp.services.conversation.watch import Current, PageState

pytestmark = pytest.mark.django_db
LONGEST = AWAY.total_seconds()
CURRENT = Current(
    last_seq=3,
    is_ended=False,
    is_slow=False,
    is_present=True,
    failed=False,
    tab="",
    is_withdrawn=False,
)
TOLD = {"turn": "you", "ended": False, "slow": False, "present": True, "failed": False}


def side_of(person: Participation) -> tuple[int, int]:
    return conversation_of(person).pk, person.seats.get().side


@pytest.mark.parametrize(("seconds", "noted"), [(0.0, False), (0.1, True)])
def test_who_has_a_page_is_noted_before_the_look_unless_it_is_fresh(
    seconds: float, noted: bool
) -> None:
    first, second = pair(people_campaign())
    now = NOW + FRESH + (after(seconds) - NOW)
    watch.look([conversation_of(first).pk], [first.pk], now)
    for person in (first, second):
        person.refresh_from_db()
    assert (first.seen_at == now, second.seen_at) == (noted, NOW)


@pytest.mark.parametrize(("seconds", "present"), [(-0.1, True), (0.0, False)])
def test_a_partner_is_present_until_they_were_away_for_long(seconds: float, present: bool) -> None:
    first, second = pair(people_campaign())
    now = after(LONGEST + seconds)
    found = watch.look([conversation_of(first).pk], [second.pk], now)
    assert (found[side_of(first)].is_present, found[side_of(second)].is_present) == (True, present)


@pytest.mark.parametrize(("seconds", "slow"), [(-0.1, False), (0.0, True)])
def test_a_conversation_is_slow_by_its_last_message(seconds: float, slow: bool) -> None:
    first, _ = pair(people_campaign())
    talk = conversation_of(first)
    Conversation.objects.filter(pk=talk.pk).update(last_message_at=after(10))
    now = after(10 + SLOW.total_seconds() + seconds)
    assert watch.look([talk.pk], [], now)[side_of(first)].is_slow is slow


def test_a_look_has_the_people_of_these_conversations_alone() -> None:
    campaign = people_campaign(target=4)
    first, second = pair(campaign)
    pair(campaign)
    found = watch.look([conversation_of(first).pk], [], NOW)
    assert set(found) == {side_of(first), side_of(second)}
    assert watch.look([], [], NOW) == {}


@pytest.mark.parametrize(
    ("state", "at", "is_ended"),
    [("OPEN", "CHATTING", False), ("FINISHED", "CHATTING", True), ("OPEN", "RATING", True)],
)
def test_a_conversation_is_over_for_who_is_past_it(state: str, at: str, is_ended: bool) -> None:
    first, _ = pair(people_campaign())
    talk = conversation_of(first)
    Conversation.objects.filter(pk=talk.pk).update(state=state)
    Participation.objects.filter(pk=first.pk).update(state=at)
    assert watch.look([talk.pk], [], NOW)[side_of(first)].is_ended is is_ended


def test_who_has_withdrawn_is_nobody_any_more_and_their_partner_stays() -> None:
    first, second = pair(people_campaign())
    Participation.objects.filter(pk=first.pk).update(withdrawn_at=NOW)
    found = watch.look([conversation_of(first).pk], [], NOW)
    gone = {key: one.is_withdrawn for key, one in found.items()}
    assert gone == {side_of(first): True, side_of(second): False}
    assert found[side_of(first)].differences(PageState(0, {**TOLD}, "")) == {"person"}


@pytest.mark.parametrize("turn", ["you", "partner"])
@pytest.mark.parametrize("is_so", [True, False])
def test_only_who_waits_has_a_slow_or_failed_partner(turn: str, is_so: bool) -> None:
    current = replace(CURRENT, is_slow=is_so, failed=is_so)
    status: Frame = {**TOLD, "turn": turn, "tab_is_newest": True}
    differs = {"slow", "failed"} if is_so and turn == "partner" else set()
    assert current.differences(PageState(3, status, "a")) == differs


@pytest.mark.parametrize(("answered", "failed"), [(1, False), (3, True)])
def test_a_failed_answer_is_one_to_the_latest_message(answered: int, failed: bool) -> None:
    person = start(make_campaign())
    talk = conversation_of(person)
    for text in ("Hello.", "Are you there?"):
        send_message(person, text)
        if text == "Hello.":
            bot_says(talk, "Yes?")
    ReplyJob.objects.update(state="DONE")
    beside = conversation_of(start(make_campaign()))
    for seq in (1, 3):
        ReplyJob.objects.create(
            conversation=beside, in_reply_to=seq, bot="a", state="FAILED", queued_at=NOW
        )
    ReplyJob.objects.filter(in_reply_to=answered, conversation=talk).update(state="FAILED")
    assert watch.look([talk.pk], [], NOW)[side_of(person)].failed is failed


@pytest.mark.parametrize(("tab", "is_newest"), [("", True), ("a", True), ("b", False)])
def test_a_page_is_the_newest_unless_another_tab_was_opened_since(
    tab: str, is_newest: bool
) -> None:
    current = replace(CURRENT, tab=tab)
    for shown in (True, False):
        status: Frame = {**TOLD, "tab_is_newest": shown}
        differs = {"tab_is_newest"} if shown != is_newest else set()
        assert current.differences(PageState(3, status, "a")) == differs
        assert current.differences(PageState(2, status, "a")) == differs | {"seq"}
