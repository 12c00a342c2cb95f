"""Explanations cut out of text at because."""

from __future__ import annotations

from pathlib import Path

import pytest

from bots.datasets import because
from bots.datasets.because import sentences, taken_apart
from bots.line_files import InvalidData


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("We stayed home because it rained hard.", ("We stayed home.", "It rained hard.")),
        ("Because it rained hard, we stayed home.", ("We stayed home.", "It rained hard.")),
        ("And we left early, because the bus was late.", ("We left early.", "The bus was late.")),
        ("It grows tall mainly because rain falls often.", ("It grows tall.", "Rain falls often.")),
        (
            "He smiled at me because he had won, but nobody saw it.",
            ("He smiled at me.", "He had won."),
        ),
    ],
)
def test_phenomenon_and_explanation(sentence: str, expected: tuple[str, str]) -> None:
    assert taken_apart(sentence) == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "We stayed home because of the rain.",
        "Did you stay home because it rained?",
        "This is because the lake was frozen.",
        "He did it not because he wanted to go.",
        "She left because he left because they left.",
        "No reason is given here.",
        "It grows tall because rain falls.",
        "Because.",
    ],
)
def test_what_patterns_cannot_tell_is_left_out(sentence: str) -> None:
    assert taken_apart(sentence) is None


def test_sentences_end_where_they_end() -> None:
    text = 'Dr. Lee came at 5.30 in the U.S. press car. "Why?" she asked. It was late!'
    assert list(sentences(text)) == [
        "Dr. Lee came at 5.30 in the U.S. press car.",
        '"Why?" she asked.',
        "It was late!",
    ]


def test_sample_text_with_and_without_context() -> None:
    plain, with_context = because.read(""), because.read(because.SUFFIX)
    assert len(plain) == len(with_context) == 17
    assert plain[0].turns[0].text == "People now drive to the city for bread."
    assert plain[0].turns[1].text == "The nearest bakery is twenty miles away."
    assert {len(each.turns) for each in plain} == {2}
    assert {len(each.turns) for each in with_context} <= set(range(2, 8))
    longest = max(with_context, key=lambda each: len(each.turns))
    assert len(longest.turns) == because.CONTEXT + 2
    said = [turn.text for each in plain for turn in each.turns]
    assert not [text for text in said if "because" in text.lower()]


def test_text_without_explanations_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("It rains. We go home.")
    with pytest.raises(InvalidData, match="no sentence of the form"):
        because.read(str(path))
