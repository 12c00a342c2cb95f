"""Sentiment control: intended against perceived sentiment (Chikai et al. 2019, figure 7).

Ratings answer a question named for sentiment with positive, neutral or negative; the column
`intended` says what the reply was made to be. A 3 x 3 matrix, the agreement as macro-average over
raters with a t interval, and Fleiss' kappa of the raters among themselves.
"""

from __future__ import annotations

import pandas as pd

from analysis.metrics.fleiss_kappa import fleiss_kappa
from analysis.metrics.intended_agreement import COLUMN, agreement
from analysis.output.paper_layouts import sections
from analysis.report import Report, Section
from analysis.stats.between_runs import Spread
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import ALL

SIMULATED_AS = ("over_raters", "fleiss_kappa")

SENTIMENTS = ("positive", "neutral", "negative")


def chikai_sentiment(ratings: RatingTable, *, seed: int = 0) -> Report:
    """Return the matrix, the agreement and the kappa, above what is printed."""
    rows = _judged(ratings)
    own: list[Section] = []
    finding = f"No answer about sentiment with a column {COLUMN!r} of what was intended."
    if len(rows):
        found = agreement(rows)
        finding = f"Perceived as intended: {found.mean:.1%} of {len(rows)} annotations."
        own = [
            Section(finding, _figures(rows, found, seed), "Interval: t over raters' shares."),
            Section("Rows intended, columns perceived, percent of the row", _matrix(rows)),
            Section("The same in annotations", _counts(rows).reset_index()),
        ]
    return Report(
        name="chikai_sentiment",
        title="Sentiment, intended and perceived",
        findings=(finding,),
        sections=sections(own, "chikai_sentiment"),
    )


def _judged(ratings: RatingTable) -> pd.DataFrame:
    if COLUMN not in ratings.columns:
        return ratings.iloc[:0]
    about = ratings["question"].str.contains("sentiment", case=False)
    named = ratings["value"].isin(SENTIMENTS) & ratings[COLUMN].isin(SENTIMENTS)
    return ratings[about & named]


def _figures(rows: pd.DataFrame, found: Spread, seed: int) -> pd.DataFrame:
    kappas = fleiss_kappa(RatingTable(rows), seed=seed)
    whole = kappas[kappas["system"].eq(ALL) | (kappas["system"].nunique() == 1)]
    figures = [("agreement", found.mean, *found.interval, found.reason)]
    figures += [
        ("Fleiss' kappa", row["estimate"], row["low"], row["high"], row.get("reason"))
        for row in whole.to_dict("records")
    ]
    return pd.DataFrame(figures, columns=["figure", "estimate", "low", "high", "reason"])


def _counts(rows: pd.DataFrame) -> pd.DataFrame:
    table = pd.crosstab(rows[COLUMN], rows["value"])
    return table.reindex(index=list(SENTIMENTS), columns=list(SENTIMENTS), fill_value=0)


def _matrix(rows: pd.DataFrame) -> pd.DataFrame:
    counts = _counts(rows)
    return (100 * counts.div(counts.sum(axis=1), axis=0)).reset_index()
