"""Every statistic that an independent package has too is the package's, on random tables."""

from __future__ import annotations

import pytest

from tests.analysis.oracles import statistics
from tests.analysis.oracles.statistics import TABLES, Oracle

ALL = statistics.oracles()
ASKED = [
    *(pytest.param(each, each.quick, id=f"{each.name}-{each.quick}") for each in ALL),
    *(
        pytest.param(
            each,
            TABLES,
            id=f"{each.name}-{TABLES}",
            marks=[pytest.mark.slow, pytest.mark.timeout(600)],  # on a busy machine
        )
        for each in ALL
        if each.quick < TABLES
    ),
]


@pytest.mark.parametrize(("oracle", "tables"), ASKED)
def test_ours_is_that_of_the_package(oracle: Oracle, tables: int) -> None:
    count, largest = statistics.compared(oracle, tables)
    assert count >= tables
    assert largest <= oracle.tolerance


def test_what_differs_or_is_undefined_is_off() -> None:
    def given(_: int) -> list[float]:
        return [0.0, float("nan")]

    assert statistics.compared(Oracle("p", "s", 1, lambda n: iter(given(n))), 2) == (
        2,
        float("inf"),
    )
