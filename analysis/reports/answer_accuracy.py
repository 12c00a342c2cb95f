"""Answers that people find plausible, beside automatic accuracy (nex-cv, NLP4CONVAI 2019, 4.2).

Human accuracy is the share of yes among yes and no (metric `human_accuracy`). Automatic accuracy is
hits@1 of the predictions: the share of questions whose right answer a system scored highest. The
paper prints both in figures alone, and finds people the more lenient on every data set.
"""

from __future__ import annotations

import pandas as pd

from analysis.metrics.hits import hits
from analysis.metrics.human_accuracy import human_accuracy
from analysis.report import Report, Section
from analysis.tables.schema import PredictionTable, RatingTable

SIMULATED_AS = ("ssa",)

NONE = "No system has answers that people judged by yes, no or can't tell."
HUMAN = {"estimate": "human", "low": "human low", "high": "human high", "n": "yes and no"}
AUTOMATIC = {"estimate": "automatic", "low": "automatic low", "high": "automatic high"}


def answer_accuracy(
    ratings: RatingTable | None = None,
    predictions: PredictionTable | None = None,
    *,
    seed: int = 0,
) -> Report:
    """Return a row per system that people judged, and per data set on which it predicted."""
    judged = pd.DataFrame() if ratings is None else human_accuracy(ratings)
    finding, own = NONE, list[Section]()
    if len(judged):
        table = _beside(judged, _automatic(predictions, seed))
        finding = _finding(table)
        note = (
            "Percent, with 95 % intervals: Wilson's, of people clustered by pair and rater; "
            "human: yes among yes and no. Automatic: hits@1 of the predictions."
        )
        own = [Section(finding, table, note)]
    return Report(
        name="answer_accuracy",
        title="Human and automatic accuracy of answers",
        findings=(finding,),
        sections=tuple(own),
    )


def _automatic(predictions: PredictionTable | None, seed: int) -> pd.DataFrame:
    names = {"protocol": "dataset", "question": "candidates", **AUTOMATIC, "n": "questions"}
    columns = ["system", *names.values()]
    if predictions is None:
        return pd.DataFrame(columns=columns)
    found = hits(predictions, seed=seed, ks=(1,)).rename(columns=names)
    return found.reindex(columns=columns)


def _beside(judged: pd.DataFrame, automatic: pd.DataFrame) -> pd.DataFrame:
    """Return both in percent, most accurate to people first, and how much more lenient they are."""
    rows = judged.rename(columns=HUMAN)[["system", *HUMAN.values(), "cannot_tell"]]
    table = rows.merge(automatic, on="system", how="left")
    shares = [name for name in (*HUMAN.values(), *AUTOMATIC.values()) if name != "yes and no"]
    table[[*shares, "cannot_tell"]] = 100 * table[[*shares, "cannot_tell"]].astype(float)
    table["human - automatic"] = table["human"] - table["automatic"]
    table = table.rename(columns={"cannot_tell": "can't tell"})
    order = ["human", "system"]
    return table.sort_values(order, ascending=[False, True], ignore_index=True)


def _finding(table: pd.DataFrame) -> str:
    both = table[table["human - automatic"].notna()]
    if both.empty:
        best = table.iloc[0]
        return f"People find {best['human']:.0f} % of the answers of {best['system']} plausible."
    lenient = int((both["human - automatic"] > 0).sum())
    return f"People are more lenient than the automatic accuracy in {lenient} of {len(both)} rows."
