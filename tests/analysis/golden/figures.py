"""Published and golden figures beside ours, as one table: expected, ours, difference.

    python -m tests.analysis.golden.figures [PART...]

Each file `golden_<part>.py` of this folder has a function `compared()`; `test_golden.py` asserts
that every one of its rows is within its tolerance. Rows need the data beside the repository where
they say so, and are named as not shown where it is not there; what this project does not offer is a
row too. The exit status is 1 where a row is off.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

# Parts that run a sampler take longer than the suite has.
SLOW = ("sampler",)


@dataclass(frozen=True)
class Compared:
    """One figure: where it is from, what was expected, what we find, and how far it may differ."""

    source: str
    what: str
    expected: float
    ours: float
    tolerance: float

    @property
    def difference(self) -> float:
        return self.ours - self.expected

    @property
    def agrees(self) -> bool:
        return abs(self.difference) <= self.tolerance


@dataclass(frozen=True)
class NotOffered:
    """Figures of something that this project has no function for."""

    source: str
    what: str
    why: str


Row = Compared | NotOffered


def printed(source: str, what: str, expected: float, ours: float) -> Compared:
    """Return a comparison with a rounded figure: ours must round to what was printed."""
    digits = len(str(expected).partition(".")[2])
    return Compared(source, what, expected, ours, 0.5 * 10**-digits + 1e-9)


def names() -> list[str]:
    """Return the parts that have a file in this folder."""
    found = Path(__file__).parent.glob("golden_*.py")
    return sorted(path.stem.removeprefix("golden_") for path in found)


def compared(name: str) -> Iterator[Row]:
    """Yield the rows of one part."""
    module = importlib.import_module(f"tests.analysis.golden.golden_{name}")
    rows: Iterator[Row] = module.compared()
    yield from rows


def main() -> int:
    """Print the table; return 1 where a row is off."""
    head = ("source", "what", "expected", "ours", "difference", "may", "ok")
    print("{:28} {:44} {:>12} {:>14} {:>11} {:>8} {}".format(*head))
    rows: list[Row] = []
    for name in sys.argv[1:] or names():
        try:
            found = list(compared(name))
        except pytest.skip.Exception as reason:
            print(f"{name}: not shown, {reason}")
            continue
        print("\n".join(map(_line, found)), flush=True)
        rows += found
    figures = [row for row in rows if isinstance(row, Compared)]
    off = sum(not row.agrees for row in figures)
    print(f"{len(figures)} figures, {off} off; {len(rows) - len(figures)} rows not offered")
    return 1 if off else 0


def _line(row: Row) -> str:
    if isinstance(row, NotOffered):
        return f"{row.source:28} {row.what:44} not offered: {row.why}"
    return (
        f"{row.source:28} {row.what:44} {row.expected:12.6g} {row.ours:14.8g} "
        f"{row.difference:11.1e} {row.tolerance:8.0e} {'yes' if row.agrees else 'OFF'}"
    )


if __name__ == "__main__":
    # The parts load this file by its own name, and their rows are of its classes.
    sys.exit(importlib.import_module("tests.analysis.golden.figures").main())
