"""Functions beside the metrics: correlations, areas, clustered means, simple tests.

Each draws its own numbers: `conversations` of the design is how many pairs, or how many a side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.random import Generator
from scipy import special

from analysis.simulation.campaigns import Design
from analysis.simulation.trials import Truth
from analysis.stats.between_runs import Spread, over_clusters, over_raters, over_repeats
from analysis.stats.correlation import Correlation, pearson, spearman
from analysis.stats.detection import detection
from analysis.stats.filtering import area_interval, curve
from analysis.stats.intervals import Interval
from analysis.stats.significance import Tested, binomial, chi_square, t_test
from analysis.tables.tidy import ALL, tidy

RHO = 0.5
APART = 1.0
RARE = 0.2
OF_CLUSTER = 5


def pairs(design: Design, chance: Generator) -> pd.DataFrame:
    """Draw normal pairs that correlate."""
    x, noise = chance.normal(size=(2, design.conversations))
    return pd.DataFrame({"x": x, "y": RHO * x + np.sqrt(1 - RHO**2) * noise})


def unrelated(design: Design, chance: Generator) -> pd.DataFrame:
    """Draw pairs that do not correlate, with groups that do not differ."""
    x, y = chance.normal(size=(2, design.conversations))
    yes, group = chance.random((2, design.conversations)) < 0.5
    return pd.DataFrame({"x": x, "y": y, "yes": yes, "group": group})


def groups(design: Design, chance: Generator) -> pd.DataFrame:
    """Draw scores, lower by one SD where something is bad, and which of them are."""
    bad = np.arange(design.conversations) < max(4, round(RARE * design.conversations))
    return pd.DataFrame({"x": chance.normal(-APART * bad, 1.0), "bad": bad})


def clustered(design: Design, chance: Generator) -> pd.DataFrame:
    """Draw values of which those of a cluster have something in common."""
    cluster = np.repeat(np.arange(design.conversations), OF_CLUSTER)
    common = chance.normal(0, design.conversation_sd, design.conversations)
    value = common[cluster] + chance.normal(0, design.noise, len(cluster))
    return pd.DataFrame({"cluster": cluster, "x": value})


@dataclass(frozen=True)
class Marked:
    """Draws which of such values are among the highest: a share of them, THRED's of a grade."""

    share: float

    def __call__(self, design: Design, chance: Generator) -> pd.DataFrame:
        drawn = clustered(design, chance)
        least = -float(special.ndtri(self.share)) * np.hypot(design.conversation_sd, design.noise)
        return drawn.assign(x=(drawn["x"] > least).astype(float))

    def truth(self, design: Design) -> Truth:
        return {("over_clusters", ALL): self.share}


# --- truths ---------------------------------------------------------------------------------------


def truth_of_pairs(design: Design) -> Truth:
    """Return Pearson's and Spearman's correlation of normal pairs (Pearson 1907)."""
    return {("pearson", ALL): RHO, ("spearman", ALL): 6 / np.pi * float(np.arcsin(RHO / 2))}


def truth_of_groups(design: Design) -> Truth:
    """Return both areas: that under ROC by formula, that under precision and recall by steps."""
    bad = max(4, round(RARE * design.conversations)) / design.conversations
    x = np.linspace(-8, 8, 20_001)
    recall, false = special.ndtr(x + APART), special.ndtr(x)
    precision = bad * recall / (bad * recall + (1 - bad) * false)
    area = float(np.trapezoid(precision, recall))
    return {("auc", ALL): float(special.ndtr(APART / np.sqrt(2))), ("aupr", ALL): area}


def zero(design: Design) -> Truth:
    """Return what is 0: the mean of clustered values."""
    return {(name, ALL): 0.0 for name in ("over_clusters", "over_raters", "over_repeats")}


# --- measures -------------------------------------------------------------------------------------


def correlations(table: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return both coefficients."""
    chosen: dict[str, Callable[..., Correlation]] = {"pearson": pearson, "spearman": spearman}
    found = {name: of(table["x"], table["y"]) for name, of in chosen.items()}
    return _estimate_rows((name, one.estimate, one.interval, one.p) for name, one in found.items())


def areas(table: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return the areas under both curves."""
    bad = table["bad"].to_numpy()
    x = table["x"].to_numpy()
    roc = detection(-x[bad], -x[~bad], bad[bad], bad[~bad])
    found = curve(x, bad)
    area = float("nan") if found is None else found.area()
    aupr = area_interval(x, bad, seed=seed)
    return _estimate_rows([("auc", roc.auc, roc.interval, None), ("aupr", area, aupr, None)])


@dataclass(frozen=True)
class OfClusters:
    """The mean with its interval of a level: .9 is THRED's, .95 that of paid and wild tracks."""

    level: float

    def __call__(self, table: pd.DataFrame, seed: int) -> pd.DataFrame:
        found = over_clusters(table["x"], table["cluster"], level=self.level)
        return _spread("over_clusters", found)


def of_means(table: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return the mean over five raters, and over as many evaluations."""
    means = table.groupby("cluster")["x"].mean()
    rows = [
        _spread("over_raters", over_raters(means)),
        _spread("over_repeats", over_repeats(means)),
    ]
    return pd.concat(rows)


def tests(table: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return the p values of every simple test."""
    yes, group = table["yes"].to_numpy(), table["group"].to_numpy()
    cells = [[int((yes[group == side] == value).sum()) for value in (0, 1)] for side in (0, 1)]
    x = table["x"].to_numpy()
    found: dict[str, Tested] = {
        "binomial": binomial(int(yes.sum()), len(yes)),
        "t_test": t_test(x[group], 1.5 * x[~group]),
        "chi_square": chi_square(cells),
    }
    return _estimate_rows((name, one.effect, Interval(0, 0), one.p) for name, one in found.items())


def _spread(name: str, found: Spread) -> pd.DataFrame:
    return _estimate_rows([(name, found.mean, found.interval, None)])


def _estimate_rows(found: Iterable[tuple[str, float, Interval, float | None]]) -> pd.DataFrame:
    rows = [
        {"metric": name, "system": ALL, "estimate": one, "low": ends.low, "high": ends.high, "p": p}
        for name, one, ends, p in found
    ]
    return tidy("", rows)
