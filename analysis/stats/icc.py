"""Intraclass correlations and their F intervals (Shrout & Fleiss 1979, Psychol. Bull. 86, 420-428).

The six forms: (1,1) raters are others for each item; (2,1) the same raters, drawn from many;
(3,1) these raters only; and of the mean of k raters. (2,·) is absolute agreement and (3,·) is
consistency (McGraw & Wong 1996, Psychological Methods 1, 30-46). Gaps: (1,·) takes groups of
unequal size by the analysis of variance (Searle et al. 1992, Variance Components, section 3.6),
with the mean size k0 in place of k, where its interval is approximate; (2,·) and (3,·) need every
rater, so only items that all raters judged are used. Apart because the forms are functions of
arrays, compared with pingouin as such.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from analysis.stats.intervals import LEVEL, NONE, Floats, Interval

FORMS = ("1_1", "2_1", "3_1", "1_k", "2_k", "3_k")
ROUNDING = 1e-12
SAME_MEAN = "all items have the same mean, so they cannot be distinguished"
RATED_ONCE = "no item was rated by two or more people"


@dataclass(frozen=True, eq=False)
class Intraclass:
    """One form: its estimate with an interval, or the reason why there is none."""

    form: str
    estimate: float
    interval: Interval
    items: int
    raters: float
    """k; for the one-way forms with gaps the mean size k0."""
    reason: str | None = None
    note: str | None = None


def intraclass(
    unit: NDArray[np.integer], rater: NDArray[np.integer], values: Floats
) -> tuple[Intraclass, ...]:
    """Return all six forms of a row per rating; units and raters are counted from 0."""
    shifted = values - values.mean() if len(values) else values
    sizes = np.bincount(unit)
    complete = sizes == int(rater.max(initial=-1)) + 1
    matrix = np.empty((0, 0))
    if complete.any():
        kept = complete[unit]
        order = np.lexsort((rater[kept], unit[kept]))
        matrix = shifted[kept][order].reshape(int(complete.sum()), -1)
    found = {c.form: c for c in (*_one_way(unit, shifted), *_two_way(matrix, sizes, rater))}
    return tuple(found[form] for form in FORMS)


def _one_way(unit: NDArray[np.integer], values: Floats) -> tuple[Intraclass, Intraclass]:
    sizes = np.bincount(unit).astype(float)
    n, total = len(sizes), float(sizes.sum())
    reason = None
    if n < 2:
        reason = "fewer than two items were rated, so there is no difference between items"
    elif total == n:
        reason = RATED_ONCE
    elif not np.any(np.abs(values) > ROUNDING):
        reason = "all ratings are equal, so there is no variance to explain"
    if reason is not None:
        return _none("1_1", reason, n), _none("1_k", reason, n)
    means = np.bincount(unit, weights=values) / sizes
    within = float(((values - means[unit]) ** 2).sum()) / (total - n)
    between = float(sizes @ (means - values.mean()) ** 2) / (n - 1)
    size = (total - float(sizes @ sizes) / total) / (n - 1)
    note = None if (sizes == sizes[0]).all() else "items have unequal ratings: k is their mean size"
    ends = _f_ends(between, within, n - 1, int(total) - n)
    return _forms("1", between, within, size, ends, n, note)


def _two_way(
    matrix: Floats, sizes: NDArray[np.integer], rater: NDArray[np.integer]
) -> tuple[Intraclass, ...]:
    raters = int(rater.max(initial=-1)) + 1
    reason = _not_two_way(matrix, sizes, raters)
    if reason is not None:
        return tuple(_none(form, reason, len(matrix)) for form in FORMS if form[0] != "1")
    n, k = matrix.shape
    note = None if n == len(sizes) else f"{n} of {len(sizes)} items were rated by all {k} raters"
    by_item, by_rater = matrix.mean(axis=1), matrix.mean(axis=0)
    whole = matrix.mean()
    items = k * float(((by_item - whole) ** 2).sum()) / (n - 1)
    judges = n * float(((by_rater - whole) ** 2).sum()) / (k - 1)
    rest = matrix - by_item[:, None] - by_rater[None, :] + whole
    error = float((rest**2).sum()) / ((n - 1) * (k - 1))
    consistent = _forms(
        "3", items, error, float(k), _f_ends(items, error, n - 1, (n - 1) * (k - 1)), n, note
    )
    return *_absolute(items, judges, error, n, k, note), *consistent


def _not_two_way(matrix: Floats, sizes: NDArray[np.integer], raters: int) -> str | None:
    if raters < 2:
        return "one rater only, so there is no other rater to agree with"
    if len(matrix) < 2:
        most = int(sizes.max(initial=0))
        return (
            f"{len(matrix)} items were rated by all {raters} raters (an item has at most {most} "
            "ratings), and this form needs two; read ICC(1,1) and ICC(1,k)"
        )
    if np.ptp(matrix) <= ROUNDING:
        return "all ratings are equal, so there is no variance to explain"
    return None


def _absolute(
    items: float, judges: float, error: float, n: int, k: int, note: str | None
) -> tuple[Intraclass, Intraclass]:
    """Return ICC(2,1) and ICC(2,k), with the interval of Shrout & Fleiss 1979, p. 424."""
    spread = items + (k - 1) * error + k * (judges - error) / n
    single = _ratio(items - error, spread)
    mean = _ratio(items - error, items + (judges - error) / n)
    ends = NONE
    if error > ROUNDING * (items + judges):
        fj = judges / error
        part = n * (1 + (k - 1) * single) - k * single
        above = (n - 1) * (k - 1) * (k * single * fj + part) ** 2
        df = above / ((n - 1) * k**2 * single**2 * fj**2 + part**2)
        up, down = _quantile(n - 1, df), _quantile(df, n - 1)
        other = k * judges + (k * n - k - n) * error
        low = n * (items - up * error) / (up * other + n * items)
        high = n * (down * items - error) / (other + n * down * items)
        ends = Interval(low, high)
    of_mean = Interval(*(_of_mean(end, k) for end in ends))
    return (
        _defined(Intraclass("2_1", single, ends, n, k, None, note)),
        _defined(Intraclass("2_k", mean, of_mean, n, k, None, note)),
    )


def _of_mean(single: float, k: int) -> float:
    """Return the value for the mean of k raters; at -1/(k - 1) it is without bound, and below."""
    below = 1 + single * (k - 1)
    return -np.inf if below <= 0 else k * single / below


def _forms(
    which: str,
    items: float,
    error: float,
    k: float,
    ends: Interval,
    n: int,
    note: str | None,
) -> tuple[Intraclass, Intraclass]:
    """Return a form and that of the mean of k raters, from F and the ends of its interval."""
    single = _ratio(items - error, items + (k - 1) * error)
    of_single = Interval(*((end - 1) / (end + k - 1) for end in ends))
    of_mean = Interval(*(1 - 1 / end if end else -np.inf for end in ends))
    mean = _ratio(items - error, items)
    return (
        _defined(Intraclass(f"{which}_1", single, of_single, n, k, None, note)),
        _defined(Intraclass(f"{which}_k", mean, of_mean, n, k, None, note)),
    )


def _defined(found: Intraclass) -> Intraclass:
    """Return the same; where it has no value, with the reason and without an interval."""
    if np.isfinite(found.estimate):
        return found
    return replace(found, interval=NONE, reason=SAME_MEAN)


def _ratio(above: float, below: float) -> float:
    return above / below if abs(below) > ROUNDING * abs(above) else float("nan")


def _f_ends(items: float, error: float, df_items: int, df_error: int) -> Interval:
    """Return both ends of F; none where raters agree exactly."""
    if error <= ROUNDING * items:
        return NONE
    f = items / error
    return Interval(f / _quantile(df_items, df_error), f * _quantile(df_error, df_items))


def _quantile(above: float, below: float) -> float:
    return float(special.fdtri(above, below, 0.5 + LEVEL / 2))


def _none(form: str, reason: str, items: int) -> Intraclass:
    return Intraclass(form, float("nan"), NONE, items, 0.0, reason)
