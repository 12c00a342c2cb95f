"""Contexts of a test in what a bot learned from: whole, in a row, and in one dialogue."""

from __future__ import annotations

import pytest

from bots.commands.overlap import overlaps
from bots.dialogue import Dialogue, Speaker, Utterance

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
