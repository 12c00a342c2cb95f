"""Rows of answers, and the command that writes them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from analysis import read
from analysis.metrics.perplexity import perplexity as of_table
from analysis.metrics.word_f1 import word_f1
from bots import Reply, Utterance, get_bot, get_dataset
from bots.__main__ import main
from bots.bot import Bot
from bots.commands.answers import answer
from bots.commands.predictions import Task
from bots.generation.perplexity import dictionary
from bots.line_files import write_records


class Uniform:
    """Says the same to everything, and finds every word equally likely."""

    def __init__(self, words: Sequence[str]) -> None:
        self.chances = dict.fromkeys(words, 1 / len(words))

    def respond(self, persona: Sequence[str], history: Sequence[Utterance]) -> Reply:
        return Reply(f"I heard {len(history)} and know {len(persona)}.")

    def next_word(
        self, persona: Sequence[str], history: Sequence[Utterance], prefix: Sequence[str]
    ) -> Mapping[str, float]:
        return self.chances


def test_rows_are_a_table_that_metrics_read(tmp_path: Path) -> None:
    dialogues = get_dataset("demo").read("valid")[:5]
    known = dictionary(get_dataset("demo").read("train"))
    rows = list(answer(Uniform(sorted(known)), "uniform", dialogues, Task("demo"), known))
    assert rows[0]["response"] == "I heard 2 and know 5."
    write_records(rows, tmp_path / "rows.jsonl")
    table = read(tmp_path / "rows.jsonl").predictions
    assert table is not None
    assert of_table(table)["estimate"].iloc[0] == pytest.approx(len(known))
    assert len(word_f1(table)) == 1


def test_without_a_dictionary_or_a_language_model_there_are_no_log_probs() -> None:
    dialogues = get_dataset("demo").read("valid")[:2]
    parrot = get_bot("parrot")
    assert isinstance(parrot, Bot)
    known = frozenset({"i"})
    rows = [*answer(parrot, "parrot", dialogues, Task("demo", persona="none"), known)]
    rows += answer(Uniform(["i"]), "uniform", dialogues, Task("demo"))
    assert {row["log_probs"] for row in rows} == {None}


def test_a_word_without_a_chance_is_infinite() -> None:
    dialogues = get_dataset("demo").read("valid")[:1]
    known = dictionary(dialogues)
    rows = list(answer(Uniform(["nothing"]), "s", dialogues, Task("demo", limit=1), known))
    assert len(rows) == 1
    assert set(rows[0]["log_probs"]) == {-math.inf}


def test_the_command_writes_rows_and_says_how_many(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "new" / "rows.jsonl"
    given = ["answer", "generic", "--data", "demo:valid", "--limit", "7", "--out", str(out)]
    assert main(given) == 0
    assert capsys.readouterr().out == f"generic: 7 answers; {out}\n"
    assert len(out.read_text().splitlines()) == 7
    assert main([*given[:2], "--data", "demo:nothing", "--out", str(out)]) == 2
    assert "demo:nothing" in capsys.readouterr().err
