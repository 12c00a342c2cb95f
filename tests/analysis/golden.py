"""Published and golden figures beside ours, as one table: expected, ours, difference.

    python -m tests.analysis.golden [PART...]

Each file `golden_<part>.py` of this folder has a function `compared()`; `test_golden.py` asserts
that every one of its rows is within its tolerance.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest


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


def printed(source: str, what: str, expected: float, ours: float) -> Compared:
    """Return a comparison with a rounded figure: ours must round to what was printed."""
    digits = len(str(expected).partition(".")[2])
    return Compared(source, what, expected, ours, 0.5 * 10**-digits + 1e-9)


def names() -> list[str]:
    """Return the parts that have a file in this folder."""
    found = Path(__file__).parent.glob("golden_*.py")
    return sorted(path.stem.removeprefix("golden_") for path in found)


def compared(name: str) -> Iterator[Compared]:
    """Yield the rows of one part."""
    module = importlib.import_module(f"tests.analysis.golden_{name}")
    rows: Iterator[Compared] = module.compared()
    yield from rows


def main() -> int:
    """Print the table; return 1 where a row is off."""
    print(f"{'source':28} {'what':36} {'expected':>12} {'ours':>14} {'difference':>11} {'may':>8}")
    off = 0
    for name in sys.argv[1:] or names():
        try:
            rows = list(compared(name))
        except pytest.skip.Exception as reason:
            print(f"{name}: not shown, {reason}")
            continue
        for row in rows:
            off += not row.agrees
            print(
                f"{row.source:28} {row.what:36} {row.expected:12.6g} {row.ours:14.8g} "
                f"{row.difference:11.1e} {row.tolerance:8.0e}{'' if row.agrees else '  OFF'}"
            )
    print(f"{off} off" if off else "all agree")
    return 1 if off else 0


if __name__ == "__main__":
    sys.exit(main())
