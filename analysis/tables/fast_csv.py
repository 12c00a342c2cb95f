"""Fast CSV: a file without any quote, read at once instead of cell by cell.

Without quotes a separator and the end of a line always part cells, so there is one way to read the
file. Everything else, and every file with something wrong in it, is for `analysis.tables.reading`,
which goes by rows and can say which one is wrong.

Apart because it is the quick way only, and `reading` must stay right without it.
"""

from __future__ import annotations

import re

import pandas as pd
import pyarrow
from pyarrow import compute, csv

from analysis.tables import cell_values

COMMA = ","
# Spreadsheets separate by semicolons where the comma is the decimal mark.
OTHERS = {";": "semicolons", "\t": "tabs", "|": "bars"}
MARK = re.compile(r"sep=.\r?\n")
QUOTED = re.compile(r'"[^"]*"')


def marked(content: str) -> int:
    """Return the length of a first line such as sep=; by which Excel is told of the separator."""
    found = MARK.match(content)
    return found.end() if found else 0


def separator(content: str) -> str:
    """Return what separates the cells of the header: a comma, unless it has only others."""
    end = content.find("\n")
    header = QUOTED.sub("", content if end < 0 else content[:end])
    if COMMA in header:
        return COMMA
    return next((other for other in OTHERS if other in header), COMMA)


def unusual(header: str) -> tuple[str, ...]:
    """Return a sentence about what separates cells where it is no comma."""
    parted = separator(header)
    return (f"The file is separated by {OTHERS[parted]}.",) if parted in OTHERS else ()


def plain(content: str) -> pd.DataFrame | None:
    """Return the cells of a CSV as text; None where that takes a closer look."""
    parted = separator(content)
    header = content[: content.find("\n") + 1].rstrip("\r\n").split(parted)
    lone = content.count("\r") != content.count("\r\n")
    if '"' in content or lone or len(header) != len(set(header)):
        return None
    try:
        table = csv.read_csv(
            pyarrow.py_buffer(content.encode()),
            parse_options=csv.ParseOptions(delimiter=parted, quote_char=False),
            convert_options=csv.ConvertOptions(
                # As pandas holds texts, so that they need not be copied.
                column_types={name: pyarrow.large_string() for name in header},
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
        return found.map(cell_values.unguarded).astype("str")
    return found
