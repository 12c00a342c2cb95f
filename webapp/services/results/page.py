"""Results of a campaign or a study: findings, what they rest on, and how they were computed."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from analysis import (
    BadTable,
    RatingTable,
    Report,
    Tables,
    get_report,
    rating_table,
    records,
)
from analysis.output.all_metrics import run
from analysis.output.notebook import NotebookRecipe, notebook
from analysis.output.references import bibtex
from analysis.output.summary import composed
from analysis.registry import of_studies, tables_read
from analysis.tables.tidy import tidy
from webapp.services.data import csv_format
from webapp.services.results import cached
from webapp.services.results import sections as results_sections
from webapp.services.results.sections import Part
from webapp.services.results.selection import EXPLAINED, chosen
from webapp.services.results.subjects import Evaluated, Subject, subject_of

__all__ = [
    "BadTable",
    "ResultsPage",
    "Unknown",
    "bibliography",
    "code",
    "document",
    "numbers",
    "page",
    "report",
    "sections",
    "study_reports",
    "values",
]
ENOUGH = 10  # rated items below which a chart would say more than the data
SHOWN = ("metric", "question", "system", "other_system", "estimate", "low", "high", "n", "reason")


class Unknown(LookupError):
    """There is no such table or report of these ratings."""


@dataclass(frozen=True)
class Named:
    """A report of the folder, and its description."""

    name: str
    description: str


@dataclass(frozen=True, kw_only=True)
class ResultsPage:
    """Content of the results page."""

    campaign: str
    title: str
    choice: str
    answers: int
    raters: int
    items: int
    findings: tuple[str, ...]
    parts: tuple[Part, ...]
    cautions: tuple[str, ...]
    problems: tuple[str, ...]
    methods: tuple[str, ...]
    reports: tuple[Named, ...]

    @property
    def leads(self) -> list[tuple[str, str]]:
        """The findings, each with the key of its part; the first stands above them."""
        keys = {f"{part.title}.": part.key for part in self.parts}
        return [(each, keys.get(each, "")) for each in self.findings[1:]]

    @property
    def has_enough(self) -> bool:
        return self.items >= ENOUGH

    @property
    def rests_on(self) -> str:
        return EXPLAINED[self.choice]


def page(*, of: Evaluated, choice: str = "counted") -> ResultsPage:
    """Return the page for one choice of rows; what is wrong with a table is said on it."""
    subject = subject_of(of)
    ratings = chosen(subject.whole, choice)
    problems: tuple[str, ...] = ()
    try:
        results = cached.numbers(subject.messages(), ratings)
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


def numbers(*, of: Evaluated, choice: str = "counted") -> list[dict[str, object]]:
    """Return every number, as `python -m analysis --json` prints them of the export."""
    subject = subject_of(of)
    return records(cached.numbers(subject.messages(), chosen(subject.whole, choice)))


def values(*, of: Evaluated, key: str, choice: str = "counted", name: str = "") -> str:
    """Return one table of the page, or of a named report, as CSV with all decimals."""
    if name:
        shown = sections(report(of=of, name=name, choice=choice))
    else:
        shown = page(of=of, choice=choice).parts
    part = next((each for each in shown if each.key == key), None)
    if part is None:
        raise Unknown(key)
    stream = io.StringIO(newline="")
    columns = [csv_format.guarded(str(column)) for column in part.frame.columns]
    csv_format.write(stream, columns, part.frame.itertuples(index=False))
    return stream.getvalue()


def report(*, of: Evaluated, name: str, choice: str = "counted") -> Report:
    """Return a named report of the folder on the ratings of a campaign or a study."""
    return _report(subject_of(of), name, choice)


def _report(subject: Subject, name: str, choice: str) -> Report:
    if name not in subject.reports:
        raise Unknown(name)
    ratings = rating_table(chosen(subject.whole, choice))
    wanted = "messages" in tables_read(get_report(name))
    messages = subject.messages() if wanted else None
    read = Tables(ratings=ratings, messages=messages, study=subject.record)
    found = run(get_report(name), read, {"seed": 0})
    if found is None:
        raise Unknown(name)
    return found


def study_reports(*, study: Evaluated, choice: str = "counted") -> list[Report]:
    """Return the reports that are of several campaigns, where these say something."""
    subject = subject_of(study)
    if subject.whole.empty:
        return []
    found = (_report(subject, name, choice) for name in of_studies())
    return [each for each in found if not all(section.is_printed for section in each.sections)]


def document(*, of: Evaluated, name: str, choice: str = "counted") -> bytes:
    """Return a named report as PDF, with the command that makes it of the export."""
    # Only here: what draws takes long to load, and few requests need it.
    from analysis.output.pdf import Origin, pdf

    subject = subject_of(of)
    command = f"python -m analysis {subject.file}.zip --report {name} --pdf {name}.pdf"
    ways = {"counted": command, "careful": f"{command} --without-flagged"}
    again = ways.get(choice, f"the results page of {subject.words}, {EXPLAINED[choice]}")
    return pdf(_report(subject, name, choice), Origin(again))


def bibliography(*, of: Evaluated, name: str, choice: str = "counted") -> str:
    """Return what a named report cites, as BibTeX."""
    return bibtex(_report(subject_of(of), name, choice))


def code(*, of: Evaluated, name: str, choice: str = "counted") -> str:
    """Return a notebook that makes a named report again from the export."""
    subject = subject_of(of)
    recipe = NotebookRecipe(
        files=[Path(f"{subject.file}.zip")],
        options={"seed": 0},
        read={},
        without_flagged=choice == "careful",
    )
    return notebook(_report(subject, name, choice), recipe)


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
