"""Share of responses whose normalized text occurs exactly once in the system's log.

ConvAI2 (Dinan et al. 2019, table 8): ideal is near 1. Texts are compared after `normalize_answer`,
as in the released script. Whether a text is unique depends on all conversations, so the standard
error is a jackknife's: the share is counted anew without each conversation (Efron & Stein 1981,
Annals of Statistics 9, 586-596), and the interval is Wilson's with as many as that is worth, or as
there are conversations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.intervals import Floats, share_interval
from analysis.tables import MessageTable
from analysis.text import normalize_answer
from analysis.tidy import tidy
from analysis.transcripts import Side, sides


def unique_responses(messages: MessageTable) -> pd.DataFrame:
    """Return a row per system and side."""
    return tidy("unique_responses", ({**side.name, **_row(side)} for side in sides(messages)))


def _row(side: Side) -> dict[str, object]:
    talks = [Counter(map(normalize_answer, talk)) for talk in side.talks if talk]
    times = Counter(normalize_answer(text) for text in side.texts)
    n, units = times.total(), len(talks)
    row: dict[str, object] = {"n": n, "conversations": units}
    if n == 0:
        return {**row, "reason": "nothing to count in these messages"}
    share = sum(count == 1 for count in times.values()) / n
    if units < 2:
        return {**row, "estimate": share, "reason": "one conversation only: no interval"}
    se = float(np.sqrt(units - 1) * _left_out(talks, times).std())
    low, high = share_interval(share, se, units - 1, units)
    return {**row, "estimate": share, "low": low, "high": high, "reason": None}


def _left_out(talks: Sequence[Counter[str]], times: Counter[str]) -> Floats:
    """Return the share without each conversation."""
    unique, n = sum(count == 1 for count in times.values()), times.total()
    shares = []
    for talk in talks:
        own = sum(times[text] == 1 for text in talk)
        freed = sum(times[text] - count == 1 for text, count in talk.items())
        shares.append((unique - own + freed) / max(n - talk.total(), 1))
    return np.array(shares)
