"""SSA, sensibleness and specificity against perplexity (A-SSA; Adiwardana et al. 2020, figure 1).

One point per system, best several sizes or checkpoints of one family with the same decoding: its
perplexity on one dataset of the predictions and each of its three scores; a straight line and R².
Perplexities of different vocabularies are not comparable, so each dataset has lines of its own.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.metrics.perplexity import perplexity
from analysis.metrics.ssa import ssa
from analysis.output.paper_layouts import sections, straight
from analysis.report import Report, Section
from analysis.stats.correlation import line
from analysis.tables.schema import PredictionTable, RatingTable

SCORES = ("ssa", "sensibleness", "specificity")


def meena_ssa_perplexity(ratings: RatingTable, predictions: PredictionTable) -> Report:
    """Return the points and the three lines, beside the printed R²."""
    points = _points(ratings, predictions)
    own: list[Section] = []
    finding = "No system has a perplexity and decided labels of its replies."
    if len(points):
        fits = _fits(points)
        finding = _finding(fits)
        own = [
            Section(
                finding,
                fits,
                "Least squares, one point per system; three at least.",
                chart=straight(points, "perplexity", "ssa", across="perplexity", up="SSA, percent"),
            ),
            Section("The points: scores in percent, best perplexity first", points),
        ]
    return Report(
        name="meena_ssa_perplexity",
        title="SSA and perplexity",
        findings=(finding,),
        sections=sections(own, "meena_ssa_perplexity"),
    )


def _points(ratings: RatingTable, predictions: PredictionTable) -> pd.DataFrame:
    likely, scores = perplexity(predictions), ssa(ratings)
    likely = likely[likely["metric"].eq("perplexity") & np.isfinite(likely["estimate"])]
    if likely.empty or scores.empty:
        return pd.DataFrame()
    wide = scores.pivot(index=["protocol", "system"], columns="metric", values="estimate").dropna()
    named = likely.rename(columns={"protocol": "dataset", "estimate": "perplexity"})
    table = (100 * wide).reset_index().merge(named[["dataset", "system", "perplexity"]])
    columns = ["dataset", "protocol", "system", "perplexity", *SCORES]
    order = ["dataset", "protocol", "perplexity", "system"]
    return table[columns].sort_values(order, ignore_index=True)


def _fits(points: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for (dataset, protocol), part in points.groupby(["dataset", "protocol"], sort=True):
        for score in SCORES:
            fit = line(part["perplexity"], part[score])
            found = (fit.r2, fit.slope, fit.intercept, fit.n, fit.reason)
            rows.append((dataset, protocol, score, *found))
    columns = ["dataset", "protocol", "score", "R²", "slope", "intercept", "systems", "reason"]
    return pd.DataFrame(rows, columns=columns)


def _finding(fits: pd.DataFrame) -> str:
    known = fits[(fits["score"] == "ssa") & fits["R²"].notna()]
    if known.empty:
        return "Too few systems for a line: three are needed."
    first = known.iloc[0]
    way = "falls" if first["slope"] < 0 else "rises"
    return f"Perplexity explains {first['R²']:.2f} of the variance of SSA, which {way} with it."
