"""Persona description in a system's messages: P-F1 and P-Cover.

Both as in PERSONA-METRICS (Miyazaki et al. 2021), with formulas in
`analysis/conversations/descriptions.py`; the mean over a system's own messages whose persona's
sentences are known. P-Cover ranks words by wordfreq's list of the tokenizer's language.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.conversations.descriptions import measures
from analysis.conversations.transcripts import OWN, mean_per, placed
from analysis.tables.personas import sentences
from analysis.tables.schema import MessageTable
from analysis.tables.tidy import tidy
from analysis.text.tokenizers import WORDS, NamedTokenizer, with_tokenizer


def persona_description(
    messages: MessageTable, *, tokenizer: NamedTokenizer = WORDS
) -> pd.DataFrame:
    """Return two rows per system with a described persona."""
    own = placed(messages)
    own = own[own["question"] == OWN]
    own = own.assign(sentences=sentences(own))
    kept = own[own["sentences"].map(bool).astype(bool)]
    return with_tokenizer(
        tidy("persona_description", _persona_rows(kept, tokenizer)), tokenizer.name
    )


def _persona_rows(own: pd.DataFrame, tokenizer: NamedTokenizer) -> Iterator[dict[str, object]]:
    for name, measure in measures(tokenizer).items():
        values = [measure(*pair) for pair in zip(own["text"], own["sentences"], strict=True)]
        scored = own.assign(score=pd.Series(values, index=own.index, dtype=float))
        for system, rows in scored.groupby("about", sort=True):
            conversations = rows.groupby("conversation")["score"].agg(["sum", "size"])
            sums = [(float(a), float(b)) for a, b in conversations.to_numpy()]
            row = {"metric": name, "protocol": "", "question": OWN, "system": str(system)}
            yield {**row, **mean_per(sums, most=1.0)}
