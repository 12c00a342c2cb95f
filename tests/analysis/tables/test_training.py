"""Reading the conversations that systems learned from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analysis import BadOption
from analysis.__main__ import main
from analysis.tables.training import read
from tests.analysis.prediction_tables import predictions


def test_reads_lists_of_texts_and_dialogues(tmp_path: Path) -> None:
    path = tmp_path / "training.jsonl"
    turns = [{"speaker": "self", "text": "Hi"}, {"speaker": "partner", "text": "Hey"}]
    path.write_text(json.dumps(["a", "b"]) + "\n\n" + json.dumps({"id": "1", "turns": turns}))
    assert read(path) == [["a", "b"], ["Hi", "Hey"]]


@pytest.mark.parametrize("line", ["no json", "[]", "[1]", '{"id": 3}', '{"turns": [{"x": 1}]}'])
def test_a_bad_line_is_named(line: str, tmp_path: Path) -> None:
    path = tmp_path / "training.jsonl"
    path.write_text('["a"]\n' + line)
    with pytest.raises(BadOption, match=r"training\.jsonl, line 2"):
        read(path)


def test_nothing_to_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("\n")
    for name, told in (("empty", "one conversation per line"), ("absent", "No such file")):
        with pytest.raises(BadOption, match=told):
            read(tmp_path / name)


def test_the_command_hands_it_to_the_metrics(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, training = tmp_path / "predictions.jsonl", tmp_path / "training.jsonl"
    predictions([{"context": "tea?", "response": "hot tea"}]).to_json(
        table, orient="records", lines=True
    )
    training.write_text('["tea?", "hot tea"]\n["cake?", "sweet"]\n')
    assert main([str(table), "--json", "--training", str(training)]) == 0
    rows = {row["metric"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["pmi_coherence"]["estimate"] == pytest.approx(0.6931, abs=1e-4)
    assert main([str(table), "--json", "--training", str(tmp_path)]) == 2
    assert "training is" in capsys.readouterr().err
