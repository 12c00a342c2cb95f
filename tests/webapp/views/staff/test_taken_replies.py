"""Replies of another campaign are taken through the page, and judged by another question."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from analysis import get_report, read
from tests.factories import NOW, make_campaign
from tests.webapp.services.judged import judge, replies_campaign
from tests.webapp.services.studies import make_study
from webapp.models import Campaign, Event
from webapp.services.campaign import launch
from webapp.services.data import study_exports
from webapp.services.results import page as results_page

pytestmark = pytest.mark.django_db
SYSTEMS = ("good", "fair", "poor")
CONTEXTS = 4


def static() -> Campaign:
    """Return a campaign whose replies three systems gave, and which is judged."""
    rows = [
        {
            "id": f"k{n}",
            "messages": [f"How many boats, {n}?"],
            "replies": {name: f"I am {name}, {n}." for name in SYSTEMS},
        }
        for n in range(CONTEXTS)
    ]
    campaign = replies_campaign("meena_static", rows, votes=1, batch=12)
    least = {"good": 0, "fair": 2, "poor": 3}
    judge(
        campaign,
        1,
        lambda question, context, systems, rater: (
            None
            if question == "specific" and int(context[1:]) < least[systems[0]]
            else str(int(int(context[1:]) >= least[systems[0]]))
        ),
    )
    return campaign


def again(ann: Client, source: Campaign) -> Campaign:
    """Return a draft that has taken another campaign's replies through its page."""
    changes = {"rate.votes": 1, "rate.batch": 12}
    row = make_campaign("meena_human_like", state="DRAFT", opened_at=None, changes=changes)
    row.systems.get().cell.delete()
    row.systems.all().delete()
    address = reverse("contexts", args=[row.pk])
    preview = ann.post(address, {"action": "taken", "source": str(source.pk)})
    assert "Import 4" in preview.content.decode()
    ann.post(address, {"action": "store", "text": preview.context["text"]})
    return row


def test_the_same_replies_are_there_under_the_same_names(ann: Client) -> None:
    source = static()
    row = again(ann, source)

    def replies(campaign: Campaign) -> set[tuple[str, str, str]]:
        said = Event.objects.filter(conversation__campaign=campaign, in_reply_to__isnull=False)
        return {
            (each.conversation.context, each.conversation.system.name, each.content["text"])
            for each in said.select_related("conversation__system")
        }

    assert replies(row) == replies(source)
    assert len(replies(row)) == CONTEXTS * len(SYSTEMS)


def test_a_campaign_without_replies_is_not_listed_and_not_taken(ann: Client) -> None:
    row = make_campaign("meena_human_like", state="DRAFT", opened_at=None)
    address = reverse("contexts", args=[row.pk])
    assert "Of another campaign" not in ann.get(address).content.decode()
    refused = ann.post(address, {"action": "taken", "source": str(row.pk)})
    assert refused.status_code == 422
    assert "is not one of the campaigns listed" in refused.content.decode()


def test_human_likeness_is_reported_of_the_study_on_its_page_and_of_its_export(
    ann: Client, tmp_path: Path
) -> None:
    source = static()
    row = again(ann, source)
    launch.launch(campaign=row, by=row.owner, now=NOW)
    row.refresh_from_db()
    judge(row, 1, lambda question, context, systems, rater: str(int(systems[0] == "good")))
    study = make_study(source, row)
    ratings = read(study_exports.write_to(study=study, path=tmp_path / "s.zip")).ratings
    assert ratings is not None
    exported = get_report("meena_human_likeness")(ratings)
    points = exported.sections[1].frame.set_index("system")
    assert points["human-like"].to_dict() == {"good": 100, "fair": 0, "poor": 0}
    assert points["ssa"].to_dict() == {"good": 100, "fair": 50, "poor": 25}
    shown = results_page.report(of=study, name="meena_human_likeness")
    assert shown.findings == exported.findings
    assert shown.sections[0].frame.equals(exported.sections[0].frame)
    page = ann.get(reverse("study-results", args=[study.pk])).content.decode()
    assert exported.findings[0] in page
