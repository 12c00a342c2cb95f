"""What benchmarks are run on: bots trained once, conditions of the persona, and the tables."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

from bots.benchmark import benchmark_names
from bots.study import Split, Study, Table, conditioned, flat, render, write
from tests.bots.examples import demo


def study(tmp_path: Path, **changes: object) -> Study:
    split = Split(demo("train"), demo("test"))
    return Study("demo", {"original": split}, tmp_path, **changes)  # type: ignore[arg-type]


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
def test_every_benchmark_says_its_row_and_source(name: str) -> None:
    said = importlib.import_module(f"bots.benchmarks.{name}").__doc__ or ""
    assert said.startswith("A-")
    assert "Source:" in said
