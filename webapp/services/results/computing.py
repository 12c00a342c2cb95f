"""Computation of the results that are wanted: the only code that stores one.

Runs where no socket is served: in the child that `manage.py compute_results` is.
"""

from __future__ import annotations

import base64
import io
import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from datetime import datetime
from time import perf_counter
from typing import Any

from django.db import transaction

from analysis import BadTable, Report
from analysis.output.references import bibtex
from webapp import clock
from webapp.models import Campaign, StoredResult, Study
from webapp.services.data import csv_format
from webapp.services.data.snapshots import snapshot
from webapp.services.replies import delivery
from webapp.services.results import marks, page, planner, power_plans, scores, stored
from webapp.services.results.sections import Part, stored_part
from webapp.services.results.shown import without_tokenizer
from webapp.services.results.subjects import Subject, subject_of

DECIDED = "every pair of systems is decided"
log = logging.getLogger(__name__)
Made = dict[str, Any]


def compute_wanted(subject: str) -> int:
    """Compute whatever is wanted of a campaign or a study; return how many results were stored."""
    count = 0
    while (row := stored.next_wanted(subject)) is not None:
        count += _compute(row)
    return count


def _compute(row: StoredResult) -> bool:
    if row.name == planner.NAME:
        return _compute_plan(row)
    begun, now = perf_counter(), clock.now()
    try:
        with snapshot():
            of = _subject_row(row.subject)
            found, study = stored.campaigns_of(of)
            marked, last = marks.of(found, study), marks.last_answer(found)
            subject = _read(subject_of(of), row.name)
        content = _made(subject, row.name, row.choice)
    except Exception as problem:  # whatever it is, the page tells it
        log.exception("a result could not be computed: %s %s", row.subject, row.name)
        stored.fail(row, f"{type(problem).__name__} while it was computed; the log has more")
        return False
    is_stored = stored.keep(
        row,
        content,
        marks=marked,
        last_rating=last,
        made_at=now,
        answers=len(page.answers(subject, row.choice)),
        seconds=perf_counter() - begun,
    )
    stop = content.get("stop")
    if is_stored and stop and stop["pauses"] and stop["verdict"] == "decided":
        pause_decided(of.pk, now)
    return is_stored


def pause_decided(campaign: int, now: datetime) -> bool:
    """Pause an open campaign whose pairs are all decided, once: who resumes it is left alone.

    False where nothing was done.
    """
    with transaction.atomic():
        rows = Campaign.objects.filter(pk=campaign, state=Campaign.State.OPEN, decided_at=None)
        if not rows.filter(stop_recruiting=True).update(decided_at=now):
            return False
        row = Campaign.objects.get(pk=campaign)
        return delivery.pause(row, actor="stop rule", reason=DECIDED, now=now)


def _compute_plan(row: StoredResult) -> bool:
    """Answer a planner; the answer stands in a row of its own, which a withdrawal leaves alone."""
    begun, now = perf_counter(), clock.now()
    try:
        power_plans.compute(Campaign.objects.get(pk=row.subject.partition("-")[2]))
    except Exception as problem:  # whatever it is, the page tells it
        log.exception("a plan could not be computed: %s", row.subject)
        stored.fail(row, f"{type(problem).__name__} while it was computed; the log has more")
        return False
    return stored.keep(row, {}, made_at=now, seconds=perf_counter() - begun)


def _subject_row(subject: str) -> Campaign | Study:
    kind, _, pk = subject.partition("-")
    return Study.objects.get(pk=pk) if kind == "study" else Campaign.objects.get(pk=pk)


def _read(subject: Subject, name: str) -> Subject:
    """Return the subject with its messages read: nothing is looked up after the snapshot."""
    if name == "scores":
        return subject
    messages = subject.messages()
    return replace(subject, messages=lambda: messages)


def _made(subject: Subject, name: str, choice: str) -> Made:
    kind, _, report = name.partition("/")
    if kind == "scores":
        stop = scores.stop_looks(subject.record.plan, subject.whole) if subject.record else None
        return {"scores": [asdict(each) for each in scores.of_ratings(subject.whole)], "stop": stop}
    if kind == "page":
        return _page(subject, choice)
    make: Callable[[Subject, str, str], Made] = {"report": _report, "document": _document}[kind]
    try:
        return make(subject, report, choice)
    except page.Unknown:
        return {"unknown": True}
    except BadTable:
        return {"bad": True}  # the results page tells what is wrong


def _page(subject: Subject, choice: str) -> Made:
    shown = page.page(of=subject, choice=choice)
    beside = [] if shown.problems else page.study_reports(study=subject, choice=choice)
    numbers = None if shown.problems else page.numbers(of=subject, choice=choice)
    values = {
        name: value for name, value in vars(shown).items() if name not in {"parts", "reports"}
    }
    return {
        **values,
        "parts": _parts(shown.parts),
        "reports": [[each.name, each.description] for each in shown.reports],
        "beside": [_stored_report(each) for each in beside],
        "numbers": numbers,
    }


def _report(subject: Subject, wanted: str, choice: str) -> Made:
    name, tokenizer = without_tokenizer(wanted)
    found = page.report(of=subject, name=name, choice=choice, tokenizer=tokenizer)
    made: dict[str, Any] = {
        "notebook": page.code_of(found, subject, choice),
        "references": bibtex(found),
        "tokenizers": page.tokenizers_of(name),
    }
    if name == "datasheet" and subject.record is not None:
        made |= page.datasheet_file(subject, choice)
    return {**_stored_report(found), **made}


def _document(subject: Subject, wanted: str, choice: str) -> Made:
    name, tokenizer = without_tokenizer(wanted)
    made = clock.now().date()
    content = page.document(of=subject, name=name, made=made, choice=choice, tokenizer=tokenizer)
    return {"pdf": base64.b64encode(content).decode()}


def _stored_report(report: Report) -> Made:
    names = ("name", "title", "findings", "cautions", "methods")
    return {
        **{name: getattr(report, name) for name in names},
        "parts": _parts(page.sections(report)),
    }


def _parts(parts: tuple[Part, ...]) -> list[Mapping[str, Any]]:
    return [stored_part(each, _csv(each)) for each in parts]


def _csv(part: Part) -> str:
    """Return a table as CSV with all decimals."""
    stream = io.StringIO(newline="")
    columns = [csv_format.guarded(str(column)) for column in part.frame.columns]
    known = part.frame.astype(object).where(part.frame.notna(), None)
    csv_format.write(stream, columns, known.itertuples(index=False))
    return stream.getvalue()
