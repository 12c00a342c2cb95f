"""House rules of the tree: rooms of few modules, no thin modules, one class name per thing."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("webapp", "evaluation", "bots", "analysis")
MOST_MODULES = 20
REASON = "Apart because"
# Folders that grow by a file per row of the specification, and Django's own.
OPEN = {
    "analysis/metrics",
    "analysis/reports",
    "analysis/simulation/cases",
    "bots/benchmarks",
    "bots/datasets",
    "bots/zoo",
    "evaluation/protocols",
    "webapp/management/commands",
    "webapp/migrations",
}


@cache
def modules() -> dict[str, Path]:
    """Return the product's modules by dotted name."""
    found = (path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    return {_name(path): path for path in found if "migrations" not in path.parts}


def _name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@cache
def tree(name: str) -> ast.Module:
    return ast.parse(modules()[name].read_text(encoding="utf-8"))


def imports(name: str) -> Iterator[str]:
    """Yield the product's modules that a module imports, at its top or inside functions."""
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.ImportFrom) and node.module:
            for each in node.names:
                inner = f"{node.module}.{each.name}"
                yield inner if inner in modules() else node.module
        elif isinstance(node, ast.Import):
            yield from (each.name for each in node.names)


@cache
def importers() -> dict[str, set[str]]:
    """Return the modules that import each module."""
    found: dict[str, set[str]] = defaultdict(set)
    for name in modules():
        for imported in imports(name):
            found[imported].add(name)
    return found


def _is_open(name: str) -> bool:
    folder = modules()[name].parent.relative_to(ROOT).as_posix()
    return folder in OPEN


def _layer(name: str) -> str:
    """Return what a contract keeps apart: services and views of the web, else the package."""
    top, *rest = name.split(".")
    return ".".join([top, *rest[:1]]) if top == "webapp" else top


def thin_modules() -> list[str]:
    """Return modules with one importer in their own layer and no reason to stand apart."""
    return sorted(
        name
        for name in modules()
        if len(found := importers()[name]) == 1
        and not _is_open(name)
        and modules()[name].stem != "__init__"
        and not name.startswith(f"{next(iter(found))}.")  # a part of its own package
        and _layer(next(iter(found))) == _layer(name)
        and REASON not in " ".join((ast.get_docstring(tree(name)) or "").split())
    )


def test_a_module_with_one_importer_says_why_it_stands_apart() -> None:
    assert thin_modules() == []


def test_folders_hold_at_most_twenty_modules() -> None:
    count: dict[str, int] = defaultdict(int)
    for path in modules().values():
        count[path.parent.relative_to(ROOT).as_posix()] += path.stem != "__init__"
    assert {
        folder: n for folder, n in count.items() if n > MOST_MODULES and folder not in OPEN
    } == {}


def test_a_public_class_name_means_one_thing() -> None:
    """Across the product; Django wants each command's class to be called Command."""
    found: dict[str, list[str]] = defaultdict(list)
    for name in modules():
        for node in tree(name).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(name)
    del found["Command"]
    assert {name: where for name, where in found.items() if len(where) > 1} == {}


def _definitions(name: str) -> set[str]:
    return {
        node.name
        for node in ast.walk(tree(name))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }


def test_architecture_speaks_in_the_names_of_the_code() -> None:
    """Every `module.name` of docs/architecture.md is defined in a module of that name."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_]+)\.([A-Za-z_]+)`", text))
    endings = {"py", "js", "md", "toml", "css"}
    known = {
        (name.rpartition(".")[2], defined) for name in modules() for defined in _definitions(name)
    }
    assert len(named) > 15
    assert {one for one in named if one[1] not in endings} - known == set()
