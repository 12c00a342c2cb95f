"""Coverage of a whitelist."""

from __future__ import annotations

import pytest

from analysis.metrics.coverage import coverage
from tests.analysis.prediction_tables import estimate, predictions

LIST = ["Goodbye!", "I'm sorry.", "Thank you.", "One moment please."]


def test_by_hand() -> None:
    rows: list[dict[str, object]] = [
        {"gold": "one moment, please", "scores": [0.1, 0.2, 0.3, 0.9], "gold_score": 0.9},
        {"gold": "Thank you", "scores": [0.9, 0.2, 0.3, 0.1], "gold_score": 0.3},
        {"gold": "Reset it.", "scores": [0.1, 0.2, 0.3, 0.4], "gold_score": 0.8},
        {"gold": "Call us.", "scores": [0.9, 0.8, 0.7, 0.6], "gold_score": 0.5},
    ]
    found = coverage(predictions(rows, candidates=LIST), ks=(1, 3))
    assert estimate(found, "coverage") == 0.5, "case, punctuation and spaces do not matter"
    assert estimate(found, "recall@1") == 0.5, "of the two covered ones"
    assert estimate(found, "recall@3") == 1
    assert estimate(found, "recall@1+") == 0.5, "of all four"
    assert estimate(found, "recall@3+") == 0.75


def test_a_covered_reply_needs_no_score_of_its_own() -> None:
    rows: list[dict[str, object]] = [
        {"gold": "Thank you", "scores": [0.9, 0.2, 0.95, 0.1], "gold_score": None},
        {"gold": "Call us.", "scores": [0.9, 0.8, 0.7, 0.6], "gold_score": 0.95},
    ]
    found = coverage(predictions(rows, candidates=LIST), ks=(1,))
    assert estimate(found, "coverage") == 0.5
    assert estimate(found, "recall@1") == 1, "of the covered one"
    assert estimate(found, "recall@1+") == 1, "of the one with a score"


def test_candidates_of_a_ranking_task_are_no_whitelist() -> None:
    rows: list[dict[str, object]] = [{"gold": "Thank you", "scores": [0.9, 0.2, 0.95, 0.1]}]
    assert coverage(predictions(rows, candidates=LIST)).empty


def test_copies_of_the_true_reply_do_not_stand_above_it() -> None:
    offered = ["Thank you.", "thank you", "Bye."]
    rows: list[dict[str, object]] = [{"gold": "Thank you!", "scores": [0.9, 0.8, 0.5]}]
    found = coverage(predictions(rows, candidates=offered, gold_score=0.7), ks=(1,))
    assert estimate(found, "recall@1+") == pytest.approx(1)
