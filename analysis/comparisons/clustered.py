"""Errors of what maximizes a likelihood, clustered by rater and by context at once.

A sandwich (Liang & Zeger 1986, Biometrika 73, eq. 5) of the scores summed in each cluster, raised
for what the cluster's own weight takes from them (CR2: Bell & McCaffrey 2002, Survey Methodology
28, 169-181; of a logit with working weights, Pustejovsky & Tipton 2018, J. Business & Economic
Statistics 36, eq. 8). Two ways of clustering are added, less what both count (Cameron, Gelbach &
Miller 2011, same journal 29, 238-249), with degrees of freedom of each by Bell & McCaffrey and of
the sum by Satterthwaite 1946.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from analysis.stats.clustering import FEWEST, Codes, crossed, freedom_of_sizes, widest
from analysis.stats.intervals import NONE, Floats, Interval, t_interval

SIMULATED_AS = ("bradley_terry", "plackett_luce")

# With more clusters than these no single one weighs enough to be raised.
RAISED = 5000
TERMS = 60
NEAR = 1e-5


@dataclass(frozen=True, eq=False)
class Gradients:
    """Gradients [act, parameter] at the maximum, and roots [row, parameter] of the information.

    The information of an act is the sum of the outer products of its rows, which `act` names. The
    first `systems` parameters are abilities, of which only differences are known.
    """

    gradients: Any
    roots: Any
    act: Codes
    systems: int

    @cached_property
    def inverse(self) -> Floats:
        """The inverse information, the mean ability held at 0."""
        held = np.zeros(self.roots.shape[1])
        held[: self.systems] = 1
        information = (self.roots.T @ self.roots).toarray() + np.outer(held, held)
        return np.asarray(np.linalg.pinv(information, hermitian=True), dtype=float)

    @cached_property
    def alone(self) -> Floats:
        """The covariance if no act depended on another."""
        return _plain(self.gradients, self.inverse)


@dataclass(frozen=True, eq=False)
class Clustered:
    """Covariances of the parameters by each way of clustering, and with both.

    `freedom` [way, parameter] has their degrees of freedom; `clusters` how many there are. `alone`
    is the covariance if no act depended on another.
    """

    ways: tuple[Floats, ...]
    shared: Floats
    freedom: Floats
    clusters: tuple[int, ...]
    alone: Floats
    systems: int

    @property
    def both(self) -> Floats:
        """The covariance of all ways."""
        return np.asarray(sum(self.ways) - self.shared, dtype=float)

    @property
    def few(self) -> bool:
        """Whether there are too few clusters of a kind for an interval."""
        return min(self.clusters, default=0) < FEWEST

    @property
    def centered(self) -> Floats:
        """Contrasts of each ability with the mean of all."""
        found = np.zeros((self.systems, len(self.alone)))
        found[:, : self.systems] = np.eye(self.systems) - 1 / self.systems
        return found

    def errors(self, contrasts: Floats) -> tuple[Floats, Floats]:
        """Return the standard error and the degrees of freedom of each [contrast, parameter].

        Never less than of one way alone; a contrast has the fewest degrees of its parameters.
        """
        each = np.array([_squared(contrasts, one) for one in self.ways])
        variance = np.maximum(_squared(contrasts, self.both), each.max(axis=0))
        used = np.abs(contrasts) > (np.abs(contrasts).max(axis=1, keepdims=True) / 2 - 1e-9)
        fewest = np.array([np.where(used, free, np.inf).min(axis=1) for free in self.freedom])
        return np.sqrt(variance), _satterthwaite(variance, each, fewest)

    def pairs(self) -> tuple[Floats, Floats]:
        """Return errors and degrees of freedom of the difference of every two abilities."""
        each = np.array([_apart(one, self.systems) for one in self.ways])
        variance = np.maximum(_apart(self.both, self.systems), each.max(axis=0))
        free = self.freedom[:, : self.systems]
        fewest = np.minimum(free[:, :, None], free[:, None, :])
        return np.sqrt(variance), _satterthwaite(variance, each, fewest)

    def intervals(self, at: Floats) -> list[Interval]:
        """Return Student's intervals of the abilities; none with too few clusters or freedom."""
        if self.few:
            return [NONE] * self.systems
        errors, df = self.errors(self.centered)
        found = zip(at, errors, df, strict=True)
        return [t_interval(float(mean), float(se), float(free)) for mean, se, free in found]


def clustered(found: Gradients, *by: Codes) -> Clustered:
    """Return the covariances clustered by each of `by`, codes of acts counted from 0.

    A clustering within another says nothing more than it, and is left out.
    """
    inverse = found.inverse
    kept = widest(by)
    ways = tuple(_covariance(found, inverse, codes) for codes in kept)
    shared = np.zeros_like(inverse)
    if len(kept) > 1:
        shared = _covariance(found, inverse, crossed(kept[0], kept[1]))
    freedom = np.array([_freedom(found, codes) for codes in kept])
    clusters = tuple(int(one.max()) + 1 for one in kept)
    return Clustered(ways, shared, freedom, clusters, found.alone, found.systems)


def widening(found: Gradients, codes: Codes) -> float:
    """Return how much wider clusters make the intervals of abilities than independent acts do.

    The mean error by the one over that by the other, none of them raised.
    """
    together = _plain(_added(codes, found.gradients), found.inverse)
    variances = (np.diag(one)[: found.systems] for one in (together, found.alone))
    clusters, alone = (np.sqrt(each).mean() for each in variances)
    return float(clusters / alone)


def _covariance(found: Gradients, inverse: Floats, codes: Codes) -> Floats:
    count = int(codes.max()) + 1
    sums = _added(codes, found.gradients)
    if count > RAISED:
        return _plain(sums, inverse)
    pulls = _raised(found, inverse, codes, sums.toarray()) @ inverse
    return np.asarray(pulls.T @ pulls, dtype=float)


def _plain(sums: Any, inverse: Floats) -> Floats:
    return np.asarray(inverse @ (sums.T @ sums).toarray() @ inverse, dtype=float)


def _raised(found: Gradients, inverse: Floats, codes: Codes, sums: Floats) -> Floats:
    """Return (1 - L)^(-1/2) times the sums of each cluster, L being its share of the information.

    The binomial series needs products with one cluster's information only.
    """
    roots = found.roots.tocoo()
    group, size = codes[found.act][roots.row], sums.shape[1]
    cell, rows = group * size + roots.col, found.roots.shape[0]
    total, term, weight = sums.copy(), sums, 1.0
    least = NEAR * np.abs(sums).max(initial=0.0)
    for k in range(1, TERMS):
        weight *= (2 * k - 1) / (2 * k)
        into = np.bincount(roots.row, roots.data * (term @ inverse).ravel()[cell], rows)
        added = np.bincount(cell, roots.data * into[roots.row], sums.size)
        term = np.asarray(added, dtype=float).reshape(sums.shape)
        total += weight * term
        if weight * np.abs(term).max(initial=0.0) <= least:
            break
    return total


def _freedom(found: Gradients, codes: Codes) -> Floats:
    """Return degrees of freedom of each parameter, by how its information is spread."""
    weights = _added(codes[found.act], found.roots.power(2)).tocsc()
    parts = np.split(weights.data, weights.indptr[1:-1])
    return np.array([freedom_of_sizes(part / part.sum()) if len(part) else 0.0 for part in parts])


def _added(codes: Codes, rows: Any) -> Any:
    """Return the sum of the rows of each cluster."""
    of = np.repeat(codes, np.diff(rows.indptr))
    shape = (int(codes.max()) + 1, rows.shape[1])
    found = sparse.csr_array((rows.data, (of, rows.indices)), shape=shape)
    found.sum_duplicates()
    return found


def _squared(contrasts: Floats, covariance: Floats) -> Floats:
    return np.asarray(np.einsum("cp,pq,cq->c", contrasts, covariance, contrasts, optimize=True))


def _apart(covariance: Floats, systems: int) -> Floats:
    own = covariance[:systems, :systems]
    return np.asarray(np.diag(own)[:, None] + np.diag(own) - 2 * own, dtype=float)


def _satterthwaite(variance: Floats, each: Floats, freedom: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(variance > 0, variance**2 / (each**2 / freedom).sum(axis=0), 0.0)
