"""Every number of some tables, computed once for the same data: page and downloads ask often.

What was computed is known by the content of the tables, so it can never be out of date.

Apart because what is kept between visits is no matter of the page.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import lru_cache

import pandas as pd
from django.conf import settings

from analysis import MessageTable, RatingTable, evaluate


def numbers(
    messages: MessageTable, ratings: RatingTable, *, control: str | None = None
) -> pd.DataFrame:
    """Return all metrics of the chosen ratings and of all messages; the control is set apart."""
    digest = f"{_digest(ratings)}{_digest(messages)}{control or ''}"
    known = _Known(digest, ratings, messages, control)
    return _evaluated(known, settings.RESULTS_SIMULATE)


@dataclass(frozen=True)
class _Known:
    """Two tables, equal to others of the same content."""

    digest: str
    ratings: RatingTable = field(compare=False)
    messages: MessageTable = field(compare=False)
    control: str | None = field(compare=False)


@lru_cache(maxsize=8)
def _evaluated(known: _Known, simulate: int) -> pd.DataFrame:
    return evaluate(
        known.ratings, messages=known.messages, simulate=simulate, control=known.control
    )


def _digest(table: pd.DataFrame) -> str:
    cells = pd.util.hash_pandas_object(table, index=False).to_numpy()
    return hashlib.sha256(cells.tobytes()).hexdigest()
