"""Human accuracy: yes among yes and no, and how often nobody could tell."""

from __future__ import annotations

import pytest

from analysis.metrics.human_accuracy import human_accuracy
from analysis.stats.intervals import wilson_interval
from tests.analysis.examples import ratings


def said(system: str, *answers: str) -> list[dict[str, object]]:
    return [
        {"system": system, "question": "plausible", "level": "nominal", "value": answer, "item": k}
        for k, answer in enumerate(answers)
    ]


def test_not_being_able_to_tell_is_left_out_and_told() -> None:
    table = ratings(said("a", *["yes"] * 6, *["no"] * 2, "can't tell", "can't tell"), rater="r")
    (row,) = human_accuracy(table).to_dict("records")
    assert (row["estimate"], row["n"], row["cannot_tell"]) == (0.75, 8, pytest.approx(0.2))
    assert row["low"] < wilson_interval(6, 8)[0] + 0.05
    assert row["low"] < 0.75 < row["high"]


def test_a_system_that_nobody_could_judge_has_no_accuracy() -> None:
    table = ratings([*said("a", "yes", "no", "yes"), *said("b", "can't tell", "can't tell")])
    known, unknown = human_accuracy(table).to_dict("records")
    assert known["estimate"] == pytest.approx(2 / 3)
    assert unknown["n"] == 0
    assert unknown["estimate"] != unknown["estimate"]
    assert unknown["reason"] == "nobody said yes or no"


def test_questions_with_other_answers_are_not_meant() -> None:
    assert human_accuracy(ratings(said("a", "yes", "no", "maybe"))).empty
    assert human_accuracy(ratings([{"level": "nominal", "value": 1}])).empty
