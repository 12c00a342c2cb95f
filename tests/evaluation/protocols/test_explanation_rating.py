"""NL-P9: five dimensions of an explanation, each a position from 0 to 1."""

from __future__ import annotations

import pytest

from evaluation import InvalidAnswers, Shown
from evaluation.registry import get_protocol

PROTOCOL = get_protocol("explanation_rating")
NAMES = ("goodness", "relatedness", "grammaticality", "helpfulness", "plausibility")


def test_five_sliders_in_the_papers_order_for_raters_of_one_arm() -> None:
    after = PROTOCOL.after
    assert after is not None
    assert tuple(question.name for question in after.each) == NAMES
    assert (after.over, after.show, after.keep, after.messages) == (
        "contexts", "one", "system", (1, 1)
    )  # fmt: skip
    for question in after.each:
        assert (question.kind, question.level, question.scale) == ("slider", "interval", (0, 1))
        assert question.meanings() == {"0": "extremely bad", "1": "extremely good"}


@pytest.mark.parametrize(("raw", "fits"), [("0", True), ("1", True), ("1.01", False), ("", False)])
def test_every_dimension_needs_a_position_from_0_to_1(raw: str, fits: bool) -> None:
    after = PROTOCOL.after
    assert after is not None
    answers = {f"e.{name}": "0.37" for name in NAMES} | {"e.helpfulness": raw}
    if fits:
        assert after.parse(answers, Shown(("e",)))["e", "helpfulness"] == float(raw)
        return
    with pytest.raises(InvalidAnswers) as refused:
        after.parse(answers, Shown(("e",)))
    assert set(refused.value.problems) == {"e.helpfulness"}
