"""Question ratings: the rows of one question, its scale ends, and where those came from.

Within `shared` the questions of a table are read off it once, for all metrics, and what one metric
computed of a question is there for the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar, cast

import numpy as np
import pandas as pd

from analysis.freed_memory import give_back
from analysis.stats.intervals import Floats
from analysis.tables.columns import BETTER_COLUMN, HIGH, Better
from analysis.tables.schema import LEVELS, Level, RatingTable

UNIT = ["item", "system"]
# Names that repeat: as numbers they take less memory, and are told apart in a fraction of the time.
NAMES = ("campaign", "protocol", "question", "level", "item", "system", "rater", "conversation")
# Who judged what: questions of one form mostly have all of it in common.
DESIGN = ("item", "system", "rater", "conversation", "context")
Made = TypeVar("Made")


@dataclass(frozen=True, eq=False)
class QuestionRatings:
    """One question of one protocol, and every answer to it.

    `kept_of_design` is what was computed of who judged what; questions with the same share it.
    """

    protocol: str
    question: str
    level: Level
    rows: pd.DataFrame
    kept_of_design: dict[str, Any] = field(default_factory=dict)

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
    def better(self) -> Better:
        """Which end of the scale is the good one; high where nothing is said."""
        if BETTER_COLUMN not in self.rows:
            return HIGH
        return cast(Better, str(self.rows[BETTER_COLUMN].iloc[0]))

    @property
    def is_yes_no(self) -> bool:
        return self.level == "nominal" and bool(self.rows["value"].isin([0.0, 1.0]).all())

    @cached_property
    def kept(self) -> dict[str, Any]:
        """Values computed once from these answers; `once` fills it."""
        return {}

    def once(self, name: str, make: Callable[[], Made]) -> Made:
        """Return what `make` gives, made at the first call and kept as long as the question is."""
        return _once(self.kept, name, make)

    def once_of_design(self, name: str, make: Callable[[], Made]) -> Made:
        """Return the same of what rests on the columns of `DESIGN` and the order of rows alone."""
        return _once(self.kept_of_design, name, make)

    def forget(self, name: str) -> None:
        """Let go of what `once` kept under a name, where nobody will ask for it again."""
        self.kept.pop(name, None)

    def by_system(self) -> Iterator[tuple[str, pd.DataFrame]]:
        for system, rows in self.rows.groupby("system", sort=True):
            yield str(system), rows


def _once(kept: dict[str, Any], name: str, make: Callable[[], Made]) -> Made:
    if name not in kept:
        kept[name] = make()
    return cast(Made, kept[name])


# The tables that are shared just now, by identity, with their questions.
_READ: ContextVar[dict[int, tuple[pd.DataFrame, list[QuestionRatings]]] | None] = ContextVar(
    "read", default=None
)


@contextmanager
def shared() -> Iterator[None]:
    """Read the questions of a table once for all who ask within; the table must not change."""
    if _READ.get() is not None:
        yield
        return
    token = _READ.set({})
    try:
        yield
    finally:
        _READ.reset(token)


def questions(ratings: RatingTable, *levels: Level) -> Iterator[QuestionRatings]:
    """Yield each question whose level is one of `levels`, in order of name; never a text."""
    read = _READ.get()
    if read is None:
        found: Iterable[QuestionRatings] = _questions(ratings, levels)
    else:
        if id(ratings) not in read:
            read[id(ratings)] = ratings, list(_questions(ratings, LEVELS))
        found = read[id(ratings)][1]
    for one in found:
        if one.level in levels:
            yield one
            give_back(len(one.rows))


def _questions(ratings: RatingTable, levels: Sequence[Level]) -> Iterator[QuestionRatings]:
    rows = numbered(RatingTable(identified(ratings)))
    (protocol, protocols), (question, names) = (
        pd.factorize(rows[column], sort=True) for column in ("protocol", "question")
    )
    numbers = protocol * len(names) + question
    found: list[QuestionRatings] = []
    for code in np.flatnonzero(np.bincount(numbers)):
        indices = np.flatnonzero(numbers == code)
        level = cast(Level, rows["level"].iloc[indices[0]])
        if level in levels:
            first, second = divmod(int(code), len(names))
            one = QuestionRatings(
                str(protocols[first]), str(names[second]), level, rows.iloc[indices]
            )
            alike = (other.kept_of_design for other in found if _have_one_design(one, other))
            found.append(replace(one, kept_of_design=next(alike, {})))
            yield found[-1]


def _have_one_design(one: QuestionRatings, other: QuestionRatings) -> bool:
    """Tell whether rows of both, in their order, are of the same raters, items and the like."""
    known = [name for name in DESIGN if name in one.rows]
    return len(one.rows) == len(other.rows) and all(
        one.rows[name].array.equals(other.rows[name].array) for name in known
    )


def numbered(ratings: RatingTable) -> RatingTable:
    """Return the same with names as categories, which whatever groups by them need not hash.

    Answers that are all numbers are held as such, and without the names of answers, which none have
    in common and no coefficient asks for.
    """
    return RatingTable(_numbered(ratings).drop(columns="answer", errors="ignore"))


def _numbered(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the same with names as categories, in order of name, and answers as numbers."""
    known = [name for name in NAMES if name in rows and rows[name].dtype == "str"]
    coded = {name: pd.factorize(rows[name], sort=True) for name in known}
    made = {name: pd.Categorical.from_codes(*found) for name, found in coded.items()}
    if rows["value"].dtype == object and pd.api.types.infer_dtype(rows["value"]) == "floating":
        return rows.assign(**made, value=rows["value"].astype(float))
    return rows.assign(**made)


def identified(ratings: pd.DataFrame) -> pd.DataFrame:
    """Return the ratings with items and raters that stay apart where campaigns are pooled."""
    if ratings["campaign"].nunique() < 2:
        return ratings
    pooled = ratings.copy()
    for column in ("item", "rater"):
        pooled[column] = pooled["campaign"].astype("str") + "/" + pooled[column].astype("str")
    return pooled


def declared_ends(rows: pd.DataFrame) -> tuple[float, float] | None:
    """Return the ends that the columns scale_low and scale_high give, if they do."""
    if not {"scale_low", "scale_high"} <= set(rows.columns):
        return None
    ends = rows[["scale_low", "scale_high"]].dropna()
    if ends.empty:
        return None
    return float(np.min(ends["scale_low"])), float(np.max(ends["scale_high"]))
