"""Disjoint phases: a member of one is refused in the others, by id or by browser."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from tests.factories import NOW, make_campaign
from tests.webapp.services.people import join
from tests.webapp.services.studies import make_study
from webapp.models import Campaign, Participation, Study
from webapp.services.participation import enrolment
from webapp.services.participation.consents import Closed

pytestmark = pytest.mark.django_db


@pytest.fixture
def phases() -> tuple[Campaign, Campaign]:
    """Return the two phases of a disjoint study."""
    found = make_campaign(), make_campaign()
    study = make_study(*found)
    Study.objects.filter(pk=study.pk).update(disjoint=True)
    return found


def refused(campaign: Campaign, name: str, *browser: str) -> str:
    """Return why somebody may not join, "" where they may."""
    try:
        enrolment.join(
            campaign=campaign,
            platform="prolific" if name else "",
            external_id=name,
            language="en",
            now=NOW,
            browser=browser,
            is_proven=not browser,
        )
    except Closed as closed:
        return closed.notice
    return ""


def test_a_member_of_one_phase_is_refused_in_the_other(phases: tuple[Campaign, Campaign]) -> None:
    first, second = phases
    assert refused(first, "ann") == ""
    assert refused(second, "ann") == "other_phase"
    assert refused(second, "bea") == ""
    assert refused(first, "bea") == "other_phase"
    assert Participation.objects.count() == 2


def test_who_is_in_a_phase_comes_back_to_it(phases: tuple[Campaign, Campaign]) -> None:
    for _ in range(2):
        assert join(phases[0], "ann").state == "READY"


def test_whoever_withdrew_stays_a_member(phases: tuple[Campaign, Campaign]) -> None:
    assert refused(phases[0], "ann") == ""
    Participation.objects.update(withdrawn_at=NOW)
    assert refused(phases[1], "ann") == "other_phase"


def test_without_an_id_nobody_can_be_told_from_a_member(phases: tuple[Campaign, Campaign]) -> None:
    assert refused(phases[0], "") == "needs_id"


def test_a_browser_that_took_part_is_known_under_another_id(
    phases: tuple[Campaign, Campaign],
) -> None:
    _person, secret = enrolment.join(
        campaign=phases[0], platform="prolific", external_id="ann", language="en", now=NOW
    )
    assert refused(phases[1], "somebody-else", secret) == "other_phase"


def test_other_studies_and_studies_without_the_rule_are_open(
    phases: tuple[Campaign, Campaign],
) -> None:
    join(phases[0], "ann")
    alone, elsewhere = make_campaign(), make_campaign()
    make_study(elsewhere, name="other")
    assert [refused(each, "ann") for each in (alone, elsewhere)] == ["", ""]
    Study.objects.update(disjoint=False)
    assert refused(phases[1], "ann") == ""


def test_staff_set_the_rule_on_the_studys_page(
    phases: tuple[Campaign, Campaign], client: Client
) -> None:
    study = phases[0].study
    assert study is not None
    client.force_login(study.owner)
    page, form = reverse("study", args=[study.pk]), {"action": "change", "name": "S", "note": ""}
    client.post(page, form)
    study.refresh_from_db()
    assert not study.disjoint
    client.post(page, form | {"disjoint": "true"})
    study.refresh_from_db()
    assert study.disjoint
