"""The public names of `evaluation` are listed once, and there."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import evaluation


def test_public_names_are_listed_once_and_exist() -> None:
    assert len(set(evaluation.__all__)) == len(evaluation.__all__)
    assert all(hasattr(evaluation, name) for name in evaluation.__all__)


def test_only_the_standard_library_is_imported() -> None:
    for path in Path(evaluation.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            roots = {name.split(".")[0] for name in names}
            assert roots <= set(sys.stdlib_module_names) | {"evaluation"}, path
