"""Matrices of ratings as the library takes them, which reads rows: NaN where nobody rated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from analysis.comparisons.bradley_terry import Abilities
from analysis.raters.ballots import Ballots
from analysis.raters.votes import Votes, of_codes
from analysis.scores.integer_codes import Scale
from analysis.stats.icc import Intraclass, intraclass
from analysis.stats.intervals import Floats


def ballots_of(matrix: ArrayLike, level: Scale = "nominal") -> Ballots:
    """Return ballots from a row per rater and a column per unit."""
    given = np.asarray(matrix, dtype=float)
    rater, unit = np.nonzero(~np.isnan(given))
    values, code = np.unique(given[rater, unit], return_inverse=True)
    rater, unit = (np.unique(which, return_inverse=True)[1] for which in (rater, unit))
    return Ballots(unit, rater, code, values, level)


def votes_of(matrix: ArrayLike, level: Scale = "nominal") -> Votes:
    """Return votes from a row per rater and a column per unit."""
    given = ballots_of(matrix, level)
    return of_codes(given.unit, given.code, given.values, level)


def votes_of_counts(counts: ArrayLike, values: Sequence[float], level: Scale = "nominal") -> Votes:
    """Return votes from a row per unit and a column per category."""
    times = np.asarray(counts, dtype=int)
    unit, code = (np.repeat(which.ravel(), times.ravel()) for which in np.indices(times.shape))
    return of_codes(unit, code, np.asarray(values, dtype=float), level)


def intraclass_of(matrix: ArrayLike) -> tuple[Intraclass, ...]:
    """Return all forms of ICC from a row per item and a column per rater."""
    given = np.asarray(matrix, dtype=float)
    known = ~np.isnan(given)
    given = given[known.any(axis=1)][:, known.any(axis=0)]
    known = ~np.isnan(given)
    item, rater = np.nonzero(known)
    return intraclass(item, rater, given[known])


def against(found: Abilities, base: int) -> tuple[Floats, Floats]:
    """Return log-abilities and standard errors relative to one system."""
    covariance = found.covariance
    variance = np.diag(covariance) + covariance[base, base] - 2 * covariance[base]
    return found.mean - found.mean[base], np.sqrt(np.maximum(variance, 0.0))
