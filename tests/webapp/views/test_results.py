"""The results pages: who may see them, every state of them, and one set of numbers everywhere."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from analysis import evaluate, records
from analysis.self_test.measured import QUICK
from tests.factories import make_campaign, make_participation
from tests.webapp.services import rated
from tests.webapp.views.ids import ids_on
from tests.webapp.views.visiting import text_of
from webapp.models import AuditEntry, Campaign, Rating
from webapp.services.data import tables
from webapp.services.results import page as results_page
from webapp.services.results import subjects

pytestmark = pytest.mark.django_db


def test_only_staff_see_results(client: Client, answered: Campaign) -> None:
    addresses = [
        reverse("results", args=[answered.pk]),
        reverse("results-numbers", args=[answered.pk]),
        reverse("results-values", args=[answered.pk, "flow"]),
        reverse("results-report", args=[answered.pk, "summary"]),
        reverse("results-document", args=[answered.pk, "summary"]),
        reverse("results-notebook", args=[answered.pk, "summary"]),
    ]
    assert {client.get(address).status_code for address in addresses} == {302}
    assert client.post(reverse("results-export", args=[answered.pk])).status_code == 302
    assert not AuditEntry.objects.exists()


def test_the_page_shows_the_ranking_first_and_the_published_calibration_apart(
    staff: Client, answered: Campaign
) -> None:
    page = text_of(staff, "results", answered.pk)
    page = page[page.index("results/overview.csv") :]  # after the findings in short
    first = page.index("Consistency: good is first with")
    assert first < page.index("is recognized most") < page.index("is above every other system")
    shown = results_page.page(of=answered)
    order = next(part for part in shown.parts if part.key == "ranking-engagingness")
    assert list(order.frame["system"]) == ["good", "fair", "poor"]
    assert {"score", "low", "high", "group", "mean", "n"} <= set(order.frame.columns)
    assert "calibrated-engagingness" in {part.key for part in shown.parts}
    assert "Zhang et al. 2018" in page
    assert "Kulikov et al. 2018" in page


def test_every_chart_has_its_table_and_can_be_saved(staff: Client, answered: Campaign) -> None:
    page = text_of(staff, "results", answered.pk)
    shown = results_page.page(of=answered)
    charted = [part for part in shown.parts if part.spec]
    assert len(charted) >= 8
    assert page.count("<figure data-chart=") == len(charted)
    for part in charted:
        assert f'id="{part.key}-table"' in page
        rows = list(
            csv.reader(io.StringIO(text_of(staff, "results-values", answered.pk, part.key)))
        )
        assert len(rows) == len(part.frame) + 1


def test_page_json_and_export_have_the_same_numbers(staff: Client, answered: Campaign) -> None:
    told = json.loads(text_of(staff, "results-numbers", answered.pk))
    whole = evaluate(tables.ratings(answered), messages=tables.described_messages(answered))
    assert told == json.loads(json.dumps(records(whole)))
    likert = next(
        r
        for r in told
        if (r["metric"], r["question"], r["system"]) == ("likert", "fluency", "good")
    )
    page = text_of(staff, "results", answered.pk)
    assert f"{likert['estimate']:.3f}" in page


def test_coverage_measured_for_the_design_stands_beside_intervals(
    staff: Client, answered: Campaign, settings: Any
) -> None:
    """A server's default; that of tests is 0."""
    settings.RESULTS_SIMULATE = QUICK
    told = json.loads(text_of(staff, "results-numbers", answered.pk))
    messages = tables.described_messages(answered)
    whole = evaluate(tables.ratings(answered), messages=messages, simulate=QUICK)
    assert told == json.loads(json.dumps(records(whole)))
    measured = [row for row in told if row["metric"] == "system_score"]
    assert all(0.5 < row["measured_coverage"] <= 1 for row in measured)
    assert "simulated campaigns of this very design" in text_of(staff, "results", answered.pk)


def test_flagged_and_excluded_answers_can_be_left_out_and_taken_in(
    staff: Client, answered: Campaign
) -> None:
    def count(rows: str) -> int:
        told = json.loads(text_of(staff, "results-numbers", answered.pk, rows=rows))
        return int(next(r["n"] for r in told if r["metric"] == "likert" and r["system"] == "poor"))

    assert (count("counted"), count("unflagged"), count("all")) == (12, 11, 13)
    assert count("nonsense") == 12
    assert 'rows=all" aria-current="page"' in text_of(staff, "results", answered.pk, rows="all")


def test_answers_of_flagged_raters_can_be_left_out_of_every_view(
    staff: Client, answered: Campaign
) -> None:
    def said(name: str, rows: str) -> str:
        return text_of(staff, name, answered.pk, rows=rows)

    assert json.loads(said("results-numbers", "careful"))
    assert 'rows=careful" aria-current="page"' in said("results", "careful")
    report = text_of(staff, "results-report", answered.pk, "rater_quality", rows="careful")
    assert "0 of " in report
    assert "raters have a flag" in report


def test_the_flow_tells_who_ended_how(staff: Client, answered: Campaign) -> None:
    make_participation(answered)
    page = text_of(staff, "results", answered.pk)
    assert "36 people consented, 34 finished; the results rest on 34" in page
    assert "4 of 140 answers are set aside" in page
    assert "partner left" in page


def test_the_toggle_is_kept_in_the_tables(staff: Client, answered: Campaign) -> None:
    rows = text_of(staff, "results-values", answered.pk, "ranking-fluency", rows="all")
    poor = next(row for row in csv.DictReader(io.StringIO(rows)) if row["system"] == "poor")
    assert poor["n"] == "13"


def test_labels_show_ssa(staff: Client) -> None:
    page = text_of(staff, "results", rated.meena().pk)
    assert "good has the highest SSA" in page
    static = text_of(staff, "results", rated.static(contexts=10).pk)
    assert "good has the highest SSA" in static
    assert "Raters agree most on " in static


def test_undefined_agreement_says_why(staff: Client, answered: Campaign) -> None:
    shown = results_page.page(of=answered)
    part = next(part for part in shown.parts if part.key == "agreement")
    assert part.title.startswith("Agreement is not defined")
    assert all(part.frame["why undefined"])


def test_too_little_data_has_tables_and_no_charts(staff: Client) -> None:
    page = text_of(staff, "results", rated.personachat(each=2).pk)
    assert "Not enough data yet (n = 6, fewer than 10)" in page
    assert "<figure" not in page
    assert 'id="ranking-fluency-table"' in page


def test_no_data_says_what_to_do(staff: Client) -> None:
    page = text_of(staff, "results", make_campaign().pk)
    assert "No results yet" in page
    assert "<figure" not in page


def test_ratings_that_cannot_be_analyzed_are_told_with_the_problem(
    staff: Client, answered: Campaign
) -> None:
    bad = Rating.objects.filter(question="fluency").earliest("pk")
    Rating.objects.filter(pk=bad.pk).update(value=9)
    page = text_of(staff, "results", answered.pk)
    assert "cannot be analyzed" in page
    assert "a number from 1 to 5" in page
    told = staff.get(reverse("results-numbers", args=[answered.pk]))
    assert told.status_code == 409
    assert "a number from 1 to 5" in told.json()["problems"][0]


def test_every_report_of_the_folder_is_shown(staff: Client, answered: Campaign) -> None:
    page = text_of(staff, "results", answered.pk)
    assert subjects.readable()
    for name in subjects.readable():
        assert name in page
        shown = text_of(staff, "results-report", answered.pk, name)
        assert ("<table" in shown) != ("Nothing in this report applies" in shown)
        assert ids_on(shown) == []
        for face in ("results-document", "results-notebook"):
            assert f'href="{reverse(face, args=[answered.pk, name])}?' in shown


def test_methods_are_written_from_the_plan(staff: Client, answered: Campaign) -> None:
    shown = results_page.page(of=answered)
    text = " ".join(shown.methods)
    assert "“PERSONA-CHAT evaluation of bots” (Zhang et al. 2018" in text
    assert "The plan is not frozen yet" in text
    assert "judge the fluency of the other speaker" in text
    assert all(
        paragraph in text_of(staff, "results", answered.pk) for paragraph in shown.methods[:1]
    )


@pytest.mark.parametrize(
    "name", ["results-values", "results-report", "results-document", "results-notebook"]
)
@pytest.mark.parametrize("key", ["none"])
def test_what_is_not_there_is_not_found(
    staff: Client, answered: Campaign, name: str, key: str
) -> None:
    assert staff.get(reverse(name, args=[answered.pk, key])).status_code == 404
    assert staff.get(reverse("results", args=[answered.pk + 1])).status_code == 404


def test_names_are_text_on_the_page(staff: Client) -> None:
    made = rated.personachat(each=11, name="<script>alert(1)</script>")
    Rating.objects.filter(question="persona").update(value="</script><b>")
    page = text_of(staff, "results", made.pk)
    assert "<script>alert" not in page
    assert "</script><b>" not in page
