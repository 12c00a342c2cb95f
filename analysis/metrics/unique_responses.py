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

from analysis.conversations.transcripts import ConversationSide, sides
from analysis.stats.intervals import Floats, share_interval
from analysis.tables.schema import MessageTable
from analysis.tables.tidy import tidy
from analysis.text.tokens import normalize_answer


def unique_responses(messages: MessageTable) -> pd.DataFrame:
    """Return a row per system and side."""
    return tidy("unique_responses", ({**side.name, **_row(side)} for side in sides(messages)))


def _row(side: ConversationSide) -> dict[str, object]:
    conversations = [Counter(map(normalize_answer, texts)) for texts in side.conversations if texts]
    times = Counter(normalize_answer(text) for text in side.texts)
    n, units = times.total(), len(conversations)
    row: dict[str, object] = {"n": n, "conversations": units}
    if n == 0:
        return {**row, "reason": "nothing to count in these messages"}
    share = sum(count == 1 for count in times.values()) / n
    if units < 2:
        return {**row, "estimate": share, "reason": "one conversation only: no interval"}
    se = float(np.sqrt(units - 1) * _left_out(conversations, times).std())
    low, high = share_interval(share, se, units - 1, units)
    return {**row, "estimate": share, "low": low, "high": high, "reason": None}


def _left_out(conversations: Sequence[Counter[str]], times: Counter[str]) -> Floats:
    """Return the share without each conversation."""
    unique, n = sum(count == 1 for count in times.values()), times.total()
    shares = []
    for texts in conversations:
        own = sum(times[text] == 1 for text in texts)
        freed = sum(times[text] - count == 1 for text, count in texts.items())
        shares.append((unique - own + freed) / max(n - texts.total(), 1))
    return np.array(shares)
