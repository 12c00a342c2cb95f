"""Generators guided by keywords, and the reference (A-PPMI), in the layout of the PPMI paper.

Source: the PPMI keyword model of NLP4CONVAI 2019, tables 1 and 2: BLEU, NIST, distinct-1 and -2,
ent-4, length and repetition rate. The row Reference is the gold replies of the same examples: BLEU
100, repetition 1. Datasets stand one below the other, as the paper's two; a text without spaces
between words needs a tokenizer of its language (--tokenizer).
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.metrics.bleu import bleu
from analysis.metrics.distinct import distinct
from analysis.metrics.entropy import entropy
from analysis.metrics.nasl import nasl
from analysis.metrics.nist import nist
from analysis.metrics.repetition_rate import repetition_rate
from analysis.output.paper_layouts import printed
from analysis.predictions.prediction_rows import Group, groups
from analysis.report import Report, Section
from analysis.scores.cautions import REFERENCE_NOTE
from analysis.tables.schema import PREDICTION_COLUMNS, PredictionTable
from analysis.tables.tidy import joined
from analysis.tables.validation import prediction_table
from analysis.text.tokenizers import SPLIT, NamedTokenizer

GOLD = "Reference"
COLUMNS = {
    **{"bleu_4": "bleu", "nist": "nist", "distinct_1_of_ngrams": "dist1"},
    **{"distinct_2_of_ngrams": "dist2", "ent_4": "ent4", "length": "length"},
    "repetition_rate": "repetition",
}
NONE = "This table has no responses with a gold reply."


def keyword_generators(
    predictions: PredictionTable, *, tokenizer: NamedTokenizer | None = None, seed: int = 0
) -> Report:
    """Return a row per system and the reference of each dataset, above the printed ones.

    A system that is itself named Reference is left out: the row of that name is the gold replies.
    """
    tokens = tokenizer or SPLIT
    own = _own(predictions, tokens, seed)
    finding = _finding(own)
    note = f"Tokens: {tokens.name}. Over-generation is a repetition above 1. {REFERENCE_NOTE}"
    return Report(
        name="keyword_generators",
        title="Keyword generators beside the reference",
        findings=(finding,),
        sections=(
            *([Section(finding, own, note)] if len(own) else []),
            printed("keyword_generators"),
        ),
        cautions=(REFERENCE_NOTE,) if len(own) else (),
    )


def _own(predictions: PredictionTable, tokens: NamedTokenizer, seed: int) -> pd.DataFrame:
    mine = predictions[predictions["system"] != GOLD]
    answered = mine[mine["response"].notna() & mine["gold"].notna()]
    if answered.empty:
        return pd.DataFrame(columns=["dataset", "model", *COLUMNS.values()])
    kept = answered[list(PREDICTION_COLUMNS)]
    table = prediction_table(
        pd.concat([kept, pd.DataFrame(list(_golds(PredictionTable(answered))))], ignore_index=True)
    )
    found = joined(
        [
            bleu(table, seed=seed, tokenizer=tokens),
            nist(table, tokenizer=tokens),
            distinct(table, tokenizer=tokens),
            entropy(table, tokenizer=tokens),
            nasl(table, tokenizer=tokens),
            repetition_rate(table, tokenizer=tokens),
        ]
    )
    found = found[found["metric"].isin(COLUMNS)]
    wide = found.pivot(index=["protocol", "system"], columns="metric", values="estimate")
    wide = wide.reindex(columns=list(COLUMNS)).rename(columns=COLUMNS).rename_axis(columns=None)
    rows = wide.reset_index().rename(columns={"protocol": "dataset", "system": "model"})
    last = rows["model"] == GOLD
    return rows.assign(last=last).sort_values(["dataset", "last", "model"], ignore_index=True)[
        ["dataset", "model", *COLUMNS.values()]
    ]


def _golds(predictions: PredictionTable) -> Iterator[dict[str, object]]:
    """Yield predictions that say the gold reply of each example that has one, once a dataset."""
    first: dict[str, Group] = {}
    for group in groups(predictions):
        first.setdefault(group.dataset, group)
    for dataset, group in first.items():
        for row in (row for row in group.rows if row.golds):
            gold = row.golds[0]
            about = {"system": GOLD, "dataset": dataset, "example": row.example}
            name = f"{GOLD}:{dataset}:{row.example}"
            yield {
                **dict.fromkeys(PREDICTION_COLUMNS),
                **{**about, "prediction": name, "context": list(row.context)},
                **{"gold": gold, "response": gold},
            }


def _finding(own: pd.DataFrame) -> str:
    systems = own[own["model"] != GOLD]
    if systems.empty:
        return NONE
    over = systems[systems["repetition"] > 1]
    most = systems.sort_values(["dist2", "model"], ascending=[False, True]).iloc[0]
    return (
        f"{most['model']} has the most distinct bigrams ({most['dist2']:.3f}); {len(over)} of "
        f"{len(systems)} rows repeat more than the reference."
    )
