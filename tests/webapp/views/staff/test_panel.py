"""The pages of a study at the panel, from the draft to the books (U3)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.conf import LazySettings
from django.test import Client
from django.urls import reverse

from tests.factories import NOW, make_campaign, make_member
from tests.webapp.services.recruiting.fake_panel import TOKEN, FakePanel, connected
from tests.webapp.services.recruiting.test_drill import ENDS, end
from webapp.models import AuditEntry, Campaign, PanelStudy
from webapp.services.recruiting import codes, turn

pytestmark = pytest.mark.django_db
FORM = {
    "title": "Chat with a bot",
    "description": "Chat for ten minutes.",
    "openings": "20",
    "minutes": "10",
    "reward": "2.00",
    "screening_openings": "5",
}


@pytest.fixture
def panel(settings: LazySettings) -> Iterator[FakePanel]:
    with connected(settings) as fake, time_machine.travel(NOW, tick=False):
        yield fake


def page(client: Client, campaign: Campaign, name: str = "panel", **raw: str) -> Any:
    address = reverse(name, args=[campaign.pk])
    return client.post(address, raw) if raw else client.get(address)


def now_turn() -> None:
    PanelStudy.objects.update(read_at=None)
    turn.turn(NOW)


def test_a_study_is_made_published_paid_and_accounted_for_by_pages(
    ann: Client, panel: FakePanel
) -> None:
    campaign = make_campaign()
    assert "Create the study" in page(ann, campaign).content.decode()
    assert page(ann, campaign, "panel-new", **FORM).status_code == 302
    now_turn()
    shown = page(ann, campaign).content.decode()
    assert "UNPUBLISHED" in shown
    assert "12.00 USD" in shown  # the wage of an hour
    assert page(ann, campaign, "panel-change", do="PUBLISH").status_code == 302
    now_turn()
    person = end(campaign, 1, *ENDS[1])
    pk = panel.comes(next(iter(panel.studies)), "person1")
    panel.enters(pk, codes.link_of(person).removeprefix(codes.COMPLETE))
    for _ in range(3):
        now_turn()
        panel.settle()
    shown = page(ann, campaign).content.decode()
    assert "Owed 2.75, approved 2.00, bonuses 0.75; paid less owed: 0.00 USD" in shown
    assert TOKEN not in shown
    line = page(ann, campaign, "panel-books", x="y").content.decode().splitlines()[1]
    assert line == f"{pk},completed,CODE-1,APPROVED,2.75,2.00,0.75,0.00,"
    assert AuditEntry.objects.filter(action="panel: books taken").exists()


def test_what_is_underpaid_is_published_only_when_ticked(ann: Client, panel: FakePanel) -> None:
    campaign = make_campaign()
    page(ann, campaign, "panel-new", **FORM | {"reward": "1.00"})
    now_turn()
    answer = page(ann, campaign, "panel-change", do="PUBLISH")
    assert answer.status_code == 422
    assert "Prolific calls this study underpaid." in answer.content.decode()
    assert page(ann, campaign, "panel-change", do="PUBLISH", underpaid="yes").status_code == 302
    now_turn()
    assert PanelStudy.objects.get().status == "ACTIVE"


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("openings", "0"),
        ("reward", "0"),
        ("reward", "2.01"),
        ("minutes", "x"),
        ("description", " "),
    ],
)
def test_a_wrong_field_is_named_and_nothing_typed_is_lost(
    ann: Client, panel: FakePanel, name: str, raw: str
) -> None:
    answer = page(ann, make_campaign(), "panel-new", **FORM | {name: raw})
    assert answer.status_code == 422
    assert name in answer.context["problems"]
    assert "Chat with a bot" in answer.content.decode()
    assert not PanelStudy.objects.exists()


@pytest.mark.parametrize("ticked", [False, True])
def test_parts_by_percentage_are_ticked_and_stay_so(
    ann: Client, panel: FakePanel, ticked: bool
) -> None:
    campaign, form = make_campaign(), FORM | ({"pays_parts": "true"} if ticked else {})
    wrong = page(ann, campaign, "panel-new", **form | {"minutes": "x"}).content.decode()
    assert ('hint" checked' in wrong) is ticked
    assert page(ann, campaign, "panel-new", **form).status_code == 302
    now_turn()
    (study,) = panel.studies.values()
    assert ("DYNAMIC_PAYMENT" in str(study["completion_codes"])) is ticked
    assert PanelStudy.objects.get().pays_parts is ticked


def test_a_rejection_without_evidence_is_refused(ann: Client, panel: FakePanel) -> None:
    campaign = make_campaign()
    page(ann, campaign, "panel-new", **FORM)
    now_turn()
    page(ann, campaign, "panel-change", do="PUBLISH")
    now_turn()
    pk = panel.comes(next(iter(panel.studies)), "a-stranger")
    panel.enters(pk, "NOCODE")
    now_turn()
    one = PanelStudy.objects.get().submissions.get()
    address = reverse("panel-submission", args=[campaign.pk, one.pk])
    raw = {"do": "reject", "category": "NO_CODE", "message": "x" * 99, "evidence": "y" * 19}
    answer = ann.post(address, raw)
    assert answer.status_code == 422
    assert sorted(answer.context["problems"]) == ["evidence", "message"]
    assert "x" * 99 in answer.content.decode()
    assert ann.post(address, raw | {"message": "x" * 100, "evidence": "y" * 20}).status_code == 302
    now_turn()
    assert panel.submissions[pk]["status"] == "REJECTED"


def test_a_study_that_was_refused_there_can_be_corrected(ann: Client, panel: FakePanel) -> None:
    campaign = make_campaign()
    panel.refuses = "description"
    page(ann, campaign, "panel-new", **FORM)
    now_turn()
    shown = page(ann, campaign).content.decode()
    assert "create: status 400" in shown
    assert "Create the study again" in shown
    panel.refuses = ""
    assert page(ann, campaign, "panel-new", **FORM).status_code == 302
    assert page(ann, campaign, "panel-new", **FORM).status_code == 409
    now_turn()
    assert PanelStudy.objects.get().status == "UNPUBLISHED"


def test_it_is_said_where_nothing_speaks_to_the_panel(ann: Client, panel: FakePanel) -> None:
    campaign, words = make_campaign(), "Nothing has spoken to Prolific"
    page(ann, campaign, "panel-new", **FORM)
    assert words not in page(ann, campaign).content.decode()
    later, soon = NOW + timedelta(minutes=16), NOW + timedelta(minutes=14)
    with time_machine.travel(later, tick=False):
        assert words in page(ann, campaign).content.decode(), "it was not made"
    now_turn()
    with time_machine.travel(soon, tick=False):
        assert words not in page(ann, campaign).content.decode()
    with time_machine.travel(later, tick=False):
        assert words in page(ann, campaign).content.decode(), "it is not read"
        turn.turn(later)
        assert words not in page(ann, campaign).content.decode()


def test_codes_and_submissions_are_shown_to_payers_alone(campaign: Campaign) -> None:
    for role, shown in (("viewer", False), ("runner", False), ("payer", True)):
        client = Client()
        client.force_login(make_member(role, role, project=campaign.project))
        page = client.get(reverse("panel", args=[campaign.pk])).content.decode()
        assert [each in page for each in ("AB-CD", ">sub<", "C-FULL-9")] == [shown] * 3, role
        assert ("Submissions and codes are shown to payers." in page) != shown
        assert "paid less owed" in page
