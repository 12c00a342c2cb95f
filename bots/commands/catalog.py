"""List of the bots, `python -m bots list`, and of the papers' systems that cannot be run.

Apart because it is a command of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bots.reference import printed
from bots.registry import bot_docs, bot_names, bot_options, bot_presets, bot_summary

# the citation that a bot's documentation begins its second paragraph with
CITATION = re.compile(r"Source: (.+?)(?:[:;]|\.(?=$| [A-Z\"]))")


@dataclass(frozen=True)
class CatalogEntry:
    """A line of the catalog; an entry that is not runnable has only its printed scores."""

    name: str
    about: str
    runnable: bool
    trained: bool = False
    presets: tuple[str, ...] = ()
    source: str = ""
    scores: tuple[tuple[str, float], ...] = ()


def bots() -> Iterator[CatalogEntry]:
    """Yield the bots as their files describe themselves, without importing them."""
    for name in bot_names():
        trained = any(each.name == "weights" for each in bot_options(name))
        presets = tuple(bot_presets(name))
        yield CatalogEntry(name, bot_summary(name), True, trained, presets, _citation(name))


def _citation(name: str) -> str:
    found = CITATION.search(" ".join(bot_docs(name).split()))
    return found[1] if found else ""


def systems() -> Iterator[CatalogEntry]:
    """Yield the systems that papers report without a recipe, or that do not converse."""
    for row in printed("systems")["rows"]:
        yield _system(row)


def _system(row: dict[str, Any]) -> CatalogEntry:
    scores = tuple((str(name), float(value)) for name, value in row["scores"].items())
    return CatalogEntry(
        str(row["name"]), str(row["about"]), False, source=str(row["source"]), scores=scores
    )


def lines() -> Iterator[str]:
    """Yield the catalog as text."""
    for entry in bots():
        trained = "trained; presets " + ", ".join(entry.presets) if entry.trained else "untrained"
        yield f"{entry.name}: {entry.about} Source: {entry.source}. [{trained}]"
    yield ""
    yield "Reported by papers, not runnable:"
    for entry in systems():
        scores = ", ".join(f"{name} {value:g}" for name, value in entry.scores) or "no scores"
        yield f"{entry.name}: {entry.about} Printed ({entry.source}): {scores}"
