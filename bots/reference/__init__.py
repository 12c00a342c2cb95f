"""Printed results of the papers, as facts with their sources, to stand beside one's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def printed(name: str) -> dict[str, Any]:
    """Return the printed table that the file `<name>.json` of this folder holds."""
    found: dict[str, Any] = json.loads(
        (Path(__file__).parent / f"{name}.json").read_text(encoding="utf-8")
    )
    return found
