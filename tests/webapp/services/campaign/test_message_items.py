"""ME-P3, what is judged: messages of people who chatted, until somebody takes theirs back."""

from __future__ import annotations

import itertools

import pytest

from tests.factories import NOW, make_campaign, make_staff, talk_of
from tests.webapp.services.people import after, send_message, start
from tests.webapp.services.third import (
    MESSAGES,
    came,
    chatted,
    draft_of,
    judge,
    labeling,
    of_people,
    talk,
)
from webapp.models import (
    Campaign,
    Candidate,
    Event,
    Item,
    Participation,
    Seat,
)
from webapp.services.campaign import checklist, launch, message_items, systems
from webapp.services.conversation import opening
from webapp.services.monitoring import review
from webapp.services.ops import sweeper
from webapp.services.participation import privacy, stopping
from webapp.services.rating import items
from webapp.services.staff_forms.fields import Invalid

pytestmark = pytest.mark.django_db


def test_people_chat_and_are_done_when_they_have_finished() -> None:
    campaign = of_people()
    for person in talk(campaign, "ann", "bob"):
        assert (person.state, person.outcome, person.code.kind) == ("ENDED", "COMPLETED", "FULL")


def test_who_is_left_alone_is_paid_and_the_chat_does_not_count() -> None:
    campaign = of_people()
    one, two = start(campaign), start(campaign)
    for person in (one, two):
        opening.meet(person=person, now=NOW)
    send_message(one, "Hi!")
    stopping.stop(person=two, now=after(5))
    one.refresh_from_db()
    assert (one.outcome, one.code.kind) == ("PARTNER_LEFT", "FULL")
    cell = campaign.systems.get().cell
    assert (cell.completed, cell.reserved) == (0, 0)


def test_every_message_of_both_becomes_an_item_once() -> None:
    source = chatted(2)
    campaign = labeling(source)
    assert message_items.counts(campaign) == {"messages": 2 * MESSAGES, "conversations": 2}
    assert {(c.system.name, c.item.target) for c in Candidate.objects.all()} == {("human", 5)}
    said = Event.objects.filter(kind="message").values_list("conversation", "seq", "side")
    judged = Candidate.objects.values_list("item__conversation", "seq", "side")
    assert set(said) == set(judged)
    order = list(Item.objects.order_by("order").values_list("conversation", "candidates__seq"))
    for _talk, group in itertools.groupby(order, key=lambda row: row[0]):
        seqs = [seq or 0 for _, seq in group]
        assert len(seqs) == MESSAGES
        assert seqs == sorted(seqs)


def test_a_repeat_takes_what_is_missing_and_clearing_removes_all() -> None:
    one, two = chatted(1), chatted(1, first=1)
    campaign = labeling(one)
    Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.DRAFT)
    campaign.refresh_from_db()
    staff = make_staff()
    took = [
        message_items.take(campaign=campaign, source=str(source.pk), by=staff, now=NOW)
        for source in (one, two, two)
    ]
    assert took == [0, MESSAGES, 0]
    orders = list(campaign.items.values_list("order", flat=True))
    assert sorted(orders) == list(range(2 * MESSAGES))
    assert campaign.systems.count() == 1
    with pytest.raises(systems.SystemRefused):
        systems.remove_system(campaign=campaign, pk=campaign.systems.get().pk, by=staff, now=NOW)
    assert message_items.clear(campaign=campaign, by=staff, now=NOW) == 2 * MESSAGES
    assert (campaign.items.count(), campaign.systems.count()) == (0, 0)


def test_a_draft_that_takes_no_messages_keeps_its_systems() -> None:
    draft = make_campaign(state=Campaign.State.DRAFT, opened_at=None)
    assert message_items.clear(campaign=draft, by=make_staff(), now=NOW) == 0
    assert draft.systems.count() == 1


@pytest.mark.parametrize("state", ["OPEN", "PAUSED", "DRAFT"])
def test_nothing_is_taken_from_a_campaign_that_has_not_ended(state: str) -> None:
    source = chatted()
    Campaign.objects.filter(pk=source.pk).update(state=state)
    draft = draft_of()
    assert message_items.sources(campaign=draft, user=make_staff()) == []
    with pytest.raises(Invalid, match="not one of the campaigns listed"):
        message_items.take(campaign=draft, source=str(source.pk), by=make_staff(), now=NOW)


def test_what_was_withdrawn_or_set_aside_is_not_taken() -> None:
    source = chatted(4)
    first, second, third, _ = source.conversations.order_by("pk")
    gone = first.seats.get(side=0).participation
    assert gone is not None
    privacy.withdraw(token=privacy.withdraw_token(gone), now=NOW)
    second.excluded = "spam"
    second.save()
    spammer = third.seats.get(side=1).participation
    assert spammer is not None
    review.exclude(
        row=review.Reviewed("participation", source, spammer.pk),
        by=make_staff(),
        reason="spam",
        now=NOW,
    )
    campaign = labeling(source)
    assert message_items.counts(campaign) == {"messages": MESSAGES, "conversations": 1}


def test_a_draft_without_messages_does_not_open_and_the_plan_holds_them_by_hash() -> None:
    source = chatted()
    draft = draft_of(**{"rate.votes": 3})
    assert systems.kinds(draft) == []
    red = [check.name for check in checklist.checklist(draft, NOW) if not check.ok]
    assert red == ["Messages to judge"]
    message_items.take(campaign=draft, source=str(source.pk), by=make_staff(), now=NOW)
    opened = launch.launch(campaign=draft, by=make_staff(), now=NOW)
    assert opened.plan is not None
    assert len(opened.plan["messages"]) == MESSAGES
    assert len({each["sha256"] for each in opened.plan["messages"]}) == MESSAGES
    assert "Line 0" not in launch.canonical(opened.plan)
    assert {item.target for item in Item.objects.all()} == {3}


def test_what_somebody_withdraws_is_shown_to_nobody_any_more() -> None:
    source = chatted(2)
    campaign = labeling(source, **{"rate.batch": 50})
    rater = came(campaign, "stranger")
    judge(rater)
    shown = talk_of(rater.assignments.get(state="DONE").item)
    other = source.conversations.exclude(pk=shown.pk).get()
    _withdraw(other.seats.get(side=0))
    assert _open_conversations(rater) == {shown.pk}
    fresh = came(campaign, "another")
    assert _open_conversations(fresh) == {shown.pk}
    while judge(rater):
        pass
    rater.refresh_from_db()
    assert rater.outcome == "COMPLETED"


def test_who_has_nothing_left_after_a_withdrawal_is_done_and_the_campaign_ends() -> None:
    source = chatted()
    campaign = labeling(source)
    rater = came(campaign, "stranger")
    _withdraw(source.conversations.get().seats.get(side=1))
    rater.refresh_from_db()
    assert (rater.outcome, rater.code.kind) == ("COMPLETED", "FULL")
    assert {item.reserved for item in campaign.items.all()} == {0}
    assert not items.open_items(campaign).exists()
    assert sweeper.tick(after(9))["complete"] == 1


def _withdraw(seat: Seat) -> None:
    assert seat.participation is not None
    privacy.withdraw(token=privacy.withdraw_token(seat.participation), now=after(700))


def _open_conversations(person: Participation) -> set[int]:
    return set(
        person.assignments.filter(state="RESERVED").values_list("item__conversation", flat=True)
    )
