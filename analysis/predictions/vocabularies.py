"""Vocabularies of perplexities: whether systems of one dataset can stand on one axis."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from analysis.tables import cell_values
from analysis.tables.schema import PredictionTable

COLUMN = "vocabulary"


def differing(predictions: PredictionTable, dataset: str, systems: Iterable[str]) -> str:
    """Return why the systems' perplexities on a dataset cannot be compared; blank if they can.

    Vocabularies differ where the column `vocabulary` says so, and where the same gold reply has
    another number of scored tokens.
    """
    rows = predictions[predictions["dataset"].eq(dataset) & predictions["system"].isin([*systems])]
    rows = rows.assign(tokens=rows["log_probs"].map(_scored)).dropna(subset=["tokens"])
    return _named(rows) or _counted(rows)


def _named(rows: pd.DataFrame) -> str:
    if COLUMN not in rows.columns:
        return ""
    known = rows[~rows[COLUMN].map(cell_values.is_blank).astype(bool)]
    by_name = known.groupby(COLUMN)["system"].unique()
    if len(by_name) < 2:
        return ""
    systems = "; ".join(f"{name}: {', '.join(sorted(who))}" for name, who in by_name.items())
    return f"perplexities of different vocabularies ({systems})"


def _counted(rows: pd.DataFrame) -> str:
    table = rows.sort_values(["example", "tokens", "system"])
    for example, part in table.groupby("example", sort=True):
        few, many = part.iloc[0], part.iloc[-1]
        if few["tokens"] != many["tokens"] and part["gold"].map(str).nunique() == 1:
            return (
                f"perplexities of different vocabularies: of {example}, {few['system']} scores "
                f"{few['tokens']:.0f} tokens and {many['system']} {many['tokens']:.0f}"
            )
    return ""


def _scored(cell: object) -> int | None:
    """Return how many tokens of a gold reply have a probability; None without any cell."""
    found = cell_values.items(cell)
    return None if found is None else sum(not cell_values.is_blank(each) for each in found)
