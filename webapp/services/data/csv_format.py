"""CSV as RFC 4180 has it, safe to open in a spreadsheet, and with every text restorable (R32)."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from typing import IO

# Beginnings that a spreadsheet runs as a formula, their full-width forms, and the guard itself.
RISKY = ("=", "+", "-", "@", "\t", "\r", "'", "＝", "＋", "－", "＠")


def guarded(text: str) -> str:
    """Return a text with one apostrophe before it where a spreadsheet would run it as a formula.

    A text that begins with an apostrophe gets one too, so taking one away restores the original.
    """
    return f"'{text}" if text.startswith(RISKY) else text


def cell(value: object) -> str:
    """Return a value as it stands in the file; a number is never guarded."""
    if isinstance(value, str):
        return guarded(value)
    if value is None or value != value:  # NaN alone differs from itself
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def write(stream: IO[str], columns: Sequence[str] | None, rows: Iterable[Sequence[object]]) -> int:
    """Write a header, unless it is None, and rows; return how many rows there were."""
    writer = csv.writer(stream, lineterminator="\r\n")
    if columns is not None:
        writer.writerow(columns)
    count = 0
    for row in rows:
        writer.writerow([cell(value) for value in row])
        count += 1
    return count
