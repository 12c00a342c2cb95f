"""The stack of personas: popped, pushed back, never twice in one conversation (V6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.factories import NOW, make_campaign, make_participation, make_persona
from webapp.models import Campaign, Conversation, Participation, Persona, Seat
from webapp.services.rules import persona_stack

pytestmark = pytest.mark.django_db


def pop(campaign: Campaign, seed: int, beside: Collection[int] = ()) -> Persona:
    """Take a persona of the tests' split."""
    return persona_stack.pop(campaign=campaign, split="test", seed=seed, beside=beside).persona


def test_every_persona_is_used_once_before_one_is_used_again() -> None:
    campaign = make_campaign(personas=6)
    taken = [pop(campaign, seed).key for seed in range(12)]
    assert len(set(taken[:6])) == 6
    assert set(Counter(taken).values()) == {2}


def test_one_seed_gives_one_draw() -> None:
    drawn = []
    for _ in range(2):
        campaign = make_campaign(personas=8)
        drawn.append([pop(campaign, seed).key for seed in range(5)])
    assert drawn[0] == drawn[1]
    assert drawn[0] != sorted(drawn[0])


def test_the_partners_persona_is_never_given() -> None:
    campaign = make_campaign(personas=2)
    first = pop(campaign, 1)
    for seed in range(5):
        second = pop(campaign, seed, beside={first.pk})
        assert second != first


def test_a_persona_pushed_back_comes_again_next() -> None:
    campaign = make_campaign(personas=3)
    first = pop(campaign, 1)
    for seed in (2, 3):
        pop(campaign, seed)
    persona_stack.push_back(first)
    assert pop(campaign, 9) == first


def test_pushing_back_too_often_never_goes_below_zero() -> None:
    campaign = make_campaign(personas=1)
    persona_stack.push_back(Persona.objects.get())
    assert Persona.objects.get(campaign=campaign).taken == 0


def test_an_empty_split_says_so() -> None:
    with pytest.raises(persona_stack.NoneLeft, match="valid"):
        persona_stack.pop(campaign=make_campaign(), split="valid", seed=1)


def test_distractors_belong_to_neither_side_and_to_the_split() -> None:
    campaign = make_campaign(personas=4)
    make_persona(campaign, 9, split="train")
    sides = set(Persona.objects.filter(key__in=("p0", "p1")).values_list("pk", flat=True))
    drawn = persona_stack.distractors(
        campaign=campaign, split="test", seed=3, beside=sides, count=5
    )
    assert {persona.key for persona in drawn} == {"p2", "p3"}


def test_personas_of_another_campaign_are_not_taken_nor_pushed_back() -> None:
    other, campaign = make_campaign(personas=3), make_campaign(personas=1)
    Persona.objects.filter(campaign=other).update(taken=1)
    first = pop(campaign, 1)
    again = pop(campaign, 2)
    assert first == again
    assert again.taken == 2
    persona_stack.push_back(first)
    assert Persona.objects.get(campaign=campaign).taken == 1
    assert set(Persona.objects.filter(campaign=other).values_list("taken", flat=True)) == {1}


def test_a_persona_taken_once_goes_back_to_none_and_no_further() -> None:
    campaign = make_campaign(personas=1)
    persona = pop(campaign, 1)
    for _ in range(2):
        persona_stack.push_back(persona)
        assert Persona.objects.get(campaign=campaign).taken == 0


def test_the_personas_of_both_sides_go_back_and_a_side_without_one_is_passed_over() -> None:
    campaign = make_campaign(personas=3)
    Persona.objects.update(taken=1)
    room = Conversation.objects.create(
        campaign=campaign, system=campaign.systems.get(), seed=1, started_at=NOW
    )
    held, kept = Persona.objects.all()[:2]
    Seat.objects.create(conversation=room, side=0, persona=None)
    Seat.objects.create(conversation=room, side=1, persona=held)
    other = Conversation.objects.create(
        campaign=campaign, system=campaign.systems.get(), seed=2, started_at=NOW
    )
    Seat.objects.create(conversation=other, side=0, persona=kept)
    persona_stack.push_back_all(room)
    assert list(Persona.objects.values_list("taken", flat=True)) == [0, 1, 1]


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_as_many_distractors_are_drawn_as_are_asked_for_and_there_are(count: int) -> None:
    other, campaign = make_campaign(personas=5), make_campaign(personas=3)
    beside = {Persona.objects.filter(campaign=campaign)[0].pk}
    drawn = persona_stack.distractors(
        campaign=campaign, split="test", seed=3, beside=beside, count=count
    )
    assert len({one.pk for one in drawn}) == min(count, 2)
    assert not [one for one in drawn if one.campaign == other or one.pk in beside]


def test_where_only_the_partners_persona_is_left_nobody_gets_one() -> None:
    campaign = make_campaign(personas=1)
    only = Persona.objects.get()
    with pytest.raises(persona_stack.NoneLeft, match=f"campaign {campaign.pk}.*'test'"):
        pop(campaign, 1, beside={only.pk})
    assert persona_stack.NoneLeft.notice == "failed"


def pop_while_held(campaign: Campaign, held: set[int]) -> persona_stack.Taken:
    """Pop a persona while other transactions hold these rows: the statement passes over them."""

    def skip_locked(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith("UPDATE webapp_persona"):
            params = tuple(-1 if one in held else one for one in params)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(skip_locked):
        return persona_stack.pop(campaign=campaign, split="test", seed=1)


def test_a_persona_that_another_transaction_is_taking_is_passed_over() -> None:
    """Never waited for, or two who each hold one would wait for ever."""
    campaign = make_campaign(personas=3)
    first, second, third = Persona.objects.filter(campaign=campaign)
    assert pop_while_held(campaign, {first.pk, second.pk}) == persona_stack.Taken(third, True)
    assert Persona.objects.get(pk=third.pk).taken == 1


def test_a_persona_that_all_are_taking_is_shared_and_not_counted() -> None:
    other = make_campaign(personas=3)
    campaign = make_campaign(personas=2)
    every = set(Persona.objects.values_list("pk", flat=True))
    shared = pop_while_held(campaign, every)
    assert shared.persona.campaign == campaign != other
    assert not shared.counted
    assert set(Persona.objects.values_list("taken", flat=True)) == {0}


def seated(campaign: Campaign, persona: Persona | None, *, counted: bool) -> Seat:
    """Return the seat of somebody whose partner missed the check."""
    room = Conversation.objects.create(
        campaign=campaign, system=campaign.systems.get(), seed=1, started_at=NOW
    )
    person = make_participation(campaign)
    return Seat.objects.create(
        conversation=room, side=0, participation=person, persona=persona, persona_counted=counted
    )


def kept(seat: Seat) -> tuple[Persona | None, bool]:
    """Return what the person of a seat waits on with, and how often it is taken now."""
    assert seat.participation is not None
    persona_stack.keep(seat.participation, seat)
    seat.participation.refresh_from_db()
    return seat.participation.persona, seat.participation.persona_counted


@pytest.mark.parametrize("counted", [True, False])
def test_who_waits_on_keeps_the_persona_and_it_counts_as_before(counted: bool) -> None:
    campaign = make_campaign(personas=2)
    persona = campaign.personas.earliest("pk")
    beside = make_participation(campaign)
    assert kept(seated(campaign, persona, counted=counted)) == (persona, counted)
    persona.refresh_from_db()
    assert persona.taken == int(counted)
    assert campaign.personas.latest("pk").taken == 0
    beside.refresh_from_db()
    assert beside.persona is None, "nobody else waits with it"


def test_without_a_persona_or_in_a_campaign_that_is_not_open_nothing_is_kept() -> None:
    campaign = make_campaign(personas=1)
    assert kept(seated(campaign, None, counted=True)) == (None, False)
    persona = campaign.personas.get()
    campaign.state = Campaign.State.PAUSED
    campaign.save()
    assert kept(seated(campaign, persona, counted=True)) == (None, False)
    persona.refresh_from_db()
    assert persona.taken == 0


def test_a_persona_that_is_given_back_leaves_no_count_behind() -> None:
    campaign = make_campaign(personas=1)
    persona = campaign.personas.get()
    Persona.objects.update(taken=1)
    person = make_participation(campaign, persona=persona, persona_counted=True)
    for _ in range(2):
        persona_stack.give_back(person)
        person.refresh_from_db()
        assert (person.persona, person.persona_counted) == (None, False)
    persona.refresh_from_db()
    assert persona.taken == 0


def test_what_its_author_withdrew_is_nobodys_persona() -> None:
    campaign = make_campaign(personas=2)
    withdrawn = campaign.personas.earliest("pk")
    Persona.objects.filter(pk=withdrawn.pk).update(sentences=[])
    assert {pop(campaign, seed).pk for seed in range(6)} == {campaign.personas.latest("pk").pk}
    found = persona_stack.distractors(campaign=campaign, split="test", seed=1, beside=(), count=2)
    assert withdrawn not in found


def test_who_gives_a_persona_back_gives_back_their_own_hold_alone() -> None:
    campaign = make_campaign(personas=1)
    persona = campaign.personas.get()
    one, other = (
        make_participation(campaign, persona=persona, persona_counted=True) for _ in range(2)
    )
    Persona.objects.update(taken=2)
    persona_stack.give_back(one)
    held = dict(Participation.objects.values_list("pk", "persona"))
    assert held == {one.pk: None, other.pk: persona.pk}
    persona.refresh_from_db()
    assert persona.taken == 1


@pytest.mark.parametrize("protocol", ["personachat_bot", "meena_static"])
@pytest.mark.parametrize("state", ["OPEN", "PAUSED", "STOPPED"])
def test_a_persona_is_held_where_the_campaign_is_open_and_its_chat_has_some(
    protocol: str, state: str
) -> None:
    person = make_participation(make_campaign(protocol, state=state))
    persona_stack.hold(person)
    is_held = protocol == "personachat_bot" and state == "OPEN"
    assert (person.persona is not None) is is_held
    assert Persona.objects.filter(taken__gt=0).count() == is_held


def test_who_finds_that_a_persona_is_held_already_holds_that_one() -> None:
    """Two requests of one page at once."""
    person = make_participation(make_campaign())
    again = Participation.objects.get(pk=person.pk)
    for one in (person, again, again):
        persona_stack.hold(one)
    assert again.persona == person.persona is not None
    assert again.persona_counted
    assert list(Persona.objects.filter(taken__gt=0)) == [person.persona]


def holder(group: str = "") -> tuple[Participation, Persona]:
    """Return somebody who waits with a persona of a group, and that."""
    persona = make_campaign(personas=1).personas.get()
    Persona.objects.filter(pk=persona.pk).update(group=group, taken=1)
    persona.refresh_from_db()
    person = make_participation(persona.campaign, persona=persona, persona_counted=True)
    return person, persona


@pytest.mark.parametrize(
    ("is_partners", "group", "is_taken"),
    [(False, None, True), (False, "a", True), (False, "b", False), (True, None, False)],
)
def test_what_somebody_waited_with_comes_along_where_it_fits(
    is_partners: bool, group: str | None, is_taken: bool
) -> None:
    person, persona = holder("a")
    beside = {persona.pk} if is_partners else {persona.pk + 1}
    found = persona_stack.take_along(person, beside=beside, group=group)
    assert found == (persona_stack.Taken(persona, True) if is_taken else None)
    person.refresh_from_db()
    persona.refresh_from_db()
    assert (person.persona, persona.taken) == (None, int(is_taken))
    assert persona_stack.take_along(person, beside=beside, group=group) is None


def test_many_give_back_in_the_one_order_in_which_personas_are_locked() -> None:
    held = [holder() for _ in range(3)]
    people = [make_participation(make_campaign()), *(person for person, _ in reversed(held))]
    with CaptureQueriesContext(connection) as queries:
        persona_stack.give_back_all(people)
    given = [each["sql"] for each in queries if 'UPDATE "webapp_persona"' in each["sql"]]
    for (_, persona), sql in zip(held, given, strict=True):
        assert f'"id" = {persona.pk}' in sql
    assert not Persona.objects.filter(taken__gt=0).exists()
    assert not Participation.objects.exclude(persona=None).exists()


@pytest.mark.parametrize("form", ["original", "revised"])
@pytest.mark.parametrize("partners", ["original", "revised"])
def test_where_a_side_is_shown_revised_ones_only_those_are_drawn(form: str, partners: str) -> None:
    changes = {"chat.form": form, "chat.partner_form": partners}
    campaign = make_campaign(personas=2, changes=changes)
    Persona.objects.filter(pk=campaign.personas.earliest("pk").pk).update(revised=[])
    found = {pop(campaign, seed).pk for seed in range(6)}
    assert len(found) == (1 if "revised" in (form, partners) else 2)


def test_of_a_group_only_its_own_are_drawn() -> None:
    campaign = make_campaign(personas=4)
    wanted = list(campaign.personas.order_by("pk"))[:2]
    campaign.personas.filter(pk__in=[each.pk for each in wanted]).update(group="a")
    found = {
        persona_stack.pop(campaign=campaign, split="test", seed=seed, beside=(), group="a").persona
        for seed in range(6)
    }
    assert found == set(wanted)
