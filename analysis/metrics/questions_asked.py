"""Questions asked per 100 conversations, by each side.

ConvAI2 (Dinan et al. 2019, section 3.2.3 and figure 5): messages that begin with who, what, when,
where, why or how, and messages that have a question mark.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.conversations.transcripts import ConversationSide, mean_per, sides
from analysis.tables.schema import MessageTable
from analysis.tables.tidy import tidy
from analysis.text.questions import begins, has_mark

PER = 100.0


def questions_asked(messages: MessageTable) -> pd.DataFrame:
    """Return two rows per system and side; the estimates are per 100 conversations."""
    return tidy("questions_asked", (row for side in sides(messages) for row in _side_rows(side)))


def _side_rows(side: ConversationSide) -> Iterator[dict[str, object]]:
    counts = {
        "begins_with_question_word": [sum(map(begins, texts)) for texts in side.conversations],
        "has_question_mark": [sum(map(has_mark, texts)) for texts in side.conversations],
    }
    for name, found in counts.items():
        sums = [(float(count), 1.0) for count in found]
        yield {"metric": name, **side.name, **mean_per(sums, times=PER)}
