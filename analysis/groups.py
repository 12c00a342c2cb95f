"""The ratings of one question: its rows, its scale ends, and where those came from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
import pandas as pd

from analysis.intervals import Floats
from analysis.tables import Level, RatingTable

UNIT = ["item", "system"]


@dataclass(frozen=True, eq=False)
class Asked:
    """One question of one protocol, and every answer to it."""

    protocol: str
    question: str
    level: Level
    rows: pd.DataFrame

    @property
    def name(self) -> dict[str, object]:
        return {"protocol": self.protocol, "question": self.question}

    @cached_property
    def values(self) -> Floats:
        return self.rows["value"].to_numpy(dtype=float)

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The scale's ends as declared, else the lowest and highest rating."""
        declared = declared_ends(self.rows)
        return declared or (float(self.values.min()), float(self.values.max()))

    @cached_property
    def scale(self) -> dict[str, object]:
        """The ends and their origin, to be printed beside what was computed from them."""
        low, high = self.ends
        origin = "declared" if declared_ends(self.rows) else "from the data"
        return {"scale_low": low, "scale_high": high, "scale_ends": origin}

    @property
    def is_yes_no(self) -> bool:
        return self.level == "nominal" and bool(self.rows["value"].isin([0.0, 1.0]).all())

    def by_system(self) -> Iterator[tuple[str, pd.DataFrame]]:
        for system, rows in self.rows.groupby("system", sort=True):
            yield str(system), rows


def questions(ratings: RatingTable, *levels: Level) -> Iterator[Asked]:
    """Yield each question whose level is one of `levels`, in order of name."""
    rows = identified(ratings)
    (protocol, protocols), (question, names) = (
        pd.factorize(rows[column], sort=True) for column in ("protocol", "question")
    )
    asked = protocol * len(names) + question
    for code in np.flatnonzero(np.bincount(asked)):
        places = np.flatnonzero(asked == code)
        level = cast(Level, rows["level"].iloc[places[0]])
        if level in levels:
            first, second = divmod(int(code), len(names))
            yield Asked(str(protocols[first]), str(names[second]), level, rows.iloc[places])


def identified(ratings: pd.DataFrame) -> pd.DataFrame:
    """Return the ratings with items and raters that stay apart where campaigns are pooled."""
    if ratings["campaign"].nunique() < 2:
        return ratings
    pooled = ratings.copy()
    for column in ("item", "rater"):
        pooled[column] = pooled["campaign"] + "/" + pooled[column]
    return pooled


def declared_ends(rows: pd.DataFrame) -> tuple[float, float] | None:
    """Return the ends that the columns scale_low and scale_high give, if they do."""
    if not {"scale_low", "scale_high"} <= set(rows.columns):
        return None
    ends = rows[["scale_low", "scale_high"]].dropna()
    if ends.empty:
        return None
    return float(np.min(ends["scale_low"])), float(np.max(ends["scale_high"]))
