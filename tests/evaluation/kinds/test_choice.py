"""Choices: named options are nominal, numbered ones are grades."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from evaluation import AnswerField, Choice, ChoiceOption, InvalidAnswer, Shown

NOBODY = Shown(())
TELL = Choice(
    name="plausible",
    text="Is it?",
    options=(
        ChoiceOption(value="yes", word="Yes"),
        ChoiceOption(value="no", word="No"),
        ChoiceOption(value="can't tell", word="Can’t tell"),
    ),
)
GRADES = Choice(
    name="grade",
    text="How good?",
    options=(
        ChoiceOption(value=3, word="Excellent", definition="On topic and interesting."),
        ChoiceOption(value=2, word="Good"),
        ChoiceOption(value=0, word="Bad"),
    ),
)


class Rater:
    """Answers as planted."""

    def __init__(self, yes: bool, right: str = "") -> None:
        self.yes = yes
        self.right = right

    def point(self, points: Sequence[int]) -> int:
        return points[-1]

    def position(self, low: float, high: float) -> float:
        return high

    def agrees(self) -> bool:
        return self.yes

    def picks(self, options: Sequence[str]) -> str:
        return options[-1]

    def knows(self, options: Sequence[str]) -> bool:
        return self.right in options

    def prefers(self, options: Sequence[str]) -> str:
        return options[0]

    def rank(self) -> int:
        return 1


def test_names_are_nominal_and_numbers_are_grades() -> None:
    assert (TELL.level, TELL.is_scale, TELL.scale) == ("nominal", False, None)
    assert (GRADES.level, GRADES.is_scale, GRADES.scale) == ("ordinal", True, (0.0, 3.0))


def test_what_is_stored_is_the_value_and_what_is_printed_the_word() -> None:
    assert TELL.parse("can't tell", NOBODY) == "can't tell"
    assert GRADES.parse("3", NOBODY) == 3
    assert (TELL.words("can't tell"), GRADES.words(3)) == ("Can’t tell", "3 (Excellent)")


def test_what_is_no_option_is_refused_though_it_is_a_word_or_between_the_grades() -> None:
    with pytest.raises(InvalidAnswer, match="Choose one of the three"):
        TELL.parse("Yes", NOBODY)
    for raw in ("-1", "1", "4", "3.0"):
        with pytest.raises(InvalidAnswer, match="Choose one of the three"):
            GRADES.parse(raw, NOBODY)


def test_definitions_stand_beside_the_words_and_in_the_codebook() -> None:
    assert GRADES.form_field(NOBODY).options[0].lines == ("On topic and interesting.",)
    assert GRADES.form_field(NOBODY).options[1].lines == ()
    assert GRADES.meanings()["3"] == "Excellent: On topic and interesting."
    assert GRADES.offer() == "0 to 3; 3 = Excellent, 2 = Good, 0 = Bad"
    assert TELL.offer() == "one of: Yes, No, Can’t tell"


def test_the_ninth_option_has_a_digit_and_the_tenth_has_none() -> None:
    options = tuple(ChoiceOption(value=number, word=f"w{number}") for number in range(10))
    keys = [o.key for o in Choice(name="q", text="?", options=options).form_field(NOBODY).options]
    assert keys == [*"123456789", ""]


def test_simulated_people_choose_the_first_name_by_chance_and_a_grade_by_quality() -> None:
    assert Choice.simulated(TELL.form_field(NOBODY), Rater(yes=True)) == "yes"
    assert Choice.simulated(TELL.form_field(NOBODY), Rater(yes=False)) == "can't tell"
    assert Choice.simulated(GRADES.form_field(NOBODY), Rater(yes=True)) == "3"
    assert isinstance(TELL.form_field(NOBODY), AnswerField)


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        (("a",), "two options or more"),
        (("a", "a"), "each its own value"),
        (("1.5", "b"), "'1.5' must be a name"),
        ((1, "b"), "all numbers or all names"),
        (("a" * 41, "b"), "a name of 1 to 40 characters"),
        ((" a", "b"), "without spaces around it"),
        (("", "b"), "'' must be a name"),
    ],
)
def test_options_that_no_answer_tells_apart_are_refused(
    values: tuple[int | str, ...], complaint: str
) -> None:
    options = tuple(ChoiceOption(value=value, word="w") for value in values)
    with pytest.raises(ValueError, match=complaint):
        Choice(name="q", text="?", options=options)


def test_a_name_of_forty_characters_is_taken() -> None:
    options = tuple(ChoiceOption(value=value * 40, word=value) for value in "ab")
    assert Choice(name="q", text="?", options=options).parse("b" * 40, NOBODY) == "b" * 40


def test_simulated_people_who_know_what_is_right_may_pick_any_name() -> None:
    """The planted chance decides there whether it is the right one."""
    field = Choice.sample().form_field(Shown(()))
    assert Choice.simulated(field, Rater(True, right="glad")) == "neither"
    assert Choice.simulated(field, Rater(True, right="mad")) == "sad"
