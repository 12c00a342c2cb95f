"""Answers of each kind: points of a scale, bands of a slider, the better system first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from analysis.output import answer_distribution, charts
from analysis.report import Section
from tests.analysis.examples import ratings

Answers = Mapping[str, Sequence[float] | Sequence[str]]


def section(answers: Answers, **common: object) -> Section:
    rows: list[dict[str, object]] = [
        {"system": system, "value": value} for system, values in answers.items() for value in values
    ]
    (found,) = answer_distribution.sections(ratings(rows, **common))
    return found


def kinds(answers: Answers, **common: object) -> list[str]:
    return list(section(answers, **common).frame.columns[1:])


def test_a_slider_s_answers_are_bands_however_few_they_are() -> None:
    scale = {"level": "interval", "scale_low": 0, "scale_high": 100}
    found = section({"good": [62.6, 90, 100], "poor": [0, 19.9]}, **scale)
    assert list(found.frame.columns[1:]) == ["0 to 20", "60 to 80", "80 to 100"]
    assert found.title == "Q: good has the largest share of “80 to 100”, 67% of its 3 answers"
    assert found.frame[found.frame["system"] == "good"].to_numpy()[0].tolist() == ["good", 0, 1, 2]


@pytest.mark.parametrize(
    ("high", "values", "wanted"),
    [
        (11, [1, 2, 11], ["1", "2", "11"]),  # of 12 kinds at most there can be
        (12, [0, 1, 12], ["0 to 2.4", "9.6 to 12"]),
        (5, [1, 2.5, 5], ["1 to 1.8", "1.8 to 2.6", "4.2 to 5"]),  # between the points
    ],
)
def test_whole_numbers_of_a_short_scale_are_kinds(
    high: int, values: list[float], wanted: list[str]
) -> None:
    low = 1 if high == 5 else 0
    scale = {"level": "interval", "scale_low": low, "scale_high": high}
    assert kinds({"s": values}, **scale) == wanted


def test_points_of_an_ordinal_scale_and_words_are_kinds() -> None:
    assert kinds({"s": [1, 1.5, 2]}) == ["1", "1.5", "2"]
    assert kinds({"s": ["glad", "sad"]}, level="nominal") == ["glad", "sad"]


@pytest.mark.parametrize(("better", "first", "most"), [("high", "a", "“5”"), ("low", "b", "“1”")])
def test_the_better_system_is_first(better: str, first: str, most: str) -> None:
    found = section({"a": [5, 5, 1], "b": [1, 1, 5]}, better=better, scale_low=1, scale_high=5)
    assert found.title == f"Q: {first} has the largest share of {most}, 67% of its 3 answers"
    assert found.frame["system"].iloc[0] == first


@pytest.mark.parametrize("width", [charts.WIDTH, charts.WIDTH / 2])
def test_long_words_leave_the_bars_their_place(width: float) -> None:
    words = [f"{k} and more than anybody would read beside a bar of this width" for k in range(12)]
    found = section({"s": words, "t": words}, level="nominal")
    assert charts.chart(found, width=width) is not None  # a warning is an error here
