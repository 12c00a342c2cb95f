"""Any scorer against ratings: correlations by response, adjusted over the table."""

from __future__ import annotations

import pandas as pd
import pytest
from scipy import stats

from analysis import PredictionTable, get_report, prediction_table
from analysis.predictions.prediction_rows import Predicted
from tests.analysis.examples import ratings

learned_metric = get_report("learned_metric")
VALUES = [1, 2, 2, 4, 5, 3, 5, 4]


def _predictions(**columns: list[float]) -> PredictionTable:
    rows = [
        {
            "prediction": f"p{k}", "system": f"s{k % 2}", "dataset": "d", "example": f"i{k // 2}",
            "context": ["Hi!"], "gold": "I like tea a lot", "response": "tea " * value,
            "candidates": None, "scores": None, "log_probs": None,
        }
        for k, value in enumerate(VALUES)
    ]  # fmt: skip
    return prediction_table(pd.DataFrame(rows).assign(**columns))


RATINGS = ratings(
    [
        {"item": f"i{k // 2}", "system": f"s{k % 2}", "rater": f"r{j}", "value": value + j % 2}
        for k, value in enumerate(VALUES)
        for j in range(3)
    ]
)


def _length(row: Predicted) -> float | None:
    return -(float(len(row.response or "")) ** 2)


def test_a_plugged_scorer_is_correlated_with_mean_ratings() -> None:
    report = learned_metric(RATINGS, _predictions(), scorers={"shortness": _length})
    pearson, spearman = report.sections[0].frame.to_dict("records")
    lengths = [-(float(4 * value) ** 2) for value in VALUES]
    assert pearson["estimate"] == pytest.approx(stats.pearsonr(lengths, VALUES).statistic)
    assert (spearman["estimate"], spearman["n"]) == (pytest.approx(-1), 8)
    assert spearman["Holm"] == "***"
    assert 0.014 in set(report.sections[1].frame["pearson"])


def test_a_column_of_scores_and_the_word_overlaps() -> None:
    report = learned_metric(RATINGS, _predictions(learned_score=[float(v) for v in VALUES]))
    frame = report.sections[0].frame
    assert list(dict.fromkeys(frame["metric"])) == ["word F1", "BLEU-2", "learned_score"]
    assert frame.iloc[-1]["estimate"] == pytest.approx(1)
    assert report.findings[0].endswith("1.00 over 8 responses.")


def test_responses_that_nobody_rated_leave_only_the_print() -> None:
    report = learned_metric(ratings([{"value": 3, "item": "other"}]), _predictions())
    assert report.findings == ("No response has both a rating and a score that vary.",)
    assert len(report.sections) == 1
