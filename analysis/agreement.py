"""How far raters agree: votes per unit, and coefficients of many resamples at once.

A unit is what several raters judged: an item, as one system answered it. Krippendorff's
coincidences (2011, Computing Krippendorff's Alpha-Reliability) are sums over units, so alpha of a
resample needs only how often each unit was drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.groups import UNIT, Asked
from analysis.intervals import Floats, Interval, bootstrap, by_content, percentile_interval
from analysis.tables import Level
from analysis.tidy import ALL

UNDEFINED = float("nan")


@dataclass(frozen=True, eq=False)
class Votes:
    """Units that two raters or more judged: how often each category was given to each."""

    counts: Floats
    values: Floats
    level: Level
    ratings: int
    """All ratings, also those of units with one only."""

    @property
    def units(self) -> int:
        return len(self.counts)

    @property
    def per_unit(self) -> Floats:
        return np.asarray(self.counts.sum(axis=1), dtype=float)

    @property
    def undefined(self) -> str | None:
        """Why no coefficient that corrects for chance is defined, if none is."""
        if self.units == 0:
            return "no item was rated by two people or more"
        if (self.counts.sum(axis=0) > 0).sum() < 2:
            return "one category only was ever given, so agreement by chance is certain"
        return None


def votes(asked: Asked, rows: pd.DataFrame) -> Votes:
    """Return the votes of some of a question's rows."""
    unit = rows.groupby(UNIT).ngroup().to_numpy()
    categories = sorted(set(rows["value"]), key=_sortable)
    category = rows["value"].map({value: k for k, value in enumerate(categories)}).to_numpy()
    counts = np.zeros((unit.max(initial=-1) + 1, len(categories)))
    np.add.at(counts, (unit, category), 1)
    shared = counts[counts.sum(axis=1) > 1]
    given = shared.sum(axis=0) > 0
    values = np.arange(len(categories)) if asked.level == "nominal" else np.array(categories)
    counts = shared[:, given]
    order = by_content(*counts.T) if counts.size else np.arange(len(counts))
    return Votes(counts[order], values[given].astype(float), asked.level, len(rows))


def parts(asked: Asked) -> Iterator[tuple[str, Votes]]:
    """Yield the votes on each system, and on all; on all only, where no unit has two ratings."""
    whole = votes(asked, asked.rows)
    systems = list(asked.by_system())
    if whole.units == 0 and len(systems) > 1:
        systems = []
    for system, rows in systems:
        yield system, votes(asked, rows)
    if len(systems) != 1:
        yield ALL, whole


def agreements(given: Votes) -> Floats:
    """Return each unit's share of rater pairs that agree."""
    n = given.per_unit
    return np.asarray((given.counts * (given.counts - 1)).sum(axis=1) / (n * (n - 1)))


def alphas(given: Votes, drawn: Floats) -> Floats:
    """Return Krippendorff's alpha of each resample (a row of `drawn`: how often each unit)."""
    frequencies = drawn @ given.counts
    total = frequencies.sum(axis=1)
    if given.level == "nominal":
        observed = drawn @ ((given.per_unit**2 - (given.counts**2).sum(axis=1)) / _others(given))
        expected = total**2 - (frequencies**2).sum(axis=1)
    else:
        places = _places(given, frequencies)
        observed = ((drawn / _others(given)) * _disagreement(given, places)).sum(axis=1)
        squares, sums = (frequencies * places**2).sum(axis=1), (frequencies * places).sum(axis=1)
        expected = 2 * (total * squares - sums**2)
    # Rounding leaves a trace of disagreement where there is one category only.
    defined = (frequencies > 0).sum(axis=1) > 1
    share = np.divide(observed * (total - 1), expected, out=np.ones_like(total), where=defined)
    return np.where(defined, 1 - share, UNDEFINED)


def interval(given: Votes, statistic: Callable[[Votes, Floats], Floats], *, seed: int) -> Interval:
    """Return the bootstrap interval over units of a statistic of resamples."""
    values = bootstrap(lambda drawn: statistic(given, drawn), given.units, seed=seed)
    return percentile_interval(values)


def _sortable(value: object) -> tuple[bool, object]:
    return isinstance(value, str), value


def _others(given: Votes) -> Floats:
    return given.per_unit - 1


def _places(given: Votes, frequencies: Floats) -> Floats:
    """Return where each category stands in each resample: its value, or its middle rank.

    The ordinal distance of the paper, the ratings between two categories with half of each, is
    the difference of their middle ranks.
    """
    if given.level == "ordinal":
        return np.asarray(np.cumsum(frequencies, axis=1) - frequencies / 2)
    return np.broadcast_to(given.values - given.values.mean(), frequencies.shape)


def _disagreement(given: Votes, places: Floats) -> Floats:
    """Return, per resample and unit, the squared distances summed over ordered rater pairs."""
    squares = places**2 @ given.counts.T
    sums = places @ given.counts.T
    return np.asarray(2 * (given.per_unit * squares - sums**2))
