"""`python -m analysis` as a person runs it."""

from __future__ import annotations

import io
import json
import math
import re
import subprocess
import sys
import zipfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pytest

from analysis import evaluate, records
from analysis.__main__ import main
from analysis.scores.cautions import cautions
from tests.analysis.examples import ROOT, crowd_campaign, kulikov, raw, shared, simulated
from tests.analysis.raters.test_raters import planted


class Done(NamedTuple):
    """One command: its exit status, and what it wrote."""

    returncode: int
    stdout: str
    stderr: str


def _run(*arguments: object) -> Done:
    """Run a command in this process, which has read its libraries already."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = main([*map(str, arguments)])
    return Done(status, out.getvalue(), err.getvalue())


def _process(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-m", "analysis", *map(str, arguments)]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )


def _written(frame: pd.DataFrame, folder: Path) -> Path:
    frame.to_csv(folder / "ratings.csv", index=False)
    return folder / "ratings.csv"


def test_json_is_what_evaluate_says(tmp_path: Path) -> None:
    table = simulated(raters=20)
    done = _process(_written(table, tmp_path), "--json", "--seed", 3, "--simulate", 40)
    assert done.returncode == 0
    assert done.stderr.splitlines() == [f"Caution: {each}" for each in cautions(table)]
    assert json.loads(done.stdout) == records(evaluate(table, seed=3, simulate=40))


def test_the_report_puts_the_ranking_first(tmp_path: Path) -> None:
    done = _run(_written(simulated(), tmp_path))
    assert done.returncode == 0
    assert "Q: s3 is first with" in done.stdout.split("\n")[6]


def test_flagged_raters_can_be_left_out_of_a_report(tmp_path: Path) -> None:
    done = _run(_written(planted(), tmp_path), "--report", "rater_quality", "--without-flagged")
    told = done.stderr.splitlines()
    assert told[0] == "Left out: 6 of 18 raters, who are flagged."
    assert "  turned: against the others" in told
    assert done.returncode == 0
    assert "0 of 12 raters have a flag" in done.stdout


def test_a_bad_file_is_told_by_row(tmp_path: Path) -> None:
    frame = raw([{"value": "x"}, {"value": 2}, {"value": math.nan}])
    for run, options in ((_process, ()), (_run, ("--json",))):
        done = run(_written(frame, tmp_path), *options)
        assert (done.returncode, done.stdout) == (2, "")
        told = done.stderr.splitlines()
        assert told[1].startswith("row 1: value is 'x'")
        assert told[2].startswith("row 3: value is blank")
        assert "1 of 3 rows are sound" in told[3]


def test_a_missing_file_is_one_clear_line(tmp_path: Path) -> None:
    done = _run(tmp_path / "none.csv")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        f"{tmp_path / 'none.csv'}: cannot be read (No such file or directory)"
    ]


@pytest.mark.parametrize("command", [(), ("plan",), ("simulate",), ("nexcv",), ("sample",)])
def test_a_negative_seed_is_refused_by_every_command(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([*command, "--seed", "-1"])
    assert stopped.value.code == 2
    assert "--seed: is '-1', but must be a whole number of 0 or more" in capsys.readouterr().err


@pytest.mark.parametrize("options", [("--control", "s9"), ("--control-questions", "x")])
def test_an_option_that_does_not_fit_is_told(tmp_path: Path, options: tuple[str, ...]) -> None:
    done = _run(_written(simulated(raters=5), tmp_path), *options)
    assert done.returncode == 2
    assert "right would be" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_poor_file_gets_sentences_and_no_traceback(tmp_path: Path) -> None:
    path = _written(raw([{"value": 3, "rater": "r"}]), tmp_path)
    shown, as_json = _run(path), _run(path, "--json")
    assert (shown.returncode, as_json.returncode) == (0, 0)
    assert "Caution: p, q: only one rater (r)" in " ".join(shown.stdout.split())
    assert "only one system (s)" in as_json.stderr
    assert "NaN" not in as_json.stdout
    assert json.loads(as_json.stdout)


def test_an_empty_table_of_an_export_has_nothing_to_say(tmp_path: Path) -> None:
    """A campaign that nobody rated yet is no mistake, as a file with a header only is."""
    with zipfile.ZipFile(tmp_path / "e.zip", "w") as archive:
        archive.writestr("ratings.csv", simulated().iloc[:0].to_csv(index=False))
    assert json.loads(_run(tmp_path / "e.zip", "--json").stdout) == []
    assert "The table has no rows" in _run(tmp_path / "e.zip").stdout


def test_other_reports_by_name(tmp_path: Path) -> None:
    done = _run(_written(simulated(), tmp_path), "--report", "personachat_human")
    assert done.returncode == 0
    assert re.search(r"ranking +KV Profile Memory +self +3.97 \(0.94\)", done.stdout)


def test_real_scores_through_the_command(tmp_path: Path) -> None:
    done = _run(_written(kulikov(), tmp_path), "--json", "--simulate", 0)
    expected = json.loads(shared("calibration_golden", "kulikov_expected.json").read_text())
    scores = {r["system"]: r for r in json.loads(done.stdout) if r["metric"] == "calibrated_score"}
    for model in expected["models"]:
        row = scores[f"model{model['model']}"]
        assert row["estimate"] == pytest.approx(model["calibrated_mean"], abs=0.03)
        assert row["sd"] == pytest.approx(model["calibrated_sd"], abs=0.015)
        assert (row["scale_low"], row["scale_high"]) == (1, 4)


def test_a_real_campaign_through_the_command(tmp_path: Path) -> None:
    five = "interesting,fun,consistent,fluent,topic"
    path = _written(crowd_campaign(), tmp_path)
    done = _run(path, "--control", "degraded_qc", "--control-questions", five)
    assert done.returncode == 0
    assert "173 of 248 raters kept" in done.stdout
    first = done.stdout.split("By each rater's own mean and spread")[1].splitlines()[3]
    assert first.split()[:2] == ["biencoder", "0.534"]


def test_a_table_without_ratings_has_no_report(tmp_path: Path) -> None:
    message = {"message": "m", "conversation": "c", "seq": 1, "side": "bot", "system": "s"}
    message |= {"persona": "", "text": "Hi!", "sent_at": ""}
    (tmp_path / "messages.jsonl").write_text(json.dumps(message), encoding="utf-8")
    done = _run(tmp_path / "messages.jsonl")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("The report summary reads ratings; here are only messages.")
