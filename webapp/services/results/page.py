"""A campaign's results: findings, how many people they rest on, and how they were computed."""

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
    report_names,
)
from analysis.output.all_metrics import run
from analysis.output.notebook import NotebookRecipe, notebook
from analysis.output.summary import composed
from analysis.registry import tables_of, tables_read
from analysis.tables.tidy import tidy
from webapp.models import Campaign
from webapp.services.data import csv_format, tables
from webapp.services.data.study_record import study
from webapp.services.results import cached
from webapp.services.results import sections as results_sections
from webapp.services.results.sections import Part
from webapp.services.results.selection import EXPLAINED, chosen
from webapp.services.rules.access import AnyCampaign, row_of
from webapp.services.rules.protocols import protocol_of

__all__ = [
    "BadTable",
    "ResultsPage",
    "Unknown",
    "code",
    "document",
    "numbers",
    "page",
    "report",
    "reports",
    "sections",
    "values",
]
ENOUGH = 10  # rated items below which a chart would say more than the data
HELD = {"ratings", "messages"}  # the tables that a campaign has
SHOWN = ("metric", "question", "system", "other_system", "estimate", "low", "high", "n", "reason")


class Unknown(LookupError):
    """There is no such table or report of the campaign."""


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


def page(*, campaign: AnyCampaign, choice: str = "counted") -> ResultsPage:
    """Return the page for one choice of rows; what is wrong with a table is said on it."""
    campaign = row_of(campaign)
    whole = tables.ratings(campaign, include_excluded=True)
    ratings = chosen(whole, choice)
    problems: tuple[str, ...] = ()
    try:
        results = cached.numbers(campaign, ratings)
    except BadTable as bad:
        results, problems = tidy("", ()), tuple(map(str, bad.problems))
    report = _summary(campaign, whole, ratings, results, problems)
    return ResultsPage(
        campaign=campaign.name,
        title=protocol_of(campaign).title,
        choice=choice,
        answers=len(ratings),
        raters=ratings["rater"].nunique(),
        items=ratings["item"].nunique(),
        findings=report.findings,
        parts=(*sections(report), *_everything(results)),
        cautions=(*_early(ratings), *report.cautions) if len(ratings) else (),
        problems=problems,
        methods=report.methods,
        reports=tuple(Named(name, _description(name)) for name in reports()),
    )


def _summary(
    campaign: Campaign,
    whole: RatingTable,
    ratings: RatingTable,
    results: pd.DataFrame,
    problems: tuple[str, ...],
) -> Report:
    """Return the summary; of a table that is wrong, only who took part."""
    about = study(campaign, whole)
    if not problems:
        return composed(ratings, results, about)
    nothing = RatingTable(ratings.iloc[:0])
    return replace(composed(nothing, results, about), findings=())


def numbers(*, campaign: AnyCampaign, choice: str = "counted") -> list[dict[str, object]]:
    """Return every number, as `python -m analysis --json` prints them of the export."""
    campaign = row_of(campaign)
    ratings = chosen(tables.ratings(campaign, include_excluded=True), choice)
    return records(cached.numbers(campaign, ratings))


def values(*, campaign: AnyCampaign, key: str, choice: str = "counted", name: str = "") -> str:
    """Return one table of the page, or of a named report, as CSV with all decimals."""
    campaign = row_of(campaign)
    if name:
        shown = sections(report(campaign=campaign, name=name, choice=choice))
    else:
        shown = page(campaign=campaign, choice=choice).parts
    part = next((each for each in shown if each.key == key), None)
    if part is None:
        raise Unknown(key)
    stream = io.StringIO(newline="")
    columns = [csv_format.guarded(str(column)) for column in part.frame.columns]
    csv_format.write(stream, columns, part.frame.itertuples(index=False))
    return stream.getvalue()


def report(*, campaign: AnyCampaign, name: str, choice: str = "counted") -> Report:
    """Return a named report of the folder on the campaign's ratings."""
    campaign = row_of(campaign)
    if name not in reports():
        raise Unknown(name)
    whole = tables.ratings(campaign, include_excluded=True)
    ratings = rating_table(chosen(whole, choice))
    wanted = "messages" in tables_read(get_report(name))
    messages = tables.described_messages(campaign) if wanted else None
    read = Tables(ratings=ratings, messages=messages, study=study(campaign, whole))
    found = run(get_report(name), read, {"seed": 0})
    if found is None:
        raise Unknown(name)
    return found


def document(*, campaign: AnyCampaign, name: str, choice: str = "counted") -> bytes:
    """Return a named report as PDF, with the command that makes it of the export."""
    # Only here: what draws takes long to load, and few requests need it.
    campaign = row_of(campaign)
    from analysis.output.pdf import Origin, pdf

    command = f"python -m analysis campaign-{campaign.pk}.zip --report {name} --pdf {name}.pdf"
    ways = {"counted": command, "careful": f"{command} --without-flagged"}
    again = ways.get(choice, f"the results page of campaign {campaign.pk}, {EXPLAINED[choice]}")
    return pdf(report(campaign=campaign, name=name, choice=choice), Origin(again))


def code(*, campaign: AnyCampaign, name: str, choice: str = "counted") -> str:
    """Return a notebook that makes a named report again from the campaign's export."""
    campaign = row_of(campaign)
    recipe = NotebookRecipe(
        files=[Path(f"{tables.name_of(campaign)}.zip")],
        options={"seed": 0},
        read={},
        without_flagged=choice == "careful",
    )
    return notebook(report(campaign=campaign, name=name, choice=choice), recipe)


def reports() -> tuple[str, ...]:
    """Return the reports that read what a campaign has: ratings and messages."""
    return tuple(name for name in report_names() if tables_of(get_report(name)) <= HELD)


def sections(report: Report) -> tuple[Part, ...]:
    """Return a report's tables as parts of a page."""
    return tuple(
        results_sections.of(each, number) for number, each in enumerate(report.sections, start=1)
    )


def _description(name: str) -> str:
    """Return the first line of a report's file, which describes it."""
    module = sys.modules[get_report(name).__module__]
    return (module.__doc__ or "").split("\n\n")[0].replace("\n", " ").strip().rstrip(".")


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
