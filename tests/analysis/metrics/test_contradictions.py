"""Contradictions: the two that are printed, neutral ones in their place, and no classifier."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from analysis.__main__ import main
from analysis.metrics.contradictions import NO_CLASSIFIER, contradictions
from analysis.tables.options import BadOption
from analysis.text import inference
from analysis.text.inference import InferenceClassifier
from tests.analysis import inferring
from tests.analysis.inferring import NEUTRAL, PRINTED, by_heart
from tests.analysis.talks import talks


def _found(lines: list[tuple[str, str]], nli: InferenceClassifier, **common: object) -> pd.Series:
    messages = talks(
        [[("s", first), ("human", "ok"), ("s", then)] for first, then in lines], **common
    )
    return contradictions(messages, nli=nli).iloc[0]


def test_the_printed_contradictions_are_flagged_and_neutral_ones_are_not() -> None:
    found = _found(PRINTED, by_heart())
    assert (found["estimate"], found["n"], found["classifier"]) == (0.5, 4, "by heart")
    assert _found(NEUTRAL, by_heart())["estimate"] == 0


def test_without_a_classifier_there_is_no_value() -> None:
    found = contradictions(talks([[("s", "hi"), ("human", "hello")]])).iloc[0]
    assert pd.isna(found["estimate"])
    assert (found["reason"], found["n"]) == (NO_CLASSIFIER, 1)


def test_a_persona_may_be_contradicted_and_partners_and_questions_cannot() -> None:
    first, then = PRINTED[1]
    alone = talks([[("s", then)]], persona=first)
    assert contradictions(alone, nli=by_heart())["estimate"].tolist() == [1]
    others = [[("human", first), ("s", then)], [("s", first), ("s", then + "?")]]
    assert contradictions(talks(others), nli=by_heart())["estimate"].tolist() == [0]


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadOption, match="right would be a folder with a model of transformers"):
        inference.read(tmp_path)


@pytest.mark.slow
def test_a_model_on_disk_is_read_by_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = inferring.trained(tmp_path / "small")
    assert _found(PRINTED, inference.read(folder))["estimate"] == 0.5
    assert _found(NEUTRAL, inference.read(folder))["estimate"] == 0
    messages = talks([[("s", first), ("s", then)] for first, then in PRINTED])
    messages.to_csv(tmp_path / "m.csv", index=False)
    assert main([str(tmp_path / "m.csv"), "--json", "--nli", str(folder)]) == 0
    rows = [row for row in json.loads(capsys.readouterr().out) if row["metric"] == "contradictions"]
    assert [(row["estimate"], row["classifier"]) for row in rows] == [(0.5, "small")]
    other = inferring.trained(tmp_path / "other", ("yes", "no", "maybe"))
    with pytest.raises(BadOption, match="a model with the label contradiction; this has yes, no"):
        inference.read(other)
