"""Every golden figure of this folder's `golden_*.py` is met within its tolerance."""

from __future__ import annotations

import pytest

from tests.analysis.golden import figures

PARTS = [
    pytest.param(name, marks=pytest.mark.slow) if name in figures.SLOW else name
    for name in figures.names()
]


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("name", PARTS)
def test_every_figure_is_met(name: str) -> None:
    rows = [row for row in figures.compared(name) if isinstance(row, figures.Compared)]
    assert rows
    off = [row for row in rows if not row.agrees]
    assert not off, "\n".join(f"{r.source}, {r.what}: {r.expected} against {r.ours}" for r in off)


def test_a_figure_that_rounds_otherwise_is_off() -> None:
    assert figures.printed("s", "w", 0.75, 0.7549).agrees
    assert not figures.printed("s", "w", 0.75, 0.756).agrees
    assert not figures.printed("s", "w", 0.75, float("nan")).agrees
