"""Static items: built from contexts and systems, shared out among raters (ME-P1)."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest

from tests.factories import NOW, make_campaign
from tests.webapp.services.people import after, join
from webapp.models import (
    Assignment,
    Campaign,
    Candidate,
    Context,
    Conversation,
    Event,
    Item,
    Participation,
    ReplyJob,
)
from webapp.services import contexts, enrolment, events, items, rating, stopping, sweeper

pytestmark = pytest.mark.django_db
TEXTS = [["Do you like tennis?"], ["Hi.", "Hello.", "Who are you?"], ["A?", "B."]]


def static_campaign(count: int = 3, *, votes: int = 5, batch: int = 4) -> Campaign:
    """Return a campaign with contexts and two systems, nothing answered yet."""
    campaign = make_campaign(
        "meena_static",
        systems={"alpha": "parrot", "beta": "generic"},
        personas=0,
        changes={"rate.votes": votes, "rate.batch": batch},
    )
    for number in range(count):
        Context.objects.create(
            campaign=campaign, key=f"k{number}", messages=TEXTS[number % len(TEXTS)]
        )
    return campaign


def answer_all() -> None:
    """Deliver a reply to every continuation."""
    for job in ReplyJob.objects.filter(state="QUEUED"):
        events.append(
            conversation=job.conversation,
            kind=Event.Kind.MESSAGE,
            side=1,
            content={"text": "A reply."},
            in_reply_to=job.in_reply_to,
        )
        ReplyJob.objects.filter(pk=job.pk).update(state="DONE")


def built(count: int = 3, **changes: int) -> Campaign:
    """Return a campaign whose items wait for raters."""
    campaign = static_campaign(count, **changes)
    contexts.build(campaign=campaign, now=NOW)
    answer_all()
    contexts.settle(campaign=campaign, now=NOW)
    return campaign


def judge(person: Participation) -> None:
    """Answer the person's current form."""
    form = rating.current(person)
    assert form is not None
    key = form.item.candidates.get().key
    answers = {f"{key}.sensible": "1", f"{key}.specific": "0"}
    rating.submit(person=person, answers=answers, now=after(60))


def test_every_system_continues_every_context_once() -> None:
    campaign = static_campaign()
    assert contexts.build(campaign=campaign, now=NOW) == 6
    assert contexts.build(campaign=campaign, now=NOW) == 0
    assert ReplyJob.objects.count() == 6
    for conversation in Conversation.objects.all():
        said = list(events.messages(conversation).values_list("content__text", "side"))
        texts = Context.objects.get(key=conversation.context).messages
        assert [text for text, _ in said] == texts
        assert said[-1][1] == 0
        assert all(one != two for (_, one), (_, two) in itertools.pairwise(said))


def test_answered_continuations_become_items_once() -> None:
    campaign = static_campaign()
    contexts.build(campaign=campaign, now=NOW)
    assert contexts.settle(campaign=campaign, now=NOW) == 0
    answer_all()
    assert sweeper.tick(after(1))["contexts"] == 6
    assert contexts.settle(campaign=campaign, now=NOW) == 0
    assert {item.target for item in Item.objects.all()} == {5}
    assert Candidate.objects.count() == 6
    assert {candidate.side for candidate in Candidate.objects.all()} == {1}


def test_keys_do_not_tell_the_system() -> None:
    built(12)
    numbers: dict[str, set[str]] = {"alpha": set(), "beta": set()}
    for candidate in Candidate.objects.select_related("item", "system"):
        numbers[candidate.system.name].add(candidate.item.key.rpartition(":")[2])
        assert candidate.system.name not in candidate.item.key + candidate.key
    assert numbers == {"alpha": {"1", "2"}, "beta": {"1", "2"}}


def test_a_batch_shows_each_context_once_where_it_can_and_mixes_systems() -> None:
    campaign = built(6, batch=4)
    person = enrolment.start(person=join(campaign), now=NOW)
    batch = Assignment.objects.filter(participation=person).select_related("item__conversation")
    assert person.state == "RATING"
    assert [one.place for one in batch] == [0, 1, 2, 3]
    assert len({one.item.conversation.context for one in batch}) == 4
    systems = Counter(one.item.conversation.system_id for one in batch)
    assert set(systems.values()) == {2}


def test_a_context_comes_twice_only_where_nothing_else_is_left() -> None:
    campaign = built(2, batch=4)
    person = enrolment.start(person=join(campaign), now=NOW)
    shown = Assignment.objects.filter(participation=person).values_list(
        "item__conversation__context", flat=True
    )
    assert Counter(shown) == {"k0": 2, "k1": 2}


def test_every_item_gets_its_votes_from_different_raters_and_no_more() -> None:
    campaign = built(2, votes=3, batch=4)
    for _ in range(3):
        person = enrolment.start(person=join(campaign), now=NOW)
        for _ in range(4):
            judge(person)
        person.refresh_from_db()
        assert (person.outcome, person.code.kind) == ("COMPLETED", "FULL")
    assert [(item.completed, item.reserved) for item in Item.objects.all()] == [(3, 0)] * 4
    with pytest.raises(enrolment.Closed):
        join(campaign)
    assert sweeper.tick(after(99))["complete"] == 1


def test_the_items_with_the_fewest_votes_come_first() -> None:
    campaign = built(3, batch=2)
    first = enrolment.start(person=join(campaign), now=NOW)
    second = enrolment.start(person=join(campaign), now=NOW)
    taken = [
        set(Assignment.objects.filter(participation=one).values_list("item", flat=True))
        for one in (first, second)
    ]
    assert not taken[0] & taken[1]


def test_a_form_that_is_sent_twice_does_not_answer_the_next_item() -> None:
    campaign = built(3, batch=2)
    person = enrolment.start(person=join(campaign), now=NOW)
    form = rating.current(person)
    assert form is not None
    key = form.item.candidates.get().key
    answers = {f"{key}.sensible": "1", f"{key}.specific": "0"}
    for _ in range(3):
        assert rating.submit(person=person, answers=answers, now=after(9)) is None
    assert Assignment.objects.filter(participation=person, state="DONE").count() == 1
    following = rating.current(person)
    assert following is not None
    assert following.place == 1


def test_who_leaves_gives_back_what_they_did_not_judge_and_goes_on_there() -> None:
    campaign = built(3, batch=4)
    person = enrolment.start(person=join(campaign, "A1"), now=NOW)
    judge(person)
    stopping.give_away(person=person, now=after(1900))
    votes = Counter((item.completed, item.reserved) for item in Item.objects.all())
    assert votes == {(1, 0): 1, (0, 0): 5}
    back = enrolment.start(person=join(campaign, "A1", after(2000)), now=after(2000))
    open_forms = items.assign(person=back, now=after(2001))
    assert len(open_forms) == 3
    done = Assignment.objects.get(participation=person, state="DONE")
    assert done.item_id not in {one.item_id for one in open_forms}


def test_stopping_after_one_item_is_paid() -> None:
    campaign = built(3)
    person = enrolment.start(person=join(campaign), now=NOW)
    assert stopping.outcome_of_stopping(person, NOW) == "DECLINED"
    judge(person)
    assert stopping.stop(person=person, now=after(70)).outcome == "QUIT"
