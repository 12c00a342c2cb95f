"""The change per turn: against statsmodels, and where it cannot be told."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from analysis import get_metric
from analysis.simulation.campaigns import Design
from analysis.simulation.cases import shares
from tests.analysis.conversations.test_turns import Row, labeled

turn_effect = get_metric("turn_effect")


def drawn(drift: float, seed: int = 0) -> pd.DataFrame:
    design = Design(systems=1, conversations=80, drift=drift, base=1.0)
    return shares.by_turn(design, np.random.default_rng(seed))


def test_it_is_the_slope_with_each_conversation_its_own_level() -> None:
    ratings = drawn(-0.2)
    row = turn_effect(ratings).iloc[0]
    turn = ratings["message_seq"] / 2
    levels = pd.get_dummies(ratings["conversation"]).astype(float)
    fitted = sm.OLS(ratings["value"], levels.assign(turn=turn)).fit(
        cov_type="cluster",
        cov_kwds={"groups": pd.factorize(ratings["rater"])[0], "use_correction": False},
    )
    assert row["estimate"] == pytest.approx(fitted.params["turn"], abs=1e-12)
    # Theirs is not raised for what each rater takes from the slope.
    assert 1 < row["se"] / fitted.bse["turn"] < 1.1
    assert row["low"] < row["estimate"] < row["high"] < 0
    assert row["conversations"] == 80


def test_who_stays_longer_is_no_change() -> None:
    talks = [(talk, length) for talk, length in enumerate([2] * 10 + [6] * 10)]
    rows = [
        (seq, str(talk), "a", 1.0 * (length == 6))
        for talk, length in talks
        for seq in range(1, length + 1)
    ]
    row = turn_effect(labeled(*rows)).iloc[0]
    assert row["estimate"] == 0
    assert row["reason"] == "all conversations change equally, so there is no interval"


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([(2, "1", "a", 1.0), (2, "2", "b", 0.0), (4, "2", "b", 0.0)], "two messages"),
        ([(2, "1", "a", 1.0), (4, "1", "a", 0.0)], "one conversation or rater only"),
    ],
)
def test_what_cannot_be_told_has_a_reason(rows: list[Row], reason: str) -> None:
    row = turn_effect(labeled(*rows)).iloc[0]
    assert reason in row["reason"]
    assert np.isnan(row["low"])


def test_p_is_corrected_over_the_systems_of_a_question() -> None:
    design = Design(systems=4, drift=-0.3, base=1.0)
    found = turn_effect(shares.by_turn(design, np.random.default_rng(3)))
    assert (found["p_holm"] >= found["p"]).all()
    assert found["p_holm"].min() == pytest.approx(4 * found["p"].min())


def test_answers_that_are_not_about_messages_have_no_row() -> None:
    assert turn_effect(labeled(("", "1", "a", 1.0))).empty
    assert turn_effect(labeled((2, "1", "a", 1.0), (2, "2", "a", 0.0))).empty
