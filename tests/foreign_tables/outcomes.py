"""Outcomes of foreign tables: whether a file is refused, and all that is told of it."""

from __future__ import annotations

from pathlib import Path

from analysis import BadTable, read_all
from analysis.scores.cautions import cautions
from tests.foreign_tables.made import REFUSED, TOLD


def outcome(path: Path) -> tuple[str, str]:
    """Return whether the file is refused, and the sentences about it."""
    try:
        tables = read_all([path])
    except BadTable as error:
        return REFUSED, str(error)
    assert tables.ratings is not None
    return TOLD, " ".join((*tables.notes, *cautions(tables.ratings)))
