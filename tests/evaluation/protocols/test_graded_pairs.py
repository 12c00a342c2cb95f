"""NL-P1 and NL-P2: four grades with definitions, and a preference with two kinds of tie."""

from __future__ import annotations

import pytest

from evaluation import Choice, InvalidAnswers, Preference, Shown
from evaluation.registry import get_protocol

PROTOCOL = get_protocol("graded_pairs")
TWO = Shown(("a", "b"))


def graded(first: int, second: int, better: str) -> dict[tuple[str, str], object]:
    assert PROTOCOL.after is not None
    raw = {"a.grade": str(first), "b.grade": str(second), "together.better": better}
    return dict(PROTOCOL.after.parse(raw, TWO))


def test_five_raters_see_two_messages_and_the_first_system_beside_each_other() -> None:
    after = PROTOCOL.after
    assert after is not None
    assert (after.over, after.show, after.messages) == ("contexts", "pairs", (2, 2))
    assert (after.votes, after.batch, after.with_first) == (5, 300, True)


def test_grades_go_from_excellent_to_bad_and_each_is_defined() -> None:
    assert PROTOCOL.after is not None
    (grade,) = PROTOCOL.after.each
    assert isinstance(grade, Choice)
    assert [(option.value, option.word) for option in grade.options] == [
        (3, "Excellent"),
        (2, "Good"),
        (1, "Poor"),
        (0, "Bad"),
    ]
    assert all(option.definition for option in grade.options)
    assert grade.scale == (0.0, 3.0)


@pytest.mark.parametrize(
    ("better", "first", "second"),
    [
        ("a", "won", "lost"),
        ("b", "lost", "won"),
        *((tie, tie, tie) for tie in ("equally good", "equally bad")),
    ],
)
def test_one_is_better_or_both_are_equally_good_or_bad(
    better: str, first: str, second: str
) -> None:
    found = graded(3, 0, better)
    assert (found["a", "grade"], found["b", "grade"]) == (3, 0)
    assert (found["a", "better"], found["b", "better"]) == (first, second)


@pytest.mark.parametrize("better", ["", "equal", "Equally good", "c"])
def test_another_answer_than_these_four_is_refused(better: str) -> None:
    with pytest.raises(InvalidAnswers) as refused:
        graded(1, 1, better)
    assert set(refused.value.problems) == {"together.better"}


def test_both_rules_stand_beside_the_question() -> None:
    assert PROTOCOL.after is not None
    (better,) = PROTOCOL.after.together
    assert isinstance(better, Preference)
    assert "(1) response 1 is relevant" in better.help
    assert "(2) Both responses 1 and 2 are relevant" in better.help
