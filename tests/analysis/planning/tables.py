"""Tables of ratings for planning, stopping and judges, drawn with a known truth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

HEAD = "rater,system,question,item,value,scale_low,scale_high"
Row = tuple[str, str, str, float]


def static(
    gaps: Sequence[float], items: int, *, raters: int = 20, votes: int = 3, seed: int = 0
) -> list[Row]:
    """Systems a, b, c ... that `votes` raters judge on the same items, `gaps` above the middle."""
    chance = np.random.default_rng(seed)
    severity = chance.normal(0, 0.7, raters)
    taste = chance.normal(0, 0.3, (raters, len(gaps)))
    rows = []
    for item in range(items):
        reply = chance.normal(0, 0.4, len(gaps))
        for rater in chance.choice(raters, votes, replace=False):
            felt = 3 + np.array(gaps) + severity[rater] + taste[rater] + reply
            values = np.clip(np.round(felt + chance.normal(0, 0.8, len(gaps))), 1, 5)
            rows += [
                (f"r{rater}", "abcdef"[k], f"i{item}", float(value))
                for k, value in enumerate(values)
            ]
    return rows


def judged(
    systems: Sequence[str], *, rated: int = 60, items: int = 200, seed: int = 0
) -> list[Row]:
    """Systems that the judge `gpt` scored on all items, and three of six people on the first."""
    chance = np.random.default_rng(seed)
    rows = []
    for k, system in enumerate(systems):
        for item in range(items):
            quality = chance.normal(3 + k / 2, 0.8)
            score = float(np.clip(quality + chance.normal(0.2, 0.2), 1.2, 4.8))
            rows.append(("gpt", system, f"c{item}", round(score, 3)))
            for rater in chance.choice(6, 3, replace=False) if item < rated else ():
                value = float(np.clip(np.round(quality + chance.normal(0, 0.7)), 1, 5))
                rows.append((f"p{rater}", system, f"c{item}", value))
    return rows


def written(path: Path, rows: Iterable[Row]) -> str:
    """Write the rows of one question, overall, on a scale of 1 to 5."""
    lines = [f"{rater},{system},overall,{item},{value},1,5" for rater, system, item, value in rows]
    path.write_text("\n".join([HEAD, *lines]) + "\n", encoding="utf-8")
    return str(path)
