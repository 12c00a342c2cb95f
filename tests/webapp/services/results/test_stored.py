"""Stored results: whatever changes the data makes them old, and an erasure makes them go."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from tests.factories import NOW, make_campaign, make_participation
from tests.webapp.services import rated
from tests.webapp.services.computed import computed
from webapp.models import Campaign, Conversation, Flag, Heartbeat, Rating, StoredResult
from webapp.services.participation import privacy
from webapp.services.results import computing, stored
from webapp.services.rules import audit

pytestmark = pytest.mark.django_db
LATER = timedelta(hours=1)
Change = Callable[[Campaign], object]


@pytest.fixture
def campaign() -> Campaign:
    return rated.personachat(each=2)


def look(campaign: Campaign, name: str = "scores", **options: float) -> stored.Found:
    now = timezone.now() + LATER
    return stored.look(of=campaign, name=name, choice="counted", now=now, **options)


def one_more(campaign: Campaign) -> None:
    rated.rate(campaign, campaign.systems.get(name="poor"))


def label_only(campaign: Campaign) -> None:
    """A label changes no row but its own."""
    last = Rating.objects.latest("pk")
    Rating.objects.create(
        assignment=last.assignment,
        candidate=last.candidate,
        question=last.question,
        value=1,
        revision=last.revision + 1,
    )


def message(campaign: Campaign) -> None:
    Conversation.objects.filter(pk=campaign.conversations.earliest("pk").pk).update(last_seq=99)


CHANGES: dict[str, Change] = {
    "a rating": one_more,
    "a label": label_only,
    "a message": message,
    "who joins": make_participation,
    "an exclusion": lambda c: c.participations.filter(pk=c.participations.earliest("pk").pk).update(
        excluded="nonsense"
    ),
    "a conversation set aside": lambda c: c.conversations.filter(
        pk=c.conversations.earliest("pk").pk
    ).update(excluded="nonsense"),
    "a withdrawal": lambda c: c.participations.filter(pk=c.participations.earliest("pk").pk).update(
        withdrawn_at=NOW
    ),
    "a flag": lambda c: Flag.objects.create(campaign=c, kind="quick"),
    "an act": lambda c: audit.append(actor="ada", action="changed", campaign=c, now=NOW),
    "its name": lambda c: Campaign.objects.filter(pk=c.pk).update(name="Another"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_whatever_changes_the_data_makes_a_result_old(campaign: Campaign, name: str) -> None:
    assert computed(campaign, "scores").is_current
    assert look(campaign).is_current
    CHANGES[name](campaign)
    found = look(campaign)
    assert not found.is_current
    assert found.wanted_at is not None
    assert found.content is not None  # the last one is shown meanwhile
    assert computing.compute_wanted(f"campaign-{campaign.pk}") == 1
    assert look(campaign).is_current


def test_what_changes_no_number_leaves_it(campaign: Campaign) -> None:
    computed(campaign, "scores")
    one_more(rated.personachat(each=1))  # another campaign's
    audit.append(actor="ada", action="exported", campaign=campaign, now=NOW)
    assert look(campaign).is_current


def test_one_that_rests_is_shown_with_what_is_newer_left_for_later(campaign: Campaign) -> None:
    computed(campaign, "scores")
    one_more(campaign)
    found = look(campaign, rest=LATER.total_seconds() + 60)
    assert (found.is_current, found.wanted_at) == (False, None)
    assert look(campaign, rest=LATER.total_seconds() - 60).wanted_at is not None


def test_a_withdrawal_empties_what_is_stored_of_every_subject(campaign: Campaign) -> None:
    other = rated.personachat(each=1)
    for each in (campaign, other):
        computed(each)
    person = campaign.participations.earliest("pk")
    privacy.withdraw(token=privacy.withdraw_token(person), now=timezone.now())
    assert set(StoredResult.objects.values_list("content", flat=True)) == {None}
    assert look(campaign, "page").content is None
    again = computed(campaign)
    assert (again.answers, again.is_current) == (24 - 4, True)


def test_what_was_begun_before_a_withdrawal_is_not_stored_after(campaign: Campaign) -> None:
    stored.want(of=campaign, name="scores", choice="counted", now=NOW)
    row = stored.next_wanted(f"campaign-{campaign.pk}")
    assert row is not None
    person = campaign.participations.earliest("pk")
    privacy.withdraw(token=privacy.withdraw_token(person), now=timezone.now())
    assert not stored.keep(row, {"scores": []}, made_at=NOW)
    assert StoredResult.objects.get().content is None
    assert stored.next_wanted(f"campaign-{campaign.pk}") is not None  # begun anew


def test_a_failure_is_told_and_begun_again_only_by_hand(
    campaign: Campaign, caplog: pytest.LogCaptureFixture
) -> None:
    subject = f"campaign-{campaign.pk}"
    stored.want(of=campaign, name="no/such", choice="counted", now=NOW)
    assert computing.compute_wanted(subject) == 0
    assert "could not be computed" in caplog.text
    found = look(campaign, "no/such")
    assert found.problem.startswith("KeyError")
    assert found.wanted_at is None
    again = stored.want(of=campaign, name="no/such", choice="counted", now=NOW)
    assert (again.problem, again.wanted_at) == ("", NOW)


def test_one_computes_at_a_time_and_who_went_without_a_word_is_told(campaign: Campaign) -> None:
    subject = f"campaign-{campaign.pk}"
    stored.want(of=campaign, name="page", choice="counted", now=NOW)
    assert stored.begin(subject, "one")
    assert not stored.begin(subject, "two")
    assert stored.begin("study-1", "two")
    Heartbeat.objects.filter(name=f"results {subject}").update(
        seen_at=timezone.now() - stored.ALIVE * 2
    )
    assert not stored.begin(subject, "two")
    found = stored.status(of=campaign, name="page", choice="counted")
    assert (found.wanted_at, found.problem) == (None, "the server stopped while it was computed")
    stored.want(of=campaign, name="page", choice="counted", now=NOW)
    assert stored.begin(subject, "two")
    stored.beat(subject)
    stored.end(subject)
    assert stored.begin(subject, "three")


def test_no_data_is_a_result_too() -> None:
    found = computed(make_campaign())
    assert (found.answers, found.content["answers"], found.is_current) == (0, 0, True)
