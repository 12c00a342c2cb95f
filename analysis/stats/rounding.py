"""Rounding for readers: a share or a p value that is neither 0 nor 1 is not printed as one.

Apart because processes that serve pages round too, and load no tables that compute.
"""

from __future__ import annotations

import math
from collections.abc import Iterable


def is_share(column: Iterable[object]) -> bool:
    """Tell whether a column holds figures from 0 to 1, beside what is unknown."""
    known = [each for each in column if each is not None and not _is_unknown(each)]
    return bool(known) and all(isinstance(each, float) and 0 <= each <= 1 for each in known)


def beyond(share: float, decimals: int) -> tuple[str, float] | None:
    """Return a sign and the figure to print after it where rounding would make 0 or 1 of a share.

    None where rounding tells no more than it should.
    """
    least = 10.0**-decimals
    if 0 < share < least / 2:
        return "<", least
    if 1 - least / 2 < share < 1:
        return ">", 1 - least
    return None


def _is_unknown(value: object) -> bool:
    return (isinstance(value, float) and math.isnan(value)) or str(value) == "<NA>"
