"""Variance components of values with two crossed clusters, raters and items, from sums of squares.

Henderson's method I (1953, Biometrics 9, 226-252): the sums of squares over raters, over items and
of all values are set equal to what is expected of them, with whatever gaps there are between raters
and items. Of a balanced crossed design that is the analysis of variance. A component below 0 is
taken as 0. Every function takes one campaign or an array of campaigns, so that thousands are
estimated at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.stats.intervals import Floats

# Below this determinant, of rows of size 1, raters and items cannot be told apart.
SINGULAR = 1e-9


class ClusterSums(NamedTuple):
    """Sums of values by rater and item; each an array with an entry per campaign, or one number.

    `of_raters` is the sum over raters of their squared total over their count, `of_items` the same
    of items; `rater_pairs` and `item_pairs` are the sums of squared counts.
    """

    n: Floats
    raters: Floats
    items: Floats
    total: Floats
    squares: Floats
    of_raters: Floats
    of_items: Floats
    rater_pairs: Floats
    item_pairs: Floats


@dataclass(frozen=True)
class ClusteredMean:
    """A mean with its variance, degrees of freedom and variance components, an entry per campaign.

    `rater`, `item` and `noise` are variances of one value; `sums` is what they come from.
    """

    mean: Floats
    variance: Floats
    df: Floats
    rater: Floats
    item: Floats
    noise: Floats
    sums: ClusterSums

    @property
    def items(self) -> Floats:
        return self.sums.items

    @property
    def raters(self) -> Floats:
        return self.sums.raters


@dataclass(frozen=True)
class OwnRaters:
    """The difference of two means whose raters and items are others: the first less the second.

    Variances add up, and degrees of freedom are Welch's (1947, Biometrika 34, 28-35). Raters and
    items are those of the system that has fewer.
    """

    one: ClusteredMean
    other: ClusteredMean

    @property
    def mean(self) -> Floats:
        return self.one.mean - self.other.mean

    @property
    def variance(self) -> Floats:
        return self.one.variance + self.other.variance

    @property
    def df(self) -> Floats:
        of_each = self.one.variance**2 / self.one.df + self.other.variance**2 / self.other.df
        never = np.minimum(self.one.df, self.other.df)  # where nothing varies
        df = np.divide(self.variance**2, of_each, out=np.array(never), where=of_each > 0)
        return np.asarray(df, dtype=float)

    @property
    def items(self) -> Floats:
        return np.minimum(self.one.items, self.other.items)

    @property
    def raters(self) -> Floats:
        return np.minimum(self.one.raters, self.other.raters)


def cluster_sums(values: ArrayLike, rater: ArrayLike, item: ArrayLike) -> ClusterSums:
    """Return the sums of one campaign; a rater has one value per item, of several the mean."""
    cells, mean = _cells(np.asarray(values, dtype=float), np.asarray(rater), np.asarray(item))
    of_raters, rater_pairs, raters = _by(cells[0], mean)
    of_items, item_pairs, items = _by(cells[1], mean)
    n, total, squares = float(len(mean)), float(mean.sum()), float((mean**2).sum())
    numbers = (n, raters, items, total, squares, of_raters, of_items, rater_pairs, item_pairs)
    return ClusterSums(*(np.asarray(each, dtype=float) for each in numbers))


def clustered_mean(sums: ClusterSums) -> ClusteredMean:
    """Return the mean, its variance and Satterthwaite's degrees of freedom (1946, Biometrics 2).

    The variance is never below that of independent values. A cluster with one value each cannot be
    told from noise, and is in it.
    """
    expected, found = _equations(sums)
    components = np.linalg.solve(expected, found[..., None])[..., 0]
    rater, item, noise = np.moveaxis(np.maximum(components, 0.0), -1, 0)
    n, mean = sums.n, sums.total / sums.n
    of_rater = noise + sums.rater_pairs / n * rater
    of_item = noise + sums.item_pairs / n * item
    spread = np.maximum(sums.squares - sums.total * mean, 0.0) / np.maximum(n - 1, 1)
    variance = np.maximum(of_rater + of_item - noise, spread) / n
    by_rater, by_item = rater > 0, item > 0
    # Unequal clusters are worth as many equal ones as this (Kish 1965, Survey Sampling, ch. 11).
    like_raters, like_items = n**2 / sums.rater_pairs, n**2 / sums.item_pairs
    both = np.maximum(n - sums.raters - sums.items + 1, 1)
    doubt = (
        np.where(by_rater, of_rater**2 / np.maximum(like_raters - 1, 1), 0)
        + np.where(by_item, of_item**2 / np.maximum(like_items - 1, 1), 0)
        + np.where(by_rater & by_item, noise**2 / both, 0)
        + np.where(by_rater | by_item, 0, noise**2 / np.maximum(n - 1, 1))
    ) / n**2
    df = np.divide(variance**2, doubt, out=np.array(n - 1, dtype=float), where=doubt > 0)
    df = np.clip(df, 1.0, np.maximum(n - 1, 1.0))
    return ClusteredMean(mean, variance, df, rater, item, noise, sums)


def _equations(sums: ClusterSums) -> tuple[Floats, Floats]:
    """Return, per value, what sums of squares are expected to be, and what they are."""
    n, raters, items = sums.n, sums.raters, sums.items
    per_rater, per_item = sums.rater_pairs / n, sums.item_pairs / n
    rows = (
        (n - per_rater, n - per_item, n - 1),
        (n - per_rater, raters - per_item, raters - 1),
        (items - per_rater, n - per_item, items - 1),
    )
    shape = np.broadcast_shapes(*(np.shape(each) for each in sums))
    expected = np.empty((*shape, 3, 3))
    for k, row in enumerate(rows):
        for j, each in enumerate(row):
            expected[..., k, j] = each / n
    expected[..., 0, 2] += n == 1  # one value has no variance, and no equation
    of_mean = sums.total**2 / n
    parts = (sums.squares - of_mean, sums.of_raters - of_mean, sums.of_items - of_mean)
    found = np.stack([np.broadcast_to(part / n, shape) for part in parts], axis=-1)
    alone = np.stack(np.broadcast_arrays(raters == n, items == n), axis=-1)
    alone = alone | (np.abs(np.linalg.det(_without(expected, alone))) < SINGULAR)[..., None]
    found[..., 1:] = np.where(alone, 0.0, found[..., 1:])
    return _without(expected, alone), found


def _without(expected: Floats, alone: NDArray[np.bool_]) -> Floats:
    """Return the equations in which clusters that cannot be told from noise have no variance."""
    taken = expected.copy()
    for k in (0, 1):
        taken[..., k + 1, :] = np.where(alone[..., k, None], np.eye(3)[k], taken[..., k + 1, :])
    return taken


def _cells(
    values: Floats, rater: NDArray[np.generic], item: NDArray[np.generic]
) -> tuple[tuple[NDArray[np.intp], NDArray[np.intp]], Floats]:
    raters, items = (np.unique(each, return_inverse=True)[1] for each in (rater, item))
    width = int(items.max()) + 1
    keys, cell = np.unique(raters * width + items, return_inverse=True)
    mean = np.bincount(cell, values) / np.bincount(cell)
    return (keys // width, keys % width), mean


def _by(cluster: NDArray[np.intp], values: Floats) -> tuple[float, float, float]:
    """Return the sum of squared totals over counts, that of squared counts, and how many."""
    count, total = np.bincount(cluster), np.bincount(cluster, values)
    there = count > 0
    over = total[there] ** 2 / count[there]
    return float(over.sum()), float((count.astype(float) ** 2).sum()), float(there.sum())
