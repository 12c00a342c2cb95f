"""Trials of one estimator: how far off it is, whether its interval holds, what it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.registry import get_metric, options_of, table_of
from analysis.simulation.campaigns import Design

SIZE = 0.05
FAMILIES = ("p_holm",)
# By (metric, system), or by (metric, system, question) where these differ, what is estimated; for a
# difference the two systems' truths are subtracted.
Truth = Mapping[tuple[str, ...], float]
Draw = Callable[[Design, np.random.Generator], pd.DataFrame]
Measure = Callable[[pd.DataFrame, int], pd.DataFrame]


@dataclass(frozen=True)
class Trial:
    """One interval or test of one campaign; `part` is the metric that the row names.

    An interval that is not there has neither `held` nor a width, and is counted.
    """

    part: str
    error: float = float("nan")
    held: bool | None = None
    width: float = float("nan")
    found: bool | None = None


@dataclass(frozen=True)
class Estimator:
    """A metric, or another function, with the campaigns that it is tried on.

    `tests` names columns of p values, of which one named in `FAMILIES` finds something where any
    row of a campaign does. `null` is a value that an interval leaves out where there is something
    to find.
    """

    name: str
    scenario: str
    draw: Draw
    design: Design
    truth: Callable[[Design], Truth] | None = None
    tests: tuple[str, ...] = ()
    null: float | None = None
    measure: Measure | None = None
    level: float = 0.95

    def trials(self, seeds: Sequence[int]) -> Iterator[Trial]:
        """Yield what comes of a campaign for each seed; those that read ratings are put in a row.

        Campaigns are then protocols of one table, which every metric keeps apart.
        """
        drawn = (self.draw(self.design, _chance(self.name, seed)) for seed in seeds)
        if self.measure is None and table_of(get_metric(self.name)) == "ratings":
            parts = [table.assign(protocol=f"{index:04}") for index, table in enumerate(drawn)]
            whole = self.measured(pd.concat(parts, ignore_index=True), seeds[0])
            found = [rows for _, rows in whole.groupby("protocol", sort=True)]
        else:
            found = [self.measured(one, seed) for seed, one in zip(seeds, drawn, strict=True)]
        truth = None if self.truth is None else self.truth(self.design)
        for rows in found:
            for column in self.tests:
                yield from self._tested(rows, column)
            if truth is not None:
                yield from self._held(rows, truth)

    def measured(self, table: pd.DataFrame, seed: int) -> pd.DataFrame:
        """Return the tidy rows of a table."""
        if self.measure is not None:
            return self.measure(table, seed)
        metric = get_metric(self.name)
        seeded = {"seed": seed} if "seed" in options_of(metric) else {}
        return metric(table, **seeded)

    def _tested(self, found: pd.DataFrame, column: str) -> Iterator[Trial]:
        for metric, rows in found.groupby("metric"):
            part = column if metric == self.name else f"{metric} {column}"
            below = (rows[column].dropna().astype(float) < SIZE).tolist()
            for finding in [any(below)] if column in FAMILIES and below else below:
                yield Trial(part, found=finding)

    def _held(self, found: pd.DataFrame, truth: Truth) -> Iterator[Trial]:
        for row in found.to_dict("records"):
            part, system = str(row["metric"]), str(row["system"])
            value = truth.get((part, system, str(row["question"])), truth.get((part, system)))
            if value is None or np.isnan(row["estimate"]):
                continue
            ends = (row["estimate"], row["low"], row["high"])
            if "other_system" in row:
                value -= truth[part, str(row["other_system"])]
                # The better comes first, which would be a bias; names are in the order of truth.
                if system < str(row["other_system"]):
                    value, ends = -value, (-ends[0], -ends[2], -ends[1])
            yield self._against(part, value, *ends)

    def _against(self, part: str, value: float, estimate: float, low: float, high: float) -> Trial:
        if np.isnan(low):
            return Trial(part, estimate - value)
        finds = None if self.null is None else not low <= self.null <= high
        return Trial(part, estimate - value, bool(low <= value <= high), high - low, finds)


def _chance(name: str, seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, *name.encode()])
