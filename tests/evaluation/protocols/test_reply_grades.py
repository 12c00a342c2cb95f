"""NL-P3: bad, good or great, of every response on the page."""

from __future__ import annotations

import pytest

from evaluation import Choice, InvalidAnswers, Shown
from evaluation.registry import get_protocol

PROTOCOL = get_protocol("reply_grades")
FIVE = Shown(tuple("abcde"))


def test_three_annotators_see_all_responses_of_322_contexts() -> None:
    after = PROTOCOL.after
    assert after is not None
    assert (after.over, after.show, after.votes, after.batch) == ("contexts", "all", 3, 322)


def test_each_of_five_responses_has_a_grade_of_its_own() -> None:
    assert PROTOCOL.after is not None
    raw = {f"{key}.grade": value for key, value in zip("abcde", "02120", strict=True)}
    found = PROTOCOL.after.parse(raw, FIVE)
    assert [found[key, "grade"] for key in "abcde"] == [0, 2, 1, 2, 0]


@pytest.mark.parametrize("wrong", ["-1", "3", "1.5", "good", ""])
def test_another_grade_is_refused_for_the_response_that_has_it(wrong: str) -> None:
    assert PROTOCOL.after is not None
    with pytest.raises(InvalidAnswers) as refused:
        PROTOCOL.after.parse({f"{key}.grade": "1" for key in "abcd"} | {"e.grade": wrong}, FIVE)
    assert set(refused.value.problems) == {"e.grade"}


def test_grades_are_ordered_and_defined() -> None:
    assert PROTOCOL.after is not None
    (grade,) = PROTOCOL.after.each
    assert isinstance(grade, Choice)
    assert grade.level == "ordinal"
    assert [option.word for option in grade.options] == ["Bad", "Good", "Great"]
    assert all(option.definition for option in grade.options)
