"""Reference results printed in papers, with their sources, to stand beside one's own."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Reference:
    """One printed table: where it stands, what it is, its rows."""

    source: str
    description: str
    note: str
    rows: tuple[dict[str, object], ...]


def reference(name: str) -> Reference:
    """Return the printed table that the file `<name>.json` of this folder holds."""
    printed = json.loads((Path(__file__).parent / f"{name}.json").read_text(encoding="utf-8"))
    return Reference(
        source=str(printed["source"]),
        description=str(printed["description"]),
        note=str(printed.get("note", "")),
        rows=tuple(dict(row) for row in printed["rows"]),
    )
