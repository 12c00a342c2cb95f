"""Registry of metrics and reports: a file in `metrics/` or `reports/` is one.

The files are found by name and imported only when asked for, so that a report may itself ask for
all metrics.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, TypeAlias, cast

if TYPE_CHECKING:  # names are listed where nobody waits for pandas
    import pandas as pd

    from analysis.report import Report

Metric: TypeAlias = "Callable[..., pd.DataFrame]"
TABLES = ("ratings", "messages", "predictions")


class UnknownAnalysis(LookupError):
    """No file of that name in the folder."""


def metric_names() -> list[str]:
    """Return the names of all metrics, sorted, without importing them."""
    return list(_names("metrics"))


def report_names() -> list[str]:
    """Return the names of all reports, sorted, without importing them."""
    return list(_names("reports"))


def get_metric(name: str) -> Metric:
    """Return the function `name` of the file `metrics/<name>.py`; raise `UnknownAnalysis`."""
    return cast("Metric", _function("metrics", name))


def get_report(name: str) -> Callable[..., Report]:
    """Return the function `name` of the file `reports/<name>.py`; raise `UnknownAnalysis`."""
    return cast("Callable[..., Report]", _function("reports", name))


def of_studies() -> list[str]:
    """Return the reports that put the campaigns of a study side by side: `OF_STUDIES` in a file."""
    return [name for name in report_names() if hasattr(_module("reports", name), "OF_STUDIES")]


def reads_replies(function: Callable[..., object]) -> bool:
    """Tell whether a report takes the rated replies of an export for predictions.

    Its file says so: `OF_REPLIES`.
    """
    return hasattr(inspect.getmodule(function), "OF_REPLIES")


def table_of(function: Callable[..., object]) -> str:
    """Return the table that a metric or report takes: its first parameter's name."""
    return next(iter(inspect.signature(function).parameters))


def tables_read(function: Callable[..., object]) -> set[str]:
    """Return the tables that a metric or report takes, also those it can do without."""
    return set(inspect.signature(function).parameters) & set(TABLES)


def tables_of(function: Callable[..., object]) -> set[str]:
    """Return the tables that a metric or report cannot do without."""
    parameters = inspect.signature(function).parameters
    return {name for name in TABLES if name in parameters and not _is_optional(parameters[name])}


def options_of(function: Callable[..., object]) -> set[str]:
    """Return the names of the options that a metric or report takes beside its tables."""
    return set(inspect.signature(function).parameters) - set(TABLES)


def _is_optional(parameter: inspect.Parameter) -> bool:
    return parameter.default is not inspect.Parameter.empty


@cache
def _names(folder: str) -> tuple[str, ...]:
    folders = [str(Path(__file__).parent / folder)]
    return tuple(sorted(found.name for found in pkgutil.iter_modules(folders)))


def _function(folder: str, name: str) -> Callable[..., object]:
    if name not in _names(folder):
        raise UnknownAnalysis(f"no {name!r} in {folder}; there are {', '.join(_names(folder))}")
    function: Callable[..., object] = getattr(_module(folder, name), name)
    return function


def _module(folder: str, name: str) -> ModuleType:
    return importlib.import_module(f"analysis.{folder}.{name}")
