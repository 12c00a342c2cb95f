"""Clustered means and shares: parts that depend on each other by item, conversation and rater.

The standard error sums influences within clusters, each sum raised for what its own weight in the
mean takes from it (CR2), with the degrees of freedom of Bell & McCaffrey 2002 (Survey Methodology
28, 169-181), which are clusters - 1 where all are of one size. Two ways of clustering that cross
are added, less what both count (Cameron, Gelbach & Miller 2011, J. Business & Economic Statistics
29, 238-249), with degrees of freedom by Satterthwaite 1946.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from analysis.stats.intervals import LEVEL, NONE, Floats, Interval, Z, wilson_interval

SIMULATED_AS = ("likert", "ssa", "learned_metric p")

Codes = NDArray[np.integer]


class Error(NamedTuple):
    """A standard error, its degrees of freedom, and the fewest clusters that it rests on."""

    se: float
    df: float
    clusters: int


class Added(NamedTuple):
    """A variance that comes on top of what clusters tell, and its degrees of freedom."""

    variance: float = 0.0
    df: float = 1.0

    def to(self, error: Error) -> Error:
        """Return the error with this in it; degrees of freedom by Satterthwaite 1946."""
        own, both = error.se**2, error.se**2 + self.variance
        if not (self.variance > 0 and own > 0):
            return error
        df = both**2 / (own**2 / error.df + self.variance**2 / self.df)
        return Error(float(np.sqrt(both)), float(df), error.clusters)


LEAST = 1e-10
# Votes of fewer raters, or about fewer contexts, have no interval.
FEWEST = 4
UNKNOWN = Error(float("nan"), 0.0, 1)


def error_of_mean(values: Floats, *by: Codes) -> Error:
    """Return the standard error of a mean of values that are clustered, codes counted from 0."""
    return error_of_ratio(values, np.ones_like(values), *by)


def error_of_ratio(above: Floats, below: Floats, *by: Codes) -> Error:
    """Return the standard error of a ratio of sums (Cochran 1977, Sampling Techniques, ch. 6).

    A clustering within another says nothing more than it, and is left out.
    """
    total = float(below.sum())
    gaps = (above - float(above.sum()) / total * below) / total
    kept = widest(by)
    found = [_of_clusters(gaps, below / total, codes) for codes in kept]
    if not found or any(each.clusters < 2 for each in found):
        return UNKNOWN
    if len(found) == 1:
        return found[0]
    shared = _of_clusters(gaps, below / total, crossed(*kept)).se ** 2
    squares = np.array([each.se**2 for each in found])
    variance = max(float(squares.sum()) - shared, float(squares.max()))
    if variance == 0:
        return Error(0.0, min(each.df for each in found), min(each.clusters for each in found))
    df = variance**2 / sum(each.se**4 / each.df for each in found)
    return Error(float(np.sqrt(variance)), float(df), min(each.clusters for each in found))


def slope_t(x: Floats, y: Floats, by: Codes) -> tuple[float, float]:
    """Return t of the slope of y on x, and its degrees of freedom.

    The error is CR2 with the leverages of the regression, which matter with few clusters; degrees
    of freedom as above (Bell & McCaffrey 2002).
    """
    design = np.column_stack([np.ones_like(x), x])
    inverse = np.linalg.inv(design.T @ design)
    slope = inverse @ (design.T @ y)
    left = y - design @ slope
    order = np.argsort(by, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(by[order])) + 1)
    added, spread, reach = [], [], []
    for part in parts:
        mine = design[part]
        values, vectors = np.linalg.eigh(np.eye(len(part)) - mine @ inverse @ mine.T)
        raised = np.where(values > LEAST, np.maximum(values, LEAST) ** -0.5, 0.0)
        weight = (vectors * raised) @ vectors.T @ (mine @ inverse[:, 1])
        added.append(float(weight @ left[part]))
        spread.append(float(weight @ weight))
        reach.append(mine.T @ weight)
    own, across = np.array(spread), np.array(reach)
    shared = np.einsum("gi,ij,gj->g", across, inverse, across)
    crossed = across.T @ across @ inverse
    whole = float((own**2).sum() - 2 * (own * shared).sum() + (crossed * crossed.T).sum())
    df = float((own - shared).sum()) ** 2 / whole if whole > 0 else 0.0
    se = float(np.sqrt(np.square(added).sum()))
    return (float(slope[1]) / se if se > 0 else float("nan")), df


def codes(column: pd.Series | Codes) -> Codes:
    """Return the clusters that a column names, counted from 0."""
    return np.asarray(pd.factorize(column)[0])


def share_intervals(
    groups: Sequence[tuple[Floats, Sequence[Codes]]], added: Sequence[Added] | None = None
) -> list[Interval]:
    """Return Wilson's intervals with as many answers as clustered ones are worth.

    A group has its values, from 0 to 1, and what they are clustered by. How much less they are
    worth, the design effect, is taken to be alike in all groups, since one of few clusters would
    say little of it. `added` is variance of each group from elsewhere. Effective numbers, lowered
    for the degrees of freedom, are those of Korn & Graubard 1998 (Survey Methodology 24, 193-201);
    in Wilson's form Dean & Pagano 2015 (J. Survey Statistics and Methodology 3, 484-503). Where no
    group varies each cluster counts once.
    """
    shares = [float(values.mean()) for values, _ in groups]
    errors = [error_of_mean(values, *by) for values, by in groups]
    if added is not None:
        errors = [each.to(error) for each, error in zip(added, errors, strict=True)]
    known = [
        (error.df, error.se**2 * len(values) / (share * (1 - share)))
        for share, error, (values, _) in zip(shares, errors, groups, strict=True)
        if error.se > 0
    ]
    free = sum(df for df, _ in known)
    effect = sum(df * effect for df, effect in known) / free if known else None
    t = float(special.stdtrit(free, 0.5 + LEVEL / 2)) if known else Z
    found = []
    for share, error, (values, _) in zip(shares, errors, groups, strict=True):
        worth = error.clusters if effect is None else len(values) / effect * (Z / t) ** 2
        found.append(wilson_interval(share * worth, worth) if error.df > 0 else NONE)
    return found


def crossed(one: Codes, other: Codes) -> Codes:
    """Return the clusters that two ways of clustering have in common, counted from 0."""
    return codes(one * (int(other.max()) + 1) + other)


def widest(by: tuple[Codes, ...]) -> list[Codes]:
    """Return the clusterings that are not within another; of equal ones the first."""
    kept: list[Codes] = []
    for index, codes_ in enumerate(by):
        others = [other for k, other in enumerate(by) if k != index]
        if not any(
            _within(codes_, other) and (not _within(other, codes_) or _among(other, kept))
            for other in others
        ):
            kept.append(codes_)
    return kept


def _among(codes_: Codes, kept: list[Codes]) -> bool:
    return any(codes_ is one for one in kept)


def _within(inner: Codes, outer: Codes) -> bool:
    """Tell whether all of each inner cluster is in one outer cluster."""
    first = np.zeros(int(inner.max()) + 1, dtype=outer.dtype)
    first[inner] = outer
    return bool((first[inner] == outer).all())


def _of_clusters(gaps: Floats, weights: Floats, codes_: Codes) -> Error:
    sums = np.bincount(codes_, gaps)
    size = np.asarray(np.bincount(codes_, weights), dtype=float)
    count = len(size)
    if count < 2 or size.max() >= 1:
        return Error(float("nan"), 0.0, 1)
    left = 1 - size
    variance = float((sums**2 / left).sum())
    return Error(float(np.sqrt(variance)), freedom_of_sizes(size), count)


def freedom_of_sizes(size: Floats) -> float:
    """Return the degrees of freedom of clusters of these shares (Bell & McCaffrey 2002)."""
    left = 1 - size
    if len(size) < 2 or left.min() <= 0:
        return 0.0
    both = float((size**2 / left).sum()) ** 2 - float((size**4 / left**2).sum())
    return 1 / (float((size**2).sum()) + both)
