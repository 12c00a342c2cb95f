"""Dependencies between answers: those that cannot both be true.

MEENA (Adiwardana et al. 2020, section 2.1): a reply that is not sensible is never specific.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.tables.columns import LABELS_COLUMN, REFUSE, UNCHANGED, ZERO, Labels
from analysis.tables.invalid_rows import Rows, rows
from analysis.tables.schema import Problem

SENSIBLE = ("sensible", "sensibleness")
SPECIFIC = ("specific", "specificity")
LABEL_KEY = ["campaign", "protocol", "item", "system", "rater"]


def specific_without_sensible(table: pd.DataFrame) -> Rows:
    """Return the places of rows that call a reply specific which their rater called not sensible.

    Rows that are to be read as given are none of them.
    """
    sensible = table["question"].isin(SENSIBLE) & (table["value"] == 0.0)
    specific = table["question"].isin(SPECIFIC) & (table["value"] == 1.0)
    if LABELS_COLUMN in table:
        specific &= table[LABELS_COLUMN] != UNCHANGED
    no, yes = np.flatnonzero(sensible), np.flatnonzero(specific)
    if not len(no) or not len(yes):
        return yes[:0]
    chosen = table[LABEL_KEY].iloc[np.concatenate([no, yes])]
    key = np.zeros(len(chosen), dtype=np.int64)
    for column in LABEL_KEY:
        code = pd.factorize(chosen[column])[0]
        key = pd.factorize(key * (int(code.max()) + 1) + code)[0]
    return np.asarray(yes[np.isin(key[len(no) :], key[: len(no)])])


def refused_labels(table: pd.DataFrame) -> Iterator[Problem]:
    """Yield the labels that contradict each other."""
    for row, *_ in rows(table, specific_without_sensible(table), LABEL_KEY[:1]):
        right = (
            "0, because the same rater called this reply not sensible (or choose how such labels "
            f"are read: --labels {ZERO} or --labels {UNCHANGED})"
        )
        yield Problem(row, "value", "1", right)


def with_labels(table: pd.DataFrame, labels: Labels) -> pd.DataFrame:
    """Return the table with labels that contradict each other read as chosen, and marked so."""
    if labels == REFUSE:
        return table
    found = specific_without_sensible(table)
    if not len(found):
        return table
    rule = np.full(len(table), "", dtype=object)
    if LABELS_COLUMN in table:
        rule = table[LABELS_COLUMN].to_numpy(dtype=object, copy=True)
    rule[found] = labels
    table = table.assign(**{LABELS_COLUMN: pd.Series(rule, table.index, dtype="str")})
    if labels == ZERO:
        values = table["value"].to_numpy(dtype=object, copy=True)
        values[found] = 0.0
        table["value"] = pd.Series(values, table.index, dtype=object)
    return table
