"""SSA, sensibleness and specificity against human-likeness (Adiwardana et al. 2020, section 2.1).

One point per system: the share of its replies that a majority finds could be a person's (question
`human_like`, yes or no; open items as in SSA) and each of the three scores; R² of a straight line.
Where contexts are named, both are of the replies to those that both questions were asked about.
"""

from __future__ import annotations

import pandas as pd

from analysis.metrics.ssa import ssa
from analysis.output.paper_layouts import sections, straight
from analysis.report import Report, Section
from analysis.scores.majorities import majority, votes_wanted
from analysis.scores.question_ratings import identified
from analysis.stats.correlation import line
from analysis.tables.dependencies import SENSIBLE, SPECIFIC
from analysis.tables.schema import RatingTable

ITEM = ["system", "item"]
REPLY = {"system", "context"}
LIKE = ("human_like", "human_likeness", "humanlike")
SCORES = ("ssa", "sensibleness", "specificity")
OF_STUDIES = True


def meena_human_likeness(ratings: RatingTable) -> Report:
    """Return the points and the three R², beside those printed."""
    points = _points(ratings)
    own: list[Section] = []
    finding = f"No system has decided items both of sensibleness and of {LIKE[0]}."
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
        title="SSA and human-likeness",
        findings=(finding,),
        sections=sections(own, "meena_human_likeness"),
    )


def _points(ratings: RatingTable) -> pd.DataFrame:
    is_answer = ratings["question"].isin(LIKE) & ratings["value"].isin([0.0, 1.0])
    rows, labels = (
        pd.DataFrame(ratings[chosen])
        for chosen in (is_answer, ratings["question"].isin(SENSIBLE + SPECIFIC))
    )
    if set(ratings.columns) >= REPLY and (rows["context"].ne("") & rows["context"].notna()).all():
        rows, labels = _of_same(rows, labels), _of_same(labels, rows)
    found = ssa(RatingTable(labels))
    if rows.empty or found.empty:
        return pd.DataFrame()
    like = 100 * _decided(rows).groupby("system").mean()
    scores = found.pivot(index=["protocol", "system"], columns="metric", values="estimate")
    table = (100 * scores).reset_index()
    table.insert(2, "human-like", table["system"].map(like))
    return table.dropna(subset=["human-like", *SCORES]).reset_index(drop=True)


def _of_same(rows: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
    """Return the rows about replies, a system's to a context, that the others are about too."""
    keys = sorted(REPLY)
    known = set(others[keys].itertuples(index=False, name=None))
    same = [key in known for key in rows[keys].itertuples(index=False, name=None)]
    return rows[pd.Series(same, index=rows.index, dtype=bool)]


def _decided(rows: pd.DataFrame) -> pd.Series:
    """Return each decided item's majority; the question may be of another campaign than SSA's."""
    votes = identified(rows).assign(value=lambda part: part["value"].astype(float))
    parts = []
    for _, part in votes.groupby("protocol", sort=True):
        items = part.groupby(ITEM)["value"]
        counts = items.size()
        parts.append(majority(items.mean(), counts, votes_wanted(part, ITEM, int(counts.max()))))
    decided: pd.Series = pd.concat(parts).dropna()
    return decided


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
