"""Planner on the launch page: asked, computed elsewhere, shown with money, part of the plan."""

from __future__ import annotations

import io
import json
import re
import zipfile
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from analysis.__main__ import main
from analysis.planning.variances import learned
from analysis.tables.reading import read
from tests.analysis.planning.tables import static, written
from tests.factories import make_campaign, make_member, make_project, make_system
from tests.webapp.services import rated
from webapp.models import PEOPLE, Campaign, PowerPlan, QuotaCell
from webapp.services.results import computing, planner

pytestmark = pytest.mark.django_db
# Card et al.'s case of high variance: three workers judge all 100 items, a true difference of .20.
CARD = {
    **{"difference": "0.2", "power": "0.8", "items": "100", "raters": "3", "votes": "3"},
    **{"each": "10", "source": "card-high", "low": "0", "high": "1", "question": "", "fee": "25"},
}


@pytest.fixture
def draft() -> Campaign:
    bots = {"alpha": "parrot", "beta": "parrot"}
    return make_campaign(state=Campaign.State.DRAFT, systems=bots, pay="1.00", minutes=10)


def ask(client: Client, draft: Campaign, **changes: Any) -> Any:
    return client.post(reverse("ask-planner", args=[draft.pk]), CARD | changes)


def shown(client: Client, draft: Campaign, page: str = "planner-part") -> str:
    """Return the answer, or a whole page, once what it wants is computed."""
    return str(client.get(reverse(page, args=[draft.pk])).content.decode())


def number(page: str, row: str, column: int = 0) -> float:
    """Return a number of the planner's table."""
    cells = re.search(rf"{row}</th>(.*?)</tr>", page, re.S)
    assert cells is not None, page
    return float(re.findall(r">([\d.]+)</td>", cells[1])[column])


def test_power_cost_and_what_the_published_procedure_claims(ann: Client, draft: Campaign) -> None:
    asked = ask(ann, draft)
    assert asked["Location"] == f"{reverse('launch', args=[draft.pk])}#planner"
    page = shown(ann, draft)
    assert "600 ratings by 60 participations" in page
    power = "Power for a difference of 0.2"
    assert number(page, power) == pytest.approx(0.19, abs=0.04)
    assert number(page, power, 1) == pytest.approx(0.885, abs=0.03)
    assert number(page, "Claims among equal systems", 1) == pytest.approx(0.116, abs=0.03)
    assert "<dd>10.0</dd>" in page  # hours: 60 times ten minutes
    assert "75.00 USD with a fee of 25 %" in page
    assert "<dd>6.00 USD</dd>" in page
    assert "Card et al. (2020): t &gt; 1.96" in page
    own = "Participants give 10 ratings each here, and 1 by the campaign&#x27;s settings"
    assert own in page
    assert "Each of the 3 raters gives 200 ratings, and a participant of this campaign 10" in page


def test_the_answer_is_part_of_the_plan_until_the_draft_changes(
    ann: Client, draft: Campaign
) -> None:
    address = reverse("plan", args=[draft.pk])
    assert ann.get(address).json()["power"] is None
    ask(ann, draft)
    shown(ann, draft)
    frozen = ann.get(address).json()["power"]
    assert (frozen["items"], frozen["params"]["difference"]) == (100, 0.2)
    Campaign.objects.filter(pk=draft.pk).update(pay="2.00")
    assert ann.get(address).json()["power"] is None
    assert "150.00 USD" in shown(ann, draft)
    assert ann.get(address).json()["power"]["money"] == 150
    make_system(draft, "gamma")
    assert "each of 3 systems" in shown(ann, draft)


def test_while_it_is_computed_the_page_says_so_and_may_be_left(draft: Campaign) -> None:
    impatient = Client()
    impatient.force_login(draft.owner)
    ask(impatient, draft)
    page = shown(impatient, draft, "launch")
    part = reverse("planner-part", args=[draft.pk])
    assert f'hx-get="{part}" hx-trigger="every 2s"' in page
    assert "<progress" in page
    assert "HX-Refresh" not in impatient.get(part).headers
    assert computing.compute_wanted(f"campaign-{draft.pk}") == 1
    assert impatient.get(part).headers["HX-Refresh"] == "true"
    assert 'id="planned"' in shown(impatient, draft, "launch")


def test_the_systems_get_the_target_of_the_plan_by_a_button(ann: Client, draft: Campaign) -> None:
    own = {"items": "40", "raters": "80", "votes": "1", "each": "1", "judges": "1"}
    ask(ann, draft, **own | {"severity": "0.5"})
    page = shown(ann, draft)
    assert "Want 40 participations of each system" in page
    answer = ann.post(reverse("use-plan", args=[draft.pk]), follow=True)
    assert "40 participations of each system are wanted." in answer.content.decode()
    assert set(QuotaCell.objects.values_list("target", flat=True)) == {40}
    assert "participations of each system</button>" not in shown(ann, draft)
    QuotaCell.objects.filter(pk=QuotaCell.objects.earliest("pk").pk).update(target=41)
    assert "Want 40 participations of each system" in shown(ann, draft)


@pytest.mark.parametrize(
    ("protocol", "votes", "other"),
    [
        ("personachat_bot", "3", "generic"),
        ("meena_static", "1", "generic"),
        ("personachat_human", "1", PEOPLE),
    ],
)
def test_where_an_item_is_no_participation_there_is_no_target(
    ann: Client, protocol: str, votes: str, other: str
) -> None:
    """Several raters of an item, replies of which one person judges many, or two people."""
    own = make_campaign(protocol, state="DRAFT", systems={"a": "parrot", "b": other})
    ask(ann, own, items="40", raters="80", votes=votes, judges="2")
    page = shown(ann, own)
    assert 'id="planned"' in page
    assert "participations of each system</button>" not in page
    answer = ann.post(reverse("use-plan", args=[own.pk]), follow=True)
    assert "no target that the systems lack" in answer.content.decode()
    assert set(QuotaCell.objects.values_list("target", flat=True)) == {10}


@pytest.mark.slow
def test_fewest_items_or_raters_where_they_are_left_out(ann: Client, draft: Campaign) -> None:
    sure = {"difference": "1", "low": "1", "high": "5", "source": "card-low"}
    for left_out in ({"items": ""}, {"items": "", "raters": "", "votes": "1", "each": "2"}):
        ask(ann, draft, **sure | left_out)
        assert number(shown(ann, draft), "Power for a difference of 1.0") >= 0.8
    row = PowerPlan.objects.get()
    assert row.found is not None
    found = row.found["plan"]
    assert found["items"] == found["raters"] == found["participations"]
    ask(ann, draft, items="")
    assert "With 3 raters not even 2,000 items" in shown(ann, draft)
    ask(ann, draft, items="", raters="", votes="1", each="4000", difference="0.001")
    assert "Not even 2,000 items find a difference of 0.001" in shown(ann, draft)


@pytest.mark.parametrize(
    ("field", "typed", "complaint"),
    [
        ("difference", "much", "“much” is not a number above 0 and up to 100000"),
        ("power", "1", "“1” is not a number above 0 and below 1"),
        ("votes", "4", "“4”: there are only 3 raters"),
        ("high", "0", "“0” is not above the lower end, 0"),
        ("source", "pilot", "“pilot”: no file was chosen"),
        ("severity", "-1", "“-1” is not a number from 0"),
        ("judges", "0", "“0” is not a whole number from 1 to 1000"),
    ],
)
def test_what_cannot_be_used_is_named_and_stays_typed(
    ann: Client, draft: Campaign, field: str, typed: str, complaint: str
) -> None:
    refused = ask(ann, draft, **{field: typed})
    page = refused.content.decode()
    assert refused.status_code == 422
    assert complaint in page
    assert f'href="#id_{field}"' in page
    assert f'value="{typed}"' in page
    assert 'value="25"' in page
    assert not PowerPlan.objects.exists()


def test_a_pilot_is_learned_once_and_not_kept(ann: Client, draft: Campaign, tmp_path: Path) -> None:
    table = Path(written(tmp_path / "pilot.csv", static((0, 0), 200, votes=5))).read_bytes()
    of_pilot = {"source": "pilot", "difference": "0.5"}
    ask(ann, draft, **of_pilot, file=SimpleUploadedFile("pilot.csv", table))
    page = shown(ann, draft)
    assert "(pilot.csv)" in page
    found = PowerPlan.objects.get()
    assert found.pilot is None
    ratings = read(tmp_path / "pilot.csv").ratings
    assert ratings is not None
    own = asdict(learned(ratings, "overall", own_raters=True))
    assert found.learned["overall"] == asdict(learned(ratings, "overall")) | {"own": own}
    ask(ann, draft, **of_pilot | {"judges": "1", "raters": "10"})  # nor for another design
    assert f"severity {own['severity']:.3f}" in shown(ann, draft)
    ask(ann, draft, **of_pilot | {"difference": "0.6"})  # the file need not come again
    assert "Power for a difference of 0.6" in shown(ann, draft)
    ask(ann, draft, **of_pilot | {"question": "wit"})
    page = shown(ann, draft, "launch")
    assert "Question of the table or campaign: “wit”: right would be one of overall" in page
    assert 'value="wit"' in page


@pytest.mark.parametrize("content", [b"rater,system\n1,2\n", b""])
def test_a_file_that_is_no_table_of_ratings_is_told(
    ann: Client, draft: Campaign, content: bytes
) -> None:
    ask(ann, draft, source="pilot", file=SimpleUploadedFile("pilot.csv", content))
    page = shown(ann, draft, "launch")
    assert "The planner cannot use this:" in page
    assert "Table of a pilot, or an export: pilot.csv" in page
    assert 'value="100"' in page
    assert PowerPlan.objects.get().pilot is None
    again = ask(ann, draft, source="pilot")
    assert "no file was chosen" in again.content.decode()


def test_an_archive_of_too_many_files_is_not_unpacked(ann: Client, draft: Campaign) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for place in range(101):
            archive.writestr(f"{place}.csv", "rater,system\n")
    ask(ann, draft, source="pilot", file=SimpleUploadedFile("pilot.zip", packed.getvalue()))
    page = shown(ann, draft, "launch")
    assert "pilot.zip holds 101 files; right would be at most 100" in page


@pytest.mark.slow
def test_variances_come_from_an_earlier_campaign_of_the_project(
    ann: Client, draft: Campaign
) -> None:
    earlier, foreign = rated.static(contexts=6), rated.static(contexts=2)
    Campaign.objects.filter(pk=foreign.pk).update(project=make_project("Elsewhere"))
    page = shown(ann, draft, "launch")
    assert f'value="campaign-{earlier.pk}"' in page
    assert f'value="campaign-{foreign.pk}"' not in page
    refused = ask(ann, draft, source=f"campaign-{foreign.pk}")
    assert refused.status_code == 422
    ask(ann, draft, source=f"campaign-{earlier.pk}")
    assert "right would be one of sensible, specific" in shown(ann, draft, "launch")
    ask(ann, draft, source=f"campaign-{earlier.pk}", question="sensible")
    assert f"(campaign “{earlier.name}”)" in shown(ann, draft)


def test_raters_of_one_system_each_are_planned_for_as_the_command_does(
    ann: Client, draft: Campaign, capsys: pytest.CaptureFixture[str]
) -> None:
    """The parrot's protocol has one conversation each: that is what the form starts from."""
    page = shown(ann, draft, "launch")
    assert re.search(r'name="judges"[^>]*value="1"', page)
    own = {"difference": "1", "low": "1", "high": "5", "items": "", "raters": "60", "votes": "1"}
    refused = ask(ann, draft, **own | {"judges": "1", "each": "1"})
    assert "is empty, and no publication has it; write an SD" in refused.content.decode()
    ask(ann, draft, **own | {"judges": "1", "each": "1", "severity": "0.7"})
    page = shown(ann, draft)
    assert "Each rater judges one system: 30 raters of each are compared." in page
    assert "severity 0.700" in page
    assert "by the campaign&#x27;s settings" not in page
    options = ["--judges", "1", "--severity", "0.7", "--scale", "1", "5", "--votes", "1"]
    seed = ["--seed", str(draft.seed)]
    assert main(["plan", "--difference", "1", "--raters", "60", "--json", *options, *seed]) == 0
    found = json.loads(capsys.readouterr().out)
    assert f"{found['plan']['items']} conversations or items for each of 2 systems" in page
    power = found["power"]["power"]
    assert number(page, "Power for a difference of 1.0") == pytest.approx(power, abs=0.001)


def test_raters_of_two_of_three_systems_are_those_of_a_pair(ann: Client, draft: Campaign) -> None:
    make_system(draft, "gamma")
    two = {"judges": "2", "votes": "3", "raters": "30", "low": "1", "high": "5", "items": "20"}
    ask(ann, draft, **two)
    page = shown(ann, draft)
    assert "a pair is compared by the 10 raters who judge both" in page
    assert "Participants judge 2 systems each here, and 1 by the campaign&#x27;s settings" in page
    ask(ann, draft, **two | {"judges": "4"})
    assert "“4”: right would be 1 to 3, the systems" in shown(ann, draft, "launch")
    ask(ann, draft, **two | {"raters": "5"})
    assert "more: 1 who judge both systems of a pair are too few" in shown(ann, draft, "launch")
    ask(ann, draft, **two | {"raters": "", "each": "1"})
    complaint = "“1”: right would be 2 or more, one for each system that a rater judges"
    assert complaint in shown(ann, draft, "launch")
    ask(ann, draft, **two | {"raters": "", "each": "2"})
    assert "by 90 participations" in shown(ann, draft)


def test_only_runners_ask_and_only_of_drafts(ann: Client, draft: Campaign) -> None:
    viewer = Client()
    viewer.force_login(make_member("vera", "viewer", project=draft.project))
    assert ask(viewer, draft).status_code == 403
    Campaign.objects.filter(pk=draft.pk).update(state="OPEN")
    assert ask(ann, draft).status_code == 409
    assert not PowerPlan.objects.exists()


def test_what_is_asked_while_it_is_computed_is_answered_too(
    draft: Campaign,
) -> None:
    values = dict.fromkeys(("items", "raters")) | {"difference": 0.2, "power": 0.8}
    usual = planner.first_values(draft) | values | {"items": 50, "question": "", "judges": None}
    now = draft.created_at
    planner.ask(campaign=draft, values=usual | {"raters": 3, "votes": 3}, pilot=None, now=now)
    PowerPlan.objects.update(found=None)
    first = PowerPlan.objects.get().revision
    planner.ask(campaign=draft, values=usual | {"raters": 4, "votes": 4}, pilot=None, now=now)
    assert computing.compute_wanted(f"campaign-{draft.pk}") == 1
    row = PowerPlan.objects.get()
    assert row.found is not None
    assert (row.revision, row.found["plan"]["raters"]) == (first + 1, 4)
    assert Decimal(row.found["basis"]["pay"]) == draft.pay
