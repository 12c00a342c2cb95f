"""Figures of whitelists by hand, and of rankers that tell nothing apart."""

from __future__ import annotations

from typing import Any

import pytest

from bots.benchmarks.whitelists import _measured

LISTED = ["Okay.", "Have a great day!", "Is the box still sealed?"]


def row(gold: str, scores: list[float], gold_score: float) -> dict[str, Any]:
    return {"gold": gold, "candidates": LISTED, "scores": scores, "gold_score": gold_score}


def test_recall_with_the_true_reply_added_and_only_where_it_is_covered() -> None:
    rows = [
        row("okay", [3.0, 2.0, 1.0], 3.0),  # first of the list
        row("Have a great day!", [3.0, 2.0, 1.0], 2.0),  # second of it
        row("Order 12.", [3.0, 2.0, 1.0], 4.0),  # not on it, and better than all that is
    ]
    found = _measured(rows)
    assert found["coverage %"] == pytest.approx(200 / 3)
    assert (found["R@1"], found["R@10"]) == (1 / 2, 1)
    assert (found["R@1+"], found["R@10+"]) == (2 / 3, 1)


def test_a_ranker_whose_scores_are_all_the_same_hits_nothing() -> None:
    found = _measured([row("okay", [1.0, 1.0, 1.0], 1.0), row("Order 12.", [1.0, 1.0, 1.0], 1.0)])
    assert (found["R@1"], found["R@1+"]) == (0, 0)
