"""Share of a system's conversations whose person seems not to take part in earnest.

ConvAI2's wild track (Dinan et al. 2019) needed such a flag and had none; the rules are
those of `analysis/conversations/spam.py`. The interval is Wilson's.
"""

from __future__ import annotations

from collections import Counter

import pandas as pd

from analysis.conversations.spam import assess
from analysis.stats.detection import share
from analysis.tables.schema import MessageTable
from analysis.tables.tidy import tidy


def flagged_conversations(messages: MessageTable) -> pd.DataFrame:
    """Return a row per system that people talked with."""
    found = assess(messages)
    return tidy(
        "flagged_conversations",
        (_row(str(system), rows) for system, rows in found.groupby("system", sort=True)),
    )


def _row(system: str, rows: pd.DataFrame) -> dict[str, object]:
    found = share(rows["flagged"])
    reasons = Counter(name for names in rows["reasons"] for name in names)
    low, high = found.interval
    return {
        "protocol": "",
        "question": "",
        "system": system,
        "estimate": found.estimate,
        "low": low,
        "high": high,
        "n": found.n,
        "reasons": ", ".join(f"{name} {times}" for name, times in sorted(reasons.items())),
    }
