"""Rounding for readers: no share that is neither 0 nor 1 is printed as one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis.output.terminal import cells_of
from analysis.stats.rounding import beyond, is_share


@pytest.mark.parametrize(
    ("share", "decimals", "told"),
    [
        (0.0, 3, None),
        (1e-300, 3, ("<", 0.001)),
        (0.000_499, 3, ("<", 0.001)),
        (0.000_5, 3, None),
        (0.999_5, 3, None),
        (0.999_501, 3, (">", 0.999)),
        (1.0, 3, None),
        (0.004, 2, ("<", 0.01)),
    ],
)
def test_only_what_rounding_would_make_0_or_1_is_told_by_a_sign(
    share: float, decimals: int, told: tuple[str, float] | None
) -> None:
    found = beyond(share, decimals)
    assert (found is None) == (told is None)
    if found is not None and told is not None:
        assert found[0] == told[0]
        assert found[1] == pytest.approx(told[1])


def test_a_column_is_one_of_shares_where_all_that_is_known_lies_from_0_to_1() -> None:
    assert is_share([0.0, None, 1.0, float("nan"), pd.NA])
    for other in ([0.5, 1.01], [-0.01, 0.5], [0.5, "a"], [0, 1], [], [None], [0.5, np.inf]):
        assert not is_share(other)


def test_tables_print_no_p_of_0_and_leave_scores_alone() -> None:
    frame = pd.DataFrame(
        {"p (Holm)": [1e-9, 0.04], "beats next": [0.9999, None], "score": [0.0004, 4.5]}
    )
    assert cells_of(frame) == [["<0.001", ">0.999", "0.00"], ["0.040", "-", "4.50"]]
