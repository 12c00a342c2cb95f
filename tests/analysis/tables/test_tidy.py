"""Tidy results stand in the order that sorting by their names gives."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from analysis.tables.tidy import SORTED_BY, tidy


def test_the_order_is_that_of_a_stable_sort_of_the_columns() -> None:
    chance = np.random.default_rng(0)
    names: list[object] = ["b", "a", "(all)", "A", "ä", "10", "9", None, math.nan]
    rows = [
        {"protocol": "p", "n": k}
        | {name: names[chance.integers(len(names))] for name in ("question", "system")}
        | ({"other_system": names[chance.integers(4)]} if chance.random() < 0.7 else {})
        for k in range(300)
    ]
    found = tidy("m", iter(rows))
    expected = pd.DataFrame([{"metric": "m", **row} for row in rows])
    expected = expected.sort_values(
        [name for name in SORTED_BY if name in expected], kind="stable", ignore_index=True
    )
    assert found["n"].tolist() == expected["n"].tolist()
    assert found.index.equals(pd.RangeIndex(300))
