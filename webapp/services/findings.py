"""What the results page shows of one table of ratings: parts in order, each titled by its finding.

Every number is one of `analysis.evaluate`, so the page, the JSON and the command agree.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from analysis import RatingTable, agreement
from analysis.ranking import Ranking, rankings
from webapp.services import charts
from webapp.services.parts import Part

SSA = {"sensibleness": "sensible", "specificity": "specific", "ssa": "SSA, the mean of both"}


def parts(ratings: RatingTable, results: pd.DataFrame) -> Iterator[Part]:
    """Yield all parts that apply, the ranking first."""
    ranked = rankings(results)
    for each in ranked:
        yield _order(each, results)
    for each in ranked:
        yield from _pairs(each, results)
    yield from _detection(results)
    yield from _ssa(results)
    yield from _agreement(results)
    yield from _spread(ratings, [each.question for each in ranked])


# --- who is first -----------------------------------------------------------------------------


def _order(ranking: Ranking, results: pd.DataFrame) -> Part:
    frame = ranking.frame.assign(
        alpha=[_alpha(results, ranking.question, name) for name in ranking.frame["system"]]
    )
    wanted = ["system", "calibrated", "low", "high", "mean", "mean low", "mean high"]
    wanted = [*wanted, "sd", "n", "alpha", "beats next"]
    low, high = _ends(results, ranking.question)
    series = [
        ("calibrated", "calibrated", "low", "high"),
        ("mean", "mean", "mean low", "mean high"),
    ]
    found = [
        {"system": row["system"], "series": name, **_interval(row, *columns)}
        for row in frame.to_dict("records")
        for name, *columns in series
        if pd.notna(row[columns[0]])
    ]
    names = {"low": "calibrated low", "high": "calibrated high"}
    return Part(
        key=f"ranking-{ranking.question}",
        title=_first(ranking),
        frame=frame[wanted].rename(columns=names),
        note=f"{ranking.note} Intervals are 95 %; alpha is the agreement of raters on the system.",
        spec=charts.intervals(
            found, axis=f"{ranking.question}, {low:g} to {high:g}", domain=(low, high)
        ),
    )


def _first(ranking: Ranking) -> str:
    best = ranking.frame.iloc[0]
    score = best["mean" if ranking.calibrated is None else "calibrated"]
    title = f"{_capital(ranking.question)}: {best['system']} is first with {score:.2f}"
    if len(ranking.frame) == 1 or pd.isna(best["beats next"]):
        return title
    second = ranking.frame.iloc[1]["system"]
    return f"{title}, above {second} with probability {best['beats next']:.2f}"


def _ends(results: pd.DataFrame, question: str) -> tuple[float, float]:
    row = results[(results["metric"] == "likert") & (results["question"] == question)].iloc[0]
    return float(row["scale_low"]), float(row["scale_high"])


def _alpha(results: pd.DataFrame, question: str, system: str) -> float:
    rows = results[results["metric"] == "krippendorff_alpha"]
    rows = rows[(rows["question"] == question) & (rows["system"] == system)]
    return float(rows["estimate"].iloc[0]) if len(rows) else math.nan


def _interval(
    row: Mapping[Any, Any], estimate: str, low: str, high: str
) -> dict[str, float | None]:
    values = {"estimate": row[estimate], "low": row[low], "high": row[high]}
    return {name: None if pd.isna(value) else float(value) for name, value in values.items()}


def _pairs(ranking: Ranking, results: pd.DataFrame) -> Iterator[Part]:
    table = ranking.matrix(results)
    order = [str(name) for name in table["system"]]
    found = [
        {"system": row["system"], "other": other, "p": float(row[other])}
        for row in table.to_dict("records")
        for other in order
        if row[other] is not None and other != row["system"]
    ]
    if not found:
        return
    least = min(each["p"] for each in found if each["system"] == order[0])
    yield Part(
        key=f"pairs-{ranking.question}",
        title=f"{_capital(ranking.question)}: {order[0]} is above every other system with "
        f"probability {least:.2f} or more",
        frame=table,
        note=f"Probability that the row's system is above the column's, from {ranking.pairs}.",
        spec=charts.matrix(found),
    )


# --- shares of yes ----------------------------------------------------------------------------


def _detection(results: pd.DataFrame) -> Iterator[Part]:
    for question, rows in _of(results, "persona_detection").groupby("question", sort=True):
        ordered = _sorted(rows)
        best = ordered.iloc[0]
        yield Part(
            key=f"detection-{question}",
            title=f"The character of {best['system']} is recognized most often: "
            f"{best['estimate']:.0%}, where chance is 50%",
            frame=ordered[["system", "estimate", "low", "high", "sd", "n"]],
            note="Share of raters who told the partner's persona from a random one; "
            "Wilson's 95 % interval.",
            spec=charts.intervals(
                _series(ordered, "recognized"),
                axis="share who chose the right character",
                domain=(0, 1),
                line=0.5,
            ),
        )


def _ssa(results: pd.DataFrame) -> Iterator[Part]:
    chosen = results[results["metric"].isin(SSA) & results["estimate"].notna()]
    if chosen.empty or "ssa" not in set(chosen["metric"]):
        return
    order = list(_sorted(_of(chosen, "ssa"))["system"])
    found = [
        each
        for system in order
        for metric, name in SSA.items()
        for each in _series(
            chosen[(chosen["metric"] == metric) & (chosen["system"] == system)], name
        )
    ]
    best = _sorted(_of(chosen, "ssa")).iloc[0]
    whole = chosen["open_items"].astype("Int64")
    frame = chosen.assign(label=chosen["metric"].map(SSA), open_items=whole).sort_values(
        ["system", "metric"], key=lambda column: column.map(_rank(order)), kind="stable"
    )
    wanted = ["system", "label", "estimate", "low", "high", "n", "open_items"]
    yield Part(
        key="ssa",
        title=f"{best['system']} has the highest SSA: {best['estimate']:.2f}",
        frame=frame[wanted].rename(columns={"label": "share", "open_items": "open"}),
        note="Shares of replies; the interval is a bootstrap over conversations or items; `open` "
        "replies have a tie or too few votes.",
        spec=charts.intervals(found, axis="share of replies", domain=(0, 1)),
    )


def _rank(systems: Sequence[str]) -> dict[str, int]:
    return {name: place for place, name in enumerate([*systems, *SSA])}


# --- what it rests on -------------------------------------------------------------------------


def _agreement(results: pd.DataFrame) -> Iterator[Part]:
    chosen = agreement.told(results)
    if chosen.empty:
        return
    alphas = _of(chosen, "krippendorff_alpha")["estimate"].dropna()
    if alphas.empty:
        title = "Agreement is not defined: the reasons are in the table"
    elif len(alphas) == 1:
        title = f"Raters agree with an alpha of {alphas.iloc[0]:.2f}"
    else:
        title = f"Raters agree with an alpha of {alphas.min():.2f} to {alphas.max():.2f}"
    frame = chosen.assign(coefficient=chosen["metric"].map(agreement.COEFFICIENTS))
    reasons = [value if isinstance(value, str) else "" for value in frame["reason"]]
    wanted = ["question", "system", "coefficient", "estimate", "low", "high", "n", "reason"]
    yield Part(
        key="agreement",
        title=title,
        frame=frame.assign(reason=reasons)[wanted].rename(columns={"reason": "why undefined"}),
        note="n is items with two ratings or more; the intervals are a bootstrap over these, but "
        "by the standard error of Cohen's kappa, and by F of ICC.",
    )


def _spread(ratings: RatingTable, scales: Sequence[str]) -> Iterator[Part]:
    for question, rows in ratings.groupby("question", sort=True):
        counts = pd.crosstab(rows["system"], rows["value"].astype(float))
        answers = [f"{value:g}" for value in counts.columns]
        counts.columns = pd.Index(answers)
        top = counts.iloc[:, -1] / counts.sum(axis=1)
        counts = counts.loc[top.sort_values(ascending=False, kind="stable").index]
        found = [
            {"system": system, "answer": answer, "rank": rank, "count": int(row[answer])}
            for system, row in counts.iterrows()
            for rank, answer in enumerate(answers)
        ]
        what = f"the answer {answers[-1]}" if question in scales else _worded(answers[-1])
        yield Part(
            key=f"spread-{question}",
            title=f"{_capital(str(question))}: {what} is given most often to {counts.index[0]}, in "
            f"{top.max():.0%} of its answers",
            frame=counts.reset_index(),
            note="Number of answers of each kind.",
            spec=charts.shares(found, answers=answers),
        )


def _worded(answer: str) -> str:
    return {"1": "yes (1)", "0": "no (0)"}.get(answer, f"the answer {answer}")


def _of(results: pd.DataFrame, metric: str) -> pd.DataFrame:
    return results[results["metric"] == metric]


def _sorted(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.sort_values(["estimate", "system"], ascending=[False, True], ignore_index=True)


def _series(rows: pd.DataFrame, name: str) -> list[dict[str, Any]]:
    return [
        {"system": row["system"], "series": name, **_interval(row, "estimate", "low", "high")}
        for row in rows.to_dict("records")
    ]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
