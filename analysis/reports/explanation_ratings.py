"""Ratings of explanations on five dimensions, and how these correlate: L2E, table 5.

The study is between participants, each of whom rates original or generated explanations from 0 to 1
(NLP4ConvAI 2019, section 5.4). Means are over ratings; their intervals are percentile bootstraps
over participants, 10,000 resamples with a seed. Pearson's correlations are over the rating forms
within arms: each arm's means are taken out first (the partial correlation given the arm), since a
better arm is better on every dimension. Their intervals are clustered by participant
(`analysis.stats.correlation`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pandas as pd

from analysis.output.paper_layouts import sections
from analysis.report import Chart, Report, Section, dots
from analysis.scores.question_ratings import identified
from analysis.stats.correlation import Correlation, pearson
from analysis.stats.intervals import NONE, Floats, Interval, bootstrap, percentile_interval
from analysis.tables.schema import RatingTable

SIMULATED_AS = ("explanation_rank", "correlation")

DIMENSIONS = ("goodness", "relatedness", "grammaticality", "helpfulness", "plausibility")
DRAWS = 10_000
FORM = ["protocol", "item", "system", "rater"]
NOTE = "95 % interval: percentile bootstrap over participants, 10,000 resamples."
WITHIN = "Pearson over forms within arms: each system's means are taken out first."


def explanation_ratings(ratings: RatingTable, *, seed: int = 0) -> Report:
    """Return the means per dimension and system, and the correlations, above what is printed."""
    rows = _rated(ratings)
    own: list[Section] = []
    finding = f"No answers on a scale about {', '.join(DIMENSIONS)}."
    if len(rows):
        means = pd.DataFrame(list(_means(rows, seed)))
        pairs = list(_correlations(rows))
        finding = _finding(rows)
        own = [
            Section("Means per dimension", means, NOTE, chart=_chart(means)),
            Section("Correlations between dimensions", _matrix(pairs), WITHIN),
            Section("Correlations with their intervals", _table(pairs), "Clustered by rater."),
        ]
    return Report(
        name="explanation_ratings",
        title="Ratings of explanations",
        findings=(finding,),
        sections=sections(own, "explanation_ratings"),
        cautions=_both_arms(rows),
    )


def _rated(ratings: RatingTable) -> pd.DataFrame:
    rows = identified(ratings)
    is_scale = rows["level"].isin(["interval", "ordinal"])
    rows = rows[is_scale & rows["question"].isin(DIMENSIONS)]
    return rows.assign(value=rows["value"].astype(float)).sort_values([*FORM, "question"])


def _means(rows: pd.DataFrame, seed: int) -> Iterator[dict[str, object]]:
    for dimension in DIMENSIONS:
        of_dimension = rows[rows["question"] == dimension]
        for system, part in of_dimension.groupby("system", sort=True):
            low, high = _interval(part, seed)
            yield {
                "dimension": dimension,
                "system": str(system),
                "estimate": float(part["value"].mean()),
                "low": low,
                "high": high,
                "ratings": len(part),
                "participants": part["rater"].nunique(),
            }


def _interval(rows: pd.DataFrame, seed: int) -> Interval:
    """Return the interval of a mean of ratings where participants are drawn with all of theirs."""
    of_each = rows.groupby("rater", sort=True)["value"].agg(["sum", "size"]).to_numpy(dtype=float)
    if len(of_each) < 2:
        return NONE

    def mean(times: Floats) -> Floats:
        totals = times @ of_each
        return np.asarray(totals[:, 0] / totals[:, 1], dtype=float)

    return percentile_interval(bootstrap(mean, len(of_each), seed=seed, draws=DRAWS))


def _correlations(rows: pd.DataFrame) -> Iterator[tuple[str, str, Correlation]]:
    forms = rows.pivot_table(index=FORM, columns="question", values="value", observed=True)
    known = [dimension for dimension in DIMENSIONS if dimension in forms]
    for one, other in combinations(known, 2):
        both = forms[[one, other]].dropna()
        within = both - both.groupby(level="system").transform("mean")
        raters = within.index.get_level_values("rater").to_numpy()
        yield one, other, pearson(within[one], within[other], raters)


def _matrix(pairs: list[tuple[str, str, Correlation]]) -> pd.DataFrame:
    names = list(dict.fromkeys(name for one, other, _ in pairs for name in (one, other)))
    found = {frozenset((one, other)): each.estimate for one, other, each in pairs}
    return pd.DataFrame(
        [
            {"dimension": one, **{two: found.get(frozenset((one, two)), 1.0) for two in names}}
            for one in names
        ]
    )


def _table(pairs: list[tuple[str, str, Correlation]]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "dimension": one,
                "other": other,
                "estimate": found.estimate,
                "low": found.interval.low,
                "high": found.interval.high,
                "forms": found.n,
                "reason": found.reason,
            }
            for one, other, found in pairs
        ]
    )


def _finding(rows: pd.DataFrame) -> str:
    first = rows[rows["question"] == rows["question"].iloc[0]]
    arms = first.groupby("system", sort=True)["rater"].nunique()
    people = ", ".join(f"{count} of {system}" for system, count in arms.items())
    return f"{rows['rater'].nunique()} participants rated explanations: {people}."


def _both_arms(rows: pd.DataFrame) -> tuple[str, ...]:
    """Say who rated explanations of more than one system, whom a study between people lacks."""
    arms = rows.groupby("rater")["system"].nunique()
    several = int((arms > 1).sum())
    if not several:
        return ()
    return (f"{several} participants rated more than one system; their answers are not set aside.",)


def _chart(means: pd.DataFrame) -> Chart:
    rows = [
        {**row, "system": dimension}
        for (dimension, system), part in means.groupby(["dimension", "system"], sort=False)
        for row in dots(part, str(system))
    ]
    return Chart(kind="intervals", rows=rows, axis="mean rating", domain=(0.0, 1.0))
