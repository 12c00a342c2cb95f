"""ASAPP's table of AUC: by hand, never McClish's, beside the print."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from analysis import PredictionTable, Report, get_report, prediction_table
from tests.analysis.prediction_tables import predictions

POSITIVE, NEGATIVE = [0.9, 0.4], [0.8, 0.3, 0.2, 0.1]


def scored(positive: list[float], negative: list[float], **common: object) -> PredictionTable:
    """Return an example per right reply, each with its share of the wrong ones."""
    rows = [
        {
            "gold": "right",
            "candidates": ["right", *(f"wrong {j}" for j in range(len(share)))],
            "scores": [score, *share],
        }
        for score, share in zip(
            positive, np.array_split(np.array(negative), len(positive)), strict=True
        )
    ]
    return predictions(rows, **common)


def made(*tables: pd.DataFrame) -> Report:
    table = pd.concat(tables, ignore_index=True)
    table["prediction"] = [f"p{k}" for k in range(len(table))]
    return get_report("asapp_auc")(prediction_table(table))


def test_a_row_per_measure_and_a_column_per_data_set() -> None:
    report = made(
        scored(POSITIVE, NEGATIVE, dataset="test"),
        scored([0.9, 0.8], [0.1, 0.2, 0.3, 0.4], dataset="validation"),
    )
    frame, printed = (section.frame for section in report.sections)
    assert frame["metric"].tolist() == ["AUC", "AUC@0.1", "AUC@0.05", "AUC@0.01"]
    assert frame["test"].tolist() == pytest.approx([0.875, 0.5, 0.5, 0.5])
    assert frame["validation"].tolist() == [1.0] * 4
    assert set(frame["right replies, test"]) == {2}
    assert report.findings == ("Highest AUC@0.05: s on test 0.500, s on validation 1.000.",)
    assert printed["validation"].tolist() == [0.991, 0.925, 0.871, 0.677]
    assert printed["test"].tolist() == [0.977, 0.885, 0.816, 0.63]


def test_a_rescaled_area_of_a_library_is_another_number() -> None:
    rng = np.random.default_rng(5)
    positive, negative = rng.normal(1, 1, 60), rng.normal(0, 1, 600)
    frame = made(scored(positive.tolist(), negative.tolist())).sections[0].frame
    found = frame.set_index("metric")["d"]
    truth = [1] * 60 + [0] * 600
    for p in (0.1, 0.05, 0.01):
        rescaled = roc_auc_score(truth, [*positive, *negative], max_fpr=p)
        # McClish 1989: .5 (1 + (area - p²/2) / (p - p²/2)), of the same area.
        area = p * found[f"AUC@{p:g}"]
        assert rescaled == pytest.approx(0.5 * (1 + (area - p * p / 2) / (p - p * p / 2)))
        assert abs(rescaled - found[f"AUC@{p:g}"]) > 0.1


def test_scores_by_lot_have_p_over_2_not_a_half() -> None:
    scores = np.random.default_rng(1).normal(size=4400)
    frame = made(scored(scores[:400].tolist(), scores[400:].tolist())).sections[0].frame
    found = frame.set_index("metric")["d"]
    assert found["AUC"] == pytest.approx(0.5, abs=0.04)
    assert found["AUC@0.1"] == pytest.approx(0.05, abs=0.02)


def test_without_scores_the_print_is_left() -> None:
    report = made(predictions([{"gold": "a", "response": "b"}]))
    assert report.findings == ("No system scored right replies against wrong ones.",)
    assert len(report.sections) == 1
