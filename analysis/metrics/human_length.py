"""Length of people's messages as implicit engagement, with and without mimicry of the system's.

ConvAI2 (Dinan et al. 2019, section 3.2.3 and table 6); formulas, which are ours, in
`analysis/conversations/mimicry.py`. `mimicry` is the slope within conversations of the words of a
person's message on those of the system's message before it, its interval Student's with an error
clustered by conversation; `length_without_mimicry` is the mean length of people's answers as if all
systems wrote equally long. A system that only writes long gains nothing by it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.conversations.mimicry import HumanAnswers, answers, without_mimicry
from analysis.conversations.transcripts import PARTNER
from analysis.stats.clustering import Error
from analysis.stats.intervals import t_interval
from analysis.tables.schema import MessageTable
from analysis.tables.tidy import tidy
from analysis.text.tokenizers import SPLIT, NamedTokenizer, with_tokenizer

CONSTANT = "no conversation has messages of the system of different length before answers"
ONE = "one conversation only: no interval"
ALIKE = "all conversations are equal: no variance, so no interval"


def human_length(messages: MessageTable, *, tokenizer: NamedTokenizer = SPLIT) -> pd.DataFrame:
    """Return two rows per system that people answered."""
    every = answers(messages, tokenizer)
    systems = sorted(set(every.system))
    rows = (row for system in systems for row in _rows(every, str(system)))
    return with_tokenizer(tidy("human_length", rows), tokenizer.name)


def _rows(every: HumanAnswers, system: str) -> Iterator[dict[str, object]]:
    own = every.of(system)
    about = {"protocol": "", "question": PARTNER, "system": system, "n": len(own.h)}
    about["conversations"] = len(set(own.conversation))
    slope = own.slope()
    known = {"reason": CONSTANT} if np.isnan(slope) else _row(slope, own.slope_error())
    yield {"metric": "mimicry", **about, **known}
    adjusted = (
        {"reason": CONSTANT} if np.isnan(every.slope()) else _row(*without_mimicry(every, system))
    )
    yield {"metric": "length_without_mimicry", **about, **adjusted}


def _row(estimate: float, error: Error) -> dict[str, object]:
    if error.clusters < 2:
        return {"estimate": estimate, "reason": ONE}
    if not error.se > 1e-12:
        return {"estimate": estimate, "reason": ALIKE}
    low, high = t_interval(estimate, error.se, error.df)
    return {"estimate": estimate, "low": low, "high": high, "reason": None}
