"""Trees of messages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bots.datasets import message_trees
from bots.line_files import InvalidData

ASKED = "What do you all grow in your garden?"
TREE: list[dict[str, object]] = [
    {"id": "c", "parent": "b", "author": "ann", "text": "Nice, mine never turn red."},
    {"id": "a", "parent": None, "author": "ann", "text": ASKED},
    {
        "id": "b",
        "parent": "a",
        "author": "bob",
        "text": f"> {ASKED}\nTomatoes, mostly.",
    },
    {"id": "d", "parent": "a", "author": "robot1", "text": "Beep says the machine."},
    {"id": "e", "parent": "d", "author": "cyd", "text": "Lost with the one above."},
    {"id": "f", "parent": "a", "author": "eve", "text": "Only weeds, I fear."},
]


def written(tmp_path: Path, lines: list[dict[str, object]]) -> str:
    path = tmp_path / "tree.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def test_dialogues_are_the_paths_that_are_left(tmp_path: Path) -> None:
    found = message_trees.read(written(tmp_path, TREE))
    assert [(each.id, [turn.speaker for turn in each.turns]) for each in found] == [
        ("c", ["self", "partner", "self"]),
        ("f", ["partner", "self"]),
    ]
    assert found[0].turns[1].text == "Tomatoes, mostly.", "without its copy of the parent"


def test_pairs_have_each_response_once(tmp_path: Path) -> None:
    found = message_trees.read_pairs(written(tmp_path, TREE))
    assert {each.id: len(each.history) for each in found} == {"b": 1, "c": 2, "f": 1}
    assert {each.dialogue for each in found} == {"a"}
    assert found[0].history[0].speaker == "partner"


def test_every_contradiction_is_named(tmp_path: Path) -> None:
    bad: list[dict[str, object]] = [
        *TREE,
        {"id": "a", "parent": None, "author": "ann", "text": "Again."},
        {"id": "x", "parent": "nobody", "author": "ann", "text": "Lost."},
        {"id": "y", "parent": "z", "author": "ann", "text": "Round."},
        {"id": "z", "parent": "y", "author": "ann", "text": "And round."},
    ]
    with pytest.raises(InvalidData) as refused:
        message_trees.read(written(tmp_path, bad))
    told = [problem.partition(": ")[2] for problem in refused.value.problems]
    assert told == [
        "message x: its parent 'nobody' is not in the file",
        "message a: is there twice",
        "message y: is above itself",
        "message z: is above itself",
    ]


def test_every_bad_line_is_named(tmp_path: Path) -> None:
    bad: list[dict[str, object]] = [
        {**TREE[1], "parent": 3},
        {**TREE[1], "flagged": "yes"},
        {**TREE[1], "text": ""},
    ]
    with pytest.raises(InvalidData) as refused:
        message_trees.read(written(tmp_path, bad))
    assert len(refused.value.problems) == 3
