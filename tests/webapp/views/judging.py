"""Raters at pages, who answer as a test plants it; what comes out is read as staff would."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd
from django.core.management import call_command

from analysis import Report, get_report, read
from tests.webapp.services.people import after, start
from tests.webapp.views.visiting import Visit
from webapp.models import Campaign, Candidate
from webapp.services.rating import submission


@dataclass(frozen=True)
class Asked:
    """A question on a page, with what the page does not show: whose reply it is about.

    number: how many pages the rater had before; keys: of the replies on the page, by system.
    """

    question: str
    context: str
    system: str
    number: int
    keys: Mapping[str, str]


Answer = Callable[[Asked], str | None]


def arrived(campaign: Campaign) -> Visit:
    visit = Visit(campaign)
    visit.join()
    visit.post("start")
    return visit


def asked(page: Any, number: int = 0) -> dict[str, Asked]:
    """Return the questions of a page by the names of their fields."""
    names = [field.name for field in page.context["fields"]]
    prefixes = {name.rpartition(".")[0] for name in names}
    rows = Candidate.objects.filter(key__in=prefixes).select_related("system", "item__context")
    about = {row.key: row for row in rows}
    keys = {row.system.name: row.key for row in rows}
    found = {}
    for name in names:
        prefix, _, question = name.rpartition(".")
        row, any_row = about.get(prefix), next(iter(about.values()))
        context = any_row.item.context
        system = row.system.name if row is not None else ""
        found[name] = Asked(question, context.key if context else "", system, number, keys)
    return found


def judge(campaign: Campaign, answer: Answer) -> Visit:
    """Let somebody answer every page they get."""
    visit, number = arrived(campaign), 0
    page = visit.get()
    while page.context["screen"].name == "rate":
        page = rate(visit, {name: answer(one) for name, one in asked(page, number).items()})
        number += 1
    return visit


def judge_without_pages(campaign: Campaign, answer: Answer) -> None:
    """Let somebody answer as in `judge`, by the service that the pages' forms are sent to."""
    person, number = start(campaign), 0
    while (assignment := submission.current(person)) is not None:
        rows = assignment.item.candidates.select_related("system")
        systems = {row.key: row.system.name for row in rows}
        keys = {name: key for key, name in systems.items()}
        context = assignment.item.context.key if assignment.item.context else ""
        shown = submission.shown_to(assignment)
        answers = {
            f"{about}.{question.name}": answer(
                Asked(question.name, context, systems.get(about, ""), number, keys)
            )
            for about, question in submission.rate_of(person).form_questions(shown)
        }
        sent = {name: value for name, value in answers.items() if value is not None}
        submission.submit(person=person, answers=sent, now=after(60))
        number += 1


def rate(visit: Visit, answers: Mapping[str, str | None]) -> Any:
    """Send a form; an answer that is None is left out."""
    sent = {name: value for name, value in answers.items() if value is not None}
    return visit.post("rate", sent)


def export_of(campaign: Campaign, folder: Path) -> Path:
    path = folder / "export.zip"
    call_command("export", str(campaign.pk), "--out", str(path), stdout=StringIO())
    return path


def report_of(campaign: Campaign, folder: Path, name: str) -> list[pd.DataFrame]:
    """Return the tables of a report of the campaign's export."""
    tables = read(export_of(campaign, folder))
    assert tables.ratings is not None
    report: Report = get_report(name)(tables.ratings)
    return [section.frame for section in report.sections]
