"""Human accuracy beside automatic accuracy: joined by system, in percent, and what is missing."""

from __future__ import annotations

import pandas as pd
import pytest

from analysis import PredictionTable, RatingTable, prediction_table
from analysis.reports.answer_accuracy import NONE, answer_accuracy
from tests.analysis.examples import ratings
from tests.analysis.prediction_tables import ranked
from tests.analysis.samples import EMPTY

SAID = {"a": ["yes"] * 6 + ["no"] * 2 + ["can't tell"] * 2, "b": ["yes"] * 1 + ["no"] * 9}


def judged() -> RatingTable:
    rows: list[dict[str, object]] = [
        {"system": name, "value": word} for name, words in SAID.items() for word in words
    ]
    return ratings(rows, question="plausible", level="nominal")


def predicted(*systems: str) -> PredictionTable:
    """Return predictions of four questions, of which each system has the first two right."""
    parts = [pd.DataFrame(ranked(1, 1, 2, 3, system=name)) for name in systems]
    table = pd.concat(parts, ignore_index=True)
    return prediction_table(table.assign(prediction=[f"p{n}" for n in range(len(table))]))


def test_both_stand_in_one_row_of_a_system() -> None:
    report = answer_accuracy(judged(), predicted("b", "a"))
    (section,) = report.sections
    rows = section.frame.set_index("system")
    assert list(rows.index) == ["a", "b"]
    assert list(rows["human"]) == pytest.approx([75, 10])
    assert list(rows["can't tell"]) == pytest.approx([20, 0])
    assert list(rows["yes and no"]) == [8, 10]
    assert list(rows["automatic"]) == pytest.approx([50, 50])
    assert list(rows["human - automatic"]) == pytest.approx([25, -40])
    assert report.findings == (
        "People are more lenient than the automatic accuracy in 1 of 2 rows.",
    )


def test_a_system_without_predictions_keeps_its_human_accuracy() -> None:
    (section,) = answer_accuracy(judged(), predicted("a", "c")).sections
    rows = section.frame.set_index("system")
    assert set(rows.index) == {"a", "b"}
    assert rows["automatic"].isna().to_dict() == {"a": False, "b": True}


def test_without_predictions_people_are_alone() -> None:
    report = answer_accuracy(judged())
    assert report.findings == ("People find 75 % of the answers of a plausible.",)
    assert report.sections[0].frame["automatic"].isna().all()


def test_without_judgments_it_says_so() -> None:
    assert answer_accuracy(RatingTable(EMPTY["ratings"])).findings == (NONE,)
    assert answer_accuracy(predictions=predicted("a")).findings == (NONE,)
