"""Findings of a table of ratings, as sections in order: the ranking first, then what it rests on.

Each is titled by its finding and has its chart. Every number is one of `analysis.evaluate`, so
the page, the files and the command agree. Apart because it has the sections of a question, and the
summary those of a campaign.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from analysis.output import answer_distribution, scored
from analysis.output.ranking import rankings
from analysis.raters import agreement
from analysis.report import Chart, Section, dots
from analysis.scores.rater_design import AGREEMENT_BY
from analysis.stats.icc import RATED_ONCE
from analysis.tables.schema import RatingTable

SSA = {"sensibleness": "sensible", "specificity": "specific", "ssa": "SSA, the mean of both"}
RATES = {"won": "wins", "tied": "ties", "lost": "losses"}


def sections(ratings: RatingTable, results: pd.DataFrame) -> Iterator[Section]:
    """Yield all sections that apply, the ranking first."""
    ranked = rankings(results)
    yield from scored.overview(ranked)
    for each in ranked:
        yield scored.order(each, results)
    yield from _preferred(results)
    yield from _detection(results)
    yield from _accuracy(results)
    yield from _ssa(results)
    for each in ranked:
        yield from scored.differences(each, results)
        yield from scored.pairs(each, results)
        yield from scored.published(each, results)
    yield from _agreement(results)
    by_share = set(_of(results, "persona_detection")["question"])  # by its share, with n
    yield from answer_distribution.sections(
        ratings[~ratings["question"].isin(by_share)] if by_share else ratings
    )


# --- who is preferred, and shares of yes ------------------------------------------------------


def _preferred(results: pd.DataFrame) -> Iterator[Section]:
    for question, rows in _of(results, "win_rate").groupby("question", sort=True):
        ordered = _sorted(rows)
        best = ordered.iloc[0]
        names = {"estimate": "win rate", **RATES}
        wanted = ["system", "estimate", "low", "high", *RATES, "n"]
        yield Section(
            f"{best['system']} is preferred most often on {question}: in "
            f"{best['estimate']:.0%} of {best['n']} comparisons, ties half",
            ordered[wanted].rename(columns=names),
            "n is comparisons with another system; 95 % intervals are clustered by rater and by "
            "context. The report preferences has abilities, the effect of order, and circles.",
            key=f"preferred-{question}",
            chart=Chart(
                kind="intervals",
                rows=dots(ordered, "win rate"),
                axis="share of comparisons won, ties half",
                domain=(0, 1),
                line=0.5,
            ),
        )


def _detection(results: pd.DataFrame) -> Iterator[Section]:
    for question, rows in _of(results, "persona_detection").groupby("question", sort=True):
        ordered = _sorted(rows)
        best = ordered.iloc[0]
        yield Section(
            f"The character of {best['system']} is recognized most often: "
            f"{best['estimate']:.0%}, where chance is 50%",
            ordered[["system", "estimate", "low", "high", "sd", "n"]],
            "Share of raters who told the partner's persona from a random one; "
            "Wilson's 95 % interval.",
            key=f"detection-{question}",
            chart=Chart(
                kind="intervals",
                rows=dots(ordered, "recognized"),
                axis="share who chose the right character",
                domain=(0, 1),
                line=0.5,
            ),
        )


def _accuracy(results: pd.DataFrame) -> Iterator[Section]:
    known = _of(results, "human_accuracy")
    for question, rows in known[known["estimate"].notna()].groupby("question", sort=True):
        ordered = _sorted(rows)
        best = ordered.iloc[0]
        yield Section(
            f"The answers of {best['system']} are found {question} most often: "
            f"{best['estimate']:.0%} of yes and no",
            ordered[["system", "estimate", "low", "high", "n", "cannot_tell"]],
            "Share of yes among yes and no; Wilson's 95 % interval for clustered shares. n is "
            "answers of yes and no; cannot_tell is a share of all.",
            key=f"accuracy-{question}",
            chart=Chart(
                kind="intervals",
                rows=dots(ordered, "accuracy"),
                axis="share of yes among yes and no",
                domain=(0, 1),
            ),
        )


def _ssa(results: pd.DataFrame) -> Iterator[Section]:
    chosen = results[results["metric"].isin(SSA)]
    if "ssa" not in set(chosen["metric"]):
        return
    order = list(_sorted(_of(chosen, "ssa"))["system"])
    known = chosen[chosen["estimate"].notna()]
    found = [
        each
        for system in order
        for metric, name in SSA.items()
        for each in dots(known[(known["metric"] == metric) & (known["system"] == system)], name)
    ]
    drawn = Chart(kind="intervals", rows=found, axis="share of replies", domain=(0, 1))
    whole = chosen["open_items"].astype("Int64")
    frame = chosen.assign(label=chosen["metric"].map(SSA), open_items=whole).sort_values(
        ["system", "metric"], key=lambda column: column.map(_rank(order)), kind="stable"
    )
    wanted = ["system", "label", "estimate", "low", "high", "n", "open_items"]
    yield Section(
        _highest(_sorted(_of(chosen, "ssa"))),
        frame[wanted].rename(columns={"label": "share", "open_items": "open"}),
        "Shares of replies; Wilson's 95 % interval, by items, or by conversations and raters; "
        "`open` replies have a tie or too few votes.",
        key="ssa",
        chart=drawn if found else None,
    )


def _highest(rows: pd.DataFrame) -> str:
    """Say which system has the highest SSA, and how much of it is open: it may change."""
    decided, waiting = rows[rows["estimate"].notna()], int(rows["open_items"].sum())
    if decided.empty:
        return f"No reply is decided yet: too few votes, or ties (open: {waiting})"
    still = f" (open: {waiting} of {waiting + rows['n'].sum()} replies)" if waiting else ""
    best = decided.iloc[0]
    return f"{best['system']} has the highest SSA: {best['estimate']:.2f}{still}"


def _rank(systems: Sequence[str]) -> dict[str, int]:
    return {name: rank for rank, name in enumerate([*systems, *SSA])}


# --- what it rests on -------------------------------------------------------------------------


AGREEMENT_NOTE = (
    "n is items with two ratings or more; the 95 % intervals are a bootstrap over these, but by F "
    "of ICC, and by its standard error of Cohen's kappa where items are many. They are of these "
    "raters: of others they are too narrow, and ICC(2,1) or the report rater_agreement is to be "
    "read."
)
ONCE_NOTE = (
    "Each item has one rater here, so this design cannot tell whether raters agree: "
    f"{AGREEMENT_BY} it. Several conversations per participant, each with another system, tell a "
    "severe rater from a poor system; they add no rater to an item."
)


def _agreement(results: pd.DataFrame) -> Iterator[Section]:
    chosen = agreement.coefficients(results)
    if chosen.empty:
        return
    alphas = _of(chosen, "krippendorff_alpha")["estimate"].dropna()
    whys = set(chosen["reason"].dropna())
    note = AGREEMENT_NOTE
    if alphas.empty:
        note = ONCE_NOTE if whys == {RATED_ONCE} else note
        why = whys.pop() if len(whys) == 1 else "see the table for reasons"
        title = f"Agreement is not defined: {why}"
    elif len(alphas) == 1:
        title = f"Raters agree with an alpha of {alphas.iloc[0]:.2f}"
    else:
        title = f"Raters agree with an alpha of {alphas.min():.2f} to {alphas.max():.2f}"
    frame = chosen.assign(coefficient=chosen["metric"].map(agreement.COEFFICIENTS))
    reasons = [value if isinstance(value, str) else "" for value in frame["reason"]]
    wanted = ["question", "system", "coefficient", "estimate", "low", "high", "n", "reason"]
    frame = _once(frame.assign(reason=reasons)[wanted].reset_index(drop=True))
    yield Section(
        title,
        frame.rename(columns={"reason": "why undefined"}),
        note,
        key="agreement",
    )


def _once(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the same with one row for what is undefined for one reason on many questions."""
    if frame["estimate"].notna().any():
        return frame
    keys = ["system", "coefficient", "n", "reason"]
    rows = frame.groupby(keys, sort=False)["question"].agg(
        lambda each: ", ".join(dict.fromkeys(each))
    )
    return rows.reset_index()[["question", *keys]]


def _of(results: pd.DataFrame, metric: str) -> pd.DataFrame:
    return results[results["metric"] == metric]


def _sorted(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.sort_values(["estimate", "system"], ascending=[False, True], ignore_index=True)
