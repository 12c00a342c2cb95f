"""Checks of the three tables: every problem is reported, by row, before anything is computed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

import pandas as pd

from analysis.tables import cell_values, invalid_rows
from analysis.tables.columns import (
    BETTER,
    BETTER_COLUMN,
    HIGH,
    OTHER_NAMES,
    RATING_COLUMNS,
    REFUSE,
    SCALE_COLUMNS,
    Labels,
)
from analysis.tables.dependencies import refused_labels, with_labels
from analysis.tables.schema import (
    KNOWN_LEVELS,
    MESSAGE_COLUMNS,
    PREDICTION_COLUMNS,
    PREDICTION_EXTRAS,
    TEXT,
    VOTES_COLUMN,
    BadTable,
    MessageTable,
    PredictionTable,
    Problem,
    RatingTable,
)

RATING_KEY = ["campaign", "protocol", "question", "item", "system", "rater"]
ITEM_KEY = RATING_KEY[:-1]
# A probability computed in single precision may come out above 1 by this much.
ROUNDING = 1e-5
NAMED = ("protocol", "question", "item", "system", "rater")
# Names that may be categories: what groups rows need not tell texts apart.
CODED = (*RATING_KEY, "level", "conversation", "place")
NEEDED = ("answer", "protocol", "question", "level", "item", "system", "rater")


def _is_real(item: object) -> bool:
    return isinstance(item, int | float) and not isinstance(item, bool) and not math.isnan(item)


NUMBERS_OF: dict[str, tuple[str, Callable[[object], bool]]] = {
    "scores": ("a list of numbers", _is_real),
    "log_probs": (
        "a list of log probabilities, none above 0; null for a token that is not scored",
        lambda item: item is None or (_is_real(item) and float(str(item)) <= ROUNDING),
    ),
    "token_hits": (
        "a list of 1 for each token that was right, else 0",
        lambda item: item in (0, 1),
    ),
}


def rating_table(
    frame: pd.DataFrame, name: str = "ratings", labels: Labels = REFUSE, *, coded: bool = False
) -> RatingTable:
    """Return `frame` as a RatingTable, or raise `BadTable` with all that is wrong.

    `labels` says how a reply is read that a rater called specific but not sensible. Where `coded`,
    names that are categories in `frame` stay so; else all names are texts.
    """
    _require_columns(frame, RATING_COLUMNS, name)
    texts = [column for column in (*RATING_COLUMNS, BETTER_COLUMN) if column in frame]
    kept = ("value", *SCALE_COLUMNS, *(CODED if coded else ()))
    table = _as_text(frame, [column for column in texts if column != "value"], kept)
    scales = [column for column in SCALE_COLUMNS if column in table]
    problems = [*_blank(table, NEEDED), *_repeated(table, ["answer"], "an id of its own")]
    problems += _unprintable(table, NAMED)
    problems += _bad_positions(table)
    problems += _bad_levels(table)
    problems += _bad_values(table)
    problems += _repeated(table, RATING_KEY, "one answer of a rater to a question about an item")
    for column in scales:
        problems += _bad_numbers(table, column)
    table["value"] = _values(table)
    voted = [VOTES_COLUMN] if VOTES_COLUMN in table else []
    problems += _bad_votes(table) if voted else ()
    for column in (*scales, *voted):
        table[column] = _numbers(table[column])
    problems += _bad_scales(table) if len(scales) == 2 else _half_scales(scales)
    problems += _bad_directions(table) if BETTER_COLUMN in table else ()
    table = with_labels(table, labels)
    problems += refused_labels(table)
    _refuse(name, problems, len(table))
    return RatingTable(_with_directions(table))


def message_table(frame: pd.DataFrame, name: str = "messages") -> MessageTable:
    """Return `frame` as a MessageTable, or raise `BadTable` with all that is wrong."""
    _require_columns(frame, MESSAGE_COLUMNS, name)
    table = _as_text(frame, [c for c in MESSAGE_COLUMNS if c not in ("seq", "sent_at")])
    problems = [*_blank(table, ("message", "conversation", "seq", "side"))]
    problems += _repeated(table, ["message"], "an id of its own")
    problems += _bad_numbers(table, "seq")
    problems += _repeated(table, ["conversation", "seq"], "a place of its own in the conversation")
    problems += _bad_times(table)
    _refuse(name, problems, len(table))
    table["seq"] = _numbers(table["seq"])
    return MessageTable(table)


def prediction_table(frame: pd.DataFrame, name: str = "predictions") -> PredictionTable:
    """Return `frame` as a PredictionTable, or raise `BadTable` with all that is wrong."""
    _require_columns(frame, PREDICTION_COLUMNS, name)
    table = _as_text(frame, ["prediction", "system", "dataset", "example"])
    problems = [*_blank(table, ("prediction", "system", "example"))]
    problems += _repeated(table, ["prediction"], "an id of its own")
    extras = [column for column in PREDICTION_EXTRAS if column in table]
    lists = ["candidates", "scores", "log_probs", *(c for c in extras if c == "token_hits")]
    for column in lists:
        problems += _not_lists(table, column)
        parsed = [cell_values.items(cell) for cell in table[column]]
        table[column] = pd.Series(parsed, index=table.index, dtype=object)
    for column in lists[1:]:
        problems += _bad_items(table, column)
    for column in ("discriminator", "gold_score"):
        problems += _bad_numbers(table, column) if column in extras else ()
    problems += _unequal_lengths(table)
    _refuse(name, problems, len(table))
    return PredictionTable(table)


def _refuse(name: str, problems: Sequence[Problem], rows: int) -> None:
    if problems:
        raise BadTable(name, sorted(problems, key=lambda problem: problem.row or 0), rows)


def _require_columns(frame: pd.DataFrame, columns: Sequence[str], name: str) -> None:
    twice = sorted({str(each) for each in frame.columns[frame.columns.duplicated()]})
    if twice:
        right = "a name of its own for each column"
        raise BadTable(name, [Problem(None, "column", f"{each!r} twice", right) for each in twice])
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise BadTable(name, [_missing(column, frame, columns) for column in missing])


def _missing(column: str, frame: pd.DataFrame, columns: Sequence[str]) -> Problem:
    """Say which column lacks, and which of those there may be meant by another name."""
    names = {str(name).strip().lower(): str(name) for name in frame.columns}
    meant = [names[other] for other in (column, *OTHER_NAMES.get(column, ())) if other in names]
    right = "the columns " + " ".join(columns)
    if meant:
        right = f"{column}, which the column {meant[0]!r} may be by another name; {right}"
    return Problem(None, column, "missing", right)


def _as_text(
    frame: pd.DataFrame, columns: Sequence[str], coded: Sequence[str] = ()
) -> pd.DataFrame:
    """Return a table whose columns are texts; those that are `coded` may be categories."""
    table = invalid_rows.as_texts(frame.reset_index(drop=True), coded)
    for column in columns:
        table[column] = invalid_rows.as_names(table[column])
    return table


def _numbers(column: pd.Series) -> pd.Series:
    found = invalid_rows.of_each(column, cell_values.number)
    return pd.Series(found, index=column.index, dtype=float)


def _values(table: pd.DataFrame) -> pd.Series:
    """Return answers as numbers where they read as one; a text stays as it was written."""
    found = invalid_rows.of_each(table["value"], cell_values.value)
    values = pd.Series(found, index=table.index, dtype=object)
    is_text = table["level"] == TEXT
    if is_text.any():
        values[is_text] = [cell_values.text(cell) for cell in table.loc[is_text, "value"]]
    return values


def _blank(table: pd.DataFrame, columns: Sequence[str]) -> Iterator[Problem]:
    for column in columns:
        for index in invalid_rows.blank(table[column]):
            yield Problem(int(index) + 1, column, "", "some text")


def _repeated(table: pd.DataFrame, columns: list[str], right: str) -> Iterator[Problem]:
    first: dict[tuple[str, ...], int] = {}
    for row, *cells_of_key in invalid_rows.rows(
        table, invalid_rows.repeated(table, columns), columns
    ):
        key = tuple(cell_values.text(cell) for cell in cells_of_key)
        if not all(key[-2:]):
            continue
        if key in first:
            values = " / ".join(key)
            yield Problem(row, ", ".join(columns), f"{values!r}, as in row {first[key]}", right)
        first.setdefault(key, row)


def _bad_levels(table: pd.DataFrame) -> Iterator[Problem]:
    known: dict[tuple[str, str], str] = {}
    columns = ("protocol", "question", "level")
    for row, protocol, question, level in invalid_rows.rows(
        table, invalid_rows.levels(table), columns
    ):
        usual = known.setdefault((protocol, question), level)
        if level and level not in KNOWN_LEVELS:
            yield Problem(row, "level", repr(level), "nominal, ordinal, interval, rank or text")
        elif level != usual and usual in KNOWN_LEVELS:
            right = f"{usual!r}, as in the question's first row ({question})"
            yield Problem(row, "level", repr(level), right)


def _bad_values(table: pd.DataFrame) -> Iterator[Problem]:
    for row, level, cell in invalid_rows.rows(
        table, invalid_rows.values(table), ("level", "value")
    ):
        if cell_values.is_blank(cell):
            shown = "" if cell is None or isinstance(cell, str) else str(cell)
            yield Problem(row, "value", shown, "an answer; a question not answered has no row")
        elif isinstance(cell, list | dict):
            yield Problem(row, "value", repr(cell_values.text(cell)), "one answer; a row for each")
        elif level in ("ordinal", "interval", "rank") and cell_values.number(cell) is None:
            right = f"a finite number, because the question's level is {level}"
            if cell_values.number(point := cell_values.with_point(cell)) is not None:
                right = f"{point}, with a point"
            yield Problem(row, "value", repr(cell_values.text(cell)), right)


def _bad_numbers(table: pd.DataFrame, column: str) -> Iterator[Problem]:
    for row, cell in invalid_rows.rows(table, invalid_rows.numbers(table[column]), [column]):
        yield Problem(row, column, repr(cell_values.text(cell)), "a number")


def _unprintable(table: pd.DataFrame, columns: Sequence[str]) -> Iterator[Problem]:
    """Yield names with a character that nothing shows, such as NUL, by which two look alike."""
    for column in columns:
        for row, cell in invalid_rows.rows(table, invalid_rows.control(table[column]), [column]):
            yield Problem(row, column, repr(cell), "a name without control characters such as NUL")


def _bad_positions(table: pd.DataFrame) -> Iterator[Problem]:
    for row, cell in invalid_rows.rows(table, invalid_rows.numbers(table["place"]), ["place"]):
        right = "a number: the place in the rater's order, from 0 (blank where it is not known)"
        yield Problem(row, "place", repr(cell_values.text(cell)), right)


def _half_scales(scales: Sequence[str]) -> Iterator[Problem]:
    for other in set(SCALE_COLUMNS) - set(scales) if scales else ():
        yield Problem(None, other, "missing", f"both ends of the scale, as {scales[0]} is there")


def _bad_directions(table: pd.DataFrame) -> Iterator[Problem]:
    """Yield cells of `better` that are no direction, or not that of the question's other rows."""
    known: dict[tuple[str, str], str] = {}
    table[BETTER_COLUMN] = table[BETTER_COLUMN].str.strip().str.lower()
    columns = ("protocol", "question", BETTER_COLUMN)
    for row, protocol, question, better in invalid_rows.rows(
        table, invalid_rows.directions(table), columns
    ):
        if better and better not in BETTER:
            yield Problem(row, BETTER_COLUMN, repr(better), f"{', '.join(BETTER[:-1])} or none")
        elif better and better != (usual := known.setdefault((protocol, question), better)):
            right = f"{usual!r}, as in the question's first row that says it ({question})"
            yield Problem(row, BETTER_COLUMN, repr(better), right)


def _with_directions(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with each question's direction in all of its rows; high where unsaid."""
    if BETTER_COLUMN not in table:
        return table
    stated = table[BETTER_COLUMN].where(table[BETTER_COLUMN] != "")
    of_question = stated.groupby([table["protocol"], table["question"]]).transform("first")
    return table.assign(**{BETTER_COLUMN: of_question.fillna(HIGH).astype("str")})


def _bad_scales(table: pd.DataFrame) -> Iterator[Problem]:
    named = ["protocol", "question"]
    known: dict[tuple[str, str], tuple[float, float]] = {
        (protocol, question): (low, high)
        for protocol, question, low, high in table[[*named, *SCALE_COLUMNS]]
        .dropna()
        .drop_duplicates(named)
        .itertuples(index=False)
    }
    columns = ("protocol", "question", "scale_low", "scale_high", "value")
    found = invalid_rows.rows(table, invalid_rows.scales(table), columns)
    for row, protocol, question, low, high, value in found:
        usual = known.get((protocol, question))
        if usual is None:
            continue
        if pd.isna(low) or pd.isna(high):
            if usual[0] >= usual[1]:
                continue  # the row that says so is told
            low, high = usual
        ends = f"{low:g} to {high:g}"
        if low >= high:
            yield Problem(row, "scale_low, scale_high", ends, "a lower end below the upper end")
        elif usual != (low, high):
            right = f"{usual[0]:g} to {usual[1]:g}, as in the question's first row ({question})"
            yield Problem(row, "scale_low, scale_high", ends, right)
        elif isinstance(value, float) and not low <= value <= high:
            yield Problem(row, "value", f"{value:g}", f"a number from {low:g} to {high:g}")


def _bad_votes(table: pd.DataFrame) -> Iterator[Problem]:
    """Yield cells that are no number of raters, and those that an item's other rows contradict."""
    known: dict[tuple[str, ...], float] = {}
    columns = [VOTES_COLUMN, *ITEM_KEY]
    for row, cell, *key in invalid_rows.rows(table, invalid_rows.votes(table, ITEM_KEY), columns):
        found = cell_values.number(cell)
        if found is None or found < 1 or not found.is_integer():
            right = "a whole number from 1: how many raters the item was to get"
            yield Problem(row, VOTES_COLUMN, repr(cell_values.text(cell)), right)
        elif found != (usual := known.setdefault(tuple(key), found)):
            right = f"{usual:g}, as in the item's first row ({' / '.join(key[2:])})"
            yield Problem(row, VOTES_COLUMN, f"{found:g}", right)


def _bad_times(table: pd.DataFrame) -> Iterator[Problem]:
    for row, cell in enumerate(table["sent_at"], start=1):
        if cell_values.is_blank(cell) or isinstance(cell, datetime):
            continue
        try:
            datetime.fromisoformat(str(cell))
        except ValueError:
            yield Problem(row, "sent_at", repr(cell), "a time such as 2026-01-31T12:00:00Z")


def _not_lists(table: pd.DataFrame, column: str) -> Iterator[Problem]:
    for row, cell in enumerate(table[column], start=1):
        if not cell_values.is_blank(cell) and cell_values.items(cell) is None:
            yield Problem(
                row, column, repr(cell_values.text(cell)[:40]), "a list, in a CSV as JSON"
            )


def _bad_items(table: pd.DataFrame, column: str) -> Iterator[Problem]:
    """Yield lists of numbers with something else in them; a log probability may be unknown."""
    right, fits = NUMBERS_OF[column]
    for row, cell in enumerate(table[column], start=1):
        bad = [item for item in cell or () if not fits(item)]
        if bad:
            yield Problem(row, column, f"a list with {bad[0]!r}", right)


def _unequal_lengths(table: pd.DataFrame) -> Iterator[Problem]:
    pairs = zip(table["candidates"], table["scores"], strict=True)
    for row, (candidates, scores) in enumerate(pairs, start=1):
        if candidates and scores and len(candidates) != len(scores):
            values = f"{len(scores)} numbers"
            yield Problem(row, "scores", values, f"one for each of {len(candidates)} candidates")
