"""What is downloaded from the results pages: a report as PDF and notebook, its values, the data."""

from __future__ import annotations

import io
import json
import zipfile
from email.utils import parsedate_to_datetime
from pathlib import Path

import pypdf
import pytest
from django.test import Client
from django.urls import reverse

from analysis.__main__ import main
from tests.webapp.views.visiting import text_of
from webapp.models import AuditEntry, Campaign
from webapp.services.campaign import launch
from webapp.services.data import exports
from webapp.services.results import page as results_page

pytestmark = pytest.mark.django_db


def test_a_report_is_downloaded_as_pdf(staff: Client, answered: Campaign) -> None:
    address = reverse("results-document", args=[answered.pk, "summary"])
    assert f'href="{address}?rows=careful"' in text_of(
        staff, "results", answered.pk, rows="careful"
    )
    response = staff.get(address, {"rows": "careful"})
    assert response.headers["Content-Type"] == "application/pdf"
    pages = pypdf.PdfReader(io.BytesIO(response.content)).pages
    text = " ".join(" ".join(page.extract_text() for page in pages).split())
    shown = results_page.report(of=answered, name="summary", choice="careful")
    assert all(finding in text for finding in shown.findings)
    assert f"campaign-{answered.pk}.zip --report summary --pdf summary.pdf --without" in text


def test_the_cover_of_a_pdf_tells_campaign_author_and_date(
    staff: Client, answered: Campaign
) -> None:
    answered.owner.first_name, answered.owner.last_name = "Ada", "Lovelace"
    answered.owner.save()
    response = staff.get(reverse("results-document", args=[answered.pk, "summary"]))
    cover = pypdf.PdfReader(io.BytesIO(response.content)).pages[0].extract_text()
    made = parsedate_to_datetime(response.headers["Last-Modified"]).date()
    for text in ("Ada Lovelace", answered.name, made.isoformat()):
        assert text in " ".join(cover.split()), text


def test_a_report_is_downloaded_as_a_notebook_of_the_export(
    staff: Client, answered: Campaign
) -> None:
    address = reverse("results-notebook", args=[answered.pk, "summary"])
    assert f'href="{address}?rows=careful"' in text_of(
        staff, "results", answered.pk, rows="careful"
    )
    response = staff.get(address, {"rows": "careful"})
    assert f'campaign-{answered.pk}-summary.ipynb"' in response.headers["Content-Disposition"]
    made = json.loads(response.content)
    code = "".join("".join(cell["source"]) for cell in made["cells"])
    assert f"analysis.read_all(['campaign-{answered.pk}.zip'])" in code
    assert "analysis.without_flagged(" in code


def test_the_values_of_a_named_report_are_downloaded(staff: Client, answered: Campaign) -> None:
    text = text_of(staff, "results-values", answered.pk, "heds-2", report="datasheet")
    assert text.splitlines()[0] == "question,answer"
    page = text_of(staff, "results-report", answered.pk, "datasheet")
    assert "results/heds-2.csv?rows=counted&amp;report=datasheet" in page


def test_the_data_is_downloaded_by_a_button_and_logged(staff: Client, answered: Campaign) -> None:
    address = reverse("results-export", args=[answered.pk])
    assert staff.get(address).status_code == 405
    response = staff.post(address)
    assert response.headers["Content-Disposition"].endswith(f'campaign-{answered.pk}.zip"')
    content = response.getvalue()
    assert int(response.headers["Content-Length"]) == len(content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert "manifest.json" in archive.namelist()
    entry = AuditEntry.objects.latest("number")
    assert (entry.actor, entry.action) == ("ada", "exported")


def test_references_are_downloaded_as_bibtex(staff: Client, answered: Campaign) -> None:
    response = staff.get(reverse("results-references", args=[answered.pk, "summary"]))
    assert response.headers["Content-Disposition"].endswith('-summary.bib"')
    assert "@article{holm-1979," in response.content.decode()
    assert staff.get(reverse("results-references", args=[answered.pk, "none"])).status_code == 404


def test_the_datasheet_is_downloaded_as_the_form_loads_it(
    staff: Client, answered: Campaign
) -> None:
    address = reverse("results-heds", args=[answered.pk])
    page = text_of(staff, "results", answered.pk, rows="unflagged")
    assert f'href="{address}?rows=unflagged"' in page
    response = staff.get(address, {"rows": "unflagged"})
    assert response.headers["Content-Type"] == "application/json"
    assert f'campaign-{answered.pk}-heds.json"' in response.headers["Content-Disposition"]
    file = json.loads(response.content)
    raters = "heds-sample_evaluators_design-evaluators-number_of_evaluators"
    counted = json.loads(staff.get(address).content)
    assert int(file[raters]["data"][""]) == int(counted[raters]["data"][""]) - 1  # the flagged one
    questions = "heds-criteria-criterion-response_elicitation-verbatim_question"
    assert set(file[questions]["data"]) == set(file["heds-criteria-criterion"]["control"])
    left = text_of(staff, "results-values", answered.pk, "heds-open", report="datasheet")
    assert '5.1,,"ethics committee that approved, or that none did",fill in' in left


def test_the_export_has_the_datasheet_of_the_answers_that_count(
    staff: Client, answered: Campaign, tmp_path: Path
) -> None:
    response = staff.post(reverse("results-export", args=[answered.pk]))
    export, out = tmp_path / "export.zip", tmp_path / "heds.json"
    export.write_bytes(response.getvalue())
    with zipfile.ZipFile(export) as archive:
        exported = json.loads(archive.read("heds.json"))
    assert exported == json.loads(staff.get(reverse("results-heds", args=[answered.pk])).content)
    answered.plan = launch.plan_of(answered)  # which an export of a draft does not have
    answered.save()
    exports.write_to(campaign=answered, path=export)
    assert main([str(export), "--report", "datasheet", "--heds", str(out)]) == 0
    assert exported == json.loads(out.read_text("utf-8"))
