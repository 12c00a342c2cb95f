"""Contexts of a static evaluation by name: how many messages each has, and its tags.

The file of `bots/datasets/context_tree.py`, of which only this is needed here. Apart because it is
a file that is an option.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from analysis.tables.options import BadOption


@dataclass(frozen=True)
class ContextFacts:
    """A context's number of messages, and its tags."""

    depth: int
    tags: tuple[str, ...]


Contexts = Mapping[str, ContextFacts]


def read(path: Path) -> Contexts:
    """Return the contexts of a JSON Lines file. Raises `BadOption`, naming the line."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BadOption("contexts", str(path), f"a text file in UTF-8 ({error})") from error
    found: dict[str, ContextFacts] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            facts = ContextFacts(len(record["messages"]), tuple(map(str, record.get("tags", ()))))
            found[str(record["id"])] = facts
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            right = "an object with id, a list messages and perhaps a list tags"
            raise BadOption(
                "contexts", f"{path.name}, line {number}: {line[:40]}", right
            ) from error
    if not found:
        raise BadOption("contexts", str(path), "a file with a context in it")
    return found
