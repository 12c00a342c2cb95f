"""Types of settings: the bounds belong to them, one beyond is refused and the complaint says so."""

from __future__ import annotations

from typing import Any

import pytest

from evaluation import Draw, InvalidValue
from evaluation.setting_types import (
    Number,
    OnOff,
    SettingType,
    Text,
    WholeNumber,
    WholeNumbers,
    quoted,
)

WHOLE, OPTIONAL = WholeNumber(least=2, most=9), WholeNumber(least=2, most=9, optional=True)
LIST, TENTH, WORD = WholeNumbers(least=2, most=9, count=3), Number(-0.5, 1.5), Text(most=4)


@pytest.mark.parametrize(
    ("type", "typed", "value"),
    [
        (WHOLE, "2", 2),
        (WHOLE, "9", 9),
        (OPTIONAL, "", None),
        (LIST, "2", Draw((2,))),
        (LIST, " 9, 2,3 ,", Draw((9, 2, 3))),
        (TENTH, "-0.5", -0.5),
        (TENTH, "1.5", 1.5),
        (WORD, "four", "four"),
        (WORD, " a ", "a"),
        (Text(most=4, optional=True), " ", ""),
        (Text(most=4, optional=True), "four", "four"),
        (OnOff(), "true", True),
        (OnOff(), "on", True),
        (OnOff(), "", False),
    ],
)
def test_what_is_typed_within_the_bounds_is_the_value(
    type: SettingType, typed: str, value: Any
) -> None:
    assert type.accept(type.read(typed)) == value


@pytest.mark.parametrize(
    ("type", "typed", "complaint"),
    [
        (WHOLE, "1", "“1” is not a whole number from 2 to 9"),
        (WHOLE, "10", "“10” is not a whole number from 2 to 9"),
        (WHOLE, "", "“” is not a whole number from 2 to 9"),
        (WHOLE, "٣", "“٣” is not a whole number from 2 to 9"),
        (WHOLE, "2.0", "“2.0” is not a whole number from 2 to 9"),
        (OPTIONAL, "1", "“1” is not a whole number from 2 to 9, or empty for no limit"),
        (LIST, "1", "“1” is not a whole number from 2 to 9"),
        (LIST, "2, ten", "“ten” is not a whole number from 2 to 9"),
        (LIST, "", "has 0 numbers; write 1 to 3 whole numbers from 2 to 9, separated by commas"),
        (LIST, "2,2,2,2", "has 4 numbers; write 1 to 3 whole numbers from 2 to 9"),
        (TENTH, "-0.51", "“-0.51” is not a number from -0.5 to 1.5"),
        (TENTH, "1.51", "“1.51” is not a number from -0.5 to 1.5"),
        (TENTH, "nan", "“nan” is not a number from -0.5 to 1.5"),
        (TENTH, "much", "“much” is not a number from -0.5 to 1.5"),
        (WORD, "fives", "has 5 characters; write at most 4"),
        (WORD, " ", "is empty; write a text of at most 4 characters"),
    ],
)
def test_one_beyond_the_bounds_is_refused_with_the_bounds(
    type: SettingType, typed: str, complaint: str
) -> None:
    with pytest.raises(InvalidValue) as refusal:
        type.accept(type.read(typed))
    assert str(refusal.value).startswith(complaint)


@pytest.mark.parametrize("type", [WHOLE, OPTIONAL, LIST, TENTH, WORD, OnOff()])
@pytest.mark.parametrize("value", [[-1], {}, object(), b"2"])
def test_a_stored_value_of_another_type_is_refused(type: SettingType, value: Any) -> None:
    with pytest.raises(InvalidValue):
        type.accept(value)


def test_true_is_no_number_and_one_is_no_truth() -> None:
    for type, value in ((WHOLE, True), (TENTH, True), (LIST, [True]), (OnOff(), 1)):
        with pytest.raises(InvalidValue):
            type.accept(value)


def test_a_complaint_repeats_sixty_characters() -> None:
    assert quoted("x" * 60) == f"“{'x' * 60}”"
    assert quoted("x" * 61) == f"“{'x' * 60}…”"
