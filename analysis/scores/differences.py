"""Difference of two systems: estimate, error, tests, interval, and what could have been found.

Apart because these are formulas of Student's t, whatever model the error is from.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy import special

from analysis.stats.intervals import LEVEL

SIMULATED_AS = ("system_difference",)

POWER = 0.8
LEAST = 2.0**-53  # half of the step of floats below 1


@dataclass(frozen=True)
class Difference:
    """System less other, in scale points: estimate, standard error, degrees of freedom, and d.

    d is the difference over the SD of a rating by a rater drawn at random (Cohen 1988, eq. 2.2.1);
    `span` is the width of the scale. `off` is how far what was lost may have moved the estimate:
    tests and the interval hold for any such shift.
    """

    system: str
    other: str
    n: int
    estimate: float
    se: float
    df: float
    d: float
    span: float
    off: float = 0.0

    @property
    def _sure(self) -> float:
        """The part of the estimate that no shift explains."""
        return math.copysign(max(abs(self.estimate) - self.off, 0.0), self.estimate)

    @property
    def p(self) -> float:
        """Return the two-sided p of no difference (Student's t), above 0 as `above` is."""
        return max(float(2 * special.stdtr(self.df, -abs(self._sure) / self.se)), LEAST)

    @property
    def above(self) -> float:
        """Return the probability that the system is above the other, its prior being flat.

        Neither 0 nor 1, which only rounding would make of it.
        """
        found = float(special.stdtr(self.df, self._sure / self.se))
        return min(max(found, LEAST), 1 - LEAST)

    @property
    def detectable(self) -> float:
        """Return the true difference that this design finds with a power of .8."""
        return detectable(self.se, self.df) + self.off

    def ends(self, level: float = LEVEL) -> tuple[float, float]:
        """Return the interval of this level, no wider than the scale."""
        half = float(special.stdtrit(self.df, 0.5 + level / 2)) * self.se + self.off
        return max(self.estimate - half, -self.span), min(self.estimate + half, self.span)

    def p_equivalent(self, margin: float) -> float:
        """Return the larger p of two one-sided tests that the difference is beyond the margin.

        Schuirmann 1987 (J. Pharmacokinetics and Biopharmaceutics 15): small means equivalent.
        """
        margin = margin - self.off
        above = special.stdtr(self.df, -(self.estimate + margin) / self.se)
        below = special.stdtr(self.df, -(margin - self.estimate) / self.se)
        return float(max(above, below))


def detectable(se: float, df: float) -> float:
    """Return the true difference that Student's t finds with a power of .8."""
    t = special.stdtrit(df, 0.5 + LEVEL / 2) + special.stdtrit(df, POWER)
    return float(t * se)
