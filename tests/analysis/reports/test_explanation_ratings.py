"""Ratings of explanations: means over participants, and correlations of the dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis import RatingTable, Report, get_report, rendered
from analysis.reports.explanation_ratings import DIMENSIONS
from tests.analysis.examples import ratings

ALIKE, APART = 0.8, 0.25  # planted correlations: among four dimensions, with grammaticality
MEANS = {"original": 0.7, "generated": 0.5}


def planted(
    *, raters: int = 40, each: int = 12, seed: int = 1, within: bool = False
) -> RatingTable:
    """Return ratings with a planted mean per arm and planted correlations."""
    rng = np.random.default_rng(seed)
    among = np.full((5, 5), ALIKE)
    odd = DIMENSIONS.index("grammaticality")
    among[odd, :] = among[:, odd] = APART
    np.fill_diagonal(among, 1.0)
    rows: list[dict[str, Any]] = []
    for rater in range(raters):
        arms = list(MEANS) if within else [list(MEANS)[rater % 2]]
        for arm in arms:
            drawn = rng.multivariate_normal(np.zeros(5), among, size=each)
            for item, form in enumerate(drawn):
                about = {"rater": f"r{rater}", "item": f"{arm}{item}", "system": arm}
                rows += [
                    {**about, "question": name, "value": MEANS[arm] + 0.05 * value}
                    for name, value in zip(DIMENSIONS, form, strict=True)
                ]
    return ratings(rows, level="interval", scale_low=0.0, scale_high=1.0)


def made(table: RatingTable) -> Report:
    return get_report("explanation_ratings")(table)


def frames(table: RatingTable) -> list[pd.DataFrame]:
    return [section.frame for section in made(table).sections]


def test_means_by_hand() -> None:
    """Two people of one arm: 0, 0.5 and 1; resamples are of people, with all of their ratings."""
    rows = [
        {"rater": rater, "item": f"i{k}", "value": value}
        for rater, values in {"ann": [0.0], "bob": [0.5, 1.0]}.items()
        for k, value in enumerate(values)
    ]
    table = ratings(rows, question="goodness", level="interval", system="original")
    row = frames(table)[0].iloc[0]
    assert row["estimate"] == pytest.approx(0.5)
    # ann twice is 0, bob twice .75; both once is .5.
    assert (row["low"], row["high"]) == (0.0, 0.75)
    assert (row["ratings"], row["participants"]) == (3, 2)


def test_one_participant_has_no_interval() -> None:
    table = ratings([{"item": f"i{k}", "value": k / 10, "rater": "ann"} for k in range(4)],
                    question="goodness", level="interval", system="original")  # fmt: skip
    row = frames(table)[0].iloc[0]
    assert np.isnan([row["low"], row["high"]]).all()


def test_planted_means_and_correlations_lie_in_their_intervals() -> None:
    means, _matrix, pairs, printed = frames(planted(seed=2))
    assert list(means["dimension"].unique()) == list(DIMENSIONS)
    for row in means.to_dict("records"):
        assert row["low"] < MEANS[row["system"]] < row["high"]
        assert row["high"] - row["low"] < 0.1
    for row in pairs.to_dict("records"):
        wanted = APART if "grammaticality" in (row["dimension"], row["other"]) else ALIKE
        assert row["low"] < wanted < row["high"], row
    assert len(pairs) == 10
    assert 0.699 in set(printed["mean"])


def test_the_gap_between_arms_is_no_correlation() -> None:
    """Pooled, arms that lie four spreads apart would raise grammaticality's .25 to .85."""
    table = planted(seed=2)
    numbers = table.assign(value=table["value"].astype(float))
    forms = numbers.pivot_table(index=["item", "rater"], columns="question", values="value")
    assert np.corrcoef(forms["goodness"], forms["grammaticality"])[0, 1] > 0.8
    odd = frames(table)[1].set_index("dimension")["grammaticality"].drop("grammaticality")
    assert odd.to_numpy() == pytest.approx(APART, abs=0.12)


def test_shuffled_dimensions_lose_the_correlation() -> None:
    table = planted()
    rng = np.random.default_rng(3)
    values = table["value"].to_numpy().copy()
    broken = RatingTable(table.assign(value=rng.permutation(values)))
    for row in frames(broken)[2].to_dict("records"):
        assert row["high"] < APART


def test_who_rated_both_arms_is_told() -> None:
    assert made(planted()).cautions == ()
    (caution,) = made(planted(raters=6, within=True)).cautions
    assert caution.startswith("6 participants rated more than one system")
    assert "As printed: L2E" in rendered(made(planted(raters=4)))


def test_other_ratings_leave_the_print() -> None:
    report = made(ratings([{"value": 3}]))
    assert report.findings[0].startswith("No answers on a scale about goodness")
    assert len(report.sections) == 1
