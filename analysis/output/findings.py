"""Findings of a table of ratings, as sections in order: the ranking first, then what it rests on.

Each is titled by its finding and has its chart. Every number is one of `analysis.evaluate`, so
the page, the files and the command agree. Apart because it has the sections of a question, and the
summary those of a campaign.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import pandas as pd

from analysis.output import answer_distribution, scored
from analysis.output.ranking import SystemRanking
from analysis.raters import agreement
from analysis.report import Chart, Section, dots
from analysis.scores.rater_design import AGREEMENT_BY
from analysis.stats.icc import RATED_ONCE
from analysis.tables.columns import BETTER_COLUMN
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import ALL

SSA = {"sensibleness": "sensible", "specificity": "specific", "ssa": "SSA, the mean of both"}
FEW_QUESTIONS = 2  # whose rankings have room on the first pages
RATES = {"won": "wins", "tied": "ties", "lost": "losses"}


def sections(
    ratings: RatingTable, results: pd.DataFrame, ranked: Sequence[SystemRanking]
) -> Iterator[Section]:
    """Yield all sections that apply, the ranking first; `ranked` are the rankings of results."""
    yield from scored.overview(ranked, is_directed=BETTER_COLUMN in ratings)
    for each in ranked:
        yield scored.order(each, results, leads=len(ranked) <= FEW_QUESTIONS)
    yield from _preferred(results)
    yield from _detection(results)
    yield from _accuracy(results)
    yield from _ssa(results)
    yield from scored.compare(ranked, results)
    yield from _agreement(results)
    yield from scored.details(ranked, results)
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
            leads=True,
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
            leads=True,
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
            leads=True,
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
        leads=True,
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
    "n is items with two ratings or more; the 95 % intervals are a bootstrap over these (a "
    "jackknife of more than 400), but by F of ICC, and by its standard error of Cohen's kappa "
    "where items are many. They are of these "
    "raters: of others they are too narrow, and ICC(2,1) or the report rater_agreement is to be "
    "read."
)
ONCE_NOTE = (
    "Each item has one rater here, so this design cannot tell whether raters agree: "
    f"{AGREEMENT_BY} it. Several conversations per participant, each with another system, tell a "
    "severe rater from a poor system; they add no rater to an item."
)


# What single ratings are worth from which alpha on (Krippendorff 2004, p. 241).
WORTH = (
    (0.8, "single ratings can be relied on"),
    (0.667, "single ratings allow tentative conclusions"),
    (-math.inf, "single ratings say little, means of many more"),
)


def _agreement(results: pd.DataFrame) -> Iterator[Section]:
    chosen = agreement.coefficients(results)
    if chosen.empty:
        return
    frame = chosen.assign(coefficient=chosen["metric"].map(agreement.COEFFICIENTS))
    reasons = [value if isinstance(value, str) else "" for value in frame["reason"]]
    wanted = ["question", "system", "coefficient", "estimate", "low", "high", "n", "reason"]
    every = frame.assign(reason=reasons)[wanted].reset_index(drop=True)
    alphas = _overall(_of(chosen, "krippendorff_alpha"))
    alphas = alphas[alphas["estimate"].notna()]
    if alphas.empty:
        whys = set(chosen["reason"].dropna())
        why = whys.pop() if len(whys) == 1 else "see the table for reasons"
        yield Section(
            f"Agreement is not defined: {why}",
            _once(every).rename(columns={"reason": "why undefined"}),
            ONCE_NOTE if why == RATED_ONCE else AGREEMENT_NOTE,
            key="agreement",
        )
        return
    yield Section(_agreed(alphas), _by_question(chosen), AGREEMENT_NOTE, key="agreement")
    yield Section(
        f"Agreement by question and system: {len(every)} coefficients",
        every.rename(columns={"reason": "why undefined"}),
        AGREEMENT_NOTE,
        key="agreement-all",
        appendix=True,
    )


def _overall(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows over all systems; those of a question that has but one system."""
    keys = [rows["protocol"], rows["question"]]
    has_all = rows["system"].eq(ALL).groupby(keys).transform("any")
    return rows[rows["system"].eq(ALL) | ~has_all]


def _agreed(alphas: pd.DataFrame) -> str:
    """Say how far raters agree, and what single ratings are worth by Krippendorff's thresholds."""
    ordered = alphas.sort_values(["estimate", "question"], ignore_index=True)
    least, most = ordered.iloc[0], ordered.iloc[-1]
    worth = next(text for least_alpha, text in WORTH if least["estimate"] >= least_alpha)
    if len(ordered) == 1:
        return f"Raters agree with an alpha of {least['estimate']:.2f}: {worth}"
    return (
        f"Raters agree most on {most['question']}, with an alpha of {most['estimate']:.2f}, and "
        f"least on {least['question']}, with {least['estimate']:.2f}: {worth}"
    )


def _by_question(chosen: pd.DataFrame) -> pd.DataFrame:
    """Return a row per question: alpha with its interval, then the other coefficients."""
    whole = _overall(chosen[chosen["estimate"].notna()])
    several = whole["protocol"].nunique() > 1
    rows = []
    for (protocol, question), part in whole.groupby(["protocol", "question"], sort=True):
        known = {each["metric"]: each for each in part.to_dict("records")}
        row: dict[str, object] = {"question": f"{protocol}, {question}" if several else question}
        row["n"] = max(int(each["n"]) for each in known.values())
        alpha = known.pop("krippendorff_alpha", None)
        if alpha is not None:
            row |= {"alpha": alpha["estimate"], "low": alpha["low"], "high": alpha["high"]}
        row |= {
            word: float(known[name]["estimate"])
            for name, word in agreement.COEFFICIENTS.items()
            if name in known
        }
        rows.append(row)
    return pd.DataFrame(rows)


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
