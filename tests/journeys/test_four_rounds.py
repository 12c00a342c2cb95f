"""People meet four systems each: the order is in balance, and severity is told from quality."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from pathlib import Path

import pandas as pd
import pytest

import analysis
from analysis.metrics.calibrated_score import calibrated_score
from tests.journeys.four_rounds import PLANTED, QUALITY, ROUNDS, SCALES
from tests.live import ROOT, environment

PEOPLE = 12


def files(archive: Path) -> dict[str, pd.DataFrame]:
    with zipfile.ZipFile(archive) as found:
        names = ("ratings.csv", "participants.csv")
        return {name: pd.read_csv(io.BytesIO(found.read(name)), dtype=str) for name in names}


@pytest.mark.timeout(300)
def test_each_rater_stands_under_every_system_and_the_planted_order_comes_back(
    tmp_path: Path,
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.journeys.four_rounds", str(PEOPLE), str(tmp_path)],
        cwd=ROOT,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = files(tmp_path / "export.zip")
    people = found["participants.csv"].set_index("participant")
    whole = people[people["outcome"] == "COMPLETED"]
    assert len(whole) >= PEOPLE - 2
    assert set(whole["conversations"]) == {str(ROUNDS)}
    assert set(whole["pay"]) == {"8.00"}

    fluency = found["ratings.csv"].query("question == 'fluency'")
    by_rater = fluency[fluency["rater"].isin(whole.index)].groupby("rater")["system"]
    assert {frozenset(systems) for _, systems in by_rater} == {frozenset(QUALITY)}
    counts = fluency.groupby(["place", "system"]).size().tolist()
    assert len(counts) == ROUNDS * len(QUALITY)
    assert max(counts) - min(counts) <= 1

    ratings = analysis.read(tmp_path / "export.zip").ratings
    assert ratings is not None
    scores = calibrated_score(ratings)
    scales = scores[scores["question"].isin(SCALES)]
    order = scales.groupby("system")["estimate"].mean().sort_values(ascending=False)
    assert list(order.index) == list(PLANTED)
