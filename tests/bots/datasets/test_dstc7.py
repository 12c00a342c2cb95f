"""Candidate sets of DSTC7."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from analysis import prediction_table
from analysis.metrics.recall import recall
from analysis.predictions import prediction_rows
from bots import Dialogue, get_dataset
from bots.datasets import dstc7
from bots.datasets.dstc7 import NONE, CandidateSet
from bots.dialogue import examples
from bots.line_files import InvalidData
from bots.text.tokens import normalize_answer


@pytest.fixture(scope="module")
def demo() -> list[Dialogue]:
    return get_dataset("demo").read("train")


def test_sets_of_100_with_one_right(demo: list[Dialogue]) -> None:
    found = dstc7.build(demo, seed=1)
    assert found == dstc7.build(demo, seed=1)
    assert found != dstc7.build(demo, seed=2)
    for each in found[:200]:
        said = [normalize_answer(text) for text in each.candidates]
        assert len(set(said)) == len(said) == 100
        assert len(each.right) == 1
        assert each.right[0] in each.candidates
    places = [each.candidates.index(each.right[0]) for each in found]
    assert 40 < sum(places) / len(places) < 60, "anywhere among them"


def test_some_sets_have_no_right_one(demo: list[Dialogue]) -> None:
    found = dstc7.build(demo, seed=1, none_share=0.25)
    none = [each for each in found if not each.right]
    assert len(none) / len(found) == pytest.approx(0.25, abs=0.06)
    replies = {each.id: each.right for each in dstc7.build(demo, seed=1)}
    for each in none:
        assert len(each.candidates) == 100
        assert replies[each.id][0] not in each.candidates
        assert each.gold == (NONE,)
        assert each.choices[-1] == NONE
    assert NONE == prediction_rows.NONE, "what analysis knows as the right answer"


def test_paraphrases_are_right_too(demo: list[Dialogue]) -> None:
    reply = dstc7.build(demo, seed=1)[0].right[0]
    told = {reply: ["In other words, this.", "Or that, one could say."]}
    (first, *_) = dstc7.build(demo, seed=1, paraphrases=told)
    assert first.right == (reply, *told[reply])
    assert set(first.right) <= set(first.candidates)
    assert len(first.candidates) == 100


def test_what_is_written_is_read_back_the_same(demo: list[Dialogue], tmp_path: Path) -> None:
    path = tmp_path / "sets.json"
    found = dstc7.build(demo, seed=3, size=20, none_share=0.3)[:40]
    path.write_text(json.dumps([dstc7.record(each) for each in found]), "utf-8")
    again = dstc7.read_sets(str(path))
    assert [(e.id, e.candidates, e.right) for e in again] == [
        (e.id, e.candidates, e.right) for e in found
    ]
    assert [
        e.messages for e in again if {t.speaker for t in e.messages} == {"self", "partner"}
    ] == [e.messages for e in found if {t.speaker for t in e.messages} == {"self", "partner"}]
    for dialogue, each in zip(dstc7.read(str(path)), found, strict=True):
        assert len(dialogue.turns) == len(each.messages) + bool(each.right)
        if each.right:
            assert dialogue.turns[-1].text == each.right[0]
            assert dialogue.turns[-1].candidates == each.candidates


def test_choosing_none_counts_where_none_is_right(demo: list[Dialogue]) -> None:
    found = dstc7.build(demo, seed=3, none_share=0.5)[:60]
    knowing = [[float(text in each.gold) for text in each.choices] for each in found]
    never = [[*([1.0] * len(each.candidates)), 0.0] for each in found]
    rows = [*dstc7.rows(found, knowing, "knows", "d"), *dstc7.rows(found, never, "never", "d")]
    table = recall(prediction_table(pd.DataFrame(rows)), ks=(1,))
    first = table[table["metric"] == "recall@1"].set_index("system")["estimate"]
    assert first["knows"] == 1
    assert first["never"] < 0.1


def test_too_few_replies_are_refused(demo: list[Dialogue]) -> None:
    with pytest.raises(InvalidData, match="sets of 100 need as many"):
        dstc7.build(demo[:2], seed=1)


def test_every_bad_set_is_named(tmp_path: Path) -> None:
    option = {"candidate-id": "a", "utterance": "Yes."}
    good: dict[str, Any] = {
        "example-id": 7,
        "messages-so-far": [{"speaker": "student", "utterance": "Hi"}],
        "options-for-next": [option],
        "options-for-correct-answers": [option],
    }
    path = tmp_path / "bad.json"
    bad = [
        good,
        {**good, "example-id": None},
        {**good, "messages-so-far": []},
        {**good, "options-for-next": []},
        {**good, "options-for-next": "all"},
    ]
    path.write_text(json.dumps(bad))
    with pytest.raises(InvalidData) as refused:
        dstc7.read(str(path))
    assert [problem.split("record ")[1][0] for problem in refused.value.problems] == list("2345")
    path.write_text(json.dumps([good]))
    assert dstc7.read_sets(str(path)) == [
        CandidateSet("7", dstc7.read(str(path))[0].turns[:1], ("Yes.",), ("Yes.",))
    ]


def test_sets_at_chosen_messages_have_paraphrases_and_what_others_said(
    demo: list[Dialogue],
) -> None:
    example = next(iter(examples(demo, "self")))
    ways = (example.reply, "In other words, this.", "in other words this")
    (found,) = dstc7.build_at({example: ways}, demo, seed=1)
    assert found.right == (example.reply, "In other words, this.")
    assert len(set(found.candidates)) == 100
    assert set(found.right) < set(found.candidates)
    assert dstc7.build_at({example: ways}, demo, seed=1) == [found]
    few = [each for each in demo if each.id != example.dialogue][:1]
    (small,) = dstc7.build_at({example: ways}, few, seed=1)
    assert len(small.candidates) == 2 + len({normalize_answer(t.text) for t in few[0].turns})
    own = [each for each in demo if each.id == example.dialogue]
    assert dstc7.build_at({example: ways}, own, seed=1) == []
