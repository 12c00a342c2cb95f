"""python -m bots list: every bot with what it is, and the papers' systems that cannot be run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bots.reference import printed
from bots.registry import HERE, bot_names, bot_options, bot_presets


@dataclass(frozen=True)
class Entry:
    """A line of the catalog; what is not runnable has only the scores that were printed for it."""

    name: str
    about: str
    runnable: bool
    trained: bool = False
    presets: tuple[str, ...] = ()
    source: str = ""
    scores: tuple[tuple[str, float], ...] = ()


def bots() -> Iterator[Entry]:
    """Yield what the files of `zoo/` say of themselves, without importing them."""
    for name in bot_names():
        text = (HERE / "zoo" / f"{name}.py").read_text("utf-8")
        about = (ast.get_docstring(ast.parse(text)) or "").partition("\n\n")[0]
        trained = any(each.name == "weights" for each in bot_options(name))
        yield Entry(name, " ".join(about.split()), True, trained, tuple(bot_presets(name)))


def systems() -> Iterator[Entry]:
    """Yield the systems that papers report but do not describe, or that do not chat."""
    for row in printed("systems")["rows"]:
        yield _system(row)


def _system(row: dict[str, Any]) -> Entry:
    scores = tuple((str(name), float(value)) for name, value in row["scores"].items())
    about = f"{row['row']}: {row['about']}"
    return Entry(str(row["name"]), about, False, source=str(row["source"]), scores=scores)


def lines() -> Iterator[str]:
    """Yield the catalog as text."""
    for entry in bots():
        trained = "trained; presets " + ", ".join(entry.presets) if entry.trained else "untrained"
        yield f"{entry.name}: {entry.about} [{trained}]"
    yield ""
    yield "Reported by papers, not runnable:"
    for entry in systems():
        scores = ", ".join(f"{name} {value:g}" for name, value in entry.scores) or "no scores"
        yield f"{entry.name}: {entry.about} Printed ({entry.source}): {scores}"
