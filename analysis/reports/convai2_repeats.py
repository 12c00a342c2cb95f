"""Repeats and unique responses in the layout of ConvAI2 table 8 (Dinan et al. 2019).

The paper gives no formula for repeats; ours is in `analysis/metrics/repeats.py`, and its two parts,
within a message and across messages, stand in a table of their own.
"""

from __future__ import annotations

import pandas as pd

from analysis.conversations.transcripts import OWN
from analysis.metrics.repeats import repeats
from analysis.metrics.unique_responses import unique_responses
from analysis.output.paper_layouts import extremes, sections, with_engagingness
from analysis.report import Report, Section
from analysis.tables.schema import MessageTable, RatingTable
from analysis.tables.tidy import joined
from analysis.text.tokenizers import NamedTokenizer

NGRAMS = ("unigram", "bigram", "trigram")
PARTS = ("within", "across")
NOTE = "Percent; how the paper counts them is not printed. Tokens: "
DEFAULT = "split; unigrams: words that are no stop words"


def convai2_repeats(
    messages: MessageTable,
    ratings: RatingTable | None = None,
    *,
    tokenizer: NamedTokenizer | None = None,
) -> Report:
    """Return the table of one's own systems above the printed one."""
    found = joined([repeats(messages, tokenizer=tokenizer), unique_responses(messages)])
    whole = {f"{name}_repeats": f"{name} repeats" for name in NGRAMS}
    own = with_engagingness(
        _percent(found, {**whole, "unique_responses": "unique responses"}), ratings
    )
    parts = {f"{n}_repeats_{part}": f"{n} {part}" for part in PARTS for n in NGRAMS}
    finding = extremes(own, "trigram repeats", "trigram repeats", unit=" %")
    return Report(
        name="convai2_repeats",
        title="Repeats and unique responses in the layout of ConvAI2 table 8",
        findings=(finding,),
        sections=sections(
            [
                Section(finding, own, NOTE + (tokenizer.name if tokenizer else DEFAULT)),
                Section("Repeats within a message and across", _percent(found, parts), "Percent."),
            ],
            "convai2_repeats",
        ),
    )


def _percent(found: pd.DataFrame, columns: dict[str, str]) -> pd.DataFrame:
    rows = found[(found["question"] == OWN) & found["metric"].isin(columns)]
    wide = 100 * rows.pivot_table(index="system", columns="metric", values="estimate")
    return wide.reindex(columns=list(columns)).rename(columns=columns).reset_index()
