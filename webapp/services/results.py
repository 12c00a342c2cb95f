"""A campaign's results: findings, how many people they rest on, and how they were computed."""

from __future__ import annotations

import inspect
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis import (
    BadTable,
    RatingTable,
    Report,
    Tables,
    cautions,
    get_metric,
    get_report,
    metric_names,
    rating_table,
    records,
    report_names,
)
from analysis.raters import profiles, without_flagged
from analysis.registry import tables_of, tables_read
from analysis.results import run
from webapp.models import Campaign
from webapp.services import computed, findings, sheets, tables
from webapp.services.parts import Part
from webapp.services.plans import protocol_of
from webapp.services.turnout import turnout

__all__ = [
    "CHOICES",
    "BadTable",
    "Page",
    "Unknown",
    "document",
    "numbers",
    "page",
    "report",
    "reports",
    "sections",
    "values",
]
ENOUGH = 10  # rated items below which a chart would say more than the data
CHOICES = {
    "counted": "What counts",
    "unflagged": "Without flagged",
    "careful": "Without flagged raters",
    "all": "With what was set aside",
}
EXPLAINED = {
    "counted": "answers that are not set aside",
    "unflagged": "answers that are neither set aside nor flagged",
    "careful": "answers that are not set aside, of raters whom rater_quality does not flag",
    "all": "all answers, those set aside too",
}
# Metrics whose rows have names of their own.
SEVERAL = {"ssa": ("sensibleness",), "icc": ("icc_1_1",)}
HELD = {"ratings", "messages"}  # the tables that a campaign has
SHOWN = ("metric", "question", "system", "other_system", "estimate", "low", "high", "n", "reason")


class Unknown(LookupError):
    """There is no such table or report of the campaign."""


@dataclass(frozen=True, kw_only=True)
class Page:
    """What the results page shows."""

    campaign: str
    title: str
    choice: str
    answers: int
    raters: int
    items: int
    parts: tuple[Part, ...]
    people: tuple[Part, ...]
    cautions: tuple[str, ...]
    problems: tuple[str, ...]
    methods: tuple[str, ...]
    reports: tuple[str, ...]

    @property
    def has_enough(self) -> bool:
        return self.items >= ENOUGH

    @property
    def rests_on(self) -> str:
        return EXPLAINED[self.choice]


def page(*, campaign: Campaign, choice: str = "counted") -> Page:
    """Return the page for one choice of rows; what is wrong with a table is said on it."""
    whole = tables.ratings(campaign, include_excluded=True)
    ratings = _chosen(whole, choice)
    problems: tuple[str, ...] = ()
    try:
        results = computed.numbers(campaign, ratings)
        found = (*findings.parts(ratings, results), *_everything(results))
    except BadTable as bad:
        found, results, problems = (), pd.DataFrame({"metric": []}), tuple(map(str, bad.problems))
    return Page(
        campaign=campaign.name,
        title=protocol_of(campaign).title,
        choice=choice,
        answers=len(ratings),
        raters=ratings["rater"].nunique(),
        items=ratings["item"].nunique(),
        parts=found,
        people=tuple(turnout(campaign, whole)),
        cautions=tuple(_cautions(ratings)) if not problems and len(ratings) else (),
        problems=problems,
        methods=tuple(_methods(campaign, ratings, results, choice)),
        reports=reports(),
    )


def numbers(*, campaign: Campaign, choice: str = "counted") -> list[dict[str, object]]:
    """Return every number, as `python -m analysis --json` prints them of the export."""
    ratings = _chosen(tables.ratings(campaign, include_excluded=True), choice)
    return records(computed.numbers(campaign, ratings))


def values(*, campaign: Campaign, key: str, choice: str = "counted") -> str:
    """Return one table of the page as CSV, with all decimals."""
    shown = page(campaign=campaign, choice=choice)
    part = next((each for each in (*shown.parts, *shown.people) if each.key == key), None)
    if part is None:
        raise Unknown(key)
    stream = io.StringIO(newline="")
    columns = [sheets.guarded(str(name)) for name in part.frame.columns]
    sheets.write(stream, columns, part.frame.itertuples(index=False))
    return stream.getvalue()


def report(*, campaign: Campaign, name: str, choice: str = "counted") -> Report:
    """Return a named report of the folder on the campaign's ratings."""
    if name not in reports():
        raise Unknown(name)
    ratings = _chosen(tables.ratings(campaign, include_excluded=True), choice)
    wanted = "messages" in tables_read(get_report(name))
    messages = tables.described_messages(campaign) if wanted else None
    given = Tables(ratings=rating_table(ratings), messages=messages)
    found = run(get_report(name), given, {"seed": 0})
    if found is None:
        raise Unknown(name)
    return found


def document(*, campaign: Campaign, name: str, choice: str = "counted") -> bytes:
    """Return a named report as PDF, with the command that makes it of the export."""
    # Only here: what draws takes long to load, and few requests need it.
    from analysis.pdf import Origin, pdf

    command = f"python -m analysis campaign-{campaign.pk}.zip --report {name} --pdf {name}.pdf"
    ways = {"counted": command, "careful": f"{command} --without-flagged"}
    again = ways.get(choice, f"the results page of campaign {campaign.pk}, {EXPLAINED[choice]}")
    return pdf(report(campaign=campaign, name=name, choice=choice), Origin(again))


def reports() -> tuple[str, ...]:
    """Return the reports that read what a campaign has: ratings and messages."""
    return tuple(name for name in report_names() if tables_of(get_report(name)) <= HELD)


def sections(report: Report) -> tuple[Part, ...]:
    """Return a report's tables as parts of a page."""
    return tuple(
        Part(key=f"section-{place}", title=each.title, frame=each.frame, note=each.note)
        for place, each in enumerate(report.sections, start=1)
    )


def _chosen(whole: RatingTable, choice: str) -> RatingTable:
    if choice == "all":
        return whole
    kept = whole[whole["excluded"] == ""]
    kept = kept[kept["flags"] == ""] if choice == "unflagged" else kept
    found = RatingTable(kept.reset_index(drop=True))
    return _careful(found) if choice == "careful" else found


def _careful(ratings: RatingTable) -> RatingTable:
    """Leave out flagged raters; a table that is wrong is left as it is, and told to be."""
    try:
        return without_flagged(ratings, profiles(rating_table(ratings)))
    except BadTable:
        return ratings


def _everything(results: pd.DataFrame) -> Iterator[Part]:
    if len(results):
        columns = [name for name in SHOWN if name in results]
        texts = {
            name: results[name].fillna("") for name in ("other_system", "reason") if name in results
        }
        frame = results.assign(**texts)[columns]
        yield Part(key="numbers", title="Every number", frame=frame, note="As in the JSON file.")


def _cautions(ratings: RatingTable) -> Iterator[str]:
    counts = ratings.groupby("system")["item"].nunique()
    for system, count in counts.items():
        if count < ENOUGH:
            yield f"{system}: not enough data yet (n = {count}, fewer than {ENOUGH})."
    yield from cautions(ratings)


# --- methods ----------------------------------------------------------------------------------


def _methods(
    campaign: Campaign, ratings: RatingTable, results: pd.DataFrame, choice: str
) -> Iterator[str]:
    protocol = protocol_of(campaign)
    changed = (
        f" Departing from it: {', '.join(sorted(campaign.changes))}." if campaign.changes else ""
    )
    yield f"Protocol: {protocol.title} ({protocol.source}).{changed}"
    yield (
        f"{ratings['rater'].nunique()} raters gave {len(ratings)} answers on "
        f"{ratings['item'].nunique()} items and {ratings['system'].nunique()} systems; included "
        f"are {EXPLAINED[choice]}."
    )
    if campaign.plan_hash:
        yield f"The plan was frozen before data collection (SHA-256 {campaign.plan_hash})."
    used: set[Any] = set(results["metric"])
    for name in metric_names():
        if name in used or used & set(SEVERAL.get(name, ())):
            source = inspect.getmodule(get_metric(name))
            yield f"{name}: {' '.join((source.__doc__ or '').split())}" if source else name
