"""Share of responses whose normalized text occurs exactly once in the system's log.

ConvAI2 (Dinan et al. 2019, table 8): ideal is near 1. Texts are compared after `normalize_answer`,
as in the released script. The interval takes as given which texts are unique.
"""

from __future__ import annotations

from collections import Counter

import pandas as pd

from analysis.tables import MessageTable
from analysis.text import normalize_answer
from analysis.tidy import tidy
from analysis.transcripts import Side, per_message, sides


def unique_responses(messages: MessageTable) -> pd.DataFrame:
    """Return a row per system and side."""
    return tidy("unique_responses", (_row(side) for side in sides(messages)))


def _row(side: Side) -> dict[str, object]:
    times = Counter(map(normalize_answer, side.texts))
    found = per_message(side, lambda text: times[normalize_answer(text)] == 1, most=1.0)
    return {**side.name, **found}
