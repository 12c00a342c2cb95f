"""SQLite as Django has it, with the quicker compilers."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from django.db.backends.sqlite3 import base, operations
from django.db.models.sql.compiler import SQLCompiler

from webapp.databases.quick import Unlogged, quick


class _Operations(operations.DatabaseOperations):
    def compiler(self, compiler_name: str) -> type[SQLCompiler]:
        kind: Any = super().compiler(compiler_name)
        return quick(kind)


class Cursor(base.SQLiteCursorWrapper):
    def convert_query(self, query: str, *, param_names: Any = None) -> str:
        if param_names is not None:
            return super().convert_query(query, param_names=param_names)
        return _with_question_marks(query)


@lru_cache(maxsize=1024)
def _with_question_marks(query: str) -> str:
    """Return a statement as SQLite takes it: most are made again and again."""
    return base.FORMAT_QMARK_REGEX.sub("?", query).replace("%%", "%")


class QuickSQLite(Unlogged, base.DatabaseWrapper):
    ops_class = _Operations

    def create_cursor(self, name: str | None = None) -> Any:
        return self.connection.cursor(factory=Cursor)


DatabaseWrapper = QuickSQLite  # the name by which Django finds it
