"""Intervals and p values are simulated: whatever makes one declares under which estimator's name.

A metric is simulated under its own name, names the estimators that share its function
(SIMULATED_AS), or says why it has no interval (NO_INTERVAL). Any other module that makes one
declares the same; it is found by its calls of the functions of `analysis.stats` and of scipy.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from functools import cache
from types import ModuleType

import pytest

from analysis import get_metric, metric_names
from analysis.registry import table_of
from analysis.simulation.campaigns import Design
from analysis.simulation.command import estimators
from tests.analysis.examples import ROOT
from tests.analysis.samples import tables

# Functions of scipy and numpy that turn an estimate into an interval or a p.
OF_SCIPY = frozenset(
    ("binomtest", "chdtrc", "mannwhitneyu", "ndtr", "ndtri", "quantile", "stdtr", "stdtrit")
)
BASE = {"stats.intervals", "stats.significance"}  # every public function there makes one
P = re.compile(r'"(p(?:_[a-z]+)?)":')
Function = tuple[str, str]


@cache
def _simulated() -> frozenset[str]:
    return frozenset(each.name for each in estimators(Design()))


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"analysis.{name}")


@pytest.mark.parametrize("name", metric_names())
def test_a_metric_is_simulated_or_says_why_not(name: str) -> None:
    like, none = _like(name), getattr(_module(f"metrics.{name}"), "NO_INTERVAL", "")
    declared = [name in _simulated(), bool(like), bool(none)]
    assert sum(declared) == 1, "simulate it, or declare SIMULATED_AS or NO_INTERVAL"
    assert set(like) <= _simulated()
    if none:
        found = get_metric(name)(tables()[table_of(get_metric(name))])
        assert found["low"].isna().all()
        assert found["high"].isna().all()


def test_every_p_of_a_metric_is_simulated() -> None:
    tried = {(each.name, column) for each in estimators(Design()) for column in each.tests}
    columns = {(name, column) for name in metric_names() for column in _p_columns(name)}
    assert ("turn_effect", "p_holm") in columns
    assert [
        (name, column)
        for name, column in columns
        if not {(one, column) for one in (name, *_like(name))} & tried
    ] == []


def _p_columns(name: str) -> set[str]:
    source = (ROOT / "analysis" / "metrics" / f"{name}.py").read_text(encoding="utf-8")
    return set(P.findall(source))


def _like(name: str) -> tuple[str, ...]:
    return getattr(_module(f"metrics.{name}"), "SIMULATED_AS", ())


def test_every_module_that_makes_one_declares_its_estimators() -> None:
    makers = _makers()
    assert {"raters.cohen", "reports.convai2_blind", "stats.correlation"} <= makers
    lacking = [name for name in makers if not _declared(_module(name))]
    assert lacking == [], "declare SIMULATED_AS or NO_INTERVAL there"


def test_what_modules_declare_is_simulated() -> None:
    for name in _trees():
        assert set(getattr(_module(name), "SIMULATED_AS", ())) <= _simulated(), name


def _declared(module: ModuleType) -> bool:
    return bool(getattr(module, "SIMULATED_AS", ())) != bool(getattr(module, "NO_INTERVAL", ""))


@cache
def _trees() -> dict[str, ast.Module]:
    """Return the modules beside the metrics and the simulation itself."""
    folder = ROOT / "analysis"
    paths = {
        ".".join(path.relative_to(folder).with_suffix("").parts): path
        for path in folder.rglob("*.py")
        if not path.name.startswith("__")
    }
    return {
        name: ast.parse(path.read_text(encoding="utf-8"))
        for name, path in paths.items()
        if not name.startswith(("metrics.", "simulation."))
    }


def _makers() -> set[str]:
    """Return the modules that call what makes an interval or a p, but for the base itself."""
    base = _base()
    called = {name: set(_calls(name, tree)) for name, tree in _trees().items()}
    return {name for name, calls in called.items() if calls & base and name not in BASE}


def _base() -> set[Function]:
    """Return the functions of `analysis.stats` and scipy that make one, or call one that does."""
    functions = {
        (name, node.name): set(_calls(name, node))
        for name, tree in _trees().items()
        if name.startswith("stats.")
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    }
    public = {(name, one) for name, one in functions if name in BASE and one[0] != "_"}
    found = public | {("", name) for name in OF_SCIPY}
    while more := {one for one, calls in functions.items() if calls & found} - found:
        found |= more
    return found


def _calls(name: str, tree: ast.AST) -> Iterator[Function]:
    """Return what a module or function refers to: module and name; scipy's are of no module."""
    imported = _imported(name)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield imported.get(node.id, (name, node.id))
        elif isinstance(node, ast.Attribute):
            yield "", node.attr
            if isinstance(node.value, ast.Name) and node.value.id in imported:
                yield ".".join(imported[node.value.id]), node.attr


@cache
def _imported(name: str) -> dict[str, Function]:
    return {
        alias.asname or alias.name: ((node.module or "").removeprefix("analysis."), alias.name)
        for node in ast.walk(_trees()[name])
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
