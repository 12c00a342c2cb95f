"""Replies before and after re-ranking by event causality (A-EVENT), in the layout of table 3.

Source: the event-causality paper of NLP4CONVAI 2019, tables 2 and 3: share of replies re-ranked,
BLEU, NIST, vector extrema, distinct-1 and -2, PMI coherence, length. A prediction's column `first`
is what would have been said without re-ranking; `python -m bots benchmark event_reranking` writes
such a file, and --training names the conversations that PMI is counted on.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.metrics.bleu import bleu
from analysis.metrics.distinct import distinct
from analysis.metrics.nasl import nasl
from analysis.metrics.nist import nist
from analysis.metrics.pmi_coherence import pmi_coherence
from analysis.metrics.vector_extrema import vector_extrema
from analysis.output.paper_layouts import printed
from analysis.report import Report, Section
from analysis.scores.cautions import REFERENCE_NOTE
from analysis.tables.schema import PredictionTable
from analysis.tables.tidy import joined

COLUMNS = {
    **{"bleu_4": "bleu", "nist": "nist", "vector_extrema": "extrema", "distinct_1": "dist1"},
    **{"distinct_2": "dist2", "pmi_coherence": "pmi", "length": "length"},
}
SHARE = "reranked_percent"


def event_reranking(
    predictions: PredictionTable, *, training: Sequence[Sequence[str]] = (), seed: int = 0
) -> Report:
    """Return a row per system above the printed ones."""
    own = _own(predictions, training, seed)
    finding = _finding(own)
    return Report(
        name="event_reranking",
        title="Replies before and after re-ranking",
        findings=(finding,),
        sections=(
            *([Section(finding, own, REFERENCE_NOTE)] if len(own) else []),
            printed("event_causality_table3"),
        ),
        cautions=(REFERENCE_NOTE,) if len(own) else (),
    )


def _own(
    predictions: PredictionTable, training: Sequence[Sequence[str]], seed: int
) -> pd.DataFrame:
    found = joined(
        [
            bleu(predictions, seed=seed),
            nist(predictions),
            vector_extrema(predictions),
            distinct(predictions),
            pmi_coherence(predictions, training=training),
            nasl(predictions),
        ]
    )
    found = found[found["metric"].isin(COLUMNS)]
    if found.empty:
        return pd.DataFrame(columns=["dataset", "model", SHARE, *COLUMNS.values()])
    wide = found.pivot(index=["protocol", "system"], columns="metric", values="estimate")
    wide = wide.reindex(columns=list(COLUMNS)).rename(columns=COLUMNS).rename_axis(columns=None)
    table = wide.reset_index().rename(columns={"protocol": "dataset", "system": "model"})
    table.insert(2, SHARE, _shares(predictions, table))
    return table


def _shares(predictions: PredictionTable, table: pd.DataFrame) -> pd.Series:
    """Return in percent how many of a system's replies are others than the first."""
    if "first" not in predictions:
        return pd.Series(np.nan, index=table.index)
    known = predictions[predictions["first"].notna()]
    other = known["response"].astype(str) != known["first"].astype(str)
    shares = 100 * other.groupby([known["dataset"], known["system"]]).mean()
    names = pd.MultiIndex.from_frame(table[["dataset", "model"]])
    return pd.Series(shares.reindex(names).to_numpy(dtype=float), index=table.index)


def _finding(own: pd.DataFrame) -> str:
    if own.empty:
        return "This table has no responses."
    changed = own.dropna(subset=[SHARE])
    if changed.empty:
        return "No prediction has the response without re-ranking."
    most = changed.sort_values([SHARE, "model"], ascending=[False, True]).iloc[0]
    return f"Re-ranking changes up to {most[SHARE]:.1f} % of the replies ({most['model']})."
