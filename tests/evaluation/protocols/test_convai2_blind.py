"""CA-P3: two experts score whole conversations from 1 to 4 and comment, the systems hidden."""

from __future__ import annotations

from evaluation import Shown
from evaluation.registry import get_protocol

BLIND = get_protocol("convai2_blind")


def test_two_people_judge_fifty_conversations_per_system_as_a_whole() -> None:
    after = BLIND.after
    assert after is not None
    assert (after.over, after.votes, after.sample, after.not_before) == (
        "conversation",
        2,
        50,
        True,
    )
    assert after.by_third_parties
    assert after.is_shared


def test_a_score_from_1_to_4_and_a_comment_that_may_be_left_blank() -> None:
    after = BLIND.after
    assert after is not None
    answers = after.parse({"p.score": "4", "p.comment": ""}, Shown(("p",)))
    assert answers == {("p", "score"): 4, ("p", "comment"): ""}
    assert after.question("score").scale == (1.0, 4.0)
