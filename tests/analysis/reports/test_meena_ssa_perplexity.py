"""SSA against perplexity: the line by hand, and what is said without one."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from analysis import PredictionTable, RatingTable, get_report, prediction_table, rating_table
from tests.analysis.examples import labels
from tests.analysis.prediction_tables import predictions

meena_ssa_perplexity = get_report("meena_ssa_perplexity")
PERPLEXITIES = {"small": 20.0, "middle": 14.0, "large": 10.0}
SENSIBLE = {"small": 8, "middle": 11, "large": 18}


def rated(systems: dict[str, int] = SENSIBLE, n: int = 20) -> RatingTable:
    """Return labels: so many of a system's replies are sensible, half of these specific."""
    given = [
        (name, f"{name}{k}", "r", int(k < right), int(k < right // 2))
        for name, right in systems.items()
        for k in range(n)
    ]
    return labels(given)


def likely() -> PredictionTable:
    """Return predictions with these perplexities."""
    frames = [
        predictions([{"gold": "a b", "log_probs": [-math.log(ppl)] * 2}], system=name)
        for name, ppl in PERPLEXITIES.items()
    ]
    table = pd.concat(frames, ignore_index=True)
    return prediction_table(table.assign(prediction=[f"p{k}" for k in range(len(table))]))


def test_points_and_r2_by_hand() -> None:
    report = meena_ssa_perplexity(rated(), likely())
    fits, points, printed = (section.frame for section in report.sections)
    assert list(points["system"]) == ["large", "middle", "small"]
    assert list(points["perplexity"]) == pytest.approx([10, 14, 20])
    sensible, specific = [90, 55, 40], [45, 25, 20]
    ssa = [(a + b) / 2 for a, b in zip(sensible, specific, strict=True)]
    scores: list[Sequence[float]] = [ssa, sensible, specific]
    for row, values in zip(fits.to_dict("records"), scores, strict=True):
        assert row["R²"] == pytest.approx(np.corrcoef([10, 14, 20], values)[0, 1] ** 2)
        assert row["slope"] < 0
    explained = f"{fits['R²'].iloc[0]:.2f}"
    assert report.findings == (
        f"Perplexity explains {explained} of the variance of SSA, which falls with it.",
    )
    assert set(printed["r2"]) == {0.93, 0.94}


def test_two_systems_are_no_line() -> None:
    two = {name: SENSIBLE[name] for name in ("small", "large")}
    report = meena_ssa_perplexity(rated(two), likely())
    assert report.findings == ("Too few systems for a line: three are needed.",)


def test_systems_without_labels_or_perplexity_leave_the_print() -> None:
    report = meena_ssa_perplexity(rating_table(rated().iloc[:0]), likely())
    assert report.findings == ("No system has a perplexity and decided labels of its replies.",)
    assert len(report.sections) == 1


def test_systems_whose_labels_are_open_are_no_points() -> None:
    report = meena_ssa_perplexity(rating_table(rated().assign(votes=2)), likely())
    assert report.findings == ("No system has a perplexity and decided labels of its replies.",)
    some = rated()
    asked = np.where(some["system"].eq("small"), 2, 1)
    report = meena_ssa_perplexity(rating_table(some.assign(votes=asked)), likely())
    assert report.findings == ("Too few systems for a line: three are needed.",)
    assert list(report.sections[1].frame["system"]) == ["large", "middle"]
