"""Every problem of a table is found, and told by row."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from analysis import BadTable, message_table, prediction_table, rating_table
from tests.analysis.examples import labels, raw


def _problems(frame: pd.DataFrame) -> list[str]:
    with pytest.raises(BadTable) as caught:
        rating_table(frame)
    return [str(problem) for problem in caught.value.problems]


def test_a_sound_table_keeps_other_columns() -> None:
    table = rating_table(raw([{"value": 3, "excluded": "late", "mood": 1}]))
    assert list(table["value"]) == [3.0]
    assert list(table["mood"]) == [1]


def test_missing_columns_are_named_all() -> None:
    problems = _problems(raw([{"value": 3}]).drop(columns=["rater", "place"]))
    assert [problem.split(" is ")[0] for problem in problems] == ["table: rater", "table: place"]


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"value": "good"}, "row 2: value is 'good'; right would be a finite number"),
        ({"value": math.nan}, "row 2: value is nan; right would be an answer"),
        ({"value": ""}, "row 2: value is blank; right would be an answer"),
        ({"value": math.inf}, "row 2: value is 'inf'; right would be a finite number"),
        ({"value": 3, "rater": ""}, "row 2: rater is blank; right would be some text"),
        ({"value": 3, "level": "ratio"}, "row 2: level is 'ratio'; right would be nominal"),
        ({"value": 3, "level": "interval"}, "row 2: level is 'interval'; right would be 'ordinal'"),
        ({"value": 9, "scale_low": 1, "scale_high": 5}, "row 2: value is 9; right would be a num"),
        ({"value": 3, "scale_low": 5, "scale_high": 1}, "row 2: scale_low, scale_high is 5 to 1"),
        ({"value": 3, "scale_low": "x", "scale_high": 5}, "row 2: scale_low is 'x'"),
        ({"value": 3, "answer": "a0"}, "row 2: answer is \"'a0'\", as in row 1"),
    ],
)
def test_a_bad_row_is_told(row: dict[str, object], told: str) -> None:
    problems = _problems(raw([{"value": 1}, row]))
    assert len(problems) == 1
    assert problems[0].startswith(told.replace("\"'a0'\"", "'a0'"))


def test_all_problems_are_told_at_once_in_order_of_rows() -> None:
    rows: list[dict[str, object]] = [{"value": "x"}, {"value": 1}, {"value": "", "rater": ""}]
    problems = _problems(raw(rows))
    assert [problem.split(":")[0] for problem in problems] == ["row 1", "row 3", "row 3"]


def test_a_column_by_another_name_is_recognized() -> None:
    frame = raw([{"value": 3}]).rename(columns={"rater": "Annotator", "system": "model"})
    told = _problems(frame)
    assert told[0].startswith("table: system is missing; right would be system, which the column")
    assert "'model' may be by another name; the columns answer" in told[0]
    assert "'Annotator' may be by another name" in told[1]


def test_a_message_names_the_first_problems_and_counts_the_others() -> None:
    with pytest.raises(BadTable) as caught:
        rating_table(raw([{"value": "x"} for _ in range(60)]))
    lines = str(caught.value).split("\n")
    assert len(caught.value.problems) == 60
    assert lines[0].startswith("ratings: 60 problems")
    assert lines[-2:] == ["... and 10 more", "Nothing was computed: no row is sound."]
    assert len(lines) == 53


def test_what_can_still_be_computed_is_said() -> None:
    with pytest.raises(BadTable, match="2 of 3 rows are sound"):
        rating_table(raw([{"value": 1}, {"value": "x"}, {"value": 2}]))


def test_a_rater_answers_a_question_about_an_item_once() -> None:
    rows: list[dict[str, object]] = [{"value": 1, "item": "i", "rater": "r"} for _ in range(2)]
    problems = _problems(raw(rows))
    assert len(problems) == 1
    assert "as in row 1" in problems[0]


def test_ends_of_a_scale_must_not_change() -> None:
    rows: list[dict[str, object]] = [
        {"value": 1, "scale_low": 1, "scale_high": 5},
        {"value": 1, "scale_low": 0, "scale_high": 5},
    ]
    assert "right would be 1 to 5" in _problems(raw(rows))[0]


@pytest.mark.parametrize("votes", ["0", "2.5", "-1", "five", "inf"])
def test_the_votes_asked_for_are_a_whole_number(votes: str) -> None:
    (problem,) = _problems(raw([{"value": 1, "votes": "5"}, {"value": 1, "votes": votes}]))
    told = f"row 2: votes is '{votes}'; right would be a whole number from 1: how many raters"
    assert problem.startswith(told)


def test_an_item_was_to_get_one_number_of_votes() -> None:
    rows: list[dict[str, object]] = [{"value": 1, "item": "i", "votes": n} for n in (5, 5, "", 4)]
    (problem,) = _problems(raw(rows))
    assert problem == "row 4: votes is 4; right would be 5, as in the item's first row (q / i / s)"
    apart: list[dict[str, object]] = [{"value": 1, "votes": n} for n in ("5", 4, "", 1.0)]
    found = rating_table(raw(apart))["votes"]
    assert list(found.fillna(0)) == [5.0, 4.0, 0.0, 1.0]


def test_specific_without_sensible_is_refused() -> None:
    with pytest.raises(BadTable, match="row 2: value is 1; right would be 0"):
        labels([("s", "i", "r", 0, 1)])


def test_nominal_values_agree_whatever_format_they_came_in() -> None:
    table = rating_table(raw([{"value": "1"}, {"value": 1.0}, {"value": True}], level="nominal"))
    assert list(table["value"]) == [1.0, 1.0, 1.0]
    table = rating_table(raw([{"value": "red"}], level="nominal"))
    assert list(table["value"]) == ["red"]


def test_checking_twice_changes_nothing() -> None:
    once = rating_table(raw([{"value": "3", "scale_low": "1", "scale_high": "5"}]))
    pd.testing.assert_frame_equal(rating_table(once), once)


def test_messages_have_a_place_of_their_own() -> None:
    row = {"message": "m0", "conversation": "c", "seq": 1, "side": "bot", "system": "s"}
    rows = [row, {**row, "message": "m1", "sent_at": "noon"}]
    frame = pd.DataFrame(rows).assign(persona="", text="Hi!")
    with pytest.raises(BadTable) as caught:
        message_table(frame)
    fields = [problem.field for problem in caught.value.problems]
    assert fields == ["conversation, seq", "sent_at"]


def test_predictions_have_a_score_for_each_candidate() -> None:
    row = {"prediction": "p", "system": "s", "dataset": "d", "example": "e", "context": "Hi!"}
    rest = {"gold": "a", "response": "a", "candidates": '["a", "b"]', "log_probs": ""}
    frame = pd.DataFrame([{**row, **rest, "scores": "[1]"}])
    with pytest.raises(BadTable, match="one for each of 2 candidates"):
        prediction_table(frame)
    table = prediction_table(frame.assign(scores="[1, 2]"))
    assert table["scores"].iloc[0] == [1, 2]
