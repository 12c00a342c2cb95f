"""What benchmarks are run on: bots trained once, conditions of the persona, and the tables."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

from bots import Dialogue, get_dataset
from bots.__main__ import main
from bots.commands.benchmark import benchmark_names, run
from bots.commands.benchmark_data import (
    BenchmarkData,
    Split,
    Table,
    conditioned,
    flat,
    render,
    write,
)
from bots.commands.test_set_replies import area, distinct, word_f1
from tests.bots.examples import demo


def study(tmp_path: Path, **changes: object) -> BenchmarkData:
    split = Split(demo("train"), demo("test"))
    return BenchmarkData("demo", {"original": split}, tmp_path, **changes)  # type: ignore[arg-type]


def revised(split: str) -> tuple[Dialogue, ...]:
    return tuple(get_dataset("demo").read(f"{split}:revised"))


def test_each_side_is_told_what_the_condition_tells_it() -> None:
    dialogue = demo("test")[0]
    own, partner = dialogue.persona, dialogue.partner_persona
    assert conditioned(dialogue, "self") == dialogue
    assert conditioned(dialogue, "none").persona == ()
    assert conditioned(dialogue, "their").persona == partner
    assert conditioned(dialogue, "both").persona == own + partner
    swapped = conditioned(dialogue, "their").swapped()
    assert swapped.persona == own  # what the partner of the partner is told of


def test_a_bot_is_trained_once_for_each_condition(tmp_path: Path) -> None:
    here = study(tmp_path, options={"profile_memory": {"dimension": 8, "epochs": 1}})
    first = here.bot("profile_memory")
    assert here.bot("profile_memory").weights == first.weights
    assert here.bot("profile_memory", "none").weights != first.weights
    assert here.bot("kv_profile_memory").weights == first.weights
    assert len(list((tmp_path / "weights").iterdir())) == 2


def test_single_options_are_set_over_those_of_a_size(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = ["--data", "demo:test", "--test", "demo:test"]
    given = ["benchmark", "toy_f1", *data, "--out", str(tmp_path), "--set"]
    for setting, said in (
        ("seq2seq.epochs", "must be BOT.OPTION=VALUE"),
        ("seq2seq.epoch=2", "has no option 'epoch'"),
        ("seq2seq.epochs=-1", "epochs is -1, but must be a whole number, at least 0"),
    ):
        assert main([*given, setting]) == 2
        assert said in capsys.readouterr().err
    here = study(tmp_path, options={"starspace": {"dimension": 8}}, size="small")
    assert here._preset("starspace")["dimension"] == 8
    assert here._preset("starspace")["history"] == 1


def test_one_side_is_tested_where_only_its_persona_is_known(tmp_path: Path) -> None:
    both, own = (study(tmp_path, sides=each) for each in ("both", "self"))
    assert len(own.examples()) < 0.6 * len(both.examples())
    assert {each.id for each in own.examples()} < {each.id for each in both.examples()}


def test_the_limit_draws_the_same_examples_for_every_bot(tmp_path: Path) -> None:
    here = study(tmp_path, limit=25)
    told = [[row["example"] for row in here.rows(here.bot(name))] for name in ("tfidf",) * 2]
    assert told[0] == told[1]
    assert len(set(told[0])) == 25


def test_the_parrot_is_one_more_candidate_where_the_partner_said_something(tmp_path: Path) -> None:
    here = study(tmp_path, limit=40)
    for row in here.rows(here.bot("tfidf"), parrot=True):
        assert len(row["candidates"]) == 21
        assert row["candidates"][-1] == row["context"][-1]


def test_a_table_is_written_beside_the_printed_one(tmp_path: Path) -> None:
    table = Table("t", "Title", "a paper", [{"model": "a|b", "hits": 0.51234}], [{"model": "x"}])
    write(table, tmp_path)
    assert "|  | a\\|b | 0.5123 |" in render(table)
    assert render(table) == (tmp_path / "t.md").read_text()
    assert json.loads((tmp_path / "t.json").read_text())["rows"][0]["hits"] == 0.51234
    assert flat({"model": "m", "none": {"ppl": 3.5}}) == {"model": "m", "none ppl": 3.5}


@pytest.mark.parametrize("name", benchmark_names())
def test_every_benchmark_says_what_it_is_and_its_source(name: str) -> None:
    said = importlib.import_module(f"bots.benchmarks.{name}").__doc__ or ""
    assert said.partition("\n\n")[0].endswith(".")
    assert "Source:" in said


def test_the_area_is_that_of_the_papers_example() -> None:
    positive, negative = (0.9, 0.4), (0.8, 0.3, 0.2, 0.1)
    found = [area(positive, negative, share) for share in (1.0, 0.25, 0.5)]
    assert found == pytest.approx([0.875, 0.5, 0.75])


def test_words_in_common_and_different_ngrams() -> None:
    assert word_f1("i am you to do and your is like", "I like to ski, and you?") == pytest.approx(
        0.6667, abs=1e-4
    )
    assert word_f1("the cat", "a cat") == 1
    assert distinct(["a b a", "a b c"], 1) == pytest.approx(2 / 3)  # "a" is an article


SMALL = {
    "meena": {"examples": 16, "epochs": 1},
    "hredgan": {"examples": 16, "epochs": 1, "samples": 2},
    "dual_encoder": {"epochs": 1},
    "two_head": {"examples": 32},
    "lost_in_conversation": {"examples": 32},
}


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", benchmark_names())
def test_every_benchmark_runs_and_writes_its_tables(name: str, tmp_path: Path) -> None:
    forms = {
        "original": Split(demo("train"), demo("test")),
        "revised": Split(revised("train"), revised("test")),
    }
    here = BenchmarkData("demo", forms, tmp_path, limit=12, options=SMALL)  # type: ignore[arg-type]
    for table in run(name, here):
        assert table.rows
        assert table.source
        write(table, tmp_path)
        assert (tmp_path / f"{table.name}.md").is_file()
