"""Tidy results: one row per number, with the same first eight columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pandas as pd

COLUMNS = ("metric", "protocol", "question", "system", "estimate", "low", "high", "n")
SORTED_BY = ("protocol", "question", "system", "other_system", "metric")
NUMBERS = ("estimate", "low", "high")
# What stands for a whole where a column names a part; no question or system is named so.
ALL = "(all)"


def tidy(metric: str, rows: Iterable[Mapping[str, object]]) -> pd.DataFrame:
    """Return `rows` as a frame with the columns of every result, then those of this metric.

    Numbers left out are NaN, which means "not defined"; `reason` then says why.
    """
    # Sorted as rows: pandas would tell the texts of each column apart first.
    ordered = sorted(({"metric": metric, **row} for row in rows), key=_sort_key)
    frame = pd.DataFrame(ordered)
    extras = [column for column in frame.columns if column not in COLUMNS]
    frame = frame.reindex(columns=[*COLUMNS, *extras])
    for column in NUMBERS:
        frame[column] = frame[column].astype(float)
    frame["n"] = frame["n"].fillna(0).astype("int64")
    return frame


def _sort_key(row: Mapping[str, object]) -> tuple[tuple[bool, str], ...]:
    """Return where a row belongs: by name, what has no name last."""
    named = [row.get(column) for column in SORTED_BY]
    # NaN is what does not equal itself.
    return tuple(
        (True, "") if name is None or name != name else (False, str(name)) for name in named
    )


def joined(frames: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Return results one below the other; a column that one of them lacks is empty there."""
    filled = [frame.astype(object) for frame in frames if len(frame)]
    if not filled:
        return tidy("", [])
    table = pd.concat(filled, ignore_index=True)
    for column in NUMBERS:
        table[column] = table[column].astype(float)
    table["n"] = table["n"].astype("int64")
    return table
