"""Static items: built from contexts and systems, shared out among raters (ME-P1, V5, V9).

Long because own conversations and shared items are both here.
"""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from django.db import IntegrityError, connection
from django.test.utils import CaptureQueriesContext

from tests.factories import NOW, make_campaign, talk_of
from tests.webapp.services.people import (
    after,
    conversation_of,
    join,
    pair,
    send_message,
    start,
)
from tests.webapp.services.written import of_replies
from webapp.models import (
    Assignment,
    Campaign,
    Candidate,
    Context,
    Conversation,
    Event,
    Item,
    Participation,
    Persona,
    ReplyJob,
)
from webapp.services.ops import sweeper
from webapp.services.participation import consents, enrolment, stopping
from webapp.services.rating import contexts, items, submission
from webapp.services.rules import events

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
    form = submission.current(person)
    assert form is not None
    key = form.item.candidates.get().key
    answers = {f"{key}.sensible": "1", f"{key}.specific": "0"}
    submission.submit(person=person, answers=answers, now=after(60))


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
    assert len({talk_of(one.item).context for one in batch}) == 4
    systems = Counter(talk_of(one.item).system_id for one in batch)
    assert set(systems.values()) == {2}


def test_a_context_comes_twice_only_where_nothing_else_is_left() -> None:
    campaign = built(2, batch=4)
    person = enrolment.start(person=join(campaign), now=NOW)
    shown = Assignment.objects.filter(participation=person).values_list(
        "item__context__key", flat=True
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
    with pytest.raises(consents.Closed):
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
    form = submission.current(person)
    assert form is not None
    key = form.item.candidates.get().key
    answers = {f"{key}.sensible": "1", f"{key}.specific": "0"}
    for _ in range(3):
        assert submission.submit(person=person, answers=answers, now=after(9)) is None
    assert Assignment.objects.filter(participation=person, state="DONE").count() == 1
    following = submission.current(person)
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


# --- a participant's own conversation


def meeting(protocol: str = "personachat_bot") -> tuple[Participation, Conversation]:
    """Return somebody who chats with a bot, beside somebody else who does."""
    campaign = make_campaign(protocol)
    start(campaign)
    person = start(campaign)
    return person, conversation_of(person)


def test_what_is_written_of_the_form_about_a_partner() -> None:
    """R19: one form of one partner, with what was drawn; a repeat returns the first."""
    person, room = meeting()
    first = items.open_after(person=person, conversation=room, now=after(5))
    again = items.open_after(person=person, conversation=room, now=after(6))
    assert first == again
    item, candidate = Item.objects.get(), Candidate.objects.get()
    assert (item.campaign, item.conversation) == (person.campaign, room)
    assert item.key == f"c{room.pk}:1:after"
    assert (item.target, item.reserved, item.completed) == (1, 1, 0)
    assert (first.item, first.participation, first.place) == (item, person, 0)
    assert (first.state, first.made_at, first.done_at) == ("RESERVED", after(5), None)
    assert (candidate.item, candidate.key, candidate.seq) == (item, "p", None)
    assert (candidate.system, candidate.side) == (room.system, 1)
    own = room.seats.get(side=0).persona
    partners = room.seats.get(side=1).persona
    assert own is not None
    assert partners is not None
    assert partners.key in first.choices["persona"]
    assert own.key not in first.choices["persona"]


def test_the_distractor_comes_from_the_partners_split_of_the_campaign() -> None:
    person, room = meeting()
    make_campaign(personas=12)
    partner = room.seats.get(side=1).persona
    assert partner is not None
    Persona.objects.exclude(pk=partner.pk).update(split="train")
    third = Persona.objects.filter(campaign=person.campaign, taken=0)[0]
    Persona.objects.filter(pk=third.pk).update(split="test")
    form = items.open_after(person=person, conversation=room, now=NOW)
    assert sorted(form.choices["persona"]) == sorted([partner.key, third.key])


def test_where_the_partner_has_no_persona_nothing_is_drawn() -> None:
    person, room = meeting()
    room.seats.filter(side=1).update(persona=None)
    assert items.open_after(person=person, conversation=room, now=NOW).choices == {}


def test_a_protocol_that_asks_nothing_afterwards_has_no_form() -> None:
    person, room = meeting("meena_interactive")
    with pytest.raises(LookupError, match="protocol meena_interactive asks nothing afterwards"):
        items.open_after(person=person, conversation=room, now=NOW)


def test_live_labels_are_of_the_partners_side_and_of_one_candidate_a_message() -> None:
    person, room = meeting("meena_interactive")
    item = Item.objects.get(conversation=room)
    assert item.key == f"c{room.pk}:1:live"
    form = Assignment.objects.get(participation=person)
    assert items.open_live(person=person, conversation=room, now=after(5)) == form
    assert (form.item, form.choices, form.made_at) == (item, {}, NOW)
    opening = room.events.get()
    candidate = items.candidate_for(opening)
    assert items.candidate_for(opening) == candidate
    assert (candidate.item, candidate.key) == (item, f"m{opening.seq}")
    assert (candidate.system, candidate.seq, candidate.side) == (room.system, opening.seq, 1)


def test_a_label_is_of_the_side_and_the_campaign_in_which_the_message_was_said() -> None:
    changes = {"chat.minimum": [2]}
    campaign = make_campaign(
        "meena_human", systems={"people": "people"}, personas=0, changes=changes
    )
    first, second = pair(campaign)
    said = [send_message(person, "I sail.") for person in (first, second)]
    for event in said:
        key = f"c{event.conversation_id}:{event.side}:live"
        Item.objects.create(campaign=make_campaign(personas=0), key=key, target=1)
        item = Item.objects.create(campaign=campaign, key=key, target=1)
        candidate = items.candidate_for(event)
        assert (candidate.item, candidate.side) == (item, event.side)
    assert [event.side for event in said] == [0, 1]


def test_the_place_of_the_partner_s_persona_among_those_to_choose_from_is_drawn() -> None:
    places = set()
    for _ in range(8):
        person, room = meeting()
        partner = room.seats.get(side=1).persona
        assert partner is not None
        form = items.open_after(person=person, conversation=room, now=NOW)
        places.add(form.choices["persona"].index(partner.key))
    assert places == {0, 1}


def test_what_breaks_another_rule_than_one_of_a_key_is_told() -> None:
    campaign = make_campaign(personas=0)
    with pytest.raises(IntegrityError):
        items._made(Item, {"campaign_id": campaign.pk, "key": "k"}, target=-1)


# --- what is shared out


def test_contexts_that_somebody_has_not_seen_come_first_and_then_the_others() -> None:
    """Also where what they have seen has fewer votes, and where an item has no context."""
    campaign = built(2)
    seen, new = campaign.contexts.order_by("key")
    Item.objects.filter(context=new).update(completed=3)
    known = [None, seen.pk]
    rows = campaign.items.all()
    (first,) = items._fewest_votes(rows, known, 1)
    assert first.context == new
    found = [item.context for item in items._fewest_votes(rows, known, 9)]
    assert found == [new, new, seen, seen]


def test_who_writes_is_given_what_the_fewest_have_written_about() -> None:
    campaign = of_replies(**{"write.batch": 1, "write.writers": 2})
    Item.objects.filter(context__key="k1").update(completed=1)
    (given,) = items.assign(person=join(campaign), now=NOW)
    assert given.item.context is not None
    assert given.item.context.key == "k2"


def test_open_items_are_the_campaigns_that_want_votes() -> None:
    other, campaign = built(1), built(1)
    one, two = campaign.items.all()
    assert set(items.open_items(campaign)) == {one, two}
    for reserved, completed, is_open in ((4, 0, True), (2, 2, True), (2, 3, False), (5, 0, False)):
        Item.objects.filter(pk=one.pk).update(reserved=reserved, completed=completed)
        assert (one in set(items.open_items(campaign))) == is_open
    assert items.open_items(other).count() == 2


def test_a_batch_is_as_long_as_the_campaign_says_and_is_not_drawn_again() -> None:
    campaign = built(6, batch=5)
    person, stranger = join(campaign), join(campaign)
    batch = items.assign(person=person, now=after(3))
    assert [(one.place, one.made_at, one.state) for one in batch] == [
        (place, after(3), "RESERVED") for place in range(5)
    ]
    assert items.assign(person=person, now=after(4)) == batch
    assert Item.objects.filter(reserved=1).count() == 5
    others = items.assign(person=stranger, now=after(4))
    assert len(others) == 5
    assert len({one.item_id for one in batch + others}) == 10


def test_what_was_given_back_may_be_given_again() -> None:
    campaign = built(1, batch=2)
    person = join(campaign)
    first = items.assign(person=person, now=NOW)
    for one in first:
        Assignment.objects.filter(pk=one.pk).update(state="RELEASED", place=7)
    Item.objects.update(reserved=0)
    again = items.assign(person=person, now=after(9))
    assert {one.pk for one in again} == {one.pk for one in first}
    assert [(one.place, one.made_at) for one in again] == [(0, after(9)), (1, after(9))]
    assert set(Item.objects.values_list("reserved", flat=True)) == {1}


def test_what_was_judged_counts_towards_the_batch() -> None:
    campaign = built(3, batch=3)
    person = enrolment.start(person=join(campaign), now=NOW)
    judge(person)
    left = items.assign(person=person, now=after(70))
    assert [one.place for one in left] == [1, 2]
    Assignment.objects.filter(pk=left[1].pk).update(state="RELEASED")
    filled = items.assign(person=person, now=after(80))
    assert [one.place for one in filled] == [1, 2]


def test_votes_given_and_promised_weigh_the_same() -> None:
    campaign = built(3, batch=2)
    rows = list(campaign.items.order_by("pk"))
    for item, (reserved, completed) in zip(
        rows, [(2, 0), (0, 2), (1, 0), (0, 1), (1, 1), (2, 1)], strict=True
    ):
        Item.objects.filter(pk=item.pk).update(reserved=reserved, completed=completed)
    Item.objects.exclude(pk__in=[rows[2].pk, rows[3].pk]).update(order=0)
    given = {one.item_id for one in items.assign(person=join(campaign), now=NOW)}
    contexts_of = {row.pk: talk_of(row).context for row in rows}
    assert given & {rows[2].pk, rows[3].pk}
    assert len({contexts_of[pk] for pk in given}) == 2


def test_an_item_that_filled_up_meanwhile_is_not_given() -> None:
    """R16: the UPDATE decides, never what was read."""
    campaign = built(1)
    person, item = join(campaign), campaign.items.all()[0]
    Item.objects.filter(pk=item.pk).update(completed=5)
    items._reserve(person, [item], {}, 0, NOW)
    assert not person.assignments.exists()


@pytest.mark.parametrize("batch", [1, 4])
def test_a_batch_costs_seven_statements_of_any_size(batch: int) -> None:
    """What is held, what is open, its candidates, the lock, the count, their keys, the rows."""
    campaign = built(6, batch=batch)
    person = join(campaign)
    with CaptureQueriesContext(connection) as found:
        given = items.assign(person=person, now=NOW)
    assert len(given) == batch
    sent = [query["sql"] for query in found if "SAVEPOINT" not in query["sql"]]
    assert len(sent) == 7, "\n".join(sent)


def test_what_is_left_is_shown_in_the_order_of_its_places() -> None:
    campaign = built(6, batch=4)
    person = join(campaign)
    batch = items.assign(person=person, now=NOW)
    for one, place in zip(batch, (3, 1, 0, 2), strict=True):
        Assignment.objects.filter(pk=one.pk).update(place=place)
    assert [one.place for one in items.assign(person=person, now=NOW)] == [0, 1, 2, 3]


def test_a_batch_that_is_longer_than_what_is_left_has_each_item_once_and_no_gaps() -> None:
    campaign = built(1, batch=4)
    batch = items.assign(person=join(campaign), now=NOW)
    assert [one.place for one in batch] == [0, 1]
    assert len({one.item_id for one in batch}) == 2
