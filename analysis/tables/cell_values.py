"""Cell values of a file: text, a number, or nothing, whatever the format."""

from __future__ import annotations

import json
import math
import re
from numbers import Real

import pandas as pd

NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
EPOCH = pd.Timestamp(0, tz="UTC")
# A CSV cell that a spreadsheet would run as a formula is written with one apostrophe before it,
# and so is a cell that begins with an apostrophe: taking one away restores the original.
GUARDED = re.compile(r"'(?=[=+\-@\t\r'\uff1d\uff0b\uff0d\uff20])")


def unguarded(cell: str) -> str:
    """Return what stood in a CSV cell before the guard against formulas was put in front."""
    return cell[1:] if GUARDED.match(cell) else cell


def is_blank(cell: object) -> bool:
    """Return whether a cell is empty: None, NaN, NaT, or no text but spaces."""
    if cell is None or cell is pd.NA or cell is pd.NaT:
        return True
    if isinstance(cell, str) and not cell.strip():
        return True
    # NaN is the only number that does not equal itself.
    return not isinstance(cell, str) and hasattr(cell, "__float__") and cell != cell


def text(cell: object) -> str:
    """Return a cell as text; a whole number read as a float (3.0) is the name "3"."""
    if is_blank(cell):
        return ""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return cell if isinstance(cell, str) else _written(cell)


def number(cell: object) -> float | None:
    """Return a cell as a finite number, or None where it is no number."""
    if isinstance(cell, Real) or (isinstance(cell, str) and NUMBER.fullmatch(cell.strip())):
        value = float(cell)
    else:
        return None
    return value if math.isfinite(value) else None


def seconds(cells: pd.Series) -> pd.Series:
    """Return times of ISO 8601 as seconds since 1970; NaN where a cell is none."""
    times = pd.to_datetime(cells.astype(str), utc=True, errors="coerce", format="ISO8601")
    return (times - EPOCH) / pd.Timedelta(seconds=1)


def with_point(cell: object) -> object:
    """Return a cell with a decimal comma as the text with a point; any other as it is."""
    return cell.replace(",", ".") if isinstance(cell, str) and cell.count(",") == 1 else cell


def value(cell: object) -> float | str:
    """Return what was said: a number where it reads as one, so that 1, 1.0 and "1" agree."""
    found = number(cell)
    return text(cell) if found is None else found


def items(cell: object) -> list[object] | None:
    """Return a cell that holds a list (JSON text in a CSV), or None where it holds none."""
    if isinstance(cell, str):
        try:
            cell = json.loads(cell)
        except (ValueError, RecursionError):
            return None
    if isinstance(cell, list | tuple):
        return list(cell)
    return list(cell.tolist()) if hasattr(cell, "tolist") and hasattr(cell, "shape") else None


def _written(cell: object) -> str:
    return json.dumps(cell) if isinstance(cell, list | tuple | dict) else str(cell)
