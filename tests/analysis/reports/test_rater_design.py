"""The report of who judged what: counts, the raters' SD, and what another design would tell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from analysis import rendered
from analysis.reports.rater_design import ALL_KNOWN, rater_design
from analysis.simulation.campaigns import Design
from analysis.simulation.cases.designs import DESIGNS, compared, drawn
from tests.analysis.examples import ratings

LARGE = Design(conversations=500)


def test_a_design_that_overlaps_tells_everything() -> None:
    assign, changes = DESIGNS["four systems, two people per conversation"]
    report = rater_design(drawn(assign, replace(LARGE, **changes), np.random.default_rng(1)))
    (row,) = report.sections[0].frame.to_dict("records")
    assert (row["ratings"], row["items"], row["overlapping items"]) == (2000, 1000, 1000)
    assert (row["ratings per rater"], row["systems per rater"]) == ("4 to 4", "4 to 4")
    assert row["SD of raters"] == pytest.approx(0.63, abs=0.05)  # .7, less rounding and ends
    assert report.findings[1].endswith(ALL_KNOWN)


def test_one_conversation_each_tells_neither() -> None:
    assign, changes = DESIGNS["one conversation per person"]
    report = rater_design(drawn(assign, replace(LARGE, **changes), np.random.default_rng(1)))
    (row,) = report.sections[0].frame.to_dict("records")
    assert (row["groups"], row["overlapping items"], row["SD of raters"]) == (4, 0, None)
    assert "how far raters agree is unknown" in report.findings[1]
    assert "cannot be told from poor systems" in report.findings[2]
    assert "Who judged what" in rendered(report)


def test_nothing_is_told_of_nothing() -> None:
    assert rater_design(ratings([{"value": 1}]).iloc[:0]).findings == ("There are no ratings.",)


def test_calibration_helps_where_systems_are_had_unevenly_and_only_there() -> None:
    rows = {row["raters have"]: row for row in compared(Design(), 60, seed=3)}
    uneven, even = rows["four, systems unevenly"], rows["four systems, balanced"]
    assert float(str(uneven["calibrated rmse"])) < 0.95 * float(str(uneven["raw rmse"]))
    assert even["calibrated rmse"] == pytest.approx(even["raw rmse"], rel=0.01)
    assert float(str(even["raw rmse"])) < float(str(uneven["calibrated rmse"]))
    two = rows.pop("four systems, two people per conversation")
    assert (two["alpha defined"], two["raters' SD defined"]) == (1, 1)
    assert {row["alpha defined"] for row in rows.values()} == {0}
    assert rows["one conversation per person"]["raters' SD defined"] == 0
