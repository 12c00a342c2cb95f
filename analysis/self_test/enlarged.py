"""Raters or items that would settle what a design cannot: the design enlarged until it tells.

A design is enlarged by raters who do what those there do, of one system each in turn where that is
their work; where no such raters can tell systems apart, by raters of every system. If 256 of them
are not enough, it is by items. It tells a difference that the medium pair finds with a power of .8,
errors and degrees of freedom being those of the fitted variances.
Apart because nothing is drawn for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd

from analysis.scores.crossed import CrossedDesign
from analysis.scores.differences import detectable
from analysis.scores.incidence import RESIDUAL, Ints, incidence
from analysis.scores.system_scores import (
    ITEM,
    RATER,
    TASTE,
    ScoredDesign,
    SystemScores,
    with_systems,
    withheld,
)
from analysis.stats.intervals import Floats

MOST = 256
MOST_RATINGS = 20_000
TINY = 1e-12
# A difference that is worth finding where the systems at hand are nearer: part of the scale.
SMALL = 0.1
Codes = Mapping[str, Ints]
Grow = Callable[[Ints, Codes, int], tuple[Ints, dict[str, Ints]]]
# Parts of a rating's variance, where nothing can tell them.
ASSUMED = {RATER: 0.25, TASTE: 0.1, RESIDUAL: 0.65}
RANGE = "severities a quarter and tastes a tenth of the variance of a rating"


def needed(design: ScoredDesign, values: Floats, scores: SystemScores) -> str | None:
    """Return the sentence of what would tell the highest systems apart; None where they are."""
    if len(scores.ranked) < 2 or RATER not in design.known:
        return None
    apart = scores.fit is not None and len(set(scores.letters.values())) > 1
    if apart:
        return None
    kept = [scores.systems.index(name) for name in scores.ranked]
    means = np.sort(scores.means[kept])[::-1]
    span = np.ptp(values) if scores.ends is None else scores.ends[1] - scores.ends[0]
    target = max(float(means[0] - means[1]), SMALL * float(span))
    if target <= 0:
        return None
    is_fitted = scores.fit is not None
    found = _search(design, _variances(design, values, scores), target, is_fitted=is_fitted)
    known = "" if scores.fit is not None else f", taking {RANGE}"
    return (
        f"These systems cannot be told apart with these raters; {_sentence(found, target)}{known}."
    )


def _sentence(found: tuple[tuple[str, str], int] | None, target: float) -> str:
    difference = f"a difference of {target:.2f}"
    if found is None:
        return (
            f"{MOST} more raters, or items per system, or what makes {MOST_RATINGS:,} ratings, "
            f"would not tell {difference}"
        )
    (one, several), count = found
    if count == 0:
        return f"{difference} would be told (power .8), and they are nearer"
    return f"{count} more {one if count == 1 else several} would tell {difference} (power .8)"


def _search(
    design: ScoredDesign, variances: Mapping[str, float], target: float, *, is_fitted: bool
) -> tuple[tuple[str, str], int] | None:
    """Return what is to be added, in words for one and for several, and how many."""
    for words, grow in _ways(design, is_fitted=is_fitted):
        count = _least(partial(_tells, design, variances, grow, target))
        if count is not None:
            return words, count
    return None


def _ways(design: ScoredDesign, *, is_fitted: bool) -> Iterator[tuple[tuple[str, str], Grow]]:
    rows = _rows_by(design.known[RATER])
    if any(len(np.unique(design.incidence.system[one])) > 1 for one in rows):
        yield (RATER, f"{RATER}s"), _more_raters
    elif is_fitted:
        yield (f"{RATER} of one system", f"{RATER}s of one system each"), _more_of_one_system
    else:
        yield (f"{RATER} of every system", f"{RATER}s of every system"), _more_of_every_system
    if ITEM in design.known:
        yield (f"{ITEM} per system", f"{ITEM}s per system"), _more_items


def _least(tells: Callable[[int], bool | None]) -> int | None:
    """Return the least number that tells: doubled, then the gap halved; None beyond the bounds."""
    low, high = 0, 0
    while not (reached := tells(high)):
        if reached is None or high >= MOST:
            return None
        low, high = high, max(1, 2 * high)
    while high - low > max(1, high // 16):
        middle = (low + high) // 2
        low, high = (low, middle) if tells(middle) else (middle, high)
    return high


def _tells(
    design: ScoredDesign, variances: Mapping[str, float], grow: Grow, target: float, count: int
) -> bool | None:
    """Say whether the enlarged design finds the difference; None where it has too many ratings."""
    system, codes = grow(design.incidence.system, design.known, count)
    if len(system) > MOST_RATINGS:
        return None
    found = incidence(system, codes | with_systems(system, codes))
    if withheld(found) is not None:
        return False
    own = [variances[RESIDUAL], *(variances.get(name, 0.0) for name in found.effects)]
    fit = CrossedDesign(found).expected(np.array(own))
    pairs = combinations(range(len(design.systems)), 2)
    sizes = [detectable(fit.se(c), fit.df(c)) for c in (fit.pair(a, b) for a, b in pairs)]
    return float(np.median(sizes)) <= target


def _variances(design: ScoredDesign, values: Floats, scores: SystemScores) -> dict[str, float]:
    """Return the fitted variances, or where nothing can tell them the parts that are assumed."""
    if scores.fit is not None:
        fitted = zip(scores.fit.names, scores.fit.variances.tolist(), strict=True)
        return {name: max(variance, 0.0) for name, variance in fitted}
    left = values - scores.raw[design.incidence.system]
    total = max(float(left @ left) / max(len(left) - len(scores.raw), 1), TINY)
    return {name: share * total for name, share in ASSUMED.items()}


def _more_raters(system: Ints, codes: Codes, count: int) -> tuple[Ints, dict[str, Ints]]:
    """Return the design with so many raters more, who do what those of several systems do."""
    rows = _rows_by(codes[RATER])
    several = [one for one in rows if len(np.unique(system[one])) > 1]
    return _with_raters(system, codes, several, count)


def _more_of_one_system(system: Ints, codes: Codes, count: int) -> tuple[Ints, dict[str, Ints]]:
    """Return the design with so many raters more, of one system each, the systems in turn."""
    rows = _rows_by(codes[RATER])
    own = np.array([system[one[0]] for one in rows])
    turn = pd.Series(own).groupby(own).cumcount().to_numpy()
    in_turn = np.lexsort((own, turn))
    counts = np.unique(own, return_counts=True)[1]
    whole = int(counts.min()) * len(counts)  # rounds in which every system has a rater
    return _with_raters(system, codes, [rows[k] for k in in_turn[:whole]], count)


def _more_of_every_system(system: Ints, codes: Codes, count: int) -> tuple[Ints, dict[str, Ints]]:
    """Return the design with so many raters more, each with one's work, of all systems in turn."""
    rows = _rows_by(codes[RATER])
    each = max(1, round(float(np.median([len(one) for one in rows]))))
    systems = int(system.max()) + 1
    wanted = [np.flatnonzero(system == k % systems)[k // systems :][:1]
              for k in range(max(each, systems))]  # fmt: skip
    whole = np.concatenate([one for one in wanted if len(one)])
    return _with_raters(system, codes, [whole], count)


def _with_raters(
    system: Ints, codes: Codes, work: Sequence[Ints], count: int
) -> tuple[Ints, dict[str, Ints]]:
    shared = ITEM in codes and len(np.unique(codes[ITEM])) < 0.75 * len(system)
    kept = {ITEM, "context", "conversation"} if shared else {"context"}
    return _copied(system, codes, [work[k % len(work)] for k in range(count)], kept)


def _more_items(system: Ints, codes: Codes, count: int) -> tuple[Ints, dict[str, Ints]]:
    """Return the design with so many items more per system, judged as those there are."""
    rows = _rows_by(codes[ITEM])
    crossed = len(np.unique(system[rows[0]])) > 1
    chosen = []
    for k in range(int(system.max()) + 1):
        own = [one for one in rows if system[one[0]] == k]
        if own and not (crossed and k):
            chosen += [own[j % len(own)] for j in range(count)]
    return _copied(system, codes, chosen, {RATER})


def _rows_by(codes: Ints) -> list[Ints]:
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)


def _copied(
    system: Ints, codes: Codes, copies: list[Ints], kept: set[str]
) -> tuple[Ints, dict[str, Ints]]:
    """Return the design with rows copied; levels of what is not `kept` are new in each copy."""
    whole = np.concatenate([np.arange(len(system)), *copies])
    copy = np.concatenate([[0] * len(system), *(np.full(len(one), k + 1)
                                                for k, one in enumerate(copies))])  # fmt: skip
    found = {}
    for name, own in codes.items():
        level = own[whole]
        if name not in kept:
            level = pd.factorize(level.astype(np.int64) * (len(copies) + 1) + copy)[0]
        found[name] = np.asarray(level)
    return system[whole], found
