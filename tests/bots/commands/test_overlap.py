"""Contexts of a test in what a bot learned from: whole, in a row, and in one dialogue."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

import pytest

from bots.commands.overlap import command, overlaps
from bots.dialogue import Dialogue, Speaker, Utterance
from bots.line_files import InvalidData

LEARNED = ("Hi!", "How are you?", "Well, thanks.")


def dialogue(name: str, *texts: str) -> Dialogue:
    sides: tuple[Speaker, Speaker] = ("partner", "self")
    return Dialogue(name, tuple(Utterance(sides[n % 2], text) for n, text in enumerate(texts)))


@pytest.mark.parametrize(
    ("texts", "is_there"),
    [
        (LEARNED, True),
        (("how are YOU", "Well thanks"), True),
        (("Well, thanks.",), True),
        (("How are you?", "Well, thank you."), False),
        (("Hi!", "Well, thanks."), False),
        (("Well, thanks.", "Another."), False),
        ((*LEARNED, "Another."), False),
    ],
)
def test_a_context_is_found_whole_and_in_a_row(texts: tuple[str, ...], is_there: bool) -> None:
    learned = [dialogue("one", *LEARNED), dialogue("two", "Another.")]
    found = overlaps([dialogue("c", *texts)], learned)
    assert found == ([("c", "one")] if is_there else [])


def test_contexts_without_words_are_refused_each_by_name(
    capsys: pytest.CaptureFixture[str],
) -> None:
    held = {
        "learned": [dialogue("one", *LEARNED)],
        "empty": [dialogue("none"), dialogue("dots", "...", "?!")],
        "good": [dialogue("word", "?!", "Hi")],
    }

    def read(names: Iterable[str]) -> list[Dialogue]:
        return [each for name in names for each in held[name]]

    with pytest.raises(InvalidData) as refused:
        command(argparse.Namespace(contexts=["empty", "good"], data=["learned"]), read)
    found = [f"{name} has no words" in str(refused.value) for name in ("none", "dots", "word")]
    assert found == [True, True, False]
    command(argparse.Namespace(contexts=["good"], data=["learned"]), read)
    assert capsys.readouterr().out == "0 of 1 contexts stand in 1 dialogues\n"
