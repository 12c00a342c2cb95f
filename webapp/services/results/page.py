"""Results of a campaign or a study: findings, what they rest on, and how they were computed.

Apart because `computing` stores results, and this makes them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

import pandas as pd

from analysis import (
    BadOption,
    BadTable,
    RatingTable,
    Report,
    Tables,
    get_report,
    rating_table,
    records,
)
from analysis.output import heds
from analysis.output.all_metrics import run
from analysis.output.notebook import NotebookRecipe, notebook
from analysis.output.summary import composed
from analysis.raters.raters import planned_control
from analysis.registry import of_studies, options_of, tables_read
from analysis.scores.allocation import with_losses
from analysis.tables.tidy import tidy
from analysis.text import tokenizers
from webapp.services.results import cached
from webapp.services.results import sections as results_sections
from webapp.services.results.sections import Part
from webapp.services.results.selection import chosen
from webapp.services.results.shown import ENOUGH, EXPLAINED, Named, ResultsPage
from webapp.services.results.subjects import Evaluated, Subject, subject_of

__all__ = [
    "BadTable",
    "ResultsPage",
    "Unknown",
    "answers",
    "code_of",
    "datasheet_file",
    "document",
    "numbers",
    "page",
    "report",
    "sections",
    "study_reports",
    "tokenizers_of",
]
SHOWN = ("metric", "question", "system", "other_system", "estimate", "low", "high", "n", "reason")


class Unknown(LookupError):
    """There is no such table or report of these ratings."""


Of = Evaluated | Subject


def page(*, of: Of, choice: str = "counted") -> ResultsPage[Part]:
    """Return the page for one choice of rows; what is wrong with a table is said on it."""
    subject = subject_of(of)
    ratings = answers(subject, choice)
    problems: tuple[str, ...] = ()
    try:
        results = cached.numbers(subject.messages(), ratings, control=_control(subject, ratings))
    except BadTable as bad:
        results, problems = tidy("", ()), tuple(map(str, bad.problems))
    report = _summary(subject, ratings, results, problems)
    return ResultsPage(
        campaign=subject.name,
        title=subject.title,
        choice=choice,
        answers=len(ratings),
        raters=ratings["rater"].nunique(),
        items=len(ratings[["campaign", "item"]].drop_duplicates()),
        findings=report.findings,
        parts=(*_phases(subject), *sections(report), *_everything(results)),
        cautions=(*_early(ratings), *report.cautions) if len(ratings) else (),
        problems=problems,
        methods=report.methods,
        reports=tuple(map(_named, subject.reports)),
    )


def _summary(
    subject: Subject,
    ratings: RatingTable,
    results: pd.DataFrame,
    problems: tuple[str, ...],
) -> Report:
    """Return the summary; of a table that is wrong, only who took part."""
    if not problems:
        return composed(ratings, results, subject.record)
    nothing = RatingTable(ratings.iloc[:0])
    return replace(composed(nothing, results, subject.record), findings=())


def numbers(*, of: Of, choice: str = "counted") -> list[dict[str, object]]:
    """Return every number, as `python -m analysis --json` prints them of the export."""
    subject = subject_of(of)
    ratings = answers(subject, choice)
    control = _control(subject, ratings)
    return records(cached.numbers(subject.messages(), ratings, control=control))


def answers(subject: Subject, choice: str) -> RatingTable:
    """Return the answers of a subject that a choice is of, with what its systems lost."""
    return with_losses(chosen(subject.whole, choice, subject.record), subject.record)


def _control(subject: Subject, ratings: RatingTable) -> str | None:
    return planned_control(ratings, subject.record)


def report(*, of: Of, name: str, choice: str = "counted", tokenizer: str = "") -> Report:
    """Return a named report of the folder on the ratings of a campaign or a study.

    `tokenizer` is what words are counted by, in place of what the report's paper counts.
    """
    return _report(subject_of(of), name, choice, tokenizer)


def tokenizers_of(name: str) -> list[str]:
    """Return the tokenizers that a report can count words by, of those that are installed."""
    if "tokenizer" not in options_of(get_report(name)):
        return []
    return [each for each in tokenizers.NAMES if _is_installed(each)]


def _is_installed(tokenizer: str) -> bool:
    try:
        tokenizers.tokenizer(tokenizer)
    except BadOption:
        return False
    return True


def _report(subject: Subject, name: str, choice: str, tokenizer: str = "") -> Report:
    if name not in subject.reports or (tokenizer and tokenizer not in tokenizers_of(name)):
        raise Unknown(name)
    ratings = rating_table(answers(subject, choice))
    wanted = "messages" in tables_read(get_report(name))
    messages = subject.messages() if wanted else None
    read = Tables(ratings=ratings, messages=messages, study=subject.record)
    options: dict[str, object] = {"seed": 0, "control": _control(subject, ratings)}
    if tokenizer:
        options["tokenizer"] = tokenizers.tokenizer(tokenizer)
    found = run(get_report(name), read, options)
    if found is None:
        raise Unknown(name)
    return found


def study_reports(*, study: Of, choice: str = "counted") -> list[Report]:
    """Return the reports that are of several campaigns, where these say something."""
    subject = subject_of(study)
    if subject.record is not None or subject.whole.empty:
        return []
    found = (_report(subject, name, choice) for name in of_studies())
    return [each for each in found if not all(section.is_printed for section in each.sections)]


def document(
    *, of: Of, name: str, made: date, choice: str = "counted", tokenizer: str = ""
) -> bytes:
    """Return a named report as PDF, with the command that makes it of the export.

    Its cover names the campaign or study, the owner as its author, and the day it was `made`.
    """
    # Only here: what draws takes long to load, and few requests need it.
    from analysis.output.pdf import Origin, pdf

    subject = subject_of(of)
    counted = f" --tokenizer {tokenizer}" if tokenizer else ""
    command = f"python -m analysis {subject.file}.zip --report {name}{counted} --pdf {name}.pdf"
    ways = {"counted": command, "careful": f"{command} --without-flagged"}
    again = ways.get(choice, f"the results page of {subject.words}, {EXPLAINED[choice]}")
    found = _report(subject, name, choice, tokenizer)
    kind = "Campaign" if subject.phases is None else "Campaigns of study"
    covered = replace(found, about=((kind, subject.name), *found.about))
    return pdf(covered, Origin(again, made=made, author=subject.author))


def datasheet_file(subject: Subject, choice: str) -> dict[str, object]:
    """Return a campaign's datasheet as the file that the form of HEDS 3.0 loads.

    `heds_known` is what Parley says by itself, `heds_own` what the researcher says, `heds_counts`
    how many questions of how many have an answer.
    """
    ratings, record = rating_table(answers(subject, choice)), subject.record
    return {
        "heds": heds.written(heds.heds(ratings, record)),
        "heds_known": heds.known(ratings, record),
        "heds_counts": heds.counts(ratings, record),
        "heds_own": {} if record is None else record.datasheet,
    }


def code_of(report: Report, subject: Subject, choice: str) -> str:
    """Return a notebook that makes a named report again from the export."""
    control = _control(subject, answers(subject, choice))
    recipe = NotebookRecipe(
        files=[Path(f"{subject.file}.zip")],
        options={"seed": 0} | ({"control": control} if control else {}),
        read={},
        without_flagged=choice == "careful",
    )
    return notebook(report, recipe)


def sections(report: Report) -> tuple[Part, ...]:
    """Return a report's tables as parts of a page."""
    return tuple(
        results_sections.of(each, number) for number, each in enumerate(report.sections, start=1)
    )


def _named(name: str) -> Named:
    return Named(name, _description(name))


def _description(name: str) -> str:
    """Return the first line of a report's file, which describes it."""
    module = sys.modules[get_report(name).__module__]
    return (module.__doc__ or "").split("\n\n")[0].replace("\n", " ").strip().rstrip(".")


def _phases(subject: Subject) -> Iterator[Part]:
    if subject.phases is not None:
        note = "Who withdrew is not counted; answers are those that are not set aside."
        yield Part(key="phases", title="The phases", frame=subject.phases, note=note)


def _everything(results: pd.DataFrame) -> Iterator[Part]:
    if len(results):
        columns = [name for name in SHOWN if name in results]
        texts = {
            name: results[name].fillna("") for name in ("other_system", "reason") if name in results
        }
        frame = results.assign(**texts)[columns]
        note = "As in the JSON file."
        yield Part(key="numbers", title="Every number", frame=frame, note=note, mixed=True)


def _early(ratings: RatingTable) -> Iterator[str]:
    counts = ratings.groupby("system")["item"].nunique()
    for system, count in counts.items():
        if count < ENOUGH:
            yield f"{system}: not enough data yet (n = {count}, fewer than {ENOUGH})."
