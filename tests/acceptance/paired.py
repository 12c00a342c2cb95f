"""Two systems on the same examples, and slopes within conversations: tests and intervals.

McNemar's exact test: of the examples that one of two systems alone has right, either is as likely
to be the one (McNemar 1947; exact by the binomial, two-sided). The interval of a mean is Student's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path

import numpy as np
from scipy import stats

ALPHA = 0.05


@dataclass(frozen=True)
class Paired:
    """How many examples one system alone has right, how many the other, of n."""

    one: int
    other: int
    n: int

    @property
    def p(self) -> float:
        """The two-sided p of McNemar's exact test; 1 where the two never differ."""
        differ = self.one + self.other
        return float(stats.binomtest(self.one, differ).pvalue) if differ else 1.0

    @property
    def margin(self) -> float:
        """The difference of the shares that are right."""
        return (self.one - self.other) / self.n

    @property
    def se(self) -> float:
        """Standard error of the margin."""
        return sqrt(self.one + self.other - (self.one - self.other) ** 2 / self.n) / self.n

    @property
    def above(self) -> bool:
        """Whether the one is above the other, beyond chance."""
        return self.one > self.other and self.p < ALPHA

    def __str__(self) -> str:
        return f"{self.margin:+.3f} (SE {self.se:.3f}, {self.one} to {self.other}, p {self.p:.3f})"


def paired(one: Path, other: Path) -> Paired:
    """Compare two files of predictions of the same examples; raises ValueError if they differ."""
    return of_hits(_hits(one), _hits(other))


def of_hits(one: Mapping[str, bool], other: Mapping[str, bool]) -> Paired:
    """Compare what two systems have right, by example."""
    if one.keys() != other.keys():
        raise ValueError("predictions of different examples cannot be paired")
    alone = [(one[key], other[key]) for key in one]
    return Paired(alone.count((True, False)), alone.count((False, True)), len(alone))


def _hits(file: Path) -> dict[str, bool]:
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return {row["example"]: row["response"] == row["gold"] for row in rows}


def share_interval(file: Path) -> tuple[float, float, float]:
    """Return the share of right first choices with the ends of Wilson's interval of 95 %."""
    hits = _hits(file)
    found = stats.binomtest(sum(hits.values()), len(hits))
    ends = found.proportion_ci(method="wilson")
    return sum(hits.values()) / len(hits), float(ends.low), float(ends.high)


def slope_interval(curves: Sequence[Sequence[float]]) -> tuple[float, float, float]:
    """Return the mean least-squares slope of curves over 1, 2, ..., with its 95 % interval."""
    slopes = [np.polyfit(np.arange(1, len(each) + 1), each, 1)[0] for each in curves]
    mean, half = float(np.mean(slopes)), stats.t.ppf(0.975, len(slopes) - 1)
    se = float(np.std(slopes, ddof=1)) / sqrt(len(slopes))
    return mean, mean - float(half) * se, mean + float(half) * se
