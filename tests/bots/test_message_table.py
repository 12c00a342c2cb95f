"""Data sets as a table of messages, which the analysis reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.__main__ import main as analysis
from bots.__main__ import main
from bots.datasets import contexts, demo


def test_the_analysis_counts_what_the_data_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "messages.jsonl")
    data = ["--data", "demo:valid", "--data", "contexts:"]
    assert main(["messages", *data, "--out", out, "--system", "bo"]) == 0
    dialogues = [*demo.read("valid"), *contexts.read("")]
    turns = sum(len(each.turns) for each in dialogues)
    assert capsys.readouterr().out == f"{turns} messages; {out}\n"
    assert analysis([out, "--report", "dataset_statistics"]) == 0
    shown = capsys.readouterr().out
    assert f"{len(dialogues):,} dialogues with {turns:,} messages" in shown
    assert "demo:valid" in shown
    assert "bo" in shown


def test_data_that_is_none_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["messages", "--data", "demo:nothing", "--out", str(tmp_path / "x")]) == 2
    assert "nothing" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()
