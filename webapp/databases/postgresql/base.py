"""PostgreSQL as Django has it, with the quicker compilers."""

from __future__ import annotations

from typing import Any

from django.db.backends.postgresql import base, operations
from django.db.models.sql.compiler import SQLCompiler

from webapp.databases.quick import Unlogged, quick


class _Operations(operations.DatabaseOperations):
    def compiler(self, compiler_name: str) -> type[SQLCompiler]:
        kind: Any = super().compiler(compiler_name)
        return quick(kind)


class QuickPostgreSQL(Unlogged, base.DatabaseWrapper):
    ops_class = _Operations


DatabaseWrapper = QuickPostgreSQL  # the name by which Django finds it
