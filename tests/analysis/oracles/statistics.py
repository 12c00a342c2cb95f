"""Independent packages beside ours on random tables: how far we are apart, at most.

    python -m tests.analysis.oracles.statistics [PACKAGE...] [--tables 200]

Each file `oracles_<part>.py` of this folder has a tuple `ORACLES`. `test_oracles.py` asserts that
every one is within its tolerance: on all tables where that is quick, else on some, and on all with
script/test --full. The packages are for tests only. The exit status is 1 where one is further off.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

TABLES = 200
# What is equal up to rounding.
EXACT = 1e-9


@dataclass(frozen=True)
class Oracle:
    """A package's statistic; `differences` yields how far ours is off on each of so many tables."""

    package: str
    statistic: str
    tolerance: float
    differences: Callable[[int], Iterator[float]]
    quick: int = TABLES
    """How many tables the suite has the time for."""

    @property
    def name(self) -> str:
        return f"{self.package}-{self.statistic}"


def oracles() -> list[Oracle]:
    """Return those of all parts."""
    parts = sorted(path.stem for path in Path(__file__).parent.glob("oracles_*.py"))
    return [
        oracle
        for part in parts
        for oracle in importlib.import_module(f"tests.analysis.oracles.{part}").ORACLES
    ]


def compared(oracle: Oracle, tables: int) -> tuple[int, float]:
    """Return how many tables were compared, and the largest difference; NaN counts as one."""
    with warnings.catch_warnings():
        # What the packages warn of is theirs to mend.
        warnings.simplefilter("ignore")
        found = list(oracle.differences(tables))
    return len(found), max((each if each == each else float("inf") for each in found), default=0.0)


def main() -> int:
    """Print a row per package and statistic."""
    parser = argparse.ArgumentParser(prog="python -m tests.analysis.oracles.statistics")
    parser.add_argument("package", nargs="*")
    parser.add_argument("--tables", type=int, default=TABLES)
    given = parser.parse_args()
    print(f"{'package':14} {'statistic':44} {'tables':>6} {'largest':>9} {'may':>7} ok")
    off = 0
    for oracle in oracles():
        if given.package and oracle.package not in given.package:
            continue
        count, largest = compared(oracle, given.tables)
        agrees = largest <= oracle.tolerance and count >= given.tables
        off += not agrees
        row = f"{oracle.package:14} {oracle.statistic:44} {count:6} {largest:9.1e}"
        print(f"{row} {oracle.tolerance:7.0e} {'yes' if agrees else 'OFF'}", flush=True)
    print(f"{off} off" if off else "all agree")
    return 1 if off else 0


if __name__ == "__main__":
    sys.exit(main())
