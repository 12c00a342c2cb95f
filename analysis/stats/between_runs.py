"""Between-run variance of a whole evaluation, and intervals over few raters or clusters.

The papers print these without their method (THRED's 90 %, Chikai's 95 %); each is ours where the
docstring says so.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from analysis.stats.clustering import error_of_mean
from analysis.stats.intervals import NONE, Floats, Interval, t_interval

SIMULATED_AS = ("over_clusters", "over_raters")

UNDEFINED = float("nan")
PARTS = 5
ANYWHERE, SHARE, PERCENT = Interval(-math.inf, math.inf), Interval(0, 1), Interval(0, 100)


class Spread(NamedTuple):
    """A mean with its interval, and the sample SD of what it is the mean of."""

    mean: float
    sd: float
    n: int
    interval: Interval = NONE
    reason: str | None = None


def over_repeats(scores: ArrayLike, ends: Interval = ANYWHERE) -> Spread:
    """Return mean, sample SD and t interval of a score over full re-evaluations.

    MEENA (Adiwardana et al. 2020, section 4.1) has seven of them and prints the SD. `ends` are the
    lowest and highest score there can be: what the interval has beyond them covers nothing.
    """
    known = _known(scores)
    if len(known) == 0:
        return Spread(UNDEFINED, UNDEFINED, 0, reason="no score")
    if len(known) == 1:
        return Spread(float(known[0]), UNDEFINED, 1, reason="one evaluation only: no spread")
    mean, sd = float(known.mean()), float(known.std(ddof=1))
    found = t_interval(mean, sd / np.sqrt(len(known)), len(known) - 1)
    within = Interval(max(found.low, ends.low), min(found.high, ends.high))
    return Spread(mean, sd, len(known), within)


def over_raters(means: ArrayLike, ends: Interval = ANYWHERE) -> Spread:
    """Return the macro-average over raters ± t(k - 1; .975) s/√k, cut at the ends there can be.

    For Chikai et al. 2019, whose five annotators judge the same items: t has 4 degrees of freedom.
    """
    return over_repeats(means, ends)


def over_clusters(values: ArrayLike, clusters: ArrayLike, *, level: float = 0.95) -> Spread:
    """Return the mean of values with a t interval clustered by, say, dialogue.

    For THRED (Dziri et al. 2019) with level .90. The error is the cluster-robust one of a mean with
    its degrees of freedom (`analysis.stats.clustering`): a normal interval is too narrow for 20
    clusters.
    """
    known, of = np.asarray(values, dtype=float), np.asarray(clusters)
    if len(known) == 0:
        return Spread(UNDEFINED, UNDEFINED, 0, reason="no value")
    mean = float(known.mean())
    sd = float(known.std(ddof=1)) if len(known) > 1 else UNDEFINED
    _, which = np.unique(of, return_inverse=True)
    error = error_of_mean(known, which)
    if error.clusters < 2:
        return Spread(mean, sd, len(known), reason="one cluster only: no interval")
    half = float(special.stdtrit(error.df, 0.5 + level / 2) * error.se)
    return Spread(mean, sd, len(known), Interval(mean - half, mean + half))


def over_parts(values: ArrayLike, *, parts: int = PARTS, seed: int = 0) -> Spread:
    """Return the spread of the mean over disjoint random parts of nearly equal size.

    THRED's reliability of semantic distance: the SD of its mean over five parts of the test set.
    """
    known = _known(values)
    if len(known) < parts:
        why = f"{len(known)} values cannot be cut into {parts} parts"
        return Spread(UNDEFINED, UNDEFINED, len(known), reason=why)
    # Sorted first, so that the seed and the values decide, not the order of rows.
    shuffled = np.random.default_rng(seed).permutation(np.sort(known))
    return over_repeats([float(part.mean()) for part in np.array_split(shuffled, parts)])


def _known(values: ArrayLike) -> Floats:
    known = np.asarray(values, dtype=float)
    return np.asarray(known[np.isfinite(known)], dtype=float)
