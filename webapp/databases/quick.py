"""Compilers of queries that know a table's columns by heart; what they write is Django's own SQL.

They replace small steps that Django does for each column of each query, and leave everything that
is not a plain column of a table to it. `tests/webapp/test_databases.py` compares both.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from django.conf import settings
from django.db.models import Field, Model
from django.db.models.expressions import Col
from django.db.models.options import Options
from django.db.models.sql.compiler import SQLCompiler

# What was found out once: bounded by the columns that there are.
_columns: dict[tuple[str, str | None, str | None], str] = {}  # by database, table and column
_as_stored: dict[str, set[Field[Any, Any]]] = {}  # by database: whose values need no conversion
_statements = logging.getLogger("django.db.backends")


class Unlogged:
    """A connection that logs its statements for whoever captures or reads them, not by DEBUG alone.

    Else each statement under DEBUG has its values quoted, on SQLite by a query of its own, and is
    kept, with what people wrote.
    """

    force_debug_cursor: bool

    @property
    def queries_logged(self) -> bool:
        return self.force_debug_cursor or (
            settings.DEBUG and _statements.isEnabledFor(logging.DEBUG)
        )


@cache
def quick(kind: Any) -> type[SQLCompiler]:
    """Return a kind of compiler, one of Django's, that is quick about columns."""
    return type(kind.__name__, (_Quick, kind), {})


class _Quick(SQLCompiler):
    def compile(self, node: Any) -> Any:
        # Else it may be an alias of this query, which is not quoted.
        if type(node) is not Col or node.alias not in self.query.table_map:
            return super().compile(node)
        if self.query.extra_select:
            return super().compile(node)
        key = self.connection.vendor, node.alias, node.target.column
        if (known := _columns.get(key)) is None:
            known, _ = super().compile(node)
            _columns[key] = known
        return known, []

    def get_default_columns(
        self,
        select_mask: Any,
        start_alias: str | None = None,
        opts: Options[Model] | None = None,
        from_parent: type[Model] | None = None,
    ) -> list[Any]:
        model: Any = self.query.get_meta() if opts is None else opts
        if select_mask or from_parent or not model or not _is_one_table(model):
            return super().get_default_columns(select_mask, start_alias, opts, from_parent)
        alias = start_alias or self.query.get_initial_alias()
        return [field.get_col(alias) for field in model.concrete_fields]

    def get_converters(self, expressions: Iterable[Any]) -> dict[int, Any]:
        every = list(expressions)
        known = _as_stored.setdefault(self.connection.vendor, set())
        # Django has no conversion for None, and counts it as a column.
        left: list[Any] = [
            None if type(each) is Col and each.target in known else each for each in every
        ]
        found = super().get_converters(left)
        known.update(_fields(left, found))
        return found

    def _order_by_pairs(self) -> Iterator[Any]:  # type: ignore[override]
        """Yield what Django yields, without an index of all columns where only names are asked."""
        selected = self.select
        if selected and self._orders_by_names() and not any(alias for _, _, alias in selected):
            self.select = None
        try:
            yield from super()._order_by_pairs()  # type: ignore[misc]
        finally:
            self.select = selected

    def _orders_by_names(self) -> bool:
        query = self.query
        meta: Any = query.get_meta()  # None where nothing is read from a table
        names = (*query.extra_order_by, *query.order_by, *(meta.ordering if meta else ()))
        return not query.combinator and all(isinstance(name, str) for name in names)


def _is_one_table(opts: Options[Model]) -> bool:
    return not opts.parents and opts.concrete_model is opts.model


def _fields(left: list[Any], converted: dict[int, Any]) -> list[Field[Any, Any]]:
    """Return the fields of those columns that are not converted."""
    columns = [(number, each) for number, each in enumerate(left) if each is not None]
    if len(columns) == len(converted) or any(type(each) is not Col for _, each in columns):
        return []  # what stands for several columns shifts the numbers of the rest
    plain = [each for number, each in columns if number not in converted]
    return [each.target for each in plain if each.target is each.output_field]
