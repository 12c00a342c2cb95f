"""Metrics of tasks beside chat, by hand."""

from __future__ import annotations

import pytest
from sklearn.metrics import f1_score

from analysis.predictions.peripheral import (
    Carried,
    answer_f1,
    carryover_f1,
    expression_scores,
    heq,
    human_f1,
    joint_goal_accuracy,
    left_out_f1,
    precision_at,
)


def test_answers_are_compared_with_several_people() -> None:
    golds = ["in the kitchen", "the kitchen"]
    assert answer_f1("kitchen", golds) == 1
    assert left_out_f1("kitchen", golds) == pytest.approx((1 + 2 / 3) / 2)
    assert left_out_f1("kitchen", golds[:1]) == pytest.approx(2 / 3)


def test_people_are_compared_with_each_other() -> None:
    """Of three answers the first two are the same, so the third alone is less than 1."""
    golds = ["the kitchen", "kitchen", "in the kitchen"]
    assert human_f1(golds) == pytest.approx((1 + 1 + 2 / 3) / 3)
    assert human_f1(golds[:1]) is None


def test_questions_and_dialogues_where_people_are_reached() -> None:
    assert heq([[(0.8, 0.8), (0.5, 0.9)], [(1.0, 0.7)]]) == pytest.approx((2 / 3, 1 / 2))
    with pytest.raises(ValueError, match="no questions"):
        heq([[]])


def test_mentions_among_the_first_k() -> None:
    ranked, gold = [["a", "b", "c"], ["c", "b", "a"]], ["b", "a"]
    assert [precision_at(ranked, gold, k) for k in (1, 2, 3)] == [0, 0.5, 1]
    with pytest.raises(ValueError, match="no cases"):
        precision_at([], [], 1)


def test_every_slot_has_to_be_right() -> None:
    gold = [{"food": "thai", "area": "north"}, {"food": "thai"}, {}]
    said = [{"area": "north", "food": "thai"}, {"food": "greek"}, {}]
    assert joint_goal_accuracy(said, gold) == pytest.approx(2 / 3)
    assert joint_goal_accuracy([{"food": "thai", "area": "x"}], [{"food": "thai"}]) == 0


def test_carried_slots_by_distance() -> None:
    facts = [(1, 1, 1), (1, 0, 1), (2, 1, 0), (2, 1, 1), (3, 0, 0), (4, 1, 1), (5, 0, 1)]
    found = carryover_f1(Carried(d, bool(gold), bool(said)) for d, gold, said in facts)
    assert list(found) == ["1", "2", "3+", "all"]
    everything = f1_score([gold for _, gold, _ in facts], [said for _, _, said in facts])
    assert found["all"] == pytest.approx(everything)
    assert found["1"] == pytest.approx(2 / 3)
    assert found["2"] == pytest.approx(2 / 3)


def test_referring_expressions_of_sentences() -> None:
    scores = expression_scores([{"he", "it"}, set(), {"x"}], [{"he"}, set(), {"she"}])
    found = (scores.precision, scores.recall, scores.f1)
    assert found == pytest.approx(((0.5 + 1 + 0) / 3, (1 + 1 + 0) / 3, (2 / 3 + 1 + 0) / 3))
