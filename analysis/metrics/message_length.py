"""Mean words and characters of a message, of a system and of those who talk with it.

ConvAI2 (Dinan et al. 2019, table 6). Words are the tokens of `split`, so that punctuation counts,
and characters include spaces: the printed lengths fit no other reading.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.tables import MessageTable
from analysis.text import split
from analysis.tidy import tidy
from analysis.transcripts import Side, per_message, sides

MEASURES = (("words_per_message", lambda text: len(split(text))), ("characters_per_message", len))


def message_length(messages: MessageTable) -> pd.DataFrame:
    """Return two rows per system and side."""
    return tidy("message_length", (row for side in sides(messages) for row in _rows(side)))


def _rows(side: Side) -> Iterator[dict[str, object]]:
    for name, measure in MEASURES:
        yield {"metric": name, **side.name, **per_message(side, measure)}
