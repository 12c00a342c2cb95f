"""Ids of the repository's own papers, as they would stand on a page."""

from __future__ import annotations

import csv
import re
from functools import cache
from pathlib import Path

from django.utils.html import strip_tags

ROWS = Path(__file__).parents[2] / "acceptance" / "rows.csv"
PROCEDURES = r"\b(?:PC|ME|CA|CV|PL)-P\d+\b"


@cache
def _ids() -> re.Pattern[str]:
    """Match the ids of docs/promises.md, of the table of acceptance and of the procedures."""
    with ROWS.open(encoding="utf-8") as file:
        rows = "|".join(re.escape(row["id"]) for row in csv.DictReader(file))
    return re.compile(rf"\b[RGS]\d{{1,2}}\b|{PROCEDURES}|\b(?:{rows})\b")


def ids_in(text: str) -> list[str]:
    """Return the ids that a text has."""
    return _ids().findall(text)


def ids_on(html: str) -> list[str]:
    """Return the ids that a page shows."""
    return ids_in(strip_tags(re.sub(r"(?s)<(script|style|svg)\b.*?</\1>", "", html)))
