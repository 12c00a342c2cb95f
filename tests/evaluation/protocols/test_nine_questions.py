"""X-P2: nine questions in their order, with scales of three and four options."""

from __future__ import annotations

import pytest

from evaluation.registry import get_protocol

PROTOCOL = get_protocol("nine_questions")


def test_the_nine_questions_stand_in_their_order_with_their_numbers_of_options() -> None:
    assert PROTOCOL.after is not None
    *asked, persona = PROTOCOL.after.each
    assert {question.name: len(question.meanings()) for question in asked} == {
        "enjoyment": 4,
        "interestingness": 4,
        "inquisitiveness": 4,
        "listening": 4,
        "repetitiveness": 3,
        "fluency": 4,
        "sense": 4,
        "humanness": 4,
    }
    assert [question.level for question in asked] == ["ordinal"] * 8
    assert persona.personas_beside() == 1


@pytest.mark.parametrize(
    ("name", "best"),
    [
        ("interestingness", "very interesting"),
        ("listening", "always"),
        ("repetitiveness", "something new"),
        ("sense", "everything made sense"),
        ("humanness", "A person, I am sure"),
    ],
)
def test_the_highest_grade_is_the_best_wherever_it_stands(name: str, best: str) -> None:
    assert PROTOCOL.after is not None
    question = PROTOCOL.after.question(name)
    assert question.scale is not None
    assert best in question.meanings()[f"{question.scale[1]:g}"]


def test_the_highest_grade_of_trying_to_know_somebody_is_too_much() -> None:
    assert PROTOCOL.after is not None
    assert "more than I liked" in PROTOCOL.after.question("inquisitiveness").meanings()["4"]


def test_six_turns_each_begun_by_whom_chance_names() -> None:
    chat = PROTOCOL.chat
    assert chat is not None
    assert (chat.first, chat.opening) == ("draw", "")
    assert (chat.minimum.options, chat.maximum) == ((12,), 12)
    assert "chat.opening" not in [setting.name for setting in PROTOCOL.settings()]
