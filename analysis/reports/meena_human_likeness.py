"""SSA, sensibleness and specificity against human-likeness (Adiwardana et al. 2020, section 2.1).

One point per system: the share of its replies that a majority finds could be a person's (question
`human_like`, yes or no) and each of the three scores; R² of a straight line.
"""

from __future__ import annotations

import pandas as pd

from analysis.correlation import line
from analysis.layouts import sections, straight
from analysis.metrics.ssa import ssa
from analysis.report import Report, Section
from analysis.tables import RatingTable

LIKE = ("human_like", "human_likeness", "humanlike")
SCORES = ("ssa", "sensibleness", "specificity")


def meena_human_likeness(ratings: RatingTable) -> Report:
    """Return the points and the three R², beside those printed."""
    points = _points(ratings)
    own: list[Section] = []
    finding = f"No system has labels both of sensibleness and of {LIKE[0]}."
    if len(points):
        fits = _fits(points)
        finding = _finding(fits)
        own = [
            Section(
                finding,
                fits,
                "Least squares, one point per system; three at least.",
                chart=straight(
                    points,
                    "ssa",
                    "human-like",
                    across="SSA, percent",
                    up="human-like, percent",
                ),
            ),
            Section("The points, in percent", points),
        ]
    return Report(
        name="meena_human_likeness",
        title="How far SSA goes with being taken for human",
        findings=(finding,),
        sections=sections(own, "meena_human_likeness"),
    )


def _points(ratings: RatingTable) -> pd.DataFrame:
    rows = ratings[ratings["question"].isin(LIKE) & ratings["value"].isin([0.0, 1.0])]
    found = ssa(ratings)
    if rows.empty or found.empty:
        return pd.DataFrame()
    # A tie is no majority, and is left out as everywhere.
    shares = rows.assign(value=rows["value"].astype(float)).groupby(["system", "item"])["value"]
    means = shares.mean()
    decided = (means[means != 0.5] > 0.5).astype(float)
    like = 100 * decided.groupby("system").mean()
    scores = found.pivot_table(
        index=["protocol", "system"], columns="metric", values="estimate", aggfunc="first"
    )
    table = (100 * scores).reset_index()
    table.insert(2, "human-like", table["system"].map(like))
    return table.dropna(subset=["human-like"]).reset_index(drop=True)


def _fits(points: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for protocol, part in points.groupby("protocol", sort=True):
        for score in SCORES:
            fit = line(part[score], part["human-like"])
            rows.append((protocol, score, fit.r2, fit.slope, fit.intercept, fit.n, fit.reason))
    columns = ["protocol", "score", "R²", "slope", "intercept", "systems", "reason"]
    return pd.DataFrame(rows, columns=columns)


def _finding(fits: pd.DataFrame) -> str:
    known = fits[(fits["score"] == "ssa") & fits["R²"].notna()]
    if known.empty:
        return "Too few systems for a line: three are needed."
    return f"SSA explains {known['R²'].iloc[0]:.2f} of the variance of human-likeness."
