"""Preference cycles: A beats B, B beats C, yet C beats A, so that no order fits them.

Counted over all triples of systems that met in every pair, by majority of the decided comparisons.
The definition is ours: the papers print none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.comparisons.bradley_terry import cycles
from analysis.comparisons.preferences import Compared
from analysis.report import Section
from analysis.stats.intervals import Floats
from analysis.stats.significance import binomial

SIMULATED_AS = ("circles",)

SHOWN = 20  # circles in the table; the title counts all
ALPHA = 0.05


@dataclass(frozen=True)
class Circle:
    """Three systems of which each beat the next more often than not; ties are left out.

    `weakest` is the two-sided binomial p of the least certain of the three steps.
    """

    systems: tuple[str, str, str]
    won: tuple[int, int, int]
    lost: tuple[int, int, int]
    weakest: float


def circles(found: Compared) -> tuple[list[Circle], int]:
    """Return the circles, the most certain first, and how many triples met in every pair."""
    counts = found.counts()
    decided = counts.won + counts.lost.T
    known = [_circle(found.systems, decided, triple) for triple in cycles(counts.wins)]
    met = (counts.wins + counts.wins.T > 0).astype(float)
    triples = np.einsum("ab,bc,ca->", met, met, met) / 6
    return sorted(known, key=lambda each: (each.weakest, each.systems)), round(triples)


def _circle(names: tuple[str, ...], won: Floats, triple: tuple[int, int, int]) -> Circle:
    a, b, c = triple
    steps = ((a, b), (b, c), (c, a))
    ab, bc, ca = ((int(won[x, y]), int(won[y, x])) for x, y in steps)
    return Circle(
        systems=(names[a], names[b], names[c]),
        won=(ab[0], bc[0], ca[0]),
        lost=(ab[1], bc[1], ca[1]),
        weakest=max(binomial(more, more + less).p for more, less in (ab, bc, ca)),
    )


def section(question: str, pairs: Compared) -> Section:
    """Return the circles of one question, or that there are none."""
    found, triples = circles(pairs)
    clear = sum(each.weakest < ALPHA for each in found)
    if not found:
        title = f"no circle among {triples} triples of systems: one order fits all majorities"
    else:
        title = (
            f"{len(found)} of {triples} triples of systems are circles, {clear} of them beyond "
            "chance in every step"
        )
    rows = [_cycle_row(each) for each in found[:SHOWN]]
    none = [{"circle": "none", "wins and losses": "–", "p of the weakest step": float("nan")}]
    more = f" The first {SHOWN} of {len(found)} are shown." if len(found) > SHOWN else ""
    return Section(
        f"{question[:1].upper()}{question[1:]}: {title}",
        pd.DataFrame(rows or none),
        f"A beats B, B beats C, yet C beats A, by majority without ties; p is binomial, two-sided, "
        f"not adjusted.{more}",
        key=f"circles-{question}",
    )


def _cycle_row(circle: Circle) -> dict[str, object]:
    steps = [f"{won} to {lost}" for won, lost in zip(circle.won, circle.lost, strict=True)]
    return {
        "circle": " > ".join([*circle.systems, circle.systems[0]]),
        "wins and losses": ", ".join(steps),
        "p of the weakest step": circle.weakest,
    }
