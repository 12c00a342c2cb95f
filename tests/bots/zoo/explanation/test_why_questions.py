"""The rule that turns why-questions into statements."""

from __future__ import annotations

import pytest

from bots.zoo.explanation.why_questions import statement


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Why did she sell the car?", "She sold the car."),
        ("Why do you like tea?", "You like tea."),
        ("Why does the dog bark at night?", "The dog barks at night."),
        ("Why does she carry it?", "She carries it."),
        ("Why is he so sad today?", "He is so sad today."),
        ("So why are my plants dying?", "My plants are dying."),
        ("Why can't we go home?", "We can't go home."),
        ("Why don’t you eat meat?", "You don't eat meat."),
        ("Why did the bus stop here?", "The bus stopped here."),
        ("why did they move", "They moved."),
    ],
)
def test_subject_first_and_the_verb_takes_the_tense(question: str, said: str) -> None:
    assert statement(question) == said


@pytest.mark.parametrize("text", ["", "Why?", "Why not?", "How did she know?", "I wonder why."])
def test_anything_else_is_no_why_question(text: str) -> None:
    assert statement(text) is None
