"""NL-P5: two questions about two responses, each with neither."""

from __future__ import annotations

import pytest

from evaluation import InvalidAnswers, Shown
from evaluation.registry import get_protocol

PROTOCOL = get_protocol("coherency_pairs")
TWO = Shown(("x", "y"))
CRITERIA = ("word_coherency", "dialogue_continuity")


def test_ten_workers_compare_every_two_systems_after_short_dialogues() -> None:
    after = PROTOCOL.after
    assert after is not None
    assert (after.show, after.votes, after.with_first, after.messages) == (
        "pairs",
        10,
        False,
        (1, 4),
    )
    assert tuple(question.name for question in after.questions) == CRITERIA


def test_both_questions_offer_a_b_and_neither() -> None:
    assert PROTOCOL.after is not None
    for question in PROTOCOL.after.together:
        options = question.form_field(TWO).options
        assert [option.word for option in options] == ["Response A", "Response B", "neither"]


def test_the_questions_are_answered_apart() -> None:
    assert PROTOCOL.after is not None
    raw = {"together.word_coherency": "neither", "together.dialogue_continuity": "y"}
    assert PROTOCOL.after.parse(raw, TWO) == {
        ("x", "word_coherency"): "neither",
        ("y", "word_coherency"): "neither",
        ("x", "dialogue_continuity"): "lost",
        ("y", "dialogue_continuity"): "won",
    }


@pytest.mark.parametrize("lacking", CRITERIA)
def test_each_criterion_needs_exactly_one_option(lacking: str) -> None:
    assert PROTOCOL.after is not None
    raw = {f"together.{name}": "x" for name in CRITERIA if name != lacking}
    with pytest.raises(InvalidAnswers) as refused:
        PROTOCOL.after.parse(raw, TWO)
    assert set(refused.value.problems) == {f"together.{lacking}"}
