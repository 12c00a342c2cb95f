"""Dialogues of three messages."""

from __future__ import annotations

from pathlib import Path

import pytest

from bots import get_dataset
from bots.datasets import reddit_turns
from bots.line_files import InvalidData


def test_reads_three_messages_a_line(tmp_path: Path) -> None:
    path = tmp_path / "triples.tsv"
    path.write_text("I like tea.\tGreen or black?\tBlack, with milk.\n\nOne\tTwo\tThree\n")
    one, two = reddit_turns.read(str(path))
    assert [turn.speaker for turn in one.turns] == ["self", "partner", "self"]
    assert [turn.text for turn in two.turns] == ["One", "Two", "Three"]
    assert (one.id, two.id) == ("1", "3")


def test_dialogues_are_cut_into_triples_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "triples.tsv"
    dialogues = get_dataset("demo").read("valid")
    found = list(reddit_turns.triples(dialogues))
    assert len(found) == sum(len(each.turns) - 2 for each in dialogues)
    lines = ["\t".join(" ".join(turn.text.split()) for turn in each.turns) for each in found]
    path.write_text("\n".join(lines), "utf-8")
    assert [each.turns for each in reddit_turns.read(str(path))] == [each.turns for each in found]


def test_every_bad_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "bad.tsv"
    path.write_text("One\tTwo\tThree\nOne\tTwo\nOne\t \tThree\nA\tB\tC\tD\n")
    with pytest.raises(InvalidData) as refused:
        reddit_turns.read(str(path))
    assert [problem.split("line ")[1][0] for problem in refused.value.problems] == ["2", "3", "4"]
