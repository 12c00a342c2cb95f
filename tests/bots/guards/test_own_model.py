"""Rules for the words of a user's own model: off unless an option says otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from bots.guards.own_model import OwnModel

CODE = "```python\nx = [i for i in range(3)]\n```\n\n1. one\n2. two"
WORDS = [
    CODE,
    "jag är i Sverige i dag",
    "I studied World War II, especially the rise of the Nazis.",
    "If you are thinking about suicide, please call 988: https://988lifeline.org",
    " leading and trailing \n",
    "مرحبا 👋🏽 a\u200db",
]


@pytest.mark.parametrize("raw", WORDS)
def test_words_arrive_as_they_were_written(raw: str) -> None:
    reply = OwnModel().checked(raw, finish="stop")
    assert (reply.text, reply.raw, reply.events) == (raw, raw, ())


@pytest.mark.parametrize(
    ("raw", "text", "reasoning"),
    [
        ("<think>Be nice.</think>\n\nHello!", "Hello!", "Be nice."),
        ("Be nice.\n</think>Hello!", "Hello!", "Be nice."),
        ("Hi<think>a</think> you<think>b</think>", "Hiyou", "a\n\nb"),
        ("<think>never ends", "", "never ends"),
    ],
)
def test_reasoning_is_kept_apart(raw: str, text: str, reasoning: str) -> None:
    reply = OwnModel().checked(raw)
    assert (reply.text, reply.raw, reply.reasoning) == (text, raw, reasoning)
    assert reply.events[0] == "reasoned"
    assert ("empty" in reply.events) == (not text)


@pytest.mark.parametrize(
    ("options", "text", "events"),
    [
        ({}, "One. Two! And th", ("cut",)),
        ({"on_cut": "trim"}, "One. Two!", ("cut", "trimmed")),
        ({"on_cut": "again"}, "", ("cut",)),
    ],
)
def test_a_cut_reply_follows_its_policy(
    options: dict[str, Any], text: str, events: tuple[str, ...]
) -> None:
    reply = OwnModel(**options).checked("One. Two! And th", finish="length")
    assert (reply.text, reply.raw, reply.events) == (text, "One. Two! And th", events)
    assert ("error" in reply.details) == (not text)


def test_a_cut_reply_without_a_whole_sentence_stays() -> None:
    assert OwnModel(on_cut="trim").checked("And th", finish="length").text == "And th"


def test_tokens_are_joined_where_that_is_wanted() -> None:
    reply = OwnModel(display="tidied").checked("i like tea .")
    assert (reply.text, reply.raw, reply.events) == ("I like tea.", "i like tea .", ("altered",))
