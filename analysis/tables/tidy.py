"""Tidy results: one row per number, with the same first eight columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pandas as pd

COLUMNS = ("metric", "protocol", "question", "system", "estimate", "low", "high", "n")
NUMBERS = ("estimate", "low", "high")
# What stands for a whole where a column names a part; no question or system is named so.
ALL = "(all)"


def tidy(metric: str, rows: Iterable[Mapping[str, object]]) -> pd.DataFrame:
    """Return `rows` as a frame with the columns of every result, then those of this metric.

    Numbers left out are NaN, which means "not defined"; `reason` then says why.
    """
    frame = pd.DataFrame([{"metric": metric, **row} for row in rows])
    extras = [column for column in frame.columns if column not in COLUMNS]
    frame = frame.reindex(columns=[*COLUMNS, *extras])
    for column in NUMBERS:
        frame[column] = frame[column].astype(float)
    frame["n"] = frame["n"].fillna(0).astype("int64")
    order = [c for c in ("protocol", "question", "system", "other_system", "metric") if c in frame]
    return frame.sort_values(order, kind="stable", ignore_index=True)


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
