"""Mean words and characters of a message, of a system and of those who talk with it.

ConvAI2 (Dinan et al. 2019, table 6). Words are the tokens of `split`, so that punctuation counts,
and characters include spaces: the printed lengths fit no other reading.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.conversations.transcripts import ConversationSide, per_message, sides
from analysis.tables.schema import MessageTable
from analysis.tables.tidy import tidy
from analysis.text.tokens import split

MEASURES = (("words_per_message", lambda text: len(split(text))), ("characters_per_message", len))


def message_length(messages: MessageTable) -> pd.DataFrame:
    """Return two rows per system and side."""
    return tidy("message_length", (row for side in sides(messages) for row in _side_rows(side)))


def _side_rows(side: ConversationSide) -> Iterator[dict[str, object]]:
    for name, measure in MEASURES:
        yield {"metric": name, **side.name, **per_message(side, measure)}
