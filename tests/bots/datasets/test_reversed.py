"""Datasets read backwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from bots import Dialogue, Utterance, get_dataset
from bots.datasets import jsonl
from bots.line_files import InvalidData

SAID = Dialogue("1", (Utterance("partner", "Hi?"), Utterance("self", "Yes!")), ("I say yes.",))


def test_what_came_last_comes_first(tmp_path: Path) -> None:
    jsonl.write([SAID], tmp_path / "data")
    (there,) = get_dataset("reversed").read(f"jsonl:{tmp_path / 'data'}")
    assert there == Dialogue("1", SAID.turns[::-1], SAID.persona)
    (again,) = get_dataset("reversed").read(f"reversed:jsonl:{tmp_path / 'data'}")
    assert again == SAID


@pytest.mark.parametrize("source", ["data.txt", "nothing:data.txt"])
def test_a_path_without_a_known_kind_is_refused(source: str) -> None:
    with pytest.raises(InvalidData, match=source):
        get_dataset("reversed").read(source)
