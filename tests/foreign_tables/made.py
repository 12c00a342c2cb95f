"""Parts of tables made for the tests: ratings in few letters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

HEAD = "rater,system,question,value"
REFUSED, TOLD = "refused", "told"


def rows(*columns: Iterable[object], header: str = HEAD) -> str:
    lines = (",".join(map(str, row)) for row in zip(*columns, strict=True))
    return "\n".join([header, *lines]) + "\n"


def votes(systems: str, values: Iterable[object], question: str = "q") -> str:
    """Return a rating per letter of `systems`, each of a rater r0, r1 ... of its own."""
    names = [f"r{k}" for k in range(len(systems))]
    return rows(names, systems, [question] * len(systems), values)


GOOD = rows(["r1", "r1", "r2", "r2", "r3", "r3"], "ababab", ["q"] * 6, [1, 4, 2, 5, 3, 4])
SEMICOLONS = GOOD.replace(",", ";")

# About, file name, content, what becomes of it, a sentence of what is told.
Foreign: TypeAlias = tuple[str, str, bytes, str, str]
