"""A plan's words and values hold, whatever a protocol's file says later."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from evaluation import Chat, Choice, ChoiceOption, Draw, Likert, Protocol, Rate
from evaluation.frozen import as_planned
from evaluation.registry import get_protocol, protocol_names
from evaluation.words import Words, texts


def planned(protocol: Protocol) -> dict[str, Any]:
    """Return a protocol as a plan has it."""
    found = dict(json.loads(json.dumps(dataclasses.asdict(protocol), default=str)))
    for step, about in zip(protocol.steps, found["steps"], strict=True):
        about["step"] = type(step).__name__.lower()
    return found


def toy(**changes: Any) -> Protocol:
    """Return a small protocol; `changes` are of its parts."""
    options = tuple(ChoiceOption(value=value, word=f"grade {value}") for value in (0, 1))
    defaults: dict[str, Any] = {
        "instructions": ("Chat.", "Rate."),
        "told": "A program.",
        "minimum": Draw((4, 6)),
        "maximum": None,
        "text": "How funny?",
        "options": options,
    }
    found = defaults | changes
    return Protocol(
        name="toy",
        title="Toy",
        source="this test",
        minutes=1,
        instructions=found["instructions"],
        steps=(
            Chat(
                partner="bot",
                told=found["told"],
                minimum=found["minimum"],
                maximum=found["maximum"],
            ),
            Rate(
                each=(
                    Likert(name="funny", text=found["text"], points=("no", "yes")),
                    Choice(name="grade", text="Which?", options=found["options"]),
                )
            ),
        ),
    )


@pytest.mark.parametrize("name", protocol_names())
def test_a_plan_of_today_changes_nothing_and_keeps_the_provenance(name: str) -> None:
    protocol = get_protocol(name)
    again = as_planned(protocol, planned(protocol))
    assert again == protocol
    assert all(isinstance(text, Words) for _, text in texts(again))


@pytest.mark.parametrize(
    "changes",
    [
        {"instructions": ("Chat.", "Rate.", "Be kind.")},
        {"instructions": ("Chat.",)},
        {"told": "A person."},
        {"minimum": Draw((4, 6, 8))},
        {"maximum": 20},
        {"text": "How funny!"},
        {"options": (ChoiceOption(value=0, word="none"), ChoiceOption(value=1, word="grade 1"))},
    ],
)
def test_what_a_file_says_later_does_not_matter(changes: dict[str, Any]) -> None:
    then, now = toy(), toy(**changes)
    assert as_planned(now, planned(then)) == then
    assert as_planned(then, planned(now)) == now


def test_other_questions_are_those_of_today() -> None:
    """Their answers would not be understood otherwise."""
    now = toy(options=tuple(ChoiceOption(value=value, word="?") for value in (0, 1, 2)))
    (choice,) = (each for each in as_planned(now, planned(toy())).rates[0].each[1:])
    assert choice == now.rates[0].each[1]


def test_what_an_older_plan_does_not_have_is_as_today() -> None:
    old = planned(toy())
    del old["steps"][0]["conversations"]
    del old["steps"][1]["each"][0]["help"]
    del old["instructions"]
    assert as_planned(toy(told="A person."), old) == toy()
    assert as_planned(toy(), {}) == toy()
