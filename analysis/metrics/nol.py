"""NoL: how many of five people call an utterance likely for a character, on average.

PERSONA-METRICS (Miyazaki et al. 2021): 0 to 5 per utterance and character; 0 or 1 is
inappropriate. The table's columns are told in `analysis/likely.py`; utterances with another
number of votes stay open. The interval is a t interval over utterances.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.intervals import t_interval
from analysis.likely import INAPPROPRIATE, LIKELY, votes
from analysis.tables import RatingTable
from analysis.tidy import tidy


def nol(ratings: RatingTable) -> pd.DataFrame:
    """Return a row per character: mean NoL, its counts, and the share that is inappropriate."""
    found = votes(ratings)
    groups = found.groupby(["protocol", "character"], sort=True)
    return tidy("nol", (_row(str(p), str(who), rows) for (p, who), rows in groups))


def _row(protocol: str, character: str, rows: pd.DataFrame) -> dict[str, object]:
    known = rows["nol"].dropna()
    needed = int(rows["needed"].iloc[0])
    row: dict[str, object] = {
        "protocol": protocol,
        "question": LIKELY[0],
        "system": character,
        "n": len(known),
        "votes": needed,
        "open_items": len(rows) - len(known),
    }
    if known.empty:
        return {**row, "reason": f"no utterance has {needed} votes"}
    mean = float(known.mean())
    row["estimate"] = mean
    row["inappropriate"] = float((known <= INAPPROPRIATE).mean())
    row |= {f"nol_{k}": int((known == k).sum()) for k in range(needed + 1)}
    if len(known) < 2 or known.nunique() < 2:
        return {**row, "reason": "one value only: no spread, so no interval"}
    se = float(known.std(ddof=1) / np.sqrt(len(known)))
    low, high = t_interval(mean, se, len(known) - 1)
    return {**row, "low": low, "high": high, "reason": None}
