"""A problem reported by a participant, at any step, and what staff do with it (S13)."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from tests.webapp.views.visiting import (
    Visit,
    campaign_of,
    chat_through,
    good_answers,
    rating_visit,
    rows,
)
from webapp import clock
from webapp.models import AuditEntry, Participation, ProblemReport
from webapp.services.data import personal_data
from webapp.services.participation import privacy, reporting

pytestmark = pytest.mark.django_db
WORDS = "My partner asked where I live, twice."


def report(visit: Visit, text: str = WORDS) -> Any:
    return visit.post("problem", {"text": text})


def at_steps() -> dict[str, Visit]:
    """Return somebody at each step, from the page of instructions to the end."""
    reading = Visit(campaign_of())
    reading.join()
    chatting = Visit(campaign_of())
    chatting.join()
    chatting.post("start")
    chat_through(chatting, 1)
    rating, ended = rating_visit(), rating_visit()
    ended.post("rate", good_answers(ended.get()))
    return {"READY": reading, "CHATTING": chatting, "RATING": rating, "ENDED": ended}


def test_a_report_is_taken_at_every_step_and_changes_nothing_else() -> None:
    for step, visit in at_steps().items():
        before, was = rows(), Participation.objects.filter(pk=visit.person.pk).values()[0]
        assert "/problem" in visit.get().content.decode()
        page = report(visit, f"{WORDS} {step}")
        assert page.redirect_chain == [(f"{visit.base}problem?sent=1", 302)]
        assert "have your report" in page.content.decode()
        (row,) = ProblemReport.objects.filter(participation=visit.person)
        assert (row.step, row.text, row.settled_at) == (step, f"{WORDS} {step}", None)
        assert (row.conversation_id is None) == (step == "READY")
        assert rows() == before | {"ProblemReport": before["ProblemReport"] + 1}
        assert Participation.objects.filter(pk=visit.person.pk).values()[0] == was


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "Please write what happened."),
        (" \r\n ", "Please write what happened."),
        ("x" * (reporting.LONGEST + 1), f"has {reporting.LONGEST + 1:,} characters"),
        ("a\0b", "characters that cannot be stored"),
    ],
)
def test_what_cannot_be_taken_says_why_and_stays_in_the_box(text: str, words: str) -> None:
    visit = rating_visit()
    page = report(visit, text)
    assert page.status_code == 422
    assert words.replace(",", "") in page.content.decode().replace(",", "")
    assert page.context["text"] == text
    assert not ProblemReport.objects.exists()


def test_the_longest_report_is_taken_and_a_line_break_counts_once() -> None:
    visit = rating_visit()
    report(visit, "x" * (reporting.LONGEST - 2) + "\r\ny")
    assert len(ProblemReport.objects.get().text) == reporting.LONGEST


def test_the_same_words_are_one_report_and_the_eleventh_is_refused() -> None:
    visit = rating_visit()
    for number in range(reporting.MOST):
        assert report(visit, f"problem {number}").status_code == 200
        assert report(visit, f"problem {number}").status_code == 200
    assert ProblemReport.objects.count() == reporting.MOST
    page = report(visit, "one more")
    assert page.status_code == 422
    assert visit.campaign.contact in page.content.decode()
    assert ProblemReport.objects.count() == reporting.MOST


def test_who_takes_no_part_can_report_nothing() -> None:
    visit, stranger = rating_visit(), Client()
    address = f"{visit.base}problem"
    assert stranger.get(address).status_code == 404
    assert stranger.post(address, {"text": WORDS}).status_code == 404
    assert not ProblemReport.objects.exists()


def test_it_is_in_no_export_but_in_the_persons_own_data_and_goes_with_a_withdrawal(
    tmp_path: Any,
) -> None:
    visit = rating_visit()
    visit.post("rate", good_answers(visit.get()))
    report(visit)
    call_command(
        "export", str(visit.campaign.pk), "--out", str(tmp_path / "e.zip"), stdout=io.StringIO()
    )
    with zipfile.ZipFile(tmp_path / "e.zip") as archive:
        assert not [name for name in archive.namelist() if WORDS.encode() in archive.read(name)]
    assert WORDS in str(personal_data.about(visit.person))
    privacy.withdraw(token=privacy.withdraw_token(visit.person), now=clock.now())
    assert not ProblemReport.objects.exists()


def test_staff_are_alarmed_read_it_and_settle_it_once(staff: Client) -> None:
    visit = rating_visit()
    report(visit, f"{WORDS} <b>twice</b>")
    pk, row = visit.campaign.pk, ProblemReport.objects.get()
    live = staff.get(reverse("live", args=[pk])).content.decode()
    assert "1 report is to be read" in live
    assert reverse("problem-reports", args=[pk]) in live
    assert "a participant reported a problem" in staff.get("/campaigns/").content.decode()
    page = staff.get(reverse("problem-reports", args=[pk])).content.decode()
    assert "twice. &lt;b&gt;twice&lt;/b&gt;" in page
    for _ in range(2):
        staff.post(reverse("settle-report", args=[pk, row.pk]))
    row.refresh_from_db()
    assert row.settled_at is not None
    assert AuditEntry.objects.filter(action="problem settled").count() == 1
    assert "to be read" not in staff.get(reverse("live", args=[pk])).content.decode()
    other = rating_visit()
    report(other)
    foreign = ProblemReport.objects.exclude(pk=row.pk).get()
    assert staff.post(reverse("settle-report", args=[pk, foreign.pk])).status_code == 404
    foreign.refresh_from_db()
    assert foreign.settled_at is None
