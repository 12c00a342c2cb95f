"""Moves between states: one conditional UPDATE, of the row that is meant and no other (R2)."""

from __future__ import annotations

import pytest
from django.db.models import Q

from tests.factories import make_campaign, make_participation
from webapp.models import Campaign, Participation, ReplyJob
from webapp.services.rules import states

pytestmark = pytest.mark.django_db
P = Participation.State


def test_a_move_changes_one_row_and_its_fields_and_returns_it_as_it_is() -> None:
    campaign = make_campaign(personas=0)
    person, beside = make_participation(campaign), make_participation(campaign)
    moved = states.move(person, "wait", notice="partner_missed")
    assert moved is person
    assert (person.state, person.notice) == (P.WAITING, "partner_missed")
    beside.refresh_from_db()
    assert (beside.state, beside.notice) == (P.READY, "")


def test_a_move_that_is_not_allowed_says_what_stands_where_and_writes_nothing() -> None:
    """R2: an illegal one tells the current state, so that the page can redraw itself."""
    person = make_participation(make_campaign(personas=0), state=P.RATING)
    with pytest.raises(states.Illegal) as refusal:
        states.move(person, "wait", notice="partner_missed")
    assert str(refusal.value) == f"Participation {person.pk} is RATING: cannot wait"
    assert refusal.value.state == P.RATING
    person.refresh_from_db()
    assert (person.state, person.notice) == (P.RATING, "")


def test_a_move_may_depend_on_more_than_the_state() -> None:
    person = make_participation(make_campaign(personas=0))
    with pytest.raises(states.Illegal):
        states.move(person, "wait", only_if=Q(holds_slot=True))
    assert states.move(person, "wait", only_if=Q(holds_slot=False)).state == P.WAITING


def test_of_many_rows_those_are_moved_that_may_be() -> None:
    campaign = make_campaign(personas=0)
    for state in (P.READY, P.READY, P.WAITING, P.RATING):
        make_participation(campaign, state=state)
    rows = Participation.objects.filter(campaign=campaign)
    assert states.try_move(rows, "wait", notice="away") == 2
    assert sorted(rows.values_list("state", "notice")) == [
        (P.RATING, ""),
        (P.WAITING, ""),
        (P.WAITING, "away"),
        (P.WAITING, "away"),
    ]
    assert states.try_move(rows.none(), "meet") == 0


def test_where_an_event_may_begin_is_said_by_the_table() -> None:
    assert states.allowed(Campaign, "stop") == (Campaign.State.OPEN, Campaign.State.PAUSED)
    assert states.allowed(ReplyJob, "deliver") == (ReplyJob.State.ANSWERED,)
