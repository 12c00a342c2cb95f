"""All metrics of the folder on the given tables, as the results page and `--json` show them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar, cast

import pandas as pd

from analysis import registry
from analysis.freed_memory import give_back
from analysis.predictions.rated_replies import with_replies
from analysis.report import Report
from analysis.scores.question_ratings import shared
from analysis.tables.schema import RatingTable, Tables
from analysis.tables.tidy import COLUMNS, joined
from analysis.tables.validation import message_table, prediction_table, rating_table

Result = TypeVar("Result")


def evaluate(
    ratings: pd.DataFrame | None = None,
    *,
    messages: pd.DataFrame | None = None,
    predictions: pd.DataFrame | None = None,
    seed: int = 0,
    control: str | None = None,
    control_questions: Sequence[str] = (),
    **options: object,
) -> pd.DataFrame:
    """Return every number that applies, one below the other; raise `BadTable` for a bad table.

    `options` are those of single metrics, by name, such as the `corpus` of rare words.
    """
    tables = {
        "ratings": None if ratings is None else rating_table(ratings),
        "messages": None if messages is None else message_table(messages),
        "predictions": None if predictions is None else prediction_table(predictions),
    }
    options |= {"seed": seed, "control": control, "control_questions": tuple(control_questions)}
    return _computed(tables, options)


def evaluate_checked(ratings: RatingTable, **options: object) -> pd.DataFrame:
    """Return every number of ratings that were checked when they were read."""
    if not isinstance(ratings.index, pd.RangeIndex):
        ratings = RatingTable(ratings.reset_index(drop=True))
    return _computed({"ratings": ratings, "messages": None, "predictions": None}, options)


def _computed(
    tables: Mapping[str, pd.DataFrame | None], options: Mapping[str, object]
) -> pd.DataFrame:
    metrics = [registry.get_metric(name) for name in registry.metric_names()]
    with shared():
        return joined(
            _alone(metric, table, options)
            for metric in metrics
            if (table := tables[registry.table_of(metric)]) is not None
        )


def _alone(
    metric: Callable[..., pd.DataFrame], table: pd.DataFrame, options: Mapping[str, object]
) -> pd.DataFrame:
    """Return what a metric says, without the memory that it took for a large table."""
    found = call(metric, table, options)
    give_back(len(table))
    return found


def call(
    function: Callable[..., Result], table: pd.DataFrame, options: Mapping[str, object]
) -> Result:
    """Return what `function` says of `table`, given those of the options that it takes."""
    taken = registry.options_of(function)
    return function(table, **{name: value for name, value in options.items() if name in taken})


def run(
    function: Callable[..., Result], tables: Tables, options: Mapping[str, object]
) -> Result | None:
    """Return what a metric or report says of the tables it names; None where one is lacking.

    A report begins its cautions with what was assumed when the tables were read. For predictions
    some take the replies that people judged.
    """
    if tables.predictions is None and registry.reads_replies(function):
        tables = with_replies(tables)
    known = {name: getattr(tables, name) for name in registry.TABLES}
    if any(known[name] is None for name in registry.tables_of(function)):
        return None
    inputs = {name: known[name] for name in registry.tables_read(function)}
    taken = registry.options_of(function)
    chosen = {"study": tables.study, **options}
    found = function(**inputs, **{name: value for name, value in chosen.items() if name in taken})
    if isinstance(found, Report) and tables.notes:
        return cast(Result, replace(found, cautions=(*tables.notes, *found.cautions)))
    return found


def records(results: pd.DataFrame) -> list[dict[str, object]]:
    """Return results as JSON objects: null, never NaN; a metric's own columns where it has any."""
    return [
        {
            str(name): _plain(value)
            for name, value in row.items()
            if name in COLUMNS or _plain(value) is not None
        }
        for row in results.to_dict("records")
    ]


def _plain(value: object) -> object:
    """Return a value as JSON has it."""
    item = value.item() if hasattr(value, "item") else value
    if isinstance(item, float) and not math.isfinite(item):
        return None
    return None if item is pd.NA or item is pd.NaT else item
