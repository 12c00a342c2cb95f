"""Contexts as a tree: orphans are refused by line, answers and tags are kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bots import safe
from bots.datasets import context_tree
from bots.line_files import InvalidData

Given = dict[str, object]


def _file(path: Path, *records: Given) -> str:
    path.write_text("\n".join(map(json.dumps, records)) + "\n", encoding="utf-8")
    return str(path)


def test_the_set_of_the_package_is_a_tree() -> None:
    nodes = context_tree.tree("")
    assert context_tree.depths(nodes) == {1: 8, 2: 8, 3: 8}
    by_id = {node.dialogue.id: node for node in nodes}
    for node in nodes:
        texts = [turn.text for turn in node.dialogue.turns]
        assert all(map(safe, texts))
        if node.depth > 1:
            parent = by_id[str(node.extends)]
            assert [turn.text for turn in parent.dialogue.turns] == texts[:-1]
        else:
            assert node.extends is None
    told = [node for node in nodes if "personality" in node.tags]
    assert len(told) == 12
    assert {node.answer for node in told if node.depth < 3} == {None}
    assert all(node.answer == node.dialogue.turns[1].text for node in told if node.depth == 3)


def test_the_shape_of_the_benchmark_is_counted(tmp_path: Path) -> None:
    # MEENA, section 2.2: 315 + 500 + 662 = 1,477
    wide: list[Given] = [{"id": f"a{k}", "messages": [f"x{k}"]} for k in range(315)]
    wide += [{"id": f"b{k}", "messages": [f"x{k % 315}", f"y{k}"]} for k in range(500)]
    for k in range(662):
        two = k % 500
        wide.append({"id": f"c{k}", "messages": [f"x{two % 315}", f"y{two}", f"z{k}"]})
    counts = context_tree.depths(context_tree.tree(_file(tmp_path / "mtb.jsonl", *wide)))
    assert counts == {1: 315, 2: 500, 3: 662}
    assert sum(counts.values()) == 1477


def test_orphans_and_doubles_are_refused_by_line(tmp_path: Path) -> None:
    records: list[Given] = [
        {"id": "a", "messages": ["1"]},
        {"id": "b", "messages": ["1", "2"]},
        {"id": "c", "messages": ["1", "3", "4"]},  # only its first message is a context
        {"id": "d", "messages": ["5", "6"]},
        {"id": "a", "messages": ["7"]},
        {"id": "e", "messages": ["1", "2"]},
    ]
    with pytest.raises(InvalidData) as refused:
        context_tree.tree(_file(tmp_path / "x.jsonl", *records))
    lines = [problem.split(", line ")[1].split(":")[0] for problem in refused.value.problems]
    assert lines == ["1", "3", "4", "5", "6"]
    assert "c has 3 messages, but no context has all of these but the last" in str(refused.value)
    with pytest.raises(InvalidData, match="at most 3"):
        context_tree.tree(_file(tmp_path / "x.jsonl", {"id": "a", "messages": list("1234")}))


def test_the_answer_to_agree_with_is_a_message_of_the_side_that_replies(tmp_path: Path) -> None:
    base: list[Given] = [{"id": "a", "messages": ["1"]}, {"id": "b", "messages": ["1", "2"]}]
    third: Given = {"id": "c", "messages": ["1", "2", "3"], "tags": ["personality", "food"]}
    node = context_tree.tree(_file(tmp_path / "x.jsonl", *base, third))[2]
    assert (node.extends, node.tags, node.answer) == ("b", ("personality", "food"), "2")
    plain = {**third, "tags": ["food"]}
    assert context_tree.tree(_file(tmp_path / "x.jsonl", *base, plain))[2].answer is None
    told = {**plain, "answer": "2"}
    assert context_tree.tree(_file(tmp_path / "x.jsonl", *base, told))[2].answer == "2"
    with pytest.raises(InvalidData, match="line 3: answer is '3', but must be a message of the"):
        context_tree.tree(_file(tmp_path / "x.jsonl", *base, {**third, "answer": "3"}))


def test_what_is_no_tree_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    with pytest.raises(InvalidData, match="dialogue t09"):
        context_tree.write(context_tree.read("")[8:10], path)
    swapped = [each.swapped() for each in context_tree.read("")]
    with pytest.raises(InvalidData, match="partner last"):
        context_tree.write(swapped, path)
    assert not path.exists()
