"""Promises of docs/promises.md, and the tests that name them.

python -m tests.promises     writes the tests into the page
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "promises.md"
CODE = ("webapp", "evaluation", "bots", "analysis", "templates", "static", "script")
# V1.2 is a requirement of another list (docs/asvs.md).
ID = re.compile(r"\b([RGSV]\d{1,2})(?!\.\d)(?:-([RGSV]\d{1,2}))?\b")
ROW = re.compile(r"^\| ([RGSV]\d+) \| (.*) \| (.*) \| (.*)\|$", re.MULTILINE)


@dataclass(frozen=True)
class Promise:
    """One row: its id, what it says, how far it is kept, and the files that test it."""

    id: str
    text: str
    state: str
    tests: tuple[str, ...]


def promises(page: str) -> list[Promise]:
    """Return the rows of the page, in order."""
    return [
        Promise(name, text, state, tuple(re.findall(r"`([^`]+)`", tests)))
        for name, text, state, tests in ROW.findall(page)
    ]


def cited(text: str) -> set[str]:
    """Return the ids that a text cites; a span such as R31-R33 cites all of it."""
    found: set[str] = set()
    for first, last in ID.findall(text):
        span = range(int(first[1:]), int((last or first)[1:]) + 1)
        found |= {f"{first[0]}{number}" for number in span}
    return found


def tested() -> Mapping[str, list[str]]:
    """Return the test files that name each id, by id; helpers count with those who import them."""
    found = defaultdict(list)
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for name in cited(path.read_text(encoding="utf-8")):
            found[name].append(path.relative_to(ROOT).as_posix())
    return found


def filled(page: str) -> str:
    """Return the page with its last column as it is today."""
    found = tested()

    def row(match: re.Match[str]) -> str:
        name, text, state, _ = match.groups()
        tests = ", ".join(f"`{path}`" for path in found.get(name, ()))
        return f"| {name} | {text} | {state} | {tests}{' ' if tests else ''}|"

    return ROW.sub(row, page)


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
