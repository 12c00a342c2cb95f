"""Share of words that are rare in the training corpus: fewer than 100, or 1,000, times.

ConvAI2 (Dinan et al. 2019, table 7) counts cumulatively, Freq1k including Freq1h; the released
script bins exclusively, up to 100 and 101 to 1,000. Both are given. Tokens are those of `split` in
lower case. Without a corpus its counts are estimated from word frequencies of English at large;
`corpus` says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pandas as pd

from analysis.conversations.transcripts import ConversationSide, mean_per, sides
from analysis.tables.schema import MessageTable
from analysis.tables.tidy import tidy
from analysis.text.frequencies import STAND_IN, WordFrequencies
from analysis.text.tokenizers import SPLIT, NamedTokenizer, with_tokenizer

BINS: tuple[tuple[str, Callable[[float], bool]], ...] = (
    ("freq1h", lambda count: count < 100),
    ("freq1k", lambda count: count < 1000),
    ("freq1h_exclusive", lambda count: count <= 100),
    ("freq1k_exclusive", lambda count: 100 < count <= 1000),
)


def rare_words(
    messages: MessageTable,
    *,
    corpus: WordFrequencies = STAND_IN,
    tokenizer: NamedTokenizer = SPLIT,
) -> pd.DataFrame:
    """Return four rows per system and side: the shares of words in each bin."""
    rows = (row for side in sides(messages) for row in _side_rows(side, corpus, tokenizer))
    return with_tokenizer(tidy("rare_words", rows), tokenizer.name)


def _side_rows(
    side: ConversationSide, corpus: WordFrequencies, tokenizer: NamedTokenizer
) -> Iterator[dict[str, object]]:
    counts = [
        [corpus.count(token) for text in texts for token in tokenizer(text)]
        for texts in side.conversations
    ]
    for name, is_in in BINS:
        sums = [(sum(map(is_in, found)), len(found)) for found in counts]
        yield {"metric": name, **side.name, **mean_per(sums, most=1.0), "corpus": corpus.source}
