"""Equivalent mutants: changes that no test can tell from the original, each with its reason.

A line of equivalent.txt is a mutant's id, two spaces or more, and why nothing can differ.
"""

from __future__ import annotations

from pathlib import Path

from tests.mutation import trees
from tests.mutation.operators import mutants

FILE = "tests/mutation/equivalent.txt"


def read(tree: Path) -> dict[str, str]:
    """Return the reasons by id. Raises `ValueError` for a line without one."""
    file = tree / FILE
    found: dict[str, str] = {}
    for number, line in enumerate(file.read_text().splitlines() if file.exists() else (), start=1):
        if not line or line.startswith("#"):
            continue
        name, _, reason = line.partition("  ")
        if not reason.strip() or name in found:
            raise ValueError(f"{FILE}:{number}: {line!r} should be a new id, two spaces, a reason")
        found[name] = reason.strip()
    return found


def stale(tree: Path, accepted: dict[str, str]) -> list[str]:
    """Return the ids that are no mutant any more: their statement has changed or is gone."""
    modules = {name.split(":")[0] for name in accepted}
    files = {module: tree / trees.file_of(module) for module in modules}
    known = {
        one.id
        for module, file in files.items()
        if file.exists()
        for one in mutants(module, file.read_text())
    }
    return sorted(set(accepted) - known)
