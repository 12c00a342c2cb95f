"""Raw beside calibrated scores: equal and changed orders, and how raters use the scale."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis import Report, get_report, rating_table
from tests.analysis.examples import cell, kulikov, ratings, simulated, triples

calibration = get_report("calibration")


def _frame(report: Report, key: str) -> pd.DataFrame:
    return next(each.frame for each in report.sections if each.key == key)


def test_both_pictures_and_equal_orders() -> None:
    report = calibration(simulated())
    assert report.findings[0] == "Q: raw and calibrated orders of 4 systems are equal."
    charted = {each.key: each.chart for each in report.sections if each.chart}
    assert list(charted) == ["raw-q", "calibrated-q"]
    assert [row["system"] for row in charted["raw-q"].rows] == ["s3", "s2", "s1", "s0"]
    frame = _frame(report, "orders-q")
    assert frame["place, ordinal"].tolist() == [1, 2, 3, 4]


def test_a_system_of_severe_raters_moves_up_once_calibrated() -> None:
    severe = [(0, j, 2) for j in range(12)] + [(1, j, 1) for j in range(12)]
    mild = [(1, j, 4) for j in range(12, 24)] + [(2, j, 3) for j in range(12, 24)]
    report = calibration(triples([*severe, *mild], scale_low=1, scale_high=4))
    assert report.findings[0] == "Q: 2 of 3 systems change place once calibrated."
    frame = _frame(report, "orders-q").set_index("system")
    assert cell(frame, "m0", "place, raw mean") == 3
    assert cell(frame, "m0", "place, calibrated") == 1


def test_use_of_the_scale_is_counted() -> None:
    rows = [
        {"rater": rater, "system": f"s{k % 2}", "value": value}
        for rater, values in (("ends", [1, 5, 1, 5]), ("middle", [3, 3, 3, 3]))
        for k, value in enumerate(values)
    ]
    report = calibration(ratings(rows, scale_low=1, scale_high=5))
    used = _frame(report, "use-q").set_index("rater")
    assert cell(used, "ends", "lowest") == cell(used, "ends", "highest") == 0.5
    assert cell(used, "ends", "spread") == pytest.approx(np.std([1, 5, 1, 5], ddof=1))
    assert cell(used, "middle", "spread") == 0.0
    assert any(each.startswith("Q: 1 of 2 raters use only the ends") for each in report.findings)


def test_severity_is_the_distance_from_the_systems_means() -> None:
    rows = [
        {"rater": rater, "system": f"s{k}", "value": 3 + k + shift}
        for rater, shift in (("mild", 1), ("severe", -1), ("usual", 0))
        for k in range(3)
    ]
    used = _frame(calibration(ratings(rows, level="interval")), "use-q").set_index("rater")
    assert used["less"].to_dict() == pytest.approx({"mild": 1.0, "severe": -1.0, "usual": 0.0})


def test_the_scores_of_kulikov_et_al_have_a_place_each() -> None:
    report = calibration(rating_table(kulikov()))
    frame = _frame(report, "orders-overall")
    assert len(frame) == 30
    assert frame["place, calibrated"].nunique() == 30


def test_labels_alone_have_no_scale() -> None:
    report = calibration(ratings([{"value": 1}, {"value": 0}], level="nominal"))
    assert report.sections == ()
    assert report.findings == ("No question of this table is answered on a scale.",)
