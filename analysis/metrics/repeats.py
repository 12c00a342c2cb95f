"""Share of a message's unigrams, bigrams and trigrams that its side has used before.

ConvAI2 (Dinan et al. 2019, table 8) prints repeats without a formula. Ours: of each message the
share of n-grams that stood earlier in it (`within`), or in an earlier message of the same side of
the same conversation (`across`), or either; the mean over messages that have n-grams. Words are
counted as unigrams only where they are no stop words; longer n-grams are of `split` in lower case.
The two parts follow the released code of See et al. 2019.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from analysis.conversations.transcripts import ConversationSide, mean_per, sides
from analysis.tables.schema import MessageTable
from analysis.tables.tidy import tidy
from analysis.text.tokenizers import SPLIT, WORDS, NamedTokenizer, with_tokenizer
from analysis.text.tokens import Gram, ngrams

NAMES = ((1, "unigram_repeats"), (2, "bigram_repeats"), (3, "trigram_repeats"))
PARTS = ("", "_within", "_across")


def repeats(messages: MessageTable, *, tokenizer: NamedTokenizer | None = None) -> pd.DataFrame:
    """Return nine rows per system and side: each n whole and in its two parts."""
    found = (row for side in sides(messages) for row in _side_rows(side, tokenizer))
    return with_tokenizer(
        tidy("repeats", found), tokenizer.name if tokenizer else "split; unigrams: words"
    )


def shares(texts: Sequence[Sequence[str]], n: int) -> list[tuple[float, float, float]]:
    """Return, per message with n-grams, the share repeated: at all, within it, across messages.

    `talk` has the tokens of each message of a side.
    """
    before: set[Gram] = set()
    found = []
    for message in texts:
        grams = ngrams(message, n)
        met: set[Gram] = set()
        within = []
        for gram in grams:
            within.append(gram in met)
            met.add(gram)
        across = [gram in before for gram in grams]
        before |= met
        if grams:
            either = sum(w or a for w, a in zip(within, across, strict=True))
            found.append(tuple(k / len(grams) for k in (either, sum(within), sum(across))))
    return [(whole, inner, outer) for whole, inner, outer in found]


def _side_rows(
    side: ConversationSide, tokenizer: NamedTokenizer | None
) -> Iterator[dict[str, object]]:
    content, every = (tokenizer or WORDS).content, tokenizer or SPLIT
    counted = [[content(text) for text in texts] for texts in side.conversations]
    tokens = [[every(text) for text in texts] for texts in side.conversations]
    for n, name in NAMES:
        conversations = [shares(texts, n) for texts in (counted if n == 1 else tokens)]
        for index, part in enumerate(PARTS):
            sums = [(sum(share[index] for share in found), len(found)) for found in conversations]
            yield {"metric": name + part, **side.name, **mean_per(sums, most=1.0)}
