"""Continuations of fixed contexts: what is stored of each, and what becomes an item (ME-P1)."""

from __future__ import annotations

import hashlib

import pytest

from tests.factories import NOW, make_campaign, make_context, make_participation, make_system
from tests.webapp.services.people import after
from webapp.models import (
    Assignment,
    Campaign,
    Candidate,
    Context,
    Contribution,
    Conversation,
    Event,
    Item,
    QuotaCell,
    ReplyJob,
    Seat,
)
from webapp.services.rating import context_items, contexts
from webapp.services.rating.contexts import FixedReply
from webapp.services.rules import events

pytestmark = pytest.mark.django_db


def campaign_of(*texts: str, key: str = "k") -> Campaign:
    """Return a static campaign with one system and one context of these messages."""
    campaign = make_campaign("meena_static", personas=0)
    Context.objects.create(campaign=campaign, key=key, messages=list(texts))
    return campaign


def of_two_systems(count: int) -> Campaign:
    """Return a campaign in which alpha and beta are asked to continue so many contexts."""
    campaign = campaign_of("Hi.", key="k0")
    make_system(campaign, "beta")
    for number in range(1, count):
        Context.objects.create(campaign=campaign, key=f"k{number}", messages=["Hi."])
    contexts.build(campaign=campaign, now=NOW)
    return campaign


def reply(conversation: Conversation, text: str = "A reply.") -> Event:
    """Let the bot answer."""
    return events.append(
        conversation=conversation,
        kind=Event.Kind.MESSAGE,
        side=contexts.BOT,
        content={"text": text},
        in_reply_to=conversation.last_seq,
    )


def test_what_is_written_of_a_continuation() -> None:
    campaign = campaign_of("Hi.", "Hello.", "Who are you?")
    campaign.systems.update(sees_persona=False)
    assert contexts.build(campaign=campaign, now=NOW) == 1
    made = Conversation.objects.get()
    assert (made.campaign, made.system) == (campaign, campaign.systems.get())
    assert (made.purpose, made.context, made.started_at) == ("CONTEXT", "k", NOW)
    assert (made.state, made.last_seq) == ("OPEN", 3)
    assert 2**32 < made.seed < 2**63
    person, bot = made.seats.all()
    assert (person.side, person.active, person.sees_persona) == (contexts.PERSON, False, True)
    assert (bot.side, bot.active, bot.sees_persona) == (contexts.BOT, True, False)
    sides = [(event.side, event.content["text"], event.kind) for event in made.events.all()]
    assert sides == [
        (0, "Hi.", "message"),
        (1, "Hello.", "message"),
        (0, "Who are you?", "message"),
    ]
    job = ReplyJob.objects.get()
    assert (job.conversation, job.in_reply_to, job.bot) == (made, 3, "parrot")


def test_the_last_message_of_a_context_is_a_persons_whatever_its_length() -> None:
    campaign = campaign_of("One.", "Two.")
    contexts.build(campaign=campaign, now=NOW)
    assert list(Event.objects.values_list("side", flat=True)) == [1, 0]


def test_people_continue_nothing_and_other_conversations_count_for_nothing() -> None:
    campaign = campaign_of("Hi.")
    make_system(campaign, "humans", bot="people")
    other = campaign_of("Hi.")
    system = campaign.systems.get(name="alpha")
    for owner, purpose in ((campaign, "STUDY"), (other, "CONTEXT")):
        Conversation.objects.create(
            campaign=owner, system=system, seed=1, started_at=NOW, purpose=purpose, context="k"
        )
    assert contexts.build(campaign=campaign, now=NOW) == 1
    assert contexts.build(campaign=campaign, now=NOW) == 0
    make_system(campaign, "late")
    assert contexts.build(campaign=campaign, now=NOW) == 1


def test_every_draw_is_repeated_from_the_campaigns_seed_and_differs_between_systems() -> None:
    seeds = []
    for _ in range(2):
        campaign = campaign_of("Hi.")
        make_system(campaign, "beta")
        contexts.build(campaign=campaign, now=NOW)
        seeds.append(list(campaign.conversations.order_by("pk").values_list("seed", flat=True)))
    assert seeds[0] == seeds[1]
    assert len(set(seeds[0])) == 2


def test_what_is_written_of_an_answered_continuation() -> None:
    campaign = campaign_of("Hi.")
    contexts.build(campaign=campaign, now=NOW)
    made = Conversation.objects.get()
    assert contexts.settle(campaign=campaign, now=NOW) == 0
    answer = reply(made)
    assert contexts.settle(campaign=campaign, now=after(9)) == 1
    made.refresh_from_db()
    assert (made.state, made.ended_at, made.ended_because) == ("FINISHED", after(9), "answered")
    item, candidate = Item.objects.get(), Candidate.objects.get()
    assert (item.campaign, item.conversation, item.key) == (campaign, None, "k:1")
    assert (item.context, candidate.conversation) == (campaign.contexts.get(), made)
    assert (item.target, item.reserved, item.completed) == (5, 0, 0)
    assert 0 < item.order < 2**31
    assert (candidate.item, candidate.key) == (item, f"r{item.pk}")
    assert (candidate.system, candidate.seq, candidate.side) == (made.system, answer.seq, 1)
    assert contexts.settle(campaign=campaign, now=after(9)) == 0


def test_a_reply_keeps_its_item_while_others_come_in() -> None:
    """Each reply is one item, under a number that does not change."""
    campaign = of_two_systems(8)
    before: dict[int, str] = {}
    for name in ("beta", "alpha"):
        rooms = campaign.conversations.filter(system__name=name)
        for room in rooms:
            reply(room)
        assert contexts.settle(campaign=campaign, now=NOW) == 8
        pairs = list(Candidate.objects.values_list("conversation", "item__key"))
        assert len(pairs) == len(dict(pairs)) == len(before) + 8
        assert before.items() <= dict(pairs).items()
        before = dict(pairs)


def test_only_answered_open_continuations_of_the_campaign_become_items() -> None:
    campaign, other = campaign_of("Hi."), campaign_of("Hi.")
    for one in (campaign, other):
        contexts.build(campaign=one, now=NOW)
    reply(other.conversations.get())
    study = Conversation.objects.create(
        campaign=campaign, system=campaign.systems.get(), seed=1, started_at=NOW
    )
    reply(study)
    assert contexts.settle(campaign=campaign, now=NOW) == 0
    mine = campaign.conversations.get(purpose="CONTEXT")
    reply(mine)
    Conversation.objects.filter(pk=mine.pk).update(state="FAILED")
    assert contexts.settle(campaign=campaign, now=NOW) == 0
    assert not Item.objects.exists()


def test_a_reply_that_is_set_aside_is_not_judged() -> None:
    campaign = campaign_of("Hi.")
    contexts.build(campaign=campaign, now=NOW)
    reply(Conversation.objects.get())
    Conversation.objects.update(excluded="empty")
    assert contexts.settle(campaign=campaign, now=NOW) == 1
    assert not Item.objects.exists()


def test_two_who_settle_at_once_make_one_item() -> None:
    """R2: the move to FINISHED decides."""
    campaign = campaign_of("Hi.")
    contexts.build(campaign=campaign, now=NOW)
    made = Conversation.objects.get()
    reply(made)
    stale = Conversation.objects.get()
    assert contexts._settle(made, NOW)
    assert not contexts._settle(stale, NOW)
    assert [context_items.make(campaign) for _ in range(2)] == [1, 0]
    assert Item.objects.count() == 1


def test_a_protocol_that_asks_nothing_afterwards_makes_no_items() -> None:
    campaign = make_campaign("meena_interactive", personas=0)
    made = Conversation.objects.create(
        campaign=campaign,
        system=campaign.systems.get(),
        seed=1,
        started_at=NOW,
        purpose="CONTEXT",
        context="k",
    )
    reply(made)
    assert contexts.settle(campaign=campaign, now=NOW) == 0
    made.refresh_from_db()
    assert made.state == "OPEN"


def test_systems_have_other_numbers_in_other_contexts_and_each_its_own() -> None:
    """S11: "1" is not always the same system, so a key does not tell which one it is."""
    campaign = of_two_systems(12)
    for one in campaign.conversations.all():
        reply(one)
    contexts.settle(campaign=campaign, now=NOW)
    numbers: dict[str, set[int]] = {"alpha": set(), "beta": set()}
    for context in range(12):
        judged = Candidate.objects.filter(item__context__key=f"k{context}")
        pair = {one.system.name: int(one.item.key.split(":")[1]) for one in judged}
        assert set(pair.values()) == {1, 2}
        for name, number in pair.items():
            numbers[name].add(number)
    assert numbers == {"alpha": {1, 2}, "beta": {1, 2}}
    assert Seat.objects.filter(active=True).count() == 24


def test_a_campaign_without_systems_lacks_no_item_yet() -> None:
    campaign = make_campaign("coherency_pairs", personas=0, state="DRAFT")
    QuotaCell.objects.all().delete()
    campaign.systems.all().delete()
    make_context(campaign)
    assert context_items.without_items(campaign) == []


def test_a_plan_has_the_replies_of_its_own_campaign_by_their_hash() -> None:
    campaigns = [campaign_of("Hi.", key=f"k{number}") for number in range(2)]
    for number, campaign in enumerate(campaigns):
        contexts.build(campaign=campaign, now=NOW)
        talk = campaign.conversations.get()
        reply(talk, f"Reply {number}.")
        Conversation.objects.filter(pk=talk.pk).update(state="FINISHED")
    for number, campaign in enumerate(campaigns):
        sha256 = hashlib.sha256(f"Reply {number}.".encode()).hexdigest()
        assert context_items.digests(campaign) == [
            {"context": f"k{number}", "system": "alpha", "intended": "", "sha256": sha256}
        ]


def test_a_campaign_that_judges_no_contexts_makes_no_items_of_them() -> None:
    assert context_items.make(make_campaign(personas=0), at_launch=True) == 0


def test_replies_that_are_added_end_at_once_and_say_whether_they_were_written() -> None:
    campaign = campaign_of("Hi.")
    context, system = Context.objects.get(), campaign.systems.get()
    author = make_participation(campaign)
    item = Item.objects.create(campaign=campaign, key="w", target=1)
    given = Assignment.objects.create(item=item, participation=author, place=0, made_at=NOW)
    text = Contribution.objects.create(assignment=given, texts=["Mine."])
    replies = [
        FixedReply(context, system, "Theirs."),
        FixedReply(context, system, "Mine.", written=text),
    ]
    contexts.add_replies(replies, now=NOW)
    found = Conversation.objects.order_by("pk").values_list("state", "ended_because", "ended_at")
    assert list(found) == [("FINISHED", "imported", NOW), ("FINISHED", "written", NOW)]
    contexts.add_replies([FixedReply(context, system, "A third.")], now=NOW)
    seeds = Conversation.objects.values_list("seed", flat=True)
    assert len(set(seeds)) == 3, "of several of one system each has its own"
