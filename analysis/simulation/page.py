"""Simulation tables of a page in Markdown, filled in row by row.

A table stands between `<!-- name -->` and `<!-- /name -->`. A row takes the place of the one with
the same words before it (the columns that name what was simulated); other rows stay. Apart because
it knows Markdown and no estimator.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

Row = Mapping[str, object]


@dataclass(frozen=True)
class PageTable:
    """A table of the page: its name, the columns that name a row, and the decimals of numbers."""

    name: str
    keys: tuple[str, ...]
    numbers: Mapping[str, int]
    needs: str

    def filled(self, text: str, rows: Sequence[Row]) -> str:
        """Return the page with the rows that have what the table is about."""
        marks = re.compile(f"(<!-- {self.name} -->\n)(.*?)(<!-- /{self.name} -->)", re.DOTALL)
        found = marks.search(text)
        if found is None:
            return text
        known = {_cells(line)[: len(self.keys)]: line for line in found[2].splitlines()[2:]}
        for row in rows:
            if row.get(self.needs) is not None:
                known[tuple(str(row[key]) for key in self.keys)] = self._line(row)
        head = [*self.keys, *self.numbers]
        lines = [f"| {' | '.join(head)} |", "|" + "|".join(["---"] * len(head)) + "|"]
        body = "\n".join([*lines, *known.values()])
        return text[: found.end(1)] + body + "\n" + text[found.start(3) :]

    def _line(self, row: Row) -> str:
        words = [str(row[key]) for key in self.keys]
        shown = [_shown(row.get(name), decimals) for name, decimals in self.numbers.items()]
        return f"| {' | '.join([*words, *shown])} |"


NAMED = ("estimator", "part", "scenario", "conversations")
INTERVALS = PageTable(
    "intervals",
    NAMED,
    {"campaigns": 0, "bias": 3, "width": 3, "coverage": 3, "none": 3, "verdict": 0},
    "coverage",
)
TESTS = PageTable("tests", NAMED, {"campaigns": 0, "finds": 3}, "finds")
ORDERS = PageTable(
    "orders",
    ("severity", "ratings per rater", "scores"),
    {
        **{"campaigns": 0, "exact": 3, "exact se": 3, "tau": 3, "tau se": 3},
        **{"exact above raw": 3, "above raw se": 3},
    },
    "exact",
)
PROBABILITIES = PageTable(
    "probabilities",
    ("metric", "conversations", "from", "to"),
    {"campaigns": 0, "n": 0, "said": 3, "so": 3, "brier": 3},
    "said",
)
DESIGNS = PageTable(
    "designs",
    ("raters have", "conversations"),
    {
        **{"campaigns": 0, "raw rmse": 3, "calibrated rmse": 3, "learned rmse": 3},
        **{"raw order": 3, "calibrated order": 3, "learned order": 3},
        **{"alpha defined": 2, "mean alpha": 2, "raters' SD defined": 2, "mean raters' SD": 2},
    },
    "raw rmse",
)
TABLES = (INTERVALS, TESTS, ORDERS, PROBABILITIES, DESIGNS)


def fill(path: Path, rows: Sequence[Row]) -> None:
    """Write the rows into the tables of a page that are about them."""
    text = path.read_text(encoding="utf-8")
    for table in TABLES:
        text = table.filled(text, rows)
    path.write_text(text, encoding="utf-8")


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in line.strip().strip("|").split(" | "))


def _shown(value: object, decimals: int) -> str:
    if value is None or value != value:
        return ""
    return f"{value:.{decimals}f}" if isinstance(value, float) else str(value)
