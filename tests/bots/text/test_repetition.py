"""The measures of the cross-turn repetition rule."""

from __future__ import annotations

import json

import pytest

from bots.text.repetition import (
    RepetitionRule,
    likeness,
    longest_run,
    longest_subsequence,
    most_alike,
)
from tests.conftest import SHARED

CHATS = SHARED / "meena_conversations"
EXAMPLES = SHARED / "meena_repetition" / "tables_5_6.json"
TURNS = [
    "Do you like to watch movies?",
    "What kind of movies do you like?",
    "I like all kinds of movies.",
    "Do you like to watch movies at home?",  # the first, and more
    "Yes.",
    "Yes.",  # too short to be counted
    "What kind of books do you like?",  # 6 of 7 words of the second
    "My sister has a boat.",
]


def test_runs_have_no_gaps_and_subsequences_may() -> None:
    one, other = ["a", "b", "c", "x", "d", "e"], ["a", "b", "c", "d", "e"]
    assert longest_run(one, other) == longest_run(other, one) == 3
    assert longest_subsequence(one, other) == longest_subsequence(other, one) == 5
    assert likeness(one, other) == 1.0
    assert longest_run([], one) == longest_subsequence(one, []) == 0
    assert likeness([], one) == 0.0
    assert longest_run(["b", "a"], ["a", "b"]) == 1


def test_turns_that_repeat_an_earlier_one_are_flagged() -> None:
    flagged = [
        turn for turn, told in zip(TURNS, RepetitionRule().flagged(TURNS), strict=True) if told
    ]
    assert flagged == [TURNS[3], TURNS[6]]
    assert RepetitionRule().flagged([]) == []


def test_each_threshold_counts() -> None:
    one, other = "I have a red car now", "now I have a red car here today"
    assert RepetitionRule(run=5, share=1.1).broken(one, other)
    assert not RepetitionRule(run=6, share=1.1).broken(one, other)
    assert RepetitionRule(run=9, share=0.8).broken(one, other)  # 5 of 6 tokens
    assert not RepetitionRule(run=9, share=0.9).broken(one, other)
    assert RepetitionRule(run=9, least=3).broken("so am I", "so am I")
    assert not RepetitionRule(run=9, least=4).broken("so am I", "so am I")
    assert RepetitionRule().broken("HOW ARE YOU, FRIEND?", "how are you , friend ?")


def test_how_alike_a_text_is_to_the_nearest() -> None:
    assert most_alike("a b c d", ["x y", "a x c"]) == pytest.approx(2 / 3)
    assert most_alike("a b", []) == 0.0


def test_on_published_chats_few_turns_are_flagged() -> None:
    """The full model, which had such a rule, against people; the counts are our own measurement."""
    if not CHATS.is_dir():
        pytest.skip("the published conversations are not beside the repository")
    bot, people = counted("meena.txt", "Meena"), counted("human.txt", "Human 1")
    assert bot == (29, 909)
    assert people == (3, 762)
    assert people[0] / people[1] < bot[0] / bot[1]


def test_both_printed_examples_are_flagged_as_often_as_the_paper_shows() -> None:
    """Adiwardana et al. 2020, tables 5 and 6: 6 of 10 and 5 of 13 turns of the bot."""
    if not EXAMPLES.is_file():
        pytest.skip("the printed examples are not beside the repository")
    assert [(sum(flags), len(flags)) for flags in printed_flags()] == [(6, 10), (5, 13)]


def test_marks_and_the_shape_of_an_apostrophe_make_no_difference() -> None:
    one, other = "I\u2019d love to go to Japan too.", "I'd love to go to japan, too"
    assert RepetitionRule(run=7).broken(one, other)
    assert not RepetitionRule(run=8, share=1.1).broken(one, other)


def printed_flags() -> list[list[bool]]:
    """Return for each printed example which of the bot's turns the rule flags."""
    return [
        RepetitionRule().flagged(
            [turn["text"] for turn in each["turns"] if turn["speaker"] == "meena"]
        )
        for each in json.loads(EXAMPLES.read_text("utf-8"))
    ]


def counted(file: str, speaker: str) -> tuple[int, int]:
    """Return how many of a speaker's turns are flagged, and how many there are."""
    flags = []
    for chat in (CHATS / file).read_text("utf-8").split("\n\n"):
        said = [each.partition(": ") for each in chat.splitlines()]
        flags += RepetitionRule().flagged([text for who, _, text in said if who == speaker])
    return sum(flags), len(flags)
