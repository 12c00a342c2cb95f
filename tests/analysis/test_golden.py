"""Every golden figure of this folder's `golden_*.py` is met within its tolerance."""

from __future__ import annotations

import pytest

from tests.analysis import golden

PARTS = [
    pytest.param(name, marks=pytest.mark.slow) if name in golden.SLOW else name
    for name in golden.names()
]


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("name", PARTS)
def test_every_figure_is_met(name: str) -> None:
    rows = [row for row in golden.compared(name) if isinstance(row, golden.Compared)]
    assert rows
    off = [row for row in rows if not row.agrees]
    assert not off, "\n".join(f"{r.source}, {r.what}: {r.expected} against {r.ours}" for r in off)


def test_a_figure_that_rounds_otherwise_is_off() -> None:
    assert golden.printed("s", "w", 0.75, 0.7549).agrees
    assert not golden.printed("s", "w", 0.75, 0.756).agrees
    assert not golden.printed("s", "w", 0.75, float("nan")).agrees
