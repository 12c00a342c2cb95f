"""Query rows as named tuples: each value travels by its name from the query to a file.

A field is read from the path that it is annotated with (`From`), or from its own name. To read one
more value is one more field. Named tuples, because they are made as fast as plain ones.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar, cast, get_type_hints

from django.db.models import QuerySet

Row = TypeVar("Row", bound=tuple[Any, ...])


@dataclass(frozen=True)
class From:
    """Path in the query that a field is read from."""

    path: str


def rows(kind: type[Row], query: QuerySet[Any], *, chunk: int) -> Iterator[Row]:
    """Yield each row of the query as a `kind`, `chunk` of them per fetch."""
    hints = get_type_hints(kind, include_extras=True)
    paths = [_path(name, hints[name]) for name in _names(kind)]
    make: Callable[[Any], Row] = cast(Any, kind)._make
    return map(make, query.values_list(*paths).iterator(chunk_size=chunk))


def picked(kind: type[Row], columns: Collection[str]) -> Callable[[Row], dict[str, Any]]:
    """Return a function from a row to those of its fields that are columns, by name."""
    names = [name for name in _names(kind) if name in columns]
    return lambda row: {name: getattr(row, name) for name in names}


def _names(kind: type[Row]) -> tuple[str, ...]:
    return tuple(cast(Any, kind)._fields)


def _path(name: str, hint: Any) -> str:
    marks = getattr(hint, "__metadata__", ())
    return next((mark.path for mark in marks if isinstance(mark, From)), name)
