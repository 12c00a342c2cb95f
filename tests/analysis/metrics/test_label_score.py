"""Shares of yes with rater, message and conversation effects removed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from analysis import rating_table
from analysis.metrics.label_score import label_score

TRUTH = {"good": 1.2, "bad": -0.4}


def labels(seed: int, talk_sd: float) -> pd.DataFrame:
    """Each rater labels ten messages of a conversation with either system."""
    chance = np.random.default_rng(seed)
    rows = []
    for rater in range(30):
        severity = chance.normal(0, 0.8)
        for system, score in TRUTH.items():
            talk = chance.normal(0, talk_sd)
            for place in range(10):
                yes = chance.random() < special.expit(score + severity + talk)
                rows.append(
                    {
                        "answer": f"{rater}-{system}-{place}",
                        "campaign": "c",
                        "protocol": "p",
                        "question": "sensible",
                        "level": "nominal",
                        "item": f"{rater}-{system}-{place}",
                        "system": system,
                        "rater": f"r{rater}",
                        "conversation": f"{rater}-{system}",
                        "value": int(yes),
                        "place": place,
                    }
                )
    return pd.DataFrame(rows)


def scored(seed: int, talk_sd: float) -> dict[str, dict[Any, Any]]:
    found = label_score(rating_table(labels(seed, talk_sd)))
    return {str(row["system"]): row for row in found.to_dict("records")}


def test_the_planted_odds_come_back() -> None:
    good, bad = scored(1, 0.8)["good"], scored(1, 0.8)["bad"]
    assert abs(good["log_odds"] - bad["log_odds"] - 1.6) < 0.5
    assert 0 <= bad["low"] < bad["estimate"] < good["low"]
    assert good["conversation_sd"] > 0.3


def test_labels_of_one_conversation_count_for_less_than_as_many_apart() -> None:
    """What moves a whole conversation widens the interval; a binomial one would not know."""
    tied = scored(2, 1.5)["good"]
    share, n = tied["raw"], tied["n"]
    binomial = 2 * 1.96 * np.sqrt(share * (1 - share) / n)
    assert tied["high"] - tied["low"] > 1.5 * binomial


def test_only_no_is_said_with_its_reason() -> None:
    found = label_score(rating_table(labels(3, 0.5).assign(value=0)))
    assert set(found["reason"]) == {"every answer is 0: systems cannot be distinguished"}
