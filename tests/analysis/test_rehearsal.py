"""Campaigns with known truth: the truth is what is drawn, and the rehearsal tells bad from good."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis import rehearsal, simulated
from analysis.__main__ import main
from analysis.rehearsal import Estimator, estimators, rehearse
from analysis.simulated import Design
from analysis.tables import RatingTable

LARGE = Design(conversations=4000, each=4, severity=0.9)


@pytest.mark.parametrize(
    ("draw", "truth"),
    [
        (simulated.scale, simulated.scale_truth),
        (simulated.labels, simulated.share_truth),
        (simulated.votes, simulated.share_truth),
    ],
)
def test_what_is_drawn_has_the_truth_it_says(draw: rehearsal.Draw, truth: object) -> None:
    assert callable(truth)
    table = draw(replace(LARGE, conversations=4000), np.random.default_rng(1))
    seen = table.groupby("system")["value"].mean()
    for system, value in truth(LARGE).items():
        assert seen[system] == pytest.approx(value, abs=0.06)


def test_designs_are_as_asked() -> None:
    design = Design(systems=3, conversations=8, each=3, missing=0.25)
    table = simulated.scale(design, np.random.default_rng(2))
    assert len(table) < 24
    crossed = simulated.scale(replace(design, missing=0.0), np.random.default_rng(2))
    assert (crossed.groupby("system").size() == 8).all()
    assert (crossed.groupby("rater")["system"].nunique() == 3).all()
    nested = simulated.scale(
        Design(systems=2, conversations=8, each=4, raters_of_one=True), np.random.default_rng(2)
    )
    assert (nested.groupby("rater")["system"].nunique() == 1).all()
    static = simulated.votes(design, np.random.default_rng(3))
    assert static.groupby("item")["rater"].nunique().max() <= design.votes


def test_a_sound_interval_holds_and_one_that_forgets_the_rater_does_not() -> None:
    design = Design(each=10, raters_of_one=True, severity=1.2)
    good = Estimator("likert", simulated.scale, design, simulated.scale_truth)
    forgetful = Estimator("likert", _one_rater_each, design, simulated.scale_truth)
    found = rehearse([good, forgetful], 40, seed=1)
    assert found.loc[1, "verdict"] == "too narrow"
    assert float(str(found.loc[0, "coverage"])) > float(str(found.loc[1, "coverage"])) + 0.2


def _one_rater_each(design: Design, chance: np.random.Generator) -> RatingTable:
    """Return the same ratings as if each came from somebody else."""
    table = simulated.scale(design, chance)
    return RatingTable(table.assign(rater=[f"r{k}" for k in range(len(table))]))


def test_every_estimator_can_be_rehearsed() -> None:
    small = Design(systems=2, conversations=8, each=2)
    found = rehearse(estimators(small), 2, seed=0)
    assert len(found) == len(estimators(small))
    known = found["coverage"].notna() | found["found"].notna()
    assert known.all()


def test_the_command_prints_and_writes_the_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rehearsed.json"
    command = ["rehearse", "--campaigns", "4", "--only", "likert", "--json", str(path)]
    assert main([*command, "--systems", "2"]) == 0
    assert "coverage" in capsys.readouterr().out
    written = json.loads(path.read_text())
    assert written["design"]["systems"] == 2
    assert {row["estimator"] for row in written["rows"]} == {"likert"}
