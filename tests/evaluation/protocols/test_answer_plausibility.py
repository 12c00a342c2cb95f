"""NL-P10: a question, a system's answer, and three options."""

from __future__ import annotations

import pytest

from evaluation import InvalidAnswers, Shown
from evaluation.registry import get_protocol

PROTOCOL = get_protocol("answer_plausibility")


def test_pairs_are_judged_by_one_person_each_with_the_options_of_the_paper() -> None:
    after = PROTOCOL.after
    assert after is not None
    (question,) = after.each
    assert PROTOCOL.chat is None
    assert (after.over, after.votes, question.level) == ("contexts", 1, "nominal")
    words = [option.word for option in question.form_field(Shown(())).options]
    assert words == ["yes", "no", "can’t tell"]


def test_not_being_able_to_tell_is_an_answer_of_its_own() -> None:
    after, shown = PROTOCOL.after, Shown(("r",))
    assert after is not None
    assert after.parse({"r.plausible": "can't tell"}, shown) == {("r", "plausible"): "can't tell"}
    with pytest.raises(InvalidAnswers, match=r"r\.plausible: Choose one of the three"):
        after.parse({"r.plausible": ""}, shown)


def test_more_people_may_be_asked_about_a_pair() -> None:
    after = PROTOCOL.change({"rate.votes": 3}).after
    assert after is not None
    assert after.votes == 3
