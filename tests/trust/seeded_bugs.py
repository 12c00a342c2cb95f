"""The seeded-bug drill: every deliberate fault with and without its bug, as a table.

    python -m tests.trust.seeded_bugs

First those of servers, which the ledger's checker has to catch, then those of the simulation, with
the number of steps until it stopped. Exits 1 unless each bug is caught, by a check that ought to,
and each run without it is clean.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import live
from tests.trust.drills import DRILLS, Drill
from tests.trust.outages import connect

ROOT = Path(__file__).parents[2]
ENOUGH = 3_000  # steps of the simulation in which a bug has to be found
LONGEST = 200.0  # seconds of one run, on a busy machine


@dataclass(frozen=True)
class Tried:
    """What the ledger checker found in one run of a drill."""

    drill: Drill
    with_bug: bool
    found: dict[str, int]
    seconds: float

    @property
    def caught_by(self) -> str:
        """Return the first check that found what it ought to, else nothing."""
        return next((name for name in self.drill.caught_by if self.found[name]), "")

    @property
    def right(self) -> bool:
        return bool(self.caught_by) if self.with_bug else not any(self.found.values())

    def __str__(self) -> str:
        faults = ", ".join(f"{name} {count}" for name, count in self.found.items() if count)
        word = "with the bug" if self.with_bug else "without it"
        return f"{self.drill.name:24} {word:12} {self.seconds:4.0f} s  {faults or 'all zeros'}"


def attempt(name: str, *, with_bug: bool) -> Tried:
    """Run one drill in a process of its own."""
    command = [sys.executable, "-m", "tests.trust.ledger", "--drill", name, "--json"]
    answer = subprocess.run(
        command if with_bug else [*command, "--without-bug"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=LONGEST,
        check=False,
    )
    if not answer.stdout.startswith("{"):
        raise RuntimeError(f"{name}: {answer.stdout}{answer.stderr}")
    result: dict[str, Any] = json.loads(answer.stdout)
    found = {check: len(sentences) for check, sentences in result["faults"].items()}
    return Tried(DRILLS[name], with_bug, found, result["seconds"])


def simulated(name: str, seed: int = 1) -> tuple[str, int]:
    """Return what stopped the simulation with a bug in it, "" for nothing, and after what steps."""
    from tests.trust.simulation import steps
    from tests.trust.simulation.__main__ import clear
    from tests.trust.simulation.bugs import injected

    counts: Counter[str] = Counter()
    try:
        with injected(name):
            steps.run(seed, ENOUGH, clear=clear, counts=counts)
    except Exception as found:
        return f"{type(found).__name__}: {str(found).splitlines()[-1]}"[:90], counts["steps"]
    return "", counts["steps"]


def _try_simulated() -> bool:
    """Print a line for each bug of the simulation; return whether all were caught."""
    from django.conf import settings

    from tests.trust.simulation.bugs import BUGS

    caught = True
    with tempfile.TemporaryDirectory() as folder:
        connect(live.environment(Path(folder), LOG_LEVEL="CRITICAL"))
        settings.DEBUG = False
        for name in BUGS:
            what, count = simulated(name)
            caught = caught and bool(what)
            print(f"{name:46} {count:5d} steps  {what or 'NOT CAUGHT'}", flush=True)
    return caught


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulated", action="store_true", help="only those of the simulation")
    wanted = parser.parse_args()
    tried = []
    for name in () if wanted.simulated else DRILLS:
        for with_bug in (True, False):
            tried.append(attempt(name, with_bug=with_bug))
            print(tried[-1], flush=True)
    return 0 if _try_simulated() and all(each.right for each in tried) else 1


if __name__ == "__main__":
    sys.exit(main())
