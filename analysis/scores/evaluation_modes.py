"""Modes of evaluation: static, of replies to given contexts, or interactive, of conversations.

MEENA (Adiwardana et al. 2020, sections 2.2 and 2.3) scores systems in both. Third parties who vote
on the messages of conversations judge an interactive evaluation too, so votes alone do not tell.
"""

from __future__ import annotations

import pandas as pd

from analysis.tables import cell_values

INTERACTIVE, STATIC = "interactive", "static"


def modes(ratings: pd.DataFrame, scores: pd.DataFrame) -> dict[str, str]:
    """Return the mode of each protocol that the metric `ssa` has scores of.

    It is static where items name a `context`; in a table without that column the metric tells it by
    the votes.
    """
    if scores.empty:
        return {}
    if "context" not in ratings.columns:
        pairs = zip(scores["protocol"], scores["evaluation"], strict=True)
        return {str(protocol): str(mode) for protocol, mode in pairs}
    return {
        str(protocol): INTERACTIVE if all(map(cell_values.is_blank, contexts)) else STATIC
        for protocol, contexts in ratings.groupby("protocol")["context"].unique().items()
    }
