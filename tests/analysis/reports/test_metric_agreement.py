"""Do ranking metrics order systems alike: the rule by hand, and on the printed figures."""

from __future__ import annotations

import pandas as pd
import pytest

from analysis import prediction_table
from analysis.reports.metric_agreement import metric_agreement
from tests.analysis.prediction_tables import predictions, ranked


def tables(**places: tuple[int, ...]) -> pd.DataFrame:
    frames = [ranked(*given, n=100, system=system) for system, given in places.items()]
    table = pd.concat(frames, ignore_index=True)
    table["prediction"] = table["system"] + table["prediction"]
    return prediction_table(table)


def test_ranks_by_hand() -> None:
    given = tables(a=(1, 1, 5, 40), b=(1, 11, 12, 60), c=(2, 2, 2, 2))
    report = metric_agreement(prediction_table(given))
    summary, scores, ranks, *_ = (section.frame for section in report.sections)
    assert list(ranks["system"]) == ["a", "b", "c"]
    assert ranks["R@1"].tolist() == [1, 2, 3]
    assert ranks["R@10"].tolist() == [2, 3, 1]
    assert ranks["R@50"].tolist() == [1, 3, 1]
    assert ranks["MRR"].tolist() == [1, 3, 2]
    assert ranks["apart"].tolist() == [1, 1, 2]
    row = summary.iloc[0]
    assert (row["identical"], row["largest difference"]) == (0, 2)
    assert row["one place apart"] == pytest.approx(2 / 3)
    assert row["MRR outside the recall ranks"] == 0
    assert report.findings[0].startswith("0% of 3 systems have the same rank by every recall, 67%")
    assert len(scores) == 3


def test_the_rule_on_the_printed_figures() -> None:
    report = metric_agreement(predictions([{"response": "Hi."}]))
    ours, right, told = (section.frame.iloc[0] for section in report.sections)
    assert report.findings == ("This table has no two systems that ranked the same candidates.",)
    assert (ours["systems"], ours["largest difference"]) == (34, 5)
    assert ours["identical"] == pytest.approx(0.324, abs=0.001)
    assert ours["one place apart"] == pytest.approx(0.382, abs=0.001)
    outside = "MRR outside the recall ranks"
    assert (ours[outside], right[outside]) == pytest.approx((9 / 34, 1 / 34))
    assert (told["identical"], told["largest difference"]) == (0.39, 5)


def test_few_candidates_have_fewer_recalls() -> None:
    table = pd.concat([ranked(1, 2, n=20, system="a"), ranked(2, 2, n=20, system="b")])
    table["prediction"] = table["system"] + table["prediction"]
    report = metric_agreement(prediction_table(table))
    ranks = report.sections[2].frame
    assert "R@50" not in ranks
    assert ranks["apart"].tolist() == [0, 1], "both are always among the first ten"
