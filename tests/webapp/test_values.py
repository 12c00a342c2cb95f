"""Values between rooms: what views, sockets and forms take from services names no model (F7)."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

from django.db.models import Model

ROOT = Path(__file__).parents[2]
SERVICES = "webapp.services"
CALLERS = ("views", "sockets", "forms")


def files(*folders: str) -> list[Path]:
    return sorted(path for each in folders for path in (ROOT / "webapp" / each).rglob("*.py"))


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def is_model(thing: Any) -> bool:
    """Tell whether a thing is a model, or a type that is made of one."""
    if isinstance(thing, type) and issubclass(thing, Model):
        return True
    return any(is_model(each) for each in get_args(thing))


def imported(path: Path) -> Iterator[tuple[str, str, Any]]:
    """Yield what a module imports from services and models: its name there, here, and the thing."""
    for node in ast.walk(tree(path)):
        module = (node.module if isinstance(node, ast.ImportFrom) else None) or ""
        if isinstance(node, ast.ImportFrom) and module.startswith((SERVICES, "webapp.models")):
            for each in node.names:
                thing = _found(module, each.name)
                yield f"{module}.{each.name}", each.asname or each.name, thing


def _found(module: str, name: str) -> Any:
    try:
        return getattr(importlib.import_module(module), name)
    except AttributeError:
        return importlib.import_module(f"{module}.{name}")


def named_models(path: Path) -> set[str]:
    """Return the models that a module names, at its imports or as attributes of services."""
    found, modules = set[str](), dict[str, ModuleType]()
    for name, here, thing in imported(path):
        if isinstance(thing, ModuleType):
            modules[here] = thing
        elif is_model(thing):
            found.add(name)
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = modules.get(node.value.id)
            if module is not None and is_model(getattr(module, node.attr, None)):
                found.add(f"{module.__name__}.{node.attr}")
    return found


def test_views_sockets_and_forms_name_no_model() -> None:
    found = {path.relative_to(ROOT).as_posix(): named_models(path) for path in files(*CALLERS)}
    assert {path: names for path, names in found.items() if names} == {}


def test_services_export_no_model_again() -> None:
    """`import X as X` and a model in `__all__` say that others may take it from here."""
    found = []
    for path in files("services"):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ImportFrom):
                again = [each.name for each in node.names if each.name == each.asname]
                found += [f"{path.stem}: {name}" for name in again]
        module = importlib.import_module(_dotted(path))
        exported = getattr(module, "__all__", ())
        found += [f"{path.stem}: {name}" for name in exported if is_model(getattr(module, name))]
    assert found == []


def _dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")
