"""Notebook of a report: code that reads the same files and computes the same report.

Nothing has been run in it yet. What users wrote stands in it only as literals of Python.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.report import Report
from analysis.tables.columns import REFUSE, Labels

# Where options that are files are read from; all other options are literals.
READ_BY = {
    "contexts": "analysis.tables.context_tree",
    "corpus": "analysis.text.frequencies",
    "training": "analysis.tables.training",
}
HOW = (
    "The report as code: run the cells from the top, in the folder of this notebook. It needs "
    "Parley's package `analysis`, in the Python of the checkout of Parley or in any other into "
    "which the checkout is installed: `python -m pip install --editable /path/to/parley`. To open "
    "it here, add Jupyter to the same Python: `python -m pip install notebook`."
)
FIRST = """\
try:
    import analysis
except ModuleNotFoundError as missing:
    if missing.name != "analysis":
        raise
    raise ModuleNotFoundError(
        "This Python has no package `analysis`. Install the checkout of Parley into it: "
        "python -m pip install --editable /path/to/parley"
    ) from None"""


@dataclass(frozen=True, kw_only=True)
class NotebookRecipe:
    """The ingredients of a report: files, the options of `run`, and files that are options."""

    files: Sequence[Path]
    options: Mapping[str, object]
    read: Mapping[str, Path]
    without_flagged: bool = False
    labels: Labels = REFUSE


def notebook(report: Report, recipe: NotebookRecipe) -> str:
    """Return the notebook (nbformat 4.5) that makes `report` again, table by table."""
    cells = [_cell(index, *each) for index, each in enumerate(_cells(report, recipe), start=1)]
    about = {
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
        "language_info": {"name": "python"},
    }
    whole = {"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _cells(report: Report, recipe: NotebookRecipe) -> Iterator[tuple[str, str]]:
    yield "markdown", f"# {report.title}\n\n{HOW}"
    yield "code", FIRST
    yield "code", "\n".join(_reading(recipe))
    yield (
        "code",
        (
            f"report = analysis.run(analysis.get_report({report.name!r}), tables, options)\n"
            "print(analysis.rendered(report))"
        ),
    )
    for index, section in enumerate(report.sections):
        yield "markdown", f"## Table {index + 1} of {len(report.sections)}"
        yield (
            "code",
            (
                f"section = report.sections[{index}]\n"
                "print(section.title)\nprint(section.note)\nsection.frame"
            ),
        )
        if section.chart is not None:
            yield "code", "from analysis.output.charts import picture\n\npicture(section)"


def _reading(recipe: NotebookRecipe) -> Iterator[str]:
    if recipe.without_flagged:
        yield "from dataclasses import replace"
    if recipe.read:
        yield "from pathlib import Path"
    for name in recipe.read:
        yield f"from {READ_BY[name]} import read as read_{name}"
    labels = "" if recipe.labels == REFUSE else f", labels={recipe.labels!r}"
    yield f"\ntables = analysis.read_all({[str(file) for file in recipe.files]!r}{labels})"
    of_raters = {name: value for name, value in recipe.options.items() if name != "simulate"}
    yield f"options = {of_raters!r}"
    if recipe.without_flagged:
        yield "profiles = analysis.profiles(tables.ratings, **options)"
        yield "kept = analysis.without_flagged(tables.ratings, profiles)"
        yield "tables = replace(tables, ratings=kept)"
    if "simulate" in recipe.options:  # profiles of raters know nothing of it
        yield f"options['simulate'] = {recipe.options['simulate']!r}"
    for name, file in recipe.read.items():
        yield f"options[{name!r}] = read_{name}(Path({str(file)!r}))"


def _cell(index: int, kind: str, source: str) -> dict[str, object]:
    about: dict[str, object] = {"id": f"cell-{index}", "cell_type": kind, "metadata": {}}
    empty: dict[str, object] = {"outputs": [], "execution_count": None} if kind == "code" else {}
    return {**about, **empty, "source": source.splitlines(keepends=True)}
