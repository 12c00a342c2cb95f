"""Calibration report: raw beside calibrated scores, their orders, raters' use of the scale.

As ConvAI2 (Dinan et al. 2019, figure 4) sets both beside each other, with the calibration of
Kulikov et al. 2018; beside it the variances learned from the ratings and the cumulative link model.
Scale use is counted, not modeled: mean, spread and share of the scale's ends, per rater.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.metrics.calibrated_score import calibrated_score
from analysis.metrics.calibrated_score_learned import calibrated_score_learned
from analysis.metrics.likert import likert
from analysis.metrics.ordinal_score import ordinal_score
from analysis.report import Chart, Report, Section, dots
from analysis.scores.cautions import cautions
from analysis.scores.question_ratings import QuestionRatings, questions
from analysis.scores.severity import fit, sums
from analysis.tables.schema import RatingTable

NO_INTERVAL = "quantiles of raters' severities, not an interval of an estimate"

RAW = "raw mean"
WAYS = {
    RAW: likert,
    "calibrated": calibrated_score,
    "variances learned": calibrated_score_learned,
    "ordinal": ordinal_score,
}
FEW = 3  # answers below which a rater's spread says little
NONE = "No question of this table is answered on a scale."
QUANTILES = {"least": 0.0, "lower quarter": 0.25, "middle": 0.5, "upper quarter": 0.75, "most": 1.0}


def calibration(ratings: RatingTable) -> Report:
    """Return, for each scale, both pictures, all orders, and the raters' use of it."""
    found: list[Section] = []
    leads: list[str] = []
    for question in questions(ratings, "ordinal", "interval"):
        sections = list(_sections(question))
        found += sections
        leads += [f"{sections[0].title}."] + [
            f"{each.title}." for each in sections if each.key.startswith("raters-")
        ]
    return Report(
        name="calibration",
        title="Raw and calibrated scores, and how raters use the scale",
        findings=tuple(leads) or (NONE,),
        sections=tuple(found),
        cautions=cautions(ratings),
    )


def _sections(question: QuestionRatings) -> Iterator[Section]:
    alone = RatingTable(question.rows)
    results = {name: metric(alone) for name, metric in WAYS.items()}
    known = {name: rows for name, rows in results.items() if rows["estimate"].notna().any()}
    yield _orders(question, known)
    for name in (RAW, "calibrated"):
        if name in known and len(known[name]) > 1:
            yield _picture(question, name, known[name])
    yield from _raters(question)


# --- systems ----------------------------------------------------------------------------------


def _orders(question: QuestionRatings, known: dict[str, pd.DataFrame]) -> Section:
    scores = pd.DataFrame({name: _by_system(rows)["estimate"] for name, rows in known.items()})
    ranks = scores.rank(ascending=False, method="min")
    frame = scores.copy()
    for name in scores:
        frame[f"place, {name}"] = ranks[name].astype("Int64")
    frame = frame.sort_values([RAW, "system"], ascending=[False, True]).reset_index()
    return Section(
        f"{_capital(question)}: {_agreement(ranks)}",
        frame,
        "Calibrated: unit variances (Kulikov et al. 2018); variances learned: restricted maximum "
        "likelihood; ordinal: a cumulative link model. Place 1 is the best.",
        key=f"orders-{question.question}",
    )


def _agreement(ranks: pd.DataFrame) -> str:
    other = "calibrated" if "calibrated" in ranks else None
    if other is None:
        return "no calibrated score is defined"
    moved = ranks.index[ranks[RAW] != ranks[other]]
    if moved.empty:
        return f"raw and calibrated orders of {len(ranks)} systems are equal"
    return f"{len(moved)} of {len(ranks)} systems change place once calibrated"


def _picture(question: QuestionRatings, name: str, rows: pd.DataFrame) -> Section:
    ordered = rows.sort_values(["estimate", "system"], ascending=[False, True], ignore_index=True)
    best = ordered.iloc[0]
    low, high = question.ends
    return Section(
        f"{_capital(question)}, {name}: {best['system']} is first with {best['estimate']:.2f}",
        ordered[["system", "estimate", "low", "high", "n"]].rename(columns={"estimate": name}),
        "Intervals are 95 %; n is ratings.",
        key=f"{name.split()[0]}-{question.question}",
        chart=Chart(
            kind="intervals",
            rows=dots(ordered, name),
            axis=f"{question.question}, {low:g} to {high:g}",
            domain=question.ends,
        ),
    )


def _by_system(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.set_index("system")


# --- raters -----------------------------------------------------------------------------------


def _raters(question: QuestionRatings) -> Iterator[Section]:
    used = _use(question)
    several = used[used["n"] >= FEW]
    if len(several) < 2:
        return
    columns = ["mean", "spread", "lowest", "highest"]
    summary = several[columns].quantile(list(QUANTILES.values()))
    summary.insert(0, "raters", list(QUANTILES))
    learned = fit(sums(question))
    spread = (
        f"; severity differs by an SD of {learned.severity:.2f} points"
        if learned is not None and learned.separable
        else ""
    )
    ends = int(((several["lowest"] + several["highest"]) == 1).sum())
    yield Section(
        f"{_capital(question)}: {ends} of {len(several)} raters use only the ends of the scale"
        f"{spread}",
        summary.reset_index(drop=True),
        f"Of raters with {FEW} answers or more: their mean, the SD of their answers (spread), and "
        "the shares at the scale's lowest and highest point. The SD of severity is learned from "
        "the ratings, what systems explain taken out.",
        key=f"raters-{question.question}",
    )
    ordered = used.sort_values(["mean", "rater"], ignore_index=True)
    yield Section(
        f"{_capital(question)}: each rater's use of the scale, the most severe first",
        ordered,
        "less: the mean of the rater's answers less the means of the systems they rated, in "
        "points; below 0 is severe.",
        key=f"use-{question.question}",
        appendix=True,
    )


def _use(question: QuestionRatings) -> pd.DataFrame:
    rows = question.rows.assign(value=question.values)
    low, high = question.ends
    means = rows.groupby("system")["value"].transform("mean")
    rows = rows.assign(
        less=rows["value"] - means, lowest=rows["value"] == low, highest=rows["value"] == high
    )
    return (
        rows.groupby("rater")
        .agg(
            n=("value", "size"),
            mean=("value", "mean"),
            spread=("value", "std"),
            less=("less", "mean"),
            lowest=("lowest", "mean"),
            highest=("highest", "mean"),
        )
        .reset_index()
    )


def _capital(question: QuestionRatings) -> str:
    return question.question[:1].upper() + question.question[1:]
