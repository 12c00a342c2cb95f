"""ME-P6: the items and raters of the static benchmark, with one question of its own."""

from __future__ import annotations

from analysis.reports.meena_human_likeness import LIKE
from evaluation.registry import get_protocol


def test_it_is_the_static_benchmark_with_one_different_question() -> None:
    like, static = get_protocol("meena_human_like"), get_protocol("meena_static")
    assert like.chat is None
    assert like.after is not None
    assert static.after is not None
    (question,) = like.after.each
    assert (like.after.over, like.after.votes) == (static.after.over, static.after.votes)
    assert (question.kind, question.scale) == ("yes_no", (0.0, 1.0))


def test_the_words_are_those_that_the_paper_prints_and_the_report_finds_the_answers() -> None:
    after = get_protocol("meena_human_like").after
    assert after is not None
    (question,) = after.each
    assert "“human-like”, or in other words, looked like a response that a human" in question.text
    assert question.name in LIKE
