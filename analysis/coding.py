"""A question's rows as numbers: which unit, which rater, which category.

A unit is what several raters judged: an item, as one system answered it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.groups import UNIT, Asked
from analysis.intervals import Floats

Ints = NDArray[np.int64]
Scale = Literal["nominal", "ordinal", "interval", "ratio"]
# Some of a question's rows: their places, or a slice of them.
Places = NDArray[np.intp] | slice
SCALES: dict[str, Scale] = {"nominal": "nominal", "interval": "interval"}


@dataclass(frozen=True, eq=False)
class Read:
    """All rows of a question as numbers: unit, rater and category, and where categories stand."""

    unit: Ints
    rater: Ints
    code: Ints
    values: Floats


def read(asked: Asked, level: Scale = "nominal") -> Read:
    """Return a question's rows as numbers, read once."""

    def made() -> Read:
        code, values = coded(asked, asked.rows, level)
        return Read(
            asked.once("units", lambda: units(asked.rows)),
            asked.once("raters", lambda: pd.factorize(asked.rows["rater"])[0].astype(np.int64)),
            code,
            values,
        )

    return asked.once(f"numbers, {'names' if level == 'nominal' else 'scale'}", made)


def scale_of(asked: Asked) -> Scale:
    """Return the scale of a question's answers; places in a ranking have an order, no distances."""
    return SCALES.get(asked.level, "ordinal")


def units(rows: pd.DataFrame) -> Ints:
    """Return the unit of each row, counted from 0."""
    first, second = (pd.factorize(rows[column])[0] for column in UNIT)
    both = first.astype(np.int64) * (int(second.max(initial=0)) + 1) + second
    return pd.factorize(both)[0].astype(np.int64)


def coded(asked: Asked, rows: pd.DataFrame, level: Scale) -> tuple[Ints, Floats]:
    """Return the category of each row, and where the categories of the question stand."""
    categories = sorted(asked.rows["value"].unique(), key=_sortable)
    places = {value: place for place, value in enumerate(categories)}
    code = rows["value"].map(places).to_numpy(dtype=np.int64)
    if level == "nominal":
        return code, np.arange(len(categories), dtype=float)
    return code, np.array(categories, dtype=float)


def _sortable(value: object) -> tuple[bool, object]:
    return isinstance(value, str), value
