"""Blind judges beside the people who chatted (ConvAI2, Dinan et al. 2019, table 9).

A protocol with "blind" in its name holds the scores of judges who read conversations without
knowing the system; other protocols hold those of the people who had them. Means are over the
conversations that the blind judges saw, so that both are of the same ones. What the judges wrote is
listed, to be read for themes; `convai2_questions` tests the one that the paper found.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.output.paper_layouts import ENGAGING, sections
from analysis.report import Report, Section
from analysis.stats.significance import paired_t_test
from analysis.tables.schema import TEXT, RatingTable

SIMULATED_AS = ("convai2_blind p",)

WORKER = "the people who chatted"
NAMED = 8  # letters of a pseudonym, which is as good as a name among a few judges
OF_STUDIES = True


def convai2_blind(ratings: RatingTable) -> Report:
    """Return a row per judge with each system's mean, above the printed table."""
    workers, judges = _split(ratings)
    own: list[Section] = []
    finding = "No conversation has a score from the person who chatted and one from a blind judge."
    if len(judges) and len(workers):
        table = pd.DataFrame(_means(workers, judges))
        finding = _finding(table)
        gaps = pd.DataFrame(_gaps(workers, judges))
        own = [
            Section(finding, table, "Mean over the conversations that blind judges saw."),
            Section("Difference of the blind score", gaps, "Paired t of the same conversations."),
            Section("Comments of the blind judges", _comments(ratings), "In their own words."),
        ]
    return Report(
        name="convai2_blind",
        title="Blind judges and the people who chatted",
        findings=(finding,),
        sections=sections(own, "convai2_blind"),
    )


def _split(ratings: RatingTable) -> tuple[pd.DataFrame, pd.DataFrame]:
    of = ratings["conversation"] if "conversation" in ratings.columns else ratings["item"]
    rows = ratings.assign(conversation=of.astype(str))
    rows = rows[rows["level"].isin(["ordinal", "interval"])]
    rows = rows.assign(value=rows["value"].astype(float))
    is_blind = rows["protocol"].str.contains("blind", case=False)
    judges, workers = rows[is_blind], rows[~is_blind]
    engaging = workers["question"].str.contains(ENGAGING)
    workers = workers[engaging] if engaging.any() else workers
    both = set(judges["conversation"]) & set(workers["conversation"])
    kept = [pd.DataFrame(part[part["conversation"].isin(both)]) for part in (workers, judges)]
    return kept[0], kept[1]


def _comments(ratings: RatingTable) -> pd.DataFrame:
    is_blind = ratings["protocol"].str.contains("blind", case=False)
    rows = ratings[is_blind & (ratings["level"] == TEXT)]
    columns = {"system": "system", "rater": "judge", "value": "comment"}
    found = rows[list(columns)].rename(columns=columns)
    found["judge"] = found["judge"].astype(str).str[:NAMED]
    return found.sort_values(["system", "judge"], kind="stable", ignore_index=True)


def _means(workers: pd.DataFrame, judges: pd.DataFrame) -> Iterator[dict[str, object]]:
    yield _row(WORKER, workers)
    for judge, rows in judges.groupby("rater", sort=True):
        yield _row(f"blind: {str(judge)[:NAMED]}", rows)


def _row(judge: str, rows: pd.DataFrame) -> dict[str, object]:
    means = {str(name): part["value"].mean() for name, part in rows.groupby("system")}
    return {"judge": judge, **means, "conversations": rows["conversation"].nunique()}


def _gaps(workers: pd.DataFrame, judges: pd.DataFrame) -> Iterator[dict[str, object]]:
    for system, rows in judges.groupby("system", sort=True):
        blind = rows.groupby("conversation")["value"].mean()
        mine = workers[workers["system"] == system].groupby("conversation")["value"].mean()
        both = blind.index.intersection(mine.index)
        tested = paired_t_test(blind[both], mine[both])
        yield {
            "system": system,
            "blind less workers": tested.effect,
            "t": tested.statistic,
            "p": tested.p,
            "reason": tested.reason,
        }


def _finding(table: pd.DataFrame) -> str:
    systems = [name for name in table.columns if name not in ("judge", "conversations")]
    orders = {tuple(row[systems].astype(float).sort_values().index) for _, row in table.iterrows()}
    same = "All judges put" if len(orders) == 1 else "Not all judges put"
    return f"{same} the {len(systems)} systems in the same order."
