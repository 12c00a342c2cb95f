"""Sums of weights by code, as floats."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from analysis.stats.intervals import Floats


def sums_by(codes: NDArray[Any], weights: Floats, count: int = 0) -> Floats:
    """Return the sum of `weights` for each code from 0 to `count` - 1, or to the largest code.

    numpy's own types say whole numbers, which is so only without weights.
    """
    return cast(Floats, np.bincount(codes, weights, count))
