"""The bundled small talk as a dataset."""

from __future__ import annotations

import pytest

from bots.datasets import demo
from bots.line_files import InvalidData


def test_splits_make_up_the_whole() -> None:
    parts = [dialogue for split in demo.SPLITS for dialogue in demo.read(split)]
    assert {dialogue.id for dialogue in parts} == {dialogue.id for dialogue in demo.read("all")}
    assert demo.read("") == demo.read("all")


def test_revised_changes_the_personas_and_nothing_else() -> None:
    for one, other in zip(demo.read("test"), demo.read("test:revised"), strict=True):
        assert one.turns == other.turns
        assert not set(one.persona) & set(other.persona)


def test_an_unknown_split_is_refused() -> None:
    with pytest.raises(InvalidData, match="must be one of train, valid, test"):
        demo.read("dev")
    with pytest.raises(InvalidData, match="demo:test:translated"):
        demo.read("test:translated")
