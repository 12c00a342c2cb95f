"""Intervals of the report rater_agreement: over raters, items held fixed, and over items.

Apart because these measures are no metrics.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pandas as pd

from analysis.raters import kappas
from analysis.raters.agreement import Statistic, interval
from analysis.raters.alpha import alphas
from analysis.raters.ballots import ballots, rater_intervals
from analysis.scores.question_ratings import questions
from analysis.tables.schema import LEVELS, RatingTable
from analysis.tables.tidy import ALL, tidy

Row = dict[str, object]


def _statistics(level: str) -> dict[str, Statistic]:
    kind: kappas.Weights = "identity" if level == "nominal" else "ordinal"
    return {
        "percent agreement": kappas.percents,
        "alpha": alphas,
        "Fleiss' kappa": partial(kappas.fleiss, kind=kind),
        "Gwet's AC": partial(kappas.gwet, kind=kind),
        "Brennan-Prediger": partial(kappas.brennan_prediger, kind=kind),
    }


def coefficients(table: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return the coefficients without intervals, which very many raters need not have."""
    question = next(questions(RatingTable(table), *LEVELS))
    votes, chosen = ballots(question, question.rows).votes, _statistics(question.level)
    rows = [
        {**_about(name), "estimate": kappas.estimate(votes, statistic)}
        for name, statistic in chosen.items()
    ]
    return tidy("", rows)


def over_raters(table: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return coefficients with their intervals over raters."""
    return tidy("", _over_raters(table, seed))


def _over_raters(table: pd.DataFrame, seed: int) -> Iterator[Row]:
    for question in questions(RatingTable(table), *LEVELS):
        sample = ballots(question, question.rows)
        chosen = _statistics(question.level)
        ends = rater_intervals(sample, list(chosen.values()), seed=seed)
        for (name, statistic), (low, high) in zip(chosen.items(), ends, strict=True):
            value = kappas.estimate(sample.votes, statistic)
            yield {**_about(name), "estimate": value, "low": low, "high": high}


def over_items(table: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return Brennan & Prediger's coefficient, which is no metric, with its interval over items."""
    name, rows = "Brennan-Prediger", []
    for question in questions(RatingTable(table), *LEVELS):
        votes = ballots(question, question.rows).votes
        statistic = _statistics(question.level)[name]
        low, high = interval(votes, statistic, seed=seed)
        value = kappas.estimate(votes, statistic)
        rows.append({**_about(name), "estimate": value, "low": low, "high": high})
    return tidy("", rows)


def _about(name: str) -> Row:
    return {"metric": name, "question": "", "system": ALL}
