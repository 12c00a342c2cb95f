"""Columns that a table of ratings may lack: names taken for them, and what is assumed instead.

Needed are who rated, which system, on which question, and the answer. What is assumed is told with
everything that is computed, because it limits what can be; `docs/ratings_table.md` has the rules.
Apart because checks and formats are something else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

import pandas as pd

from analysis.tables import cell_values, invalid_rows
from analysis.tables.columns import (
    EITHER,
    OPTIONAL_COLUMNS,
    OTHER_NAMES,
    RATING_COLUMNS,
    REQUIRED,
    TIME_COLUMN,
)
from analysis.tables.schema import BadTable, Problem

# The longest usual scale of whole points, 0 to 10, has so many; more are read as a slider's.
MOST_POINTS = 11
# An id of a row need not be one of the answer, and row numbers do as well.
NEVER_TAKEN = ("answer",)
SEE = "docs/ratings_table.md has all columns"


@dataclass(frozen=True, eq=False)
class Completed:
    """A table with every column, unchecked, and one sentence for each thing assumed."""

    frame: pd.DataFrame
    notes: tuple[str, ...]


def completed(frame: pd.DataFrame, name: str) -> Completed:
    """Return the table in the file `name` with all its columns.

    Raises `BadTable` where one that is needed lacks, or where two may be meant by another name.
    """
    taken, unclear = _other_names(frame)
    named = frame.rename(columns={name: column for column, name in taken.items()})
    lacking = [column for column in RATING_COLUMNS if column not in named.columns]
    problems = [*unclear, *_missing(named, lacking, {problem.field for problem in unclear})]
    problems += _wide(frame, {*lacking} - {problem.field for problem in unclear})
    if problems:
        raise BadTable(name, problems)
    filled = _filled(named, lacking, PurePath(name).stem)
    notes = (*_notes_on_names(taken), *_notes_on_columns(filled, lacking))
    return Completed(filled, (*notes, *_notes_on_twins(frame, taken)))


def _other_names(frame: pd.DataFrame) -> tuple[dict[str, str], list[Problem]]:
    """Return which column stands for which, and those for which several might."""
    by_name: defaultdict[str, list[str]] = defaultdict(list)
    for each in frame.columns:
        by_name[_plain(each)].append(str(each))
    taken: dict[str, str] = {}
    problems = []
    for column in (*RATING_COLUMNS, *OPTIONAL_COLUMNS, TIME_COLUMN):
        if column in frame.columns or column in NEVER_TAKEN:
            continue
        own = (column,) if column in by_name else OTHER_NAMES.get(column, ())
        meant = [
            one for other in own for one in by_name.get(other, ()) if one not in {*taken.values()}
        ]
        if len(meant) > 1:
            meant = [one for one in meant if _plain(one) != EITHER]
        if len(meant) > 1:
            which = " and ".join(map(repr, meant))
            right = f"one column; {which} may be meant, so name one of them {column}"
            problems.append(Problem(None, column, "missing", right))
        elif meant:
            taken[column] = meant[0]
    return taken, problems


def _plain(column: object) -> str:
    return str(column).strip().lower().replace(" ", "_")


def _missing(frame: pd.DataFrame, lacking: Sequence[str], named: set[str]) -> Iterator[Problem]:
    for column in lacking:
        if column in REQUIRED and column not in named:
            right = f"the columns {' '.join(REQUIRED)}; {SEE}"
            yield Problem(None, column, "missing", right)
    if "item" in lacking and "level" in frame and (frame["level"] == "rank").any():
        right = "a column that says which systems were ranked together"
        yield Problem(None, "item", "missing", right)


def _wide(frame: pd.DataFrame, missing: set[str]) -> Iterator[Problem]:
    """Say of a table of many columns, none of which holds the answers, how it has to be turned."""
    if "value" in missing and len(frame.columns) > 1:
        right = (
            "a row per answer: where a row holds several answers, a column each, as survey tools "
            "export them, turn it first (in pandas: melt)"
        )
        yield Problem(None, "shape", f"{len(frame.columns)} columns, no answers", right)


# --- what is assumed --------------------------------------------------------------------------


def _filled(frame: pd.DataFrame, lacking: Sequence[str], stem: str) -> pd.DataFrame:
    table = frame.reset_index(drop=True)
    assumed = {"campaign": "", "protocol": stem or "ratings", "place": ""}
    table = table.assign(**{name: assumed[name] for name in lacking if name in assumed})
    if "answer" in lacking:
        table["answer"] = [str(row) for row in range(1, len(table) + 1)]
    if "level" in lacking:
        table["level"] = _levels(table)
    if "item" in lacking:
        table["item"] = _items(table)
    return table


def _levels(table: pd.DataFrame) -> pd.Series:
    """Return each row's level, by all answers to its question."""
    keys = [invalid_rows.as_text(table[name]) for name in ("protocol", "question")]
    found = invalid_rows.of_each(
        table["value"], lambda cell: (_number(cell), cell_values.is_blank(cell))
    )
    answers = pd.Series(found, index=table.index, dtype=object)
    return answers.groupby(keys).transform(_level).astype("str")


def _number(cell: object) -> float | None:
    """Return a number also where it has a decimal comma, which the checks refuse by row."""
    return cell_values.number(cell_values.with_point(cell))


def _level(answers: Iterable[tuple[float | None, bool]]) -> str:
    """Return the level of answers: nominal for words and for 0 and 1, else by how fine they are.

    A word among numbers leaves them numbers, so that it is refused as a slip.
    """
    known = {number for number, is_blank in answers if not is_blank}
    numbers = {number for number in known if number is not None}
    if not numbers or (0 in numbers and known <= {0, 1}):
        return "nominal"
    whole = all(number.is_integer() for number in numbers)
    return "ordinal" if whole and len(numbers) <= MOST_POINTS else "interval"


def _items(table: pd.DataFrame) -> pd.Series:
    """Return an item for each time that a rater answers a question about a system."""
    parts = table[["campaign", "protocol", "question", "rater", "system"]]
    times = parts.apply(invalid_rows.as_text).groupby(list(parts)).cumcount() + 1
    rater, system = (invalid_rows.as_text(table[name]) for name in ("rater", "system"))
    return (rater + " on " + system + ", " + times.astype("str")).astype("str")


# --- and how it is told -----------------------------------------------------------------------


def _notes_on_names(taken: Mapping[str, str]) -> Iterator[str]:
    if taken:
        pairs = ", ".join(f"{name!r} for {column}" for column, name in taken.items())
        yield f"Columns are taken by another name: {pairs}."
    if _plain(taken.get("question", "")) == EITHER:
        yield (
            f"{taken['question']!r} is taken for what raters were asked; where it says what "
            "systems were given, call it item, and add a column question."
        )


def _notes_on_twins(frame: pd.DataFrame, taken: Mapping[str, str]) -> Iterator[str]:
    """Tell of columns whose names differ by case or blanks only from one that is read."""
    read = {*RATING_COLUMNS, *OPTIONAL_COLUMNS} & {*map(str, frame.columns)}
    for each in frame.columns:
        if str(each) not in read and _plain(each) in read and str(each) not in taken.values():
            yield f"There are columns {_plain(each)!r} and {str(each)!r}; only the first is read."


def _notes_on_columns(table: pd.DataFrame, lacking: Sequence[str]) -> Iterator[str]:
    if "item" in lacking:
        yield (
            "There is no column item, so every answer of a rater about a system is taken to be "
            "about an item that nobody else rated: without an item column dependence between "
            "ratings of one item is not known, agreement between raters cannot be computed, and "
            "rows that were entered twice count twice."
        )
    if "level" in lacking and len(table):
        yield f"There is no column level: {_note_on_levels(table)}."
        yield from _notes_on_near_numbers(table)
    others = [name for name in ("answer", "campaign", "protocol", "place") if name in lacking]
    if others:
        yield (
            f"There are no columns {', '.join(others)}; what stands in for them is in "
            "docs/ratings_table.md."
        )


def _notes_on_near_numbers(table: pd.DataFrame) -> Iterator[str]:
    """Tell of answers taken for names that begin as numbers do: percents, dates, labels."""
    names = table[table["level"] == "nominal"]
    answers = names.assign(value=invalid_rows.as_text(names["value"]))
    for question, one in answers.drop_duplicates(["question", "value"]).groupby("question"):
        near = [
            cell for cell in one["value"]
            if cell[:1].isdigit() and cell_values.number(cell) is None
        ]  # fmt: skip
        if near:
            yield (
                f"{question}: {near[0]!r} is taken for a name, not for a number; where numbers are "
                "meant, write them alone, such as 4 or 0.8."
            )


def _note_on_levels(table: pd.DataFrame) -> str:
    levels = table.drop_duplicates(["question", "level"]).groupby("level")["question"]
    return "; ".join(
        f"{', '.join(invalid_rows.as_text(names))} taken for {level}" for level, names in levels
    )
