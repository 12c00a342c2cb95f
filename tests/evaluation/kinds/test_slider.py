"""Sliders: positions, ends, and the words at both."""

from __future__ import annotations

from typing import Any

import pytest

from evaluation import Anchor, InvalidAnswer, Shown, Slider

ENDS = (Anchor(position=-1, word="short"), Anchor(position=3, word="long"))
LENGTH = Slider(name="length", text="How long?", low=-1, high=3, step=0.5, anchors=ENDS)


@pytest.mark.parametrize(("raw", "value"), [("-1", -1), ("-0.25", -0.25), ("3", 3), ("1e-2", 0.01)])
def test_any_position_between_the_ends_is_an_answer(raw: str, value: float) -> None:
    assert LENGTH.parse(raw, Shown(())) == value


@pytest.mark.parametrize("raw", ["-1.01", "3.01", "", "nan", "1_0", "+1", "1,5"])
def test_another_is_refused_with_both_ends(raw: str) -> None:
    with pytest.raises(InvalidAnswer, match=r"^Move the slider between -1 \(short\) and 3 \(long"):
        LENGTH.parse(raw, Shown(()))


def test_one_step_is_what_an_arrow_key_moves() -> None:
    attributes = LENGTH.form_field(Shown(())).input
    assert attributes == {
        "type": "range",
        "min": "-1",
        "max": "3",
        "step": "0.5",
        "title": "-1 = short, 3 = long",
    }
    assert LENGTH.offer() == "any position from -1 to 3; -1 = short, 3 = long"
    assert LENGTH.words(0.25) == "0.25"


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"low": 3}, "low is 3; it must be below 3"),
        ({"step": 0}, "step is 0; it must be above 0, and 4 at most"),
        ({"step": 4.1}, "step is 4.1"),
        ({"anchors": ENDS[:1]}, "anchors are at -1; they must go up from -1 to 3"),
        ({"anchors": ENDS[::-1]}, "anchors are at 3, -1"),
        ({"anchors": ()}, "anchors are at ; they"),
    ],
)
def test_a_slider_that_cannot_be_read_is_refused(wrong: dict[str, Any], complaint: str) -> None:
    good: dict[str, Any] = {"low": -1, "high": 3, "step": 0.5, "anchors": ENDS}
    with pytest.raises(ValueError, match=f"question length: {complaint}"):
        Slider(name="length", text="How long?", **good | wrong)
