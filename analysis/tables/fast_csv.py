"""Fast CSV: a file without any quote, read at once instead of cell by cell.

Without quotes a separator and the end of a line always part cells, so there is one way to read the
file. Everything else, and every file with something wrong in it, is for `analysis.tables.reading`,
which goes by rows and can say which one is wrong.

Apart because it is the quick way only, and `reading` must stay right without it.
"""

from __future__ import annotations

import codecs
import re

import numpy as np
import pandas as pd
import pyarrow
from pyarrow import compute, csv

from analysis.tables import cell_values
from analysis.tables.file_bytes import PACKED

COMMA = ","
# Spreadsheets separate by semicolons where the comma is the decimal mark.
OTHERS = {";": "semicolons", "\t": "tabs", "|": "bars"}
MARK = re.compile(r"sep=.\r?\n")
LONGEST_MARK = 10  # bytes
QUOTED = re.compile(r'"[^"]*"')
# So much of a file tells which of its columns repeat: those with two cells or more of each kind.
SAMPLE = 2**20
REPEATED = 2


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


def plain(content: bytes, *, coded: bool = False) -> pyarrow.Table | None:
    """Return the cells of a CSV as text; None where that takes a closer look.

    Where `coded`, columns whose cells repeat are dictionaries, of which `frame` makes categories in
    order of name: a million of them take a few megabytes, and are never hashed one by one.
    """
    start = _start(content)
    lone = content.count(b"\r") != content.count(b"\r\n")
    if start is None or b'"' in content or lone:
        return None
    try:
        header = content[start : content.find(b"\n", start) + 1].decode().rstrip("\r\n")
    except UnicodeDecodeError:
        return None
    parted = separator(header)
    names = header.split(parted)
    if len(names) != len(set(names)):
        return None
    cells = pyarrow.py_buffer(content).slice(start)
    try:
        repeated = _repeated(cells, names, parted) if coded else []
        table = _cells(cells, names, parted, repeated)
    except pyarrow.ArrowInvalid:
        return None
    return table if table.column_names == names else None


def frame(cells: pyarrow.Table) -> pd.DataFrame:
    """Return the same cells as pandas has them."""
    return pd.DataFrame({name: _column(cells[name]) for name in cells.column_names})


def _column(cells: pyarrow.ChunkedArray) -> pd.Series:
    return _named(cells) if pyarrow.types.is_dictionary(cells.type) else _text(cells)


def _start(content: bytes) -> int | None:
    """Return where the header begins, after marks of encoding and separator; None in a zip."""
    if content.startswith(PACKED):
        return None
    start = len(codecs.BOM_UTF8) if content.startswith(codecs.BOM_UTF8) else 0
    return start + marked(content[start : start + LONGEST_MARK].decode("latin-1"))


def _cells(
    content: pyarrow.Buffer, names: list[str], parted: str, repeated: list[str]
) -> pyarrow.Table:
    """Return the cells as text, those of columns that are `repeated` by a dictionary."""
    # As pandas holds texts, so that they need not be copied.
    types = dict.fromkeys(names, pyarrow.large_string())
    types |= dict.fromkeys(repeated, pyarrow.dictionary(pyarrow.int32(), pyarrow.large_string()))
    return csv.read_csv(
        content,
        # Threads would keep a heap each, of the size of the table.
        read_options=csv.ReadOptions(use_threads=False),
        parse_options=csv.ParseOptions(delimiter=parted, quote_char=False),
        convert_options=csv.ConvertOptions(column_types=types, strings_can_be_null=False),
    )


def _repeated(content: pyarrow.Buffer, names: list[str], parted: str) -> list[str]:
    """Return the columns that have each cell twice or more at the start of the file."""
    start = content.slice(0, min(SAMPLE, content.size)).to_pybytes()
    whole = pyarrow.py_buffer(start[: start.rfind(b"\n") + 1])
    first = _cells(whole, names, parted, [])
    if first.column_names != names:
        return []
    most = first.num_rows / REPEATED
    return [name for name in names if compute.count_distinct(first[name]).as_py() <= most]


def _text(column: pyarrow.ChunkedArray) -> pd.Series:
    found = pd.Series(column.to_pandas(), dtype="str")
    if compute.any(compute.starts_with(column, "'")).as_py():
        return found.map(cell_values.unguarded).astype("str")
    return found


def _named(column: pyarrow.ChunkedArray) -> pd.Series:
    """Return a column that is read by a dictionary as categories, in order of name."""
    chunks = column.unify_dictionaries().chunks
    if not chunks:
        return pd.Series(pd.Categorical(pd.Series([], dtype="str")))
    indices = np.concatenate([chunk.indices.to_numpy() for chunk in chunks])
    code, names = pd.factorize(_text(pyarrow.chunked_array([chunks[0].dictionary])), sort=True)
    small = code.astype(np.min_scalar_type(-len(names)))
    return pd.Series(pd.Categorical.from_codes(small[indices], names))
