"""The seeded-bug drill: every deliberate fault with and without its bug, as a table.

    python -m tests.trust.seeded_bugs

Exits 1 unless each bug is caught by a check that ought to, and each run without it is clean.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.trust.drills import DRILLS, Drill

ROOT = Path(__file__).parents[2]
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


def main() -> int:
    tried = []
    for name in DRILLS:
        for with_bug in (True, False):
            tried.append(attempt(name, with_bug=with_bug))
            print(tried[-1], flush=True)
    return 0 if all(each.right for each in tried) else 1


if __name__ == "__main__":
    sys.exit(main())
