"""Six intraclass correlations of the published example."""

from __future__ import annotations

import pytest

from analysis.metrics.icc import icc
from tests.analysis.examples import by_raters, ratings

# Shrout & Fleiss 1979, tables 2 and 4.
JUDGES = [[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2], [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]]
PRINTED = {"1_1": 0.17, "2_1": 0.29, "3_1": 0.71, "1_k": 0.44, "2_k": 0.62, "3_k": 0.91}


def test_the_published_example() -> None:
    found = icc(by_raters(JUDGES, "interval")).set_index("metric")
    for form, printed in PRINTED.items():
        row = found.loc[f"icc_{form}"]
        assert row["estimate"] == pytest.approx(printed, abs=5.1e-3)
        assert row["low"] < row["estimate"] < row["high"]
        assert (row["n"], row["k"]) == (6, 4)


def test_raters_of_their_own_leave_one_way_forms() -> None:
    rows = [
        {"item": f"i{item}", "rater": f"r{item}{k}", "value": value}
        for item, values in enumerate([(1, 2), (4, 4), (5, 4)])
        for k, value in enumerate(values)
    ]
    found = icc(ratings(rows)).set_index("metric")
    assert found["estimate"].notna().to_dict() == {
        f"icc_{form}": form[0] == "1" for form in PRINTED
    }
    assert "0 items were rated by all 6 raters" in str(found["reason"]["icc_2_1"])


def test_labels_are_left_out() -> None:
    assert icc(by_raters(JUDGES, "nominal")).empty
