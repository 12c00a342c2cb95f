"""Ordinal scores: severity removed, on the question's own scale."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis import rating_table
from analysis.metrics.ordinal_score import ordinal_score


def campaign(chance: np.random.Generator, unfair: bool) -> pd.DataFrame:
    """Two systems of like worth; where unfair, lenient raters mostly see the second."""
    rows = []
    for rater in range(80):
        lenient = rater % 2
        for k in range(6):
            second = (k < 4) == bool(lenient) if unfair else k % 2 == 1
            felt = chance.logistic() + 2.0 * lenient - 1.0
            value = 1 + int((felt > np.array([-2.0, -0.7, 0.7, 2.0])).sum())
            rows.append(
                {
                    "answer": f"{rater}-{k}",
                    "campaign": "c",
                    "protocol": "p",
                    "question": "fun",
                    "level": "ordinal",
                    "item": f"{rater}-{k}",
                    "system": "second" if second else "first",
                    "rater": f"r{rater}",
                    "value": value,
                    "place": k,
                }
            )
    return pd.DataFrame(rows)


def test_a_system_is_not_favored_by_lenient_raters() -> None:
    found = ordinal_score(rating_table(campaign(np.random.default_rng(5), unfair=True)))
    first, second = found.to_dict("records")
    assert second["raw"] - first["raw"] > 0.3
    left = second["estimate"] - first["estimate"]
    assert abs(left) < 0.5 * (second["raw"] - first["raw"])
    assert found["rater_sd"].iloc[0] > 0.7
    assert 1 < first["low"] < first["estimate"] < first["high"] < 5


def test_with_fair_draws_it_agrees_with_the_mean() -> None:
    found = ordinal_score(rating_table(campaign(np.random.default_rng(6), unfair=False)))
    assert found["estimate"].to_numpy() == pytest.approx(found["raw"].to_numpy(), abs=0.15)


def test_equal_answers_and_too_many_points_have_a_reason() -> None:
    rows = campaign(np.random.default_rng(7), unfair=False)
    same = ordinal_score(rating_table(rows.assign(value=3)))
    assert set(same["reason"]) == {"every answer is 3: systems cannot be distinguished"}
    fine = ordinal_score(rating_table(rows.assign(value=np.arange(len(rows)))))
    assert fine["reason"].str.contains("too many for categories; 20 at most").all()
