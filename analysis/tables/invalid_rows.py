"""Invalid rows of a table, located in columns before any row is looked at.

The checks say what is wrong with a row; here whole columns are asked at once if a row could be.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from analysis.tables import cell_values
from analysis.tables.columns import BETTER, BETTER_COLUMN
from analysis.tables.schema import KNOWN_LEVELS, TEXT, VOTES_COLUMN

Rows = np.ndarray
Cells = np.ndarray
MOST_KEYS = 2**62
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def of_each(column: pd.Series, function: Callable[[object], object]) -> Cells:
    """Return `function` of every cell, called once for cells that are the same.

    1, 1.0 and True are the same here, so a function that tells them apart is not for mixed columns.
    """
    return _each(column, function, _objects)


def is_such(column: pd.Series, function: Callable[[object], bool]) -> Cells:
    """Tell of every cell whether `function` is true of it, in a byte each."""
    return _each(column, function, lambda values: np.array(list(values), dtype=bool))


def _each(
    column: pd.Series,
    function: Callable[[object], object],
    held: Callable[[Iterable[object]], Cells],
) -> Cells:
    try:
        codes, distinct = pd.factorize(column, use_na_sentinel=False)
    except TypeError:
        # Lists and the like cannot be told apart by a hash.
        return held(function(cell) for cell in column)
    return held(function(cell) for cell in distinct)[codes]


def _objects(values: Iterable[object]) -> Cells:
    """Return an array of objects as they are: numpy would take pairs for a second dimension."""
    found = list(values)
    cells = np.empty(len(found), dtype=object)
    for index, value in enumerate(found):
        cells[index] = value
    return cells


def as_text(column: pd.Series) -> pd.Series:
    """Return a column as text, blank cells as "" (`cell_values.text` of each)."""
    if not isinstance(column.dtype, pd.StringDtype):
        if pd.api.types.infer_dtype(column, skipna=False) != "string":
            cleaned = [cell_values.text(cell) for cell in column]
            return pd.Series(cleaned, index=column.index, dtype="str")
        column = column.astype("str")
    filled = column.fillna("") if column.hasnans else column
    is_blank = (filled.str.strip() == "") & (filled != "")
    return filled.where(~is_blank, "").astype("str") if is_blank.any() else filled.astype("str")


def as_names(column: pd.Series) -> pd.Series:
    """Return a column as text, but categories of text as categories of the same, in order."""
    if not _is_coded(column):
        return as_text(column)
    categories = pd.Series(column.cat.categories)
    names = as_text(categories)
    if names.equals(categories):
        return column
    code, known = pd.factorize(names, sort=True)
    coded = pd.Categorical.from_codes(code[column.cat.codes.to_numpy()], known)
    return pd.Series(coded, index=column.index)


def as_texts(table: pd.DataFrame, kept: Sequence[str] = ()) -> pd.DataFrame:
    """Return a table with categories as texts, but those of the columns that are `kept`."""
    coded = [name for name in table if _is_coded(table[name]) and name not in kept]
    return table.astype(dict.fromkeys(coded, "str")) if coded else table


def _is_coded(column: pd.Series) -> bool:
    """Tell categories of text, none of them missing."""
    kind = column.dtype
    is_named = isinstance(kind, pd.CategoricalDtype) and isinstance(
        kind.categories.dtype, pd.StringDtype
    )
    return is_named and bool((column.cat.codes >= 0).all())


def blank(column: pd.Series) -> Rows:
    """Return the places of cells in which nothing is said."""
    if _is_coded(column):
        return np.flatnonzero(column.cat.codes.isin(blank(column.cat.categories.to_series())))
    if isinstance(column.dtype, pd.StringDtype):
        return np.flatnonzero(column.isna() | (column.str.strip() == ""))
    return np.flatnonzero([cell_values.is_blank(cell) for cell in column])


def repeated(table: pd.DataFrame, columns: Sequence[str]) -> Rows:
    """Return the places of rows that may have the same key as another."""
    if all(_is_coded(table[name]) or isinstance(table[name].dtype, pd.StringDtype)
           for name in columns):  # fmt: skip
        if _are_all_different(table, columns):
            return np.arange(0)
        return np.flatnonzero(table.duplicated(list(columns), keep=False))
    return np.arange(len(table))


def _are_all_different(table: pd.DataFrame, columns: Sequence[str]) -> bool:
    """Tell fast whether no two rows have the same key; False also where that takes long."""
    key, size = np.zeros(len(table), dtype=np.int64), 1
    for name in columns:
        if not isinstance(table[name].dtype, pd.CategoricalDtype):
            return False
        names = max(len(table[name].cat.categories), 1)
        size *= names
        if size > MOST_KEYS:
            return False
        key = key * names + table[name].cat.codes.to_numpy()
    key.sort()
    return not (key[1:] == key[:-1]).any()


def levels(table: pd.DataFrame) -> Rows:
    """Return the places of rows whose level may be wrong: all, or none."""
    found = table[["protocol", "question", "level"]].drop_duplicates()
    sound = found["level"].isin(KNOWN_LEVELS).all()
    sound &= not found.duplicated(["protocol", "question"]).any()
    return np.arange(0 if sound else len(table))


def values(table: pd.DataFrame) -> Rows:
    """Return the places of values that are blank, several, or no number where one is due."""
    column = table["value"]
    is_never_right = is_such(
        column, lambda cell: cell_values.is_blank(cell) or isinstance(cell, list | dict)
    )
    is_word = is_such(column, lambda cell: cell_values.number(cell) is None)
    is_number_due = ~table["level"].isin(["nominal", TEXT]).to_numpy()
    return np.flatnonzero(is_never_right | (is_word & is_number_due))


def numbers(column: pd.Series) -> Rows:
    """Return the places of cells that are neither blank nor a number."""
    return np.flatnonzero(
        is_such(
            column, lambda cell: not cell_values.is_blank(cell) and cell_values.number(cell) is None
        )
    )


def control(column: pd.Series) -> Rows:
    """Return the places of names with a control character other than a tab or a new line."""
    if _is_coded(column):
        return np.flatnonzero(column.cat.codes.isin(control(column.cat.categories.to_series())))
    if isinstance(column.dtype, pd.StringDtype):
        return np.flatnonzero(column.str.contains(CONTROL.pattern, na=False))
    return np.flatnonzero(
        is_such(column, lambda cell: isinstance(cell, str) and bool(CONTROL.search(cell)))
    )


def directions(table: pd.DataFrame) -> Rows:
    """Return the places of rows whose direction may be wrong: all, or none."""
    found = table[["protocol", "question", BETTER_COLUMN]].drop_duplicates()
    found = found[found[BETTER_COLUMN] != ""]
    sound = found[BETTER_COLUMN].isin(BETTER).all()
    sound &= not found.duplicated(["protocol", "question"]).any()
    return np.arange(0 if sound else len(table))


def scales(table: pd.DataFrame) -> Rows:
    """Return the places of rows whose scale, or value on it, may be wrong: all, or none."""
    question = ["protocol", "question"]
    known = table[[*question, "scale_low", "scale_high"]].drop_duplicates()
    changed = known.dropna().duplicated(question).any()
    changed |= (known["scale_low"] >= known["scale_high"]).any()
    ends = known.groupby(question, observed=True)[["scale_low", "scale_high"]].first()
    values = pd.Series(of_each(table["value"], cell_values.number), index=table.index, dtype=float)
    of_question = [table[name] for name in question]
    held = values.groupby(of_question, observed=True).agg(["min", "max"]).reindex(ends.index)
    outside = (held["min"] < ends["scale_low"]) | (held["max"] > ends["scale_high"])
    return np.arange(len(table) if changed or outside.any() else 0)


def votes(table: pd.DataFrame, item: Sequence[str]) -> Rows:
    """Return the places of rows that say how many votes are asked for, if any may be wrong."""
    wanted = pd.Series(
        of_each(table[VOTES_COLUMN], cell_values.number), index=table.index, dtype=float
    )
    stated = ~is_such(table[VOTES_COLUMN], cell_values.is_blank)
    sound = ((wanted[stated] >= 1) & (wanted[stated] % 1 == 0)).all()
    changed = False
    if wanted.nunique() > 1:
        known = table.loc[stated, list(item)].assign(wanted=wanted[stated]).drop_duplicates()
        changed = bool(known.duplicated(list(item)).any())
    return np.flatnonzero(stated & (changed or not sound))


def rows(table: pd.DataFrame, indices: Rows, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Yield the number of each row, counted from 1, and its cells."""
    chosen = [table[name].iloc[indices] for name in columns]
    return zip((int(index) + 1 for index in indices), *chosen, strict=True)
