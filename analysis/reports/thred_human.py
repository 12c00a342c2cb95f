"""Human judgments in the layout of THRED tables 5, 6 and 9 (Dziri et al. 2019).

Four grades, 3 excellent to 0 bad: the share of each with a 90 % t interval clustered by context
(the paper gives no method), Fleiss' kappa and the mean rating. Side by side, a question of level
"rank" about two systems: wins, losses, and ties. A tie is good where the column `chosen` or a
question `tie` says so, else where that rater graded both replies 2 or more, else bad; that last
step is ours. A column `dataset` tells data sets apart, a column `context` what was replied to;
without it each item is a context of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.metrics.fleiss_kappa import fleiss_kappa
from analysis.output.paper_layouts import sections
from analysis.report import Report, Section
from analysis.stats.between_runs import Spread, over_clusters, over_repeats
from analysis.tables.schema import RatingTable

SIMULATED_AS = ("over_clusters", "over_raters")

GRADES = {3.0: "excellent", 2.0: "good", 1.0: "poor", 0.0: "bad"}
TIES = ("equally good", "equally bad")
OUTCOMES = ("wins", "losses", *TIES)
LEVEL = 0.90
GOOD = 2.0
PAIR = ["dataset", "item", "rater"]


def thred_human(ratings: RatingTable, *, seed: int = 0) -> Report:
    """Return the three tables, above those printed."""
    rows = _with_columns(ratings)
    graded = _graded(rows)
    scale = pd.DataFrame(_shares(graded, seed))
    outcomes = list(_outcomes(rows, graded, seed))
    pairs = pd.DataFrame(
        {name: _percent(cell) if isinstance(cell, Spread) else cell for name, cell in row.items()}
        for row in outcomes
    )
    finding = _finding(scale)
    note = "Percent ± half of a 90 % t interval clustered by context; MER is the mean rating."
    own = [
        Section(finding, scale, note),
        Section("Side by side", pairs, "Percent ± as above."),
        Section("Side by side: mean over the systems met", _means(outcomes), "Percent."),
        Section("Data sets: mean rating over systems", _data_sets(scale)),
    ]
    return Report(
        name="thred_human",
        title="Grades and side-by-side preferences in the layout of THRED",
        findings=(finding,),
        sections=sections(own, "thred_four_scale", "thred_side_by_side", "thred_data_sets"),
    )


def _with_columns(ratings: RatingTable) -> pd.DataFrame:
    """Return the rows with data set, context and the kind of tie, which a table may lack."""
    rows = ratings.assign(
        **{name: "" for name in ("dataset", "context", "chosen") if name not in ratings.columns}
    )
    known = rows["context"].fillna("")
    return rows.assign(context=known.where(known != "", rows["item"]))


def _graded(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the answers to questions whose every answer is one of the four grades."""
    ordinal = rows[rows["level"] == "ordinal"]
    questions = [rows for _, rows in ordinal.groupby(["protocol", "question"]) if _has_grades(rows)]
    chosen = pd.concat(questions) if questions else ordinal.iloc[:0]
    return chosen.assign(value=chosen["value"].astype(float))


def _has_grades(rows: pd.DataFrame) -> bool:
    """Tell whether a question's scale is that of the grades; where none is known, by its values."""
    if {"scale_low", "scale_high"} <= set(rows.columns) and rows["scale_low"].notna().all():
        return bool(
            rows["scale_low"].eq(min(GRADES)).all() & rows["scale_high"].eq(max(GRADES)).all()
        )
    return bool(rows["value"].isin(GRADES).all() and (rows["value"] == min(GRADES)).any())


def _shares(graded: pd.DataFrame, seed: int) -> Iterator[dict[str, object]]:
    for (dataset, system), rows in graded.groupby(["dataset", "system"], sort=True):
        row: dict[str, object] = {"dataset": dataset, "system": system}
        for grade, name in GRADES.items():
            row[name] = _percent(
                over_clusters(rows["value"] == grade, rows["context"], level=LEVEL)
            )
        row["kappa"] = _kappa(rows, seed)
        mean = over_clusters(rows["value"], rows["context"], level=LEVEL)
        yield {**row, "MER": mean.mean, "SD": mean.sd, "ratings": mean.n}


def _outcomes(rows: pd.DataFrame, graded: pd.DataFrame, seed: int) -> Iterator[dict[str, object]]:
    ranks = rows[rows["level"] == "rank"].assign(value=lambda part: part["value"].astype(float))
    keys = [*PAIR, "context", "question", "chosen"]
    columns = [*keys, "system", "value"]
    both = ranks[columns].merge(ranks[columns], on=keys, suffixes=("", " other"))
    both = both[both["system"] != both["system other"]]
    good = _good_ties(rows, graded)
    for names, part in both.groupby(["dataset", "system", "system other"], sort=True):
        tied = part["value"] == part["value other"]
        known = [good.get(key, False) for key in part[PAIR].itertuples(index=False, name=None)]
        is_named = part["chosen"].isin(TIES)
        is_good = part["chosen"].eq(TIES[0]).where(is_named, pd.Series(known, index=part.index))
        marks = (
            part["value"] < part["value other"],
            part["value"] > part["value other"],
            tied & is_good,
            tied & ~is_good,
        )
        row: dict[str, object] = dict(zip(("dataset", "system", "against"), names, strict=True))
        for name, mark in zip(OUTCOMES, marks, strict=True):
            row[name] = over_clusters(mark, part["context"], level=LEVEL)
        marked = sum((k * mark for k, mark in enumerate(marks)), pd.Series(0, index=part.index))
        voted = part.assign(value=marked.astype(str), protocol="", level="nominal", campaign="")
        yield {**row, "kappa": _kappa(voted, seed), "judgments": len(part)}


def _good_ties(rows: pd.DataFrame, graded: pd.DataFrame) -> dict[tuple[str, ...], bool]:
    ties = rows[rows["question"].eq("tie") & rows["value"].isin(TIES)]
    least = graded.groupby(PAIR)["value"].min() >= GOOD
    known = dict(zip(map(tuple, least.index), least.astype(bool), strict=True))
    named = zip(ties[PAIR].itertuples(index=False, name=None), ties["value"], strict=True)
    return known | {key: value == TIES[0] for key, value in named}


def _means(outcomes: list[dict[str, object]]) -> pd.DataFrame:
    """Return wins and good ties of each system that met several, averaged over those."""
    shares = pd.DataFrame(outcomes, columns=["dataset", "system", OUTCOMES[0], TIES[0]])
    for name in (OUTCOMES[0], TIES[0]):
        shares[name] = [100 * spread.mean for spread in shares[name]]
    grouped = shares.groupby(["dataset", "system"], as_index=False)
    found = grouped.mean().assign(systems=grouped.size()["size"])
    return found[found["systems"] > 1].reset_index(drop=True)


def _kappa(rows: pd.DataFrame, seed: int) -> float:
    one = rows.assign(question="q", system="s", protocol="p", level="nominal", campaign="c")
    one = one.assign(value=one["value"].astype(str))
    found = fleiss_kappa(RatingTable(one), seed=seed)
    return float(found["estimate"].iloc[0]) if len(found) else float("nan")


def _percent(found: Spread) -> str:
    low, high = found.interval
    half = "" if low != low else f" ± {50 * (high - low):.1f}"
    return f"{100 * found.mean:.1f}{half}"


def _data_sets(scale: pd.DataFrame) -> pd.DataFrame:
    if scale.empty or scale["dataset"].nunique() < 2:
        return pd.DataFrame()
    rows = []
    for dataset, part in scale.groupby("dataset", sort=True):
        found = over_repeats(part["MER"].sort_values())
        rows.append((dataset, found.mean, found.sd, found.n))
    return pd.DataFrame(rows, columns=["dataset", "MER", "SD over systems", "systems"])


def _finding(scale: pd.DataFrame) -> str:
    if scale.empty:
        return "No question is answered by grades from 0 to 3."
    best = scale.iloc[int(scale["MER"].argmax())]
    return f"{best['system']} has the highest mean rating: {best['MER']:.2f} of 3."
