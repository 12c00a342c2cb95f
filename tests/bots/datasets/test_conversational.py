"""Contexts and responses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bots import Dialogue, Utterance, get_dataset
from bots.datasets import conversational
from bots.datasets.conversational import AnsweredMessage, answered, part, trimmed
from bots.line_files import InvalidData, write_records

TEXTS = ("How was your week?", "Long, I painted the barn.", "All of it on your own?")


def dialogue(*texts: str) -> Dialogue:
    turns = (Utterance("self" if k % 2 else "partner", text) for k, text in enumerate(texts))
    return Dialogue("d", tuple(turns))


def test_extra_contexts_count_backwards() -> None:
    found = list(answered([dialogue(*TEXTS, "My brother held the ladder.")]))
    last = max(found, key=lambda each: len(each.extras))
    assert last.record == {
        "context/1": TEXTS[0],
        "context/0": TEXTS[1],
        "context": TEXTS[2],
        "response": "My brother held the ladder.",
    }
    assert len(found) == 3, "both sides"


def test_what_is_written_is_read_back_the_same(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    found = list(answered(get_dataset("demo").read("valid")))
    write_records([each.record for each in found], path)
    assert conversational.read_answered(str(path)) == found
    first = conversational.read(str(path))[0]
    assert first.turns[-1] == Utterance("self", found[0].response)
    assert first.turns[-2] == Utterance("partner", found[0].context)


def test_lengths_of_9_to_128_are_used() -> None:
    for length, fits in ((8, False), (9, True), (128, True), (129, False)):
        text = "a" * length
        assert bool(list(answered([dialogue(TEXTS[0], text)]))) is fits
        assert bool(list(answered([dialogue(text, TEXTS[0])]))) is fits


def test_extra_contexts_are_cut_between_words() -> None:
    long = " ".join(f"word{k}" for k in range(60))
    cut = trimmed(long)
    assert len(cut) <= 128
    assert long.endswith(" " + cut)
    assert trimmed("short enough") == "short enough"
    assert trimmed("a" * 200) == "", "one word that is too long"
    assert trimmed("b" * 3 + " " + "c" * 128) == "c" * 128
    (found,) = (each for each in answered([dialogue(long, *TEXTS[:2])]) if each.extras)
    assert found.extras == (cut,)


def test_the_same_split_comes_out_twice_and_is_about_a_tenth() -> None:
    keys = [f"thread {k}" for k in range(5000)]
    first = [part(key) for key in keys]
    assert first == [part(key) for key in keys]
    assert first.count("test") / 5000 == pytest.approx(0.1, abs=0.015)
    assert [part(key) for key in ("thread 0", "thread 6", "thread 40")] == [
        "train",
        "train",
        "train",
    ], "as on any other machine"


def test_every_bad_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    good = AnsweredMessage("How are you?", "Quite well.").record
    bad = [good, {**good, "context/1": "no 0"}, {"context": "x"}, {**good, "context/0": ""}]
    path.write_text("".join(json.dumps(line) + "\n" for line in bad))
    with pytest.raises(InvalidData) as refused:
        conversational.read(str(path))
    assert len(refused.value.problems) == 3
    assert "extra contexts are context/1" in refused.value.problems[0]
