"""NoL: how many of five people call an utterance likely for a character, on average.

PERSONA-METRICS (Miyazaki et al. 2021): 0 to 5 per utterance and character; 0 or 1 is inappropriate.
The table's columns are told in `analysis/conversations/persona_likeness.py`; utterances with
another number of votes stay open. The interval is Student's t, votes clustered by utterance and by
rater (`analysis.stats.clustering`), so that it is of other raters' votes too.
"""

from __future__ import annotations

import pandas as pd

from analysis.conversations.persona_likeness import (
    INAPPROPRIATE,
    KEYS,
    LIKELY,
    cast,
    several_scales,
    votes,
)
from analysis.stats.clustering import codes, error_of_mean
from analysis.stats.intervals import t_interval
from analysis.tables.schema import RatingTable
from analysis.tables.tidy import tidy


def nol(ratings: RatingTable) -> pd.DataFrame:
    """Return a row per character: mean NoL, its counts, and the share that is inappropriate."""
    found = votes(ratings)
    single = cast(ratings).merge(found[found["nol"].notna()][KEYS], on=KEYS)
    of_each = dict(iter(single.groupby(KEYS[:2])))
    groups = found.groupby(KEYS[:2], sort=True)
    return tidy(
        "nol", (_row(str(key[0]), str(key[1]), rows, of_each.get(key)) for key, rows in groups)
    )


def _row(
    protocol: str, character: str, rows: pd.DataFrame, single: pd.DataFrame | None
) -> dict[str, object]:
    known = rows["nol"].dropna()
    needed = int(rows["needed"].max())
    row: dict[str, object] = {
        "protocol": protocol,
        "question": LIKELY[0],
        "system": character,
        "n": len(known),
        "votes": needed,
        "open_items": len(rows) - len(known),
    }
    if rows["needed"].nunique() > 1:
        return {**row, "reason": several_scales(rows["needed"])}
    if known.empty or single is None:
        return {**row, "reason": f"no utterance has {needed} votes"}
    mean = float(known.mean())
    row["estimate"] = mean
    row["inappropriate"] = float((known <= INAPPROPRIATE).mean())
    row |= {f"nol_{k}": int((known == k).sum()) for k in range(needed + 1)}
    if len(known) < 2 or known.nunique() < 2:
        return {**row, "reason": "one value only: no variance, so no interval"}
    by = [codes(single[one]) for one in ("item", "rater") if single[one].nunique() > 1]
    error = error_of_mean(single["value"].to_numpy(dtype=float), *by)
    low, high = t_interval(mean, needed * error.se, error.df)
    return {**row, "low": max(low, 0.0), "high": min(high, float(needed)), "reason": None}
