"""Generators beside the reference: what the reference must have, and over-generation."""

from __future__ import annotations

import pandas as pd
import pytest

from analysis import get_report, prediction_table
from analysis.reports.keyword_generators import NONE, keyword_generators
from analysis.text.tokenizers import CHARACTERS
from tests.analysis.prediction_tables import predictions, said

PAIRS = (("I like my old cat a lot.", "My dog sleeps on the sofa."), ("No.", "I live in Peru now."))


def test_the_reference_has_bleu_100_and_repetition_1_and_a_repeating_system_has_more() -> None:
    tables = [
        said(*PAIRS, system="other"),
        said(*((f"{gold} {gold}", gold) for _, gold in PAIRS), system="repeats"),
    ]
    joined = pd.concat([each.assign(prediction=each["system"] + each["prediction"])
                        for each in tables])  # fmt: skip
    report = keyword_generators(prediction_table(joined))
    table = report.sections[0].frame.set_index("model")
    assert table.index.tolist() == ["other", "repeats", "Reference"]
    assert table["bleu"]["Reference"] == pytest.approx(100)
    assert table["repetition"]["Reference"] == 1
    assert table["repetition"]["repeats"] > 1 >= table["repetition"]["other"]
    assert table["bleu"]["repeats"] < 100
    assert "1 of 2 rows repeat more" in report.findings[0]
    assert len(report.sections[-1].frame) == 10


def test_a_system_named_as_the_reference_does_not_pass_for_it() -> None:
    report = keyword_generators(said(*PAIRS, system="Reference"))
    assert report.findings == (NONE,)


def test_a_language_without_spaces_takes_its_tokenizer() -> None:
    japanese = [("紅茶が好きです。", "猫が好きです。")]
    found = {
        name: get_report("keyword_generators")(said(*japanese), tokenizer=tokenizer).sections[0]
        for name, tokenizer in (("split", None), ("characters", CHARACTERS))
    }
    lengths = {name: section.frame["length"].iloc[0] for name, section in found.items()}
    assert lengths == {"split": 1, "characters": 8}
    assert "Tokens: characters." in found["characters"].note


def test_without_gold_replies_there_is_no_table() -> None:
    assert keyword_generators(predictions([{"response": "Hi."}])).findings == (NONE,)


def test_an_example_without_a_gold_reply_is_none_of_the_reference() -> None:
    rows: list[dict[str, object]] = [{"response": reply, "gold": gold} for reply, gold in PAIRS]
    rows.append({"response": "Yes.", "gold": []})
    table = keyword_generators(predictions(rows)).sections[0].frame.set_index("model")
    alone = keyword_generators(predictions(rows[:2])).sections[0].frame.set_index("model")
    pd.testing.assert_frame_equal(table.loc[["Reference"]], alone.loc[["Reference"]])
