"""JSON Lines of dialogues."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bots import Dialogue, Utterance
from bots.datasets import jsonl
from bots.line_files import InvalidData


def test_keeps_personas_and_candidates(tmp_path: Path) -> None:
    turns = (Utterance("partner", "Hi"), Utterance("self", "Hello", ("Hello", "No")))
    dialogue = Dialogue("a", turns, ("I am.",), ("You are.",))
    jsonl.write([dialogue], tmp_path / "d.jsonl")
    assert jsonl.read(str(tmp_path / "d.jsonl")) == [dialogue]


def test_every_bad_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    good = {"id": "g", "turns": [{"speaker": "self", "text": "Hi"}]}
    bad: list[object] = [
        good,
        {**good, "id": ""},
        [],
        {**good, "turns": []},
        {**good, "turns": [{"speaker": "me", "text": "Hi"}]},
        {**good, "turns": [{"speaker": "self", "text": 3}]},
        {**good, "persona": "I am."},
    ]
    path.write_text("\n".join(map(json.dumps, bad)) + "\n{broken\n")
    with pytest.raises(InvalidData) as refused:
        jsonl.read(str(path))
    told = [problem.removeprefix(f"{path}, line ") for problem in refused.value.problems]
    assert [line[0] for line in told] == ["2", "3", "4", "5", "6", "7", "8"]
    assert "speaker is 'me', but must be self or partner" in told[3]
    assert "turn 1: text is 3, but must be text" in told[4]


def test_reads_a_real_collection(shared_data: Path) -> None:
    dialogues = jsonl.read(str(shared_data / "personachat_dev" / "dialogues.jsonl"))
    assert len(dialogues) == 1000
    assert sum(turn.speaker == "self" for each in dialogues for turn in each.turns) == 7316
    assert {len(dialogue.persona) for dialogue in dialogues} <= {3, 4, 5}
