"""Perplexity per word of several models over one dictionary, and the tables made of it."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from bots import examples
from bots.commands.benchmark import run
from bots.commands.benchmark_data import BenchmarkData, Split
from bots.generation.ngram_counts import counted
from bots.generation.perplexity import perplexity
from bots.generation.shared_dictionary import scored, shared_words, surprises
from bots.text.vocabulary import learn_words
from tests.bots.examples import demo, trained

TEXTS = [turn.text for each in demo("train") for turn in each.turns]
TINY = {
    "words": 300,
    "examples": 12,
    "epochs": 1,
    "batch": 6,
}


def test_models_are_asked_for_words_that_all_know() -> None:
    one, other = trained("seq2seq"), trained("generative_profile_memory")
    known = shared_words([one, other])  # type: ignore[list-item]
    assert known <= set(one.model.codec.words)  # type: ignore[attr-defined]
    assert known <= set(other.model.codec.words)  # type: ignore[attr-defined]
    asked = list(examples(demo("test")))[:40]
    found = surprises(one.model, asked, known)  # type: ignore[attr-defined]
    assert len(found) == 40
    assert 0.5 < scored(found) < 1
    assert 1 < perplexity(found) < len(known)


def test_single_words_are_as_likely_as_they_are_frequent() -> None:
    codec = learn_words(["a a b", "c"])
    model = counted((), codec, order=1, share=0.0, added=1)
    asked = replace(next(examples(demo("test"))), reply="a z")
    told, unknown = surprises(model, [asked], frozenset(codec.words))[0]
    assert told == pytest.approx(math.log(1 / 3), abs=1e-5)
    assert unknown is None


def test_three_words_foresee_more_than_one() -> None:
    codec = learn_words(TEXTS)
    asked = list(examples(demo("test")))[:60]
    known = frozenset(codec.words)
    one, three = (
        perplexity(surprises(counted(demo("train"), codec, n, 0.0, added=1), asked, known))
        for n in (1, 3)
    )
    assert three < 0.8 * one


def test_sizes_are_compared_over_one_dictionary(tmp_path: Path) -> None:
    split = Split(demo("train")[:20], demo("test"))
    here = BenchmarkData("demo", {"original": split}, tmp_path, limit=10, options={"meena": TINY})
    (table,) = run("perplexity_by_size", here)
    sizes = [int(str(row["parameters"])) for row in table.rows]
    assert sizes == sorted(sizes)
    assert len(set(sizes)) == 4
    lines = (tmp_path / "perplexity_by_size.jsonl").read_text("utf-8").splitlines()
    for row in table.rows:
        own = [json.loads(line) for line in lines if json.loads(line)["system"] == row["system"]]
        assert len(own) == 10
        assert perplexity(each["log_probs"] for each in own) == pytest.approx(row["perplexity"])
