"""The common case of a CSV, a file without any quote, read at once instead of cell by cell.

Without quotes a comma and the end of a line always part cells, so there is one way to read the
file. Everything else, and every file with something wrong in it, is for `analysis.reading`, which
goes by rows and can say which one is wrong.
"""

from __future__ import annotations

import pandas as pd
import pyarrow
from pyarrow import compute, csv

from analysis import cells


def plain(content: str) -> pd.DataFrame | None:
    """Return the cells of a CSV as text; None where that takes a closer look."""
    header = content[: content.find("\n") + 1].rstrip("\r\n").split(",")
    lone = content.count("\r") != content.count("\r\n")
    if '"' in content or lone or len(header) != len(set(header)):
        return None
    try:
        table = csv.read_csv(
            pyarrow.py_buffer(content.encode()),
            parse_options=csv.ParseOptions(quote_char=False),
            convert_options=csv.ConvertOptions(
                column_types={name: pyarrow.string() for name in header},
                strings_can_be_null=False,
            ),
        )
    except pyarrow.ArrowInvalid:
        return None
    if table.column_names != header:
        return None
    return pd.DataFrame({name: _text(table[name]) for name in header})


def _text(column: pyarrow.ChunkedArray) -> pd.Series:
    found = pd.Series(column.to_pandas(), dtype="str")
    if compute.any(compute.starts_with(column, "'")).as_py():
        return found.map(cells.unguarded).astype("str")
    return found
