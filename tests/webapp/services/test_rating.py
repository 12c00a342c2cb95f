"""The form at the end: complete or refused, stored once, paid once (R19, R21)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from evaluation import InvalidAnswers
from tests.factories import NOW, make_campaign, make_participation
from webapp.models import (
    Assignment,
    Campaign,
    CompletionCode,
    Conversation,
    Participation,
    Persona,
    QuotaCell,
    Rating,
    Seat,
)
from webapp.services import items, rating

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
    code = rating.submit(person=person, answers=answers, now=NOW)
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
    first = rating.submit(person=person, answers=answers, now=NOW)
    again = rating.submit(person=person, answers=answers | {"p.fluency": "1"}, now=NOW)
    assert again == first
    assert Rating.objects.count() == 4
    assert Rating.objects.get(question="fluency").value == 5
    assert QuotaCell.objects.get().completed == 1


def test_what_is_missing_or_wrong_is_named_by_field_and_nothing_is_stored() -> None:
    person, answers = make_rater(make_campaign())
    del answers["p.fluency"]
    answers["p.consistency"] = "6"
    with pytest.raises(InvalidAnswers) as refusal:
        rating.submit(person=person, answers=answers, now=NOW)
    assert set(refusal.value.problems) == {"p.fluency", "p.consistency"}
    assert not Rating.objects.exists()
    assert not CompletionCode.objects.exists()
    assert Assignment.objects.get().state == Assignment.State.RESERVED


@pytest.mark.parametrize(("counts", "completed"), [(False, 0), (True, 1)])
def test_a_partner_who_left_costs_no_pay(counts: bool, completed: int) -> None:
    campaign = make_campaign(partner_left_counts=counts)
    person, answers = make_rater(campaign, state=Conversation.State.ABANDONED)
    code = rating.submit(person=person, answers=answers, now=NOW)
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


def test_a_draft_is_kept_only_for_the_open_form() -> None:
    person, answers = make_rater(make_campaign())
    assert rating.save_draft(person=person, answers={"p.fluency": "2"}, now=NOW)
    assert not rating.save_draft(person=person, answers={"x.fluency": "2"}, now=NOW)
    assert Assignment.objects.get().draft == {"p.fluency": "2"}
    rating.submit(person=person, answers=answers, now=NOW)
    assert not rating.save_draft(person=person, answers={"p.fluency": "2"}, now=NOW)
    assert Assignment.objects.get().draft == {}


def test_nobody_rates_before_their_step() -> None:
    person = make_participation(make_campaign())
    with pytest.raises(rating.Refused) as refusal:
        rating.submit(person=person, answers=GOOD, now=NOW)
    assert refusal.value.notice == "not_now"
