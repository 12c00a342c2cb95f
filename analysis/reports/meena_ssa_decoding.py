"""SSA, sensibleness and specificity by N and decoding (Adiwardana et al. 2020, figures 6 to 8).

Labels are people's, of systems that differ in how many candidates are drawn and in how they are
drawn: N, temperature and top-k are read off each system's `settings` (`number`, `temperature`,
`top_k`; 0 is the whole vocabulary). The paper has N of 1, 20 and 400, each at a temperature of .88
and of 1 with the top 40. What its grid, or one's own, has and the table lacks is named. Intervals
are those of the metric `ssa`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import pandas as pd

from analysis.metrics.ssa import ssa
from analysis.output.paper_layouts import sections
from analysis.report import Chart, Report, Section, dots
from analysis.tables.dependencies import SENSIBLE, SPECIFIC
from analysis.tables.schema import RatingTable
from analysis.tables.system_settings import options, settings_by_system

SCORES = ("ssa", "sensibleness", "specificity")
NAMES = {"N": ("number", "N"), "temperature": ("temperature", "T"), "top_k": ("top_k", "top-k")}
UNLABELED = (
    "No system whose settings tell N, temperature and top-k has decided labels by people; log P, "
    "F1 or distinct are none."
)


class Cell(NamedTuple):
    """How many candidates are drawn, and how."""

    n: int
    temperature: float
    top_k: int

    @property
    def decoding(self) -> str:
        drawn = f"top-k {self.top_k}" if self.top_k else "whole vocabulary"
        return f"T = {self.temperature:g}, {drawn}"

    def __str__(self) -> str:
        return f"N = {self.n}, {self.decoding}"


PAPERS = [Cell(n, *drawn) for n, drawn in product((1, 20, 400), ((0.88, 0), (1.0, 40)))]


def meena_ssa_decoding(ratings: RatingTable) -> Report:
    """Return a table and a picture for each score, and the cells that are missing."""
    labels = ratings[ratings["question"].isin(SENSIBLE + SPECIFIC)]
    wrong = sorted(set(labels["value"]) - {0.0, 1.0})
    cells = {} if wrong else _cells(labels)
    points = _points(RatingTable(labels[labels["system"].isin(cells)]), cells)
    own = [_section(points, score) for score in SCORES] if len(points) else []
    finding = own[0].title if own else UNLABELED
    if wrong:
        finding = f"{wrong[0]:g} is no label: people answer sensible and specific with 1 or 0."
    return Report(
        name="meena_ssa_decoding",
        title="SSA by number of candidates and decoding",
        findings=(finding, *(_missing(points) if own else ())),
        sections=sections(own, "meena_ssa_decoding"),
        cautions=tuple(_cautions(labels, cells)) if own else (),
    )


def _cells(labels: pd.DataFrame) -> dict[str, Cell]:
    """Return the cell of each system whose settings, if it has one kind, tell all three."""
    found = {}
    for system, texts in settings_by_system(labels).items():
        known = options(next(iter(texts))) if len(texts) == 1 else {}
        values = [
            next((known[key] for key in keys if key in known), None) for keys in NAMES.values()
        ]
        if all(isinstance(value, (int, float)) for value in values):
            n, temperature, top_k = (float(str(value)) for value in values)
            found[system] = Cell(int(n), temperature, int(top_k))
    return found


def _points(labels: RatingTable, cells: dict[str, Cell]) -> pd.DataFrame:
    scores = ssa(labels).dropna(subset=["estimate"])
    rows = [
        {
            "score": row["metric"],
            "N": cells[str(row["system"])].n,
            "decoding": cells[str(row["system"])].decoding,
            "system": row["system"],
            "protocol": row["protocol"],
            **{name: 100 * row[name] for name in ("estimate", "low", "high")},
            "n": row["n"],
            "cell": cells[str(row["system"])],
        }
        for row in scores.to_dict("records")
    ]
    order = ["score", "decoding", "N", "protocol", "system"]
    return pd.DataFrame(rows).sort_values(order, ignore_index=True) if rows else pd.DataFrame()


def _section(points: pd.DataFrame, score: str) -> Section:
    rows = points[points["score"] == score]
    best = rows.iloc[int(rows["estimate"].argmax())]
    name = "SSA" if score == "ssa" else score
    named = rows.assign(system="N = " + rows["N"].astype(str))
    marks = [
        dot
        for decoding, part in named.groupby("decoding", sort=True)
        for dot in dots(part, str(decoding))
    ]
    return Section(
        f"{best['cell']} has the highest {name}: {best['estimate']:.1f} %",
        rows.drop(columns=["score", "cell"]).reset_index(drop=True),
        "Percent with 95 % intervals; n is the replies decided.",
        key=score,
        chart=Chart(kind="intervals", rows=marks, axis=f"{name}, percent", domain=(0.0, 100.0)),
    )


def _missing(points: pd.DataFrame) -> tuple[str, ...]:
    """Name the cells of the grid without a system; the grid is the paper's where all fit there."""
    found = set(points["cell"])
    grid = PAPERS
    if not found <= set(PAPERS):
        drawn = {each[1:] for each in found}
        grid = [Cell(n, *one) for n, one in product({each.n for each in found}, drawn)]
    missing = sorted(set(grid) - found)
    return (f"Missing: {'; '.join(map(str, missing))}.",) if missing else ()


def _cautions(labels: pd.DataFrame, cells: dict[str, Cell]) -> Iterator[str]:
    unknown = sorted(set(map(str, labels["system"])) - set(cells))
    if unknown:
        yield f"The settings tell no N, temperature and top-k of {', '.join(unknown)}."
    for cell in sorted(set(cells.values())):
        same = sorted(name for name, each in cells.items() if each == cell)
        if len(same) > 1:
            yield f"{' and '.join(same)} have the same decoding: {cell}."
