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
from analysis.text.tokenizers import SPLIT, NamedTokenizer, with_tokenizer


def message_length(messages: MessageTable, *, tokenizer: NamedTokenizer = SPLIT) -> pd.DataFrame:
    """Return two rows per system and side."""
    rows = (row for side in sides(messages) for row in _side_rows(side, tokenizer))
    return with_tokenizer(tidy("message_length", rows), tokenizer.name)


def _side_rows(side: ConversationSide, tokenizer: NamedTokenizer) -> Iterator[dict[str, object]]:
    words = per_message(side, lambda text: len(tokenizer(text)))
    yield {"metric": "words_per_message", **side.name, **words}
    yield {"metric": "characters_per_message", **side.name, **per_message(side, len)}
