"""Differences of two systems: a rater's rating of one less the same rater's of the other.

Where systems were judged by raters of their own, the ratings of each.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.stats.intervals import Floats
from analysis.tables.file_bytes import format_of
from analysis.tables.options import BadOption
from analysis.tables.reading import read_all
from analysis.tables.schema import RatingTable, Tables

NUMBERS = ("ordinal", "interval", "nominal")
CONTEXT = "context"  # a column of exports


class Rated(NamedTuple):
    """Ratings of a system, or a pair's differences, in the table's order; by whom, and on what."""

    value: Floats
    rater: NDArray[np.object_]
    item: NDArray[np.object_]


def read_ratings(option: str, files: Sequence[Path]) -> tuple[RatingTable, Tables]:
    """Return the ratings of files, and all that is in them; say on stderr what was changed.

    Raises:
        BadOption: the files have no ratings.
        BadTable, OSError: as `read_all` does.
    """
    tables = read_all(files)
    if tables.ratings is None:
        raise BadOption(option, str(files[0]), "a table of ratings")
    if any(format_of(file.name) == "zip" for file in files):  # what is assumed of others is usual
        for note in tables.notes:
            print(f"Caution: {note}", file=sys.stderr)
    return tables.ratings, tables


def question_of(ratings: RatingTable, question: str | None) -> str:
    """Return the question that is meant: the one named, or the only one there is.

    Raises:
        BadOption: there is no such question, several and none named, or no numbers as answers.
    """
    answered = ratings[ratings["value"].notna()]
    numbers = pd.to_numeric(answered["value"], errors="coerce").notna()
    fits = (answered["level"].isin(NUMBERS) & numbers).groupby(answered["question"]).all()
    names = sorted(fits.index[fits])
    if question is None and len(names) == 1:
        return str(names[0])
    if question is None or question not in names:
        right = "one of " + ", ".join(names) if names else "one with numbers as answers"
        raise BadOption("question", question or "", right)
    return question


def paired(ratings: RatingTable, question: str, one: str, other: str) -> Rated:
    """Return how much higher `one` was rated than `other`, by raters who judged both.

    Ratings of an item that has both systems are paired by item. Where no item has both, replies to
    one context are paired by that context, which then is the item. Where there is none either, as
    with conversations, a rater's first rating of one is paired with the first of the other, and so
    on; such a pair is an item of its own.
    """
    of_question = _answered(ratings, question)
    sides = [_side(of_question, system) for system in (one, other)]
    found = sides[0].merge(sides[1], on=["rater", "item"], suffixes=("", "_other"))
    if found.empty and CONTEXT in of_question:
        replies = of_question[of_question[CONTEXT].fillna("").astype(str) != ""]
        in_contexts = replies.assign(item=replies[CONTEXT].astype(str))
        first, second = (_side(in_contexts, system) for system in (one, other))
        found = first.merge(second, on=["rater", "item"], suffixes=("", "_other"))
    if found.empty:
        sides = [side.assign(time=side.groupby("rater").cumcount()) for side in sides]
        found = sides[0].merge(sides[1], on=["rater", "time"], suffixes=("", "_other"))
        found["item"] = found["item"] + " | " + found["item_other"]
    return _rated(found, found["value"] - found["value_other"])


def of_system(ratings: RatingTable, question: str, system: str) -> Rated:
    """Return the ratings of one system; of several by a rater of an item the mean."""
    found = _side(_answered(ratings, question), system)
    return _rated(found, found["value"])


def _rated(found: pd.DataFrame, value: pd.Series) -> Rated:
    rater, item = (found[name].to_numpy(dtype=object) for name in ("rater", "item"))
    return Rated(value.to_numpy(dtype=float), rater, item)


def _answered(ratings: RatingTable, question: str) -> pd.DataFrame:
    return ratings[(ratings["question"] == question) & ratings["value"].notna()]


def _side(ratings: pd.DataFrame, system: str) -> pd.DataFrame:
    """Return a system's ratings by rater and item, of several the mean, in the order given."""
    rows = ratings[ratings["system"] == system].astype({"rater": str, "item": str})
    rows = rows.assign(value=pd.to_numeric(rows["value"]))
    return rows.groupby(["rater", "item"], sort=False)["value"].mean().reset_index()
