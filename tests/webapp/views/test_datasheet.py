"""Datasheet on the results page: a researcher's answers are kept, and go before Parley's own."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from analysis.__main__ import main
from tests.factories import make_member
from tests.webapp.services import rated
from tests.webapp.views.patient import Patient
from webapp.models import AuditEntry, Campaign
from webapp.services.campaign import launch
from webapp.services.data import exports

pytestmark = pytest.mark.django_db
NAME, BOARD, LINK, FRAME = "q1.3.1.1.c0", "q5.1.c0", "q1.1.1.c0", "q4.3.1.1.c1"
ELEMENTS = {
    "name": "heds-paper_and_resources-names_and_affiliations-person_completing_this_sheet-name",
    "link": "heds-paper_and_resources-paper-link-2",
    "words": "heds-paper_and_resources-paper-link-other_text",
}


@pytest.fixture
def answered() -> Campaign:
    """A campaign whose plan is frozen, as that of every opened one is."""
    campaign = rated.static(contexts=4)
    campaign.plan = launch.plan_of(campaign)
    campaign.save()
    return campaign


def file_of(client: Client, campaign: Campaign) -> dict[str, dict[str, dict[str, object]]]:
    found = client.get(reverse("results-heds", args=[campaign.pk])).content
    return json.loads(found)  # type: ignore[no-any-return]


def test_answers_are_kept_and_come_into_file_export_and_report(
    ann: Client, answered: Campaign, tmp_path: Path
) -> None:
    address = reverse("results-datasheet", args=[answered.pk])
    before = ann.get(address)
    page = before.content.decode()
    assert "Parley knows nothing of it." in page
    assert "Left empty, Parley writes:" in page
    assert (
        f'href="{address}?rows=counted"'
        in ann.get(reverse("results", args=[answered.pk])).content.decode()
    )
    typed = before.context["form"].typed()
    assert not any(typed.values())
    own = {NAME: "Ada Lovelace", LINK: "2", f"{LINK}.text": "https://example.org/p", FRAME: "Wit"}
    kept = ann.post(address, typed | own)
    assert kept["Location"] == f"{address}?rows=counted"
    entry = AuditEntry.objects.latest("number")
    assert (entry.action, entry.detail) == (
        "datasheet answered", {"numbers": ["1.1.1", "1.3.1.1", "4.3.1.1"]}
    )  # fmt: skip
    after = ann.get(address).context  # the name of the criterion was said to be none before
    assert {name: text for name, text in after["form"].typed().items() if text} == own
    assert (after["filled"], after["whole"]) == (
        before.context["filled"] + 2, before.context["whole"]
    )  # fmt: skip
    file = file_of(ann, answered)
    assert file[ELEMENTS["name"]]["data"] == {"": "Ada Lovelace"}
    assert file[ELEMENTS["link"]]["data"] == {"": True}
    assert file[ELEMENTS["words"]]["data"] == {"": "https://example.org/p"}
    answered.refresh_from_db()
    export, out = tmp_path / "export.zip", tmp_path / "heds.json"
    exports.write_to(campaign=answered, path=export)
    with zipfile.ZipFile(export) as archive:
        assert json.loads(archive.read("heds.json")) == file
    assert main([str(export), "--report", "datasheet", "--heds", str(out)]) == 0
    assert json.loads(out.read_text("utf-8")) == file


def test_an_answer_that_is_taken_back_is_parleys_again(ann: Client, answered: Campaign) -> None:
    address = reverse("results-datasheet", args=[answered.pk])
    first = file_of(ann, answered)
    ann.post(address, {"q3.2.4.c0": "Sent by mail"})
    assert file_of(ann, answered) != first
    ann.post(address, {})
    assert file_of(ann, answered) == first
    entries = AuditEntry.objects.filter(action="datasheet answered").count()
    ann.post(address, {})  # nothing changed
    assert AuditEntry.objects.filter(action="datasheet answered").count() == entries == 2


def test_an_explanation_without_an_option_is_refused_and_stays_typed(
    ann: Client, answered: Campaign
) -> None:
    address = reverse("results-datasheet", args=[answered.pk])
    assert ann.get(address).status_code == 200
    refused = ann.post(address, {f"{LINK}.text": "https://example.org/p", NAME: "Ada"})
    page = refused.content.decode()
    assert refused.status_code == 422
    assert "explains an option; choose one above" in page
    assert ">Ada</textarea>" in page
    other = ann.post(address, {LINK: "9"})
    assert other.status_code == 422
    answered.refresh_from_db()
    assert answered.datasheet == {}


def test_who_may_only_look_changes_nothing(answered: Campaign) -> None:
    viewer = Patient()
    viewer.force_login(make_member("vera", "viewer", project=answered.project))
    address = reverse("results-datasheet", args=[answered.pk])
    assert viewer.post(address, {NAME: "Ada"}).status_code == 403
    page = viewer.get(address).content.decode()  # it is computed for whoever looks
    assert f'name="{NAME}"' in page
    assert "<fieldset" in page
    assert "Keep these answers" not in page
    answered.refresh_from_db()
    assert answered.datasheet == {}
