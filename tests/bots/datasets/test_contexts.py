"""Fixed contexts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from bots import safe
from bots.datasets import contexts
from bots.line_files import InvalidData


def test_the_set_of_the_package_has_the_shape_of_the_benchmark() -> None:
    bundled = contexts.read("")
    assert Counter(len(each.turns) for each in bundled) == {1: 40, 2: 60, 3: 80}
    assert all(each.turns[-1].speaker == "partner" for each in bundled)
    assert len({tuple(turn.text for turn in each.turns) for each in bundled}) == 180
    assert all(safe(turn.text) for each in bundled for turn in each.turns)
    asked = sum(each.turns[-1].text.endswith("?") for each in bundled)
    assert 45 <= asked <= 135  # neither all questions nor none


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text('{"id": "a", "messages": ["Hi!", "Hello.", "How are you?"]}\n')
    (context,) = contexts.read(str(path))
    assert [turn.speaker for turn in context.turns] == ["partner", "self", "partner"]
    path.write_text('{"id": "a", "messages": ["1", "2", "3", "4"]}\n{"id": "b", "messages": []}\n')
    with pytest.raises(InvalidData) as refused:
        contexts.read(str(path))
    assert len(refused.value.problems) == 2
