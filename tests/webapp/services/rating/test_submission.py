"""The form at the end: complete or refused, stored once, paid once (R19, R21).

Long because all tests need the same rater.
"""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection

from evaluation import InvalidAnswers
from evaluation.questions import Shown
from tests.factories import NOW, make_campaign, make_participation, talk_of
from tests.webapp.services.people import after, start
from webapp.models import (
    Assignment,
    Campaign,
    Candidate,
    CompletionCode,
    Conversation,
    Flag,
    Item,
    Participation,
    Persona,
    QuotaCell,
    Rating,
    Seat,
)
from webapp.services.rating import items, labels, submission

pytestmark = pytest.mark.django_db
GOOD = {"p.fluency": "5", "p.engagingness": "3", "p.consistency": "4"}


def make_rater(campaign: Campaign, **ending: Any) -> tuple[Participation, dict[str, str]]:
    """Return somebody who has chatted with the campaign's bot, and their complete answers."""
    system = campaign.systems.get()
    QuotaCell.objects.filter(system=system).update(reserved=1)
    person = make_participation(
        campaign, state=Participation.State.RATING, system=system, holds_slot=True
    )
    conversation = Conversation.objects.create(
        campaign=campaign,
        system=system,
        seed=5,
        started_at=NOW,
        **{"state": Conversation.State.FINISHED} | ending,
    )
    mine, partners = Persona.objects.filter(campaign=campaign)[:2]
    Seat.objects.create(conversation=conversation, side=0, participation=person, persona=mine)
    Seat.objects.create(conversation=conversation, side=1, persona=partners)
    items.open_after(person=person, conversation=conversation, now=NOW)
    return person, GOOD | {"p.persona": partners.key}


def test_a_complete_form_is_stored_and_paid() -> None:
    campaign = make_campaign()
    person, answers = make_rater(campaign)
    code = submission.submit(person=person, answers=answers, now=NOW)
    person.refresh_from_db()
    assert code is not None
    assert code.kind == "FULL"
    assert code.amount == Decimal(campaign.pay)
    assert (person.state, person.outcome) == ("ENDED", "COMPLETED")
    cell = QuotaCell.objects.get()
    assert (cell.reserved, cell.completed) == (0, 1)
    stored = {row.question: row.value for row in Rating.objects.all()}
    assert stored == {"fluency": 5, "engagingness": 3, "consistency": 4, "persona": "p1"}
    assert not Seat.objects.filter(participation=person, active=True).exists()


def test_a_repeat_returns_the_same_code_and_writes_nothing() -> None:
    person, answers = make_rater(make_campaign())
    first = submission.submit(person=person, answers=answers, now=NOW)
    again = submission.submit(person=person, answers=answers | {"p.fluency": "1"}, now=NOW)
    assert again == first
    assert Rating.objects.count() == 4
    assert Rating.objects.get(question="fluency").value == 5
    assert QuotaCell.objects.get().completed == 1


def test_what_is_missing_or_wrong_is_named_by_field_and_nothing_is_stored() -> None:
    person, answers = make_rater(make_campaign())
    del answers["p.fluency"]
    answers["p.consistency"] = "6"
    with pytest.raises(InvalidAnswers) as refusal:
        submission.submit(person=person, answers=answers, now=NOW)
    assert set(refusal.value.problems) == {"p.fluency", "p.consistency"}
    assert not Rating.objects.exists()
    assert not CompletionCode.objects.exists()
    assert Assignment.objects.get().state == Assignment.State.RESERVED


@pytest.mark.parametrize(("counts", "completed"), [(False, 0), (True, 1)])
def test_a_partner_who_left_costs_no_pay(counts: bool, completed: int) -> None:
    campaign = make_campaign(partner_left_counts=counts)
    person, answers = make_rater(campaign, state=Conversation.State.ABANDONED)
    code = submission.submit(person=person, answers=answers, now=NOW)
    person.refresh_from_db()
    assert code is not None
    assert code.kind == "FULL"
    assert person.outcome == "PARTNER_LEFT"
    cell = QuotaCell.objects.get()
    assert (cell.reserved, cell.completed) == (0, completed)


def test_the_persona_choice_has_a_stored_order_and_an_outside_distractor() -> None:
    person, _ = make_rater(make_campaign())
    shown = Assignment.objects.get(participation=person).choices["persona"]
    assert len(shown) == 2
    assert "p1" in shown
    assert "p0" not in shown


@pytest.mark.parametrize(("seconds", "kinds"), [(5, 1), (6, 1), (7, 0)])
def test_a_form_is_reviewed_as_it_is_submitted(seconds: int, kinds: int) -> None:
    """Equal answers to three scales within two seconds each are flagged, and paid all the same."""
    person, answers = make_rater(make_campaign())
    equal = answers | dict.fromkeys(GOOD, "4")
    assert not Flag.objects.exists()
    code = submission.submit(person=person, answers=equal, now=NOW + timedelta(seconds=seconds))
    assert code is not None
    flags = Flag.objects.filter(participation=person, kind="straight_lined")
    assert flags.count() == Flag.objects.count() == kinds


def test_a_live_label_never_opens_the_form() -> None:
    person = start(make_campaign("meena_interactive", personas=0))
    live = Assignment.objects.get(participation=person)
    assert (live.state, live.item.key.endswith(":live")) == (Assignment.State.RESERVED, True)
    assert submission.current(person) is None
    assert not submission.save_draft(person=person, answers={}, now=NOW)
    live.refresh_from_db()
    assert live.draft == {}


def test_a_draft_is_kept_only_for_the_open_form() -> None:
    person, answers = make_rater(make_campaign())
    assert submission.save_draft(person=person, answers={"p.fluency": "2"}, now=NOW)
    assert not submission.save_draft(person=person, answers={"x.fluency": "2"}, now=NOW)
    assert Assignment.objects.get().draft == {"p.fluency": "2"}
    submission.submit(person=person, answers=answers, now=NOW)
    assert not submission.save_draft(person=person, answers={"p.fluency": "2"}, now=NOW)
    assert Assignment.objects.get().draft == {}


def test_nobody_rates_before_their_step() -> None:
    """Nor are answers a repeat because somebody else has given them."""
    campaign = make_campaign()
    rater, answers = make_rater(campaign)
    assert submission.submit(person=rater, answers=answers, now=NOW) is not None
    person = make_participation(campaign)
    with pytest.raises(labels.LabelRefused) as refusal:
        submission.submit(person=person, answers=GOOD, now=NOW)
    assert refusal.value.notice == "not_now"


# --- at the edges


def reread(person: Participation) -> Participation:
    return Participation.objects.get(pk=person.pk)


def test_what_is_written_of_a_form() -> None:
    """R19: the time is that of the submission, the draft is gone, the item is counted once."""
    person, answers = make_rater(make_campaign())
    submission.save_draft(person=person, answers={"p.fluency": "2"}, now=NOW)
    submission.submit(person=person, answers=answers, now=after(60))
    form = Assignment.objects.get()
    assert (form.state, form.done_at, form.draft) == ("DONE", after(60), {})
    assert (form.item.completed, form.item.reserved) == (1, 0)
    assert reread(person).ended_at == after(60)
    assert {row.candidate.key for row in Rating.objects.all()} == {"p"}
    assert {row.assignment for row in Rating.objects.all()} == {form}


def test_the_form_of_another_is_neither_read_nor_written() -> None:
    first, theirs = make_rater(make_campaign())
    second, answers = make_rater(make_campaign())
    assert submission.save_draft(person=second, answers={"p.fluency": "2"}, now=NOW)
    drafts = {one.participation: one.draft for one in Assignment.objects.all()}
    assert drafts == {first: {}, second: {"p.fluency": "2"}}
    assert (reread(first).drafted_at, reread(second).drafted_at) == (None, NOW)
    submission.submit(person=second, answers=answers, now=NOW)
    assert reread(first).state == "RATING"
    form = submission.current(first)
    assert form is not None
    assert (form.participation, form.state) == (first, "RESERVED")
    assert submission.submit(person=first, answers=theirs, now=NOW) is not None
    assert Rating.objects.count() == 8


@pytest.mark.parametrize(("length", "kept"), [(1999, 1999), (2000, 2000), (2001, 2000)])
def test_a_draft_is_cut_to_what_is_kept(length: int, kept: int) -> None:
    person, _ = make_rater(make_campaign())
    assert submission.save_draft(person=person, answers={"p.fluency": "x" * length}, now=NOW)
    assert Assignment.objects.get().draft == {"p.fluency": "x" * kept}


def test_a_draft_may_have_every_answer() -> None:
    person, answers = make_rater(make_campaign())
    assert submission.save_draft(person=person, answers=answers, now=NOW)
    assert Assignment.objects.get().draft == answers


def test_a_draft_of_a_form_that_was_answered_meanwhile_is_not_kept() -> None:
    """R19: the form was sent from another tab between the look-up and the UPDATE."""
    person, answers = make_rater(make_campaign())
    sent: list[object] = []

    def meanwhile(execute: Any, sql: str, *more: Any) -> Any:
        if sql.startswith('UPDATE "webapp_assignment" SET "draft"') and not sent:
            sent.append(None)
            sent.append(submission.submit(person=person, answers=answers, now=NOW))
        return execute(sql, *more)

    with connection.execute_wrapper(meanwhile):
        assert not submission.save_draft(person=person, answers={"p.fluency": "2"}, now=NOW)
    assert sent
    assert Assignment.objects.get().draft == {}


def test_two_forms_of_a_batch_are_asked_in_the_order_of_their_places() -> None:
    person, answers = make_rater(make_campaign())
    first = Assignment.objects.get()
    room = talk_of(first.item)
    made = {}
    for place, (key, state) in enumerate(
        (("later", "RESERVED"), ("live", "RESERVED"), ("back", "RELEASED")), start=1
    ):
        name = f"c{room.pk}:1:{key}"
        item = Item.objects.create(
            campaign=room.campaign, key=name, conversation=room, target=1, reserved=1
        )
        Candidate.objects.create(
            item=item, key=f"r{key}", conversation=room, system=room.system, side=1
        )
        made[key] = Assignment.objects.create(
            item=item, participation=person, place=-place % 5, state=state
        )
    Assignment.objects.filter(pk=first.pk).update(place=9)
    assert submission.current(person) == made["later"]
    shown = submission.shown_to(made["later"])
    assert (shown.candidates, shown.choices) == (("rlater",), {})
    assert submission.shown_to(first).candidates == ("p",)
    Assignment.objects.filter(pk=made["later"].pk).update(state="DONE")
    assert submission.current(person) == first
    assert submission.submit(person=person, answers=answers, now=NOW) is not None
    assert submission.current(person) is None


def test_what_was_drawn_for_a_rater_is_what_they_may_choose_from() -> None:
    person, _ = make_rater(make_campaign())
    form = Assignment.objects.get()
    assert submission.shown_to(form).choices == {"persona": tuple(form.choices["persona"])}
    assert submission.rate_of(person).votes == 1


def test_a_protocol_that_asks_nothing_at_the_end_has_no_form() -> None:
    person = make_participation(make_campaign("meena_interactive"), state="RATING")
    with pytest.raises(labels.LabelRefused) as refusal:
        submission.rate_of(person)
    assert refusal.value.notice == "not_now"


@pytest.mark.parametrize("state", ["CHATTING", "READY", "WAITING"])
def test_a_form_is_taken_at_its_step_only(state: str) -> None:
    person, answers = make_rater(make_campaign())
    Participation.objects.update(state=state)
    with pytest.raises(labels.LabelRefused) as refusal:
        submission.submit(person=person, answers=answers, now=NOW)
    assert refusal.value.notice == "not_now"
    assert not Rating.objects.exists()


def test_who_rates_but_has_no_form_is_refused() -> None:
    person, answers = make_rater(make_campaign())
    Assignment.objects.update(state="RELEASED")
    with pytest.raises(labels.LabelRefused):
        submission.submit(person=person, answers=answers, now=NOW)
    assert reread(person).state == "RATING"


def test_who_ended_without_pay_is_given_no_code_by_a_late_form() -> None:
    person, answers = make_rater(make_campaign())
    Participation.objects.update(state="ENDED", outcome="LEFT")
    assert submission.submit(person=person, answers=answers, now=NOW) is None
    assert not Rating.objects.exists()


def test_an_empty_form_is_no_repeat_of_an_answered_one() -> None:
    """R19: whose answers came before is told by the fields; none say nothing."""
    person, _ = make_rater(make_campaign())
    room = talk_of(Assignment.objects.get().item)
    item = Item.objects.create(
        campaign=room.campaign, key="k", conversation=room, target=1, completed=1
    )
    Candidate.objects.create(item=item, key="r1", conversation=room, system=room.system, side=1)
    Assignment.objects.create(item=item, participation=person, place=5, state="DONE")
    for answers in ({}, {"x.fluency": "3"}):
        with pytest.raises(InvalidAnswers):
            submission.submit(person=person, answers=answers, now=NOW)
    assert submission.submit(person=person, answers={"r1.fluency": "3"}, now=NOW) is None
    assert not Rating.objects.exists()


def test_the_answers_of_another_rater_are_no_repeat_of_ones_own() -> None:
    first, theirs = make_rater(make_campaign())
    submission.submit(person=first, answers=theirs, now=NOW)
    second, answers = make_rater(make_campaign())
    assert submission.submit(person=second, answers=answers, now=NOW) is not None
    assert Rating.objects.filter(assignment__participation=second).count() == 4


@pytest.mark.parametrize(
    ("names", "is_of"),
    [
        ([], True),
        (["a.fluency"], True),
        (["a.fluency", "b.fluency"], True),
        (["a.fluency", "b.fluency", "both.preferred"], True),
        (["a.fluency", "c.fluency"], False),
        (["c.fluency"], False),
        (["fluency.a"], False),
        (["a.fluency", "attention.choose_no"], True),
    ],
)
def test_the_names_of_the_fields_tell_which_form_is_meant(names: list[str], is_of: bool) -> None:
    shown = Shown(("a", "b"), {}, "both", {"a": "", "b": ""})
    assert submission._is_of(dict.fromkeys(names, "1"), shown) is is_of
