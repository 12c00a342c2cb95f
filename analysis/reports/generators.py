"""Generators side by side (A-GAN): the layout of hredGAN's tables (Olabiyi et al. 2019).

Perplexity, -log D, BLEU-2 and ROUGE-2 F1 as fractions, distinct-1 and -2 (of n-grams), NASL; then,
for systems with a discriminator, one example's list of responses by its score.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import pandas as pd

from analysis.metrics.bleu import bleu
from analysis.metrics.distinct import distinct
from analysis.metrics.nasl import nasl
from analysis.metrics.perplexity import perplexity
from analysis.metrics.rouge import rouge
from analysis.metrics.token_accuracy import token_accuracy
from analysis.predictions.prediction_rows import Group, Predicted, groups
from analysis.reference import reference
from analysis.report import Report, Section
from analysis.scores.cautions import REFERENCE_NOTE
from analysis.tables.schema import PredictionTable
from analysis.tables.tidy import joined

COLUMNS = {
    "perplexity": "ppl",
    "neg_log_d": "neg_log_d",
    "bleu_2": "bleu2",
    "rouge_2": "rouge2_f1",
    "distinct_1": "distinct1",
    "distinct_2_of_ngrams": "distinct2",
    "nasl": "nasl",
}
PERCENT = "bleu_2"
LISTED = 10


def generators(predictions: PredictionTable, *, seed: int = 0) -> Report:
    """Return one's own generators above the printed ones."""
    own = _own(predictions, seed)
    printed = reference("hredgan_generators")
    table = pd.DataFrame(list(printed.rows))
    return Report(
        name="generators",
        title="Generators: likelihood, overlap, diversity, length",
        findings=(_finding(own),),
        sections=(
            *([Section(_finding(own), own, REFERENCE_NOTE)] if len(own) else []),
            *_lists(predictions),
            Section(f"As printed: {printed.source}", table, printed.note),
        ),
        cautions=(REFERENCE_NOTE,),
    )


def _own(predictions: PredictionTable, seed: int) -> pd.DataFrame:
    found = joined(
        [
            perplexity(predictions),
            token_accuracy(predictions),
            bleu(predictions, seed=seed),
            rouge(predictions),
            distinct(predictions),
            nasl(predictions),
        ]
    )
    found = found[found["metric"].isin(COLUMNS)]
    if found.empty:
        return pd.DataFrame(columns=["dataset", "model", *COLUMNS.values()])
    found = found.assign(
        estimate=found["estimate"].where(found["metric"] != PERCENT, found["estimate"] / 100)
    )
    wide = found.pivot(index=["protocol", "system"], columns="metric", values="estimate")
    wide = wide.reindex(columns=list(COLUMNS)).rename(columns=COLUMNS).rename_axis(columns=None)
    return wide.reset_index().rename(columns={"protocol": "dataset", "system": "model"})


def _finding(own: pd.DataFrame) -> str:
    if own.empty:
        return "This table has no responses and no log probabilities."
    known = own.dropna(subset=["ppl"])
    if known.empty:
        return f"{len(own)} rows of generators; none has log probabilities, so no perplexity."
    best = known.sort_values("ppl", kind="stable").iloc[0]
    if math.isinf(best["ppl"]):
        return "Every perplexity is infinite: a word of a gold reply has probability 0."
    return f"{best['model']} has the lowest perplexity of {len(known)}: {best['ppl']:.1f}."


def _lists(predictions: PredictionTable) -> Iterator[Section]:
    """Yield the first list of responses of each system that has a discriminator."""
    for group in groups(predictions):
        for row in group.rows:
            if row.discriminator is not None and len(row.scores) > 1:
                yield _list(group, row)
                break


def _list(group: Group, row: Predicted) -> Section:
    scored = zip(row.candidates, row.scores, strict=True)
    ranked = sorted(scored, key=lambda pair: -pair[1])[:LISTED]
    frame = pd.DataFrame(ranked, columns=["response", "D"])
    title = f"{group.system}: responses by the discriminator, example {row.example}"
    return Section(title, frame, f"In answer to: {row.message}")
