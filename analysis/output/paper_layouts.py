"""Sections in the layout of a paper: one as printed, and both sides in a row."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import pandas as pd

from analysis.conversations.transcripts import OWN, PARTNER
from analysis.reference import reference
from analysis.report import PRINTED, Chart, Section
from analysis.stats.correlation import line
from analysis.tables.schema import RatingTable

ENGAGING = re.compile("engag|enjoy", re.IGNORECASE)
SIDES = {OWN: "model", PARTNER: "human"}


def printed(name: str) -> Section:
    """Return the printed table of that name, with its source and what is odd about it."""
    found = reference(name)
    note = ". ".join(part.rstrip(".") for part in (found.description, found.note) if part)
    return Section(f"{PRINTED}{found.source}", pd.DataFrame(list(found.rows)), f"{note}.")


def both_sides(
    results: pd.DataFrame,
    columns: Mapping[str, str],
    *,
    times: float = 1.0,
    counted: str = "messages",
) -> pd.DataFrame:
    """Return a row per system: each metric of its own messages, then of its partners'.

    `columns` has the column's name for each metric, `counted` what their n is of; as printed,
    people are only "human".
    """
    rows = []
    for system, part in results.groupby("system", sort=True):
        row: dict[str, object] = {"system": system}
        known = {(r["metric"], r["question"]): r["estimate"] for r in part.to_dict("records")}
        for metric, column in columns.items():
            for side, who in SIDES.items():
                value = known.get((metric, side))
                row[f"{column} {who}"] = float("nan") if value is None else times * value
        own = part.loc[part["question"] == OWN, "n"]
        row[counted] = int(own.max()) if len(own) else 0
        rows.append(row)
    return pd.DataFrame(rows).dropna(axis="columns", how="all")


def engagingness(ratings: RatingTable | None) -> pd.Series:
    """Return each system's mean answer to the question of how engaging or enjoyable it was."""
    if ratings is None:
        return pd.Series(dtype=float, name="engagingness")
    is_scale = ratings["level"].isin(["ordinal", "interval"])
    rows = ratings[ratings["question"].str.contains(ENGAGING) & is_scale].assign(
        value=lambda table: table["value"].astype(float)
    )
    return rows.groupby("system")["value"].mean().rename("engagingness")


def with_engagingness(own: pd.DataFrame, ratings: RatingTable | None) -> pd.DataFrame:
    """Return a table of systems with their engagingness, best first, as ConvAI2 prints it."""
    scores = engagingness(ratings)
    if own.empty or not own["system"].isin(scores.index).any():
        return own
    own = own.copy()
    own.insert(1, "engagingness", own["system"].map(scores))
    order = ["engagingness", "system"]
    return own.sort_values(order, ascending=[False, True], ignore_index=True, na_position="last")


def extremes(own: pd.DataFrame, column: str, what: str, *, unit: str = "") -> str:
    """Return a sentence about the systems that have most and least of something."""
    known = own.dropna(subset=[column]) if column in own else own.iloc[:0]
    if known.empty:
        return f"No message of a system to tell {what} from."
    ordered = known.sort_values([column, "system"], ascending=[False, True])
    most, least = ordered.iloc[0], ordered.iloc[-1]
    finding = f"{most['system']} has most {what}: {most[column]:.1f}{unit}"
    if len(ordered) == 1:
        return f"{finding}."
    return (
        f"{finding}; {least['system']} least, {least[column]:.1f}{unit}, of {len(ordered)} systems."
    )


def straight(points: pd.DataFrame, x: str, y: str, *, across: str, up: str) -> Chart:
    """Return the picture of points, one per system, with the straight line through them."""
    rows: list[dict[str, object]] = [
        {"series": "systems", "name": row["system"], "x": row[x], "y": row[y], "joined": False}
        for row in points.to_dict("records")
    ]
    fitted = line(points[x], points[y])
    if fitted.reason is None:
        rows += [
            {"series": "line", "name": "", "x": at, "joined": True}
            | {"y": fitted.intercept + fitted.slope * at}
            for at in (float(points[x].min()), float(points[x].max()))
        ]
    return Chart(kind="plane", rows=rows, axis=across, upright=up)


def sections(own: Iterable[Section], *names: str) -> tuple[Section, ...]:
    """Return one's own tables that have rows, then those printed."""
    return (*(each for each in own if len(each.frame)), *(printed(name) for name in names))
