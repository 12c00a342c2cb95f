"""The floor of the rows of writers: what says nothing, one thing or a canned line is below it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from bots import BatchBot, Reply
from bots.bot import Turn
from bots.guards.filters import canned
from tests.acceptance import planted

ONE = next(iter(planted.ANSWERS.values()))
KNOWN = {each.turns[0].text: each.turns[1].text for each in planted.questions(held_out=True)}


class Saying:
    """A bot that answers by a function of the question."""

    def __init__(self, answer: Callable[[str], Reply]) -> None:
        self.answer = answer

    def respond_many(self, turns: Sequence[Turn]) -> list[Reply]:
        return [self.answer(history[-1].text) for _, history in turns]

    def rank(self, persona: object, history: object, candidates: Sequence[str]) -> list[float]:
        return [0.0] * len(candidates)


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        (lambda question: Reply(""), 0),
        (lambda question: Reply(ONE), 5),
        (lambda question: canned((), "", {}), 0),
        (lambda question: Reply(KNOWN[question], events=("canned",)), 0),
    ],
    ids=["nothing", "one thing", "canned", "right but canned"],
)
def test_a_writer_that_does_not_answer_is_below_the_floor(
    answer: Callable[[str], Reply], right: int
) -> None:
    score = planted.written(Saying(answer))
    assert (score.right, score.asked, score.holds) == (right, 30, False)


def test_one_that_knows_the_answers_is_above_it_and_equal_scores_are_not_right() -> None:
    knows = Saying(lambda question: Reply(KNOWN[question]))
    assert planted.written(knows).right == 30
    assert planted.written(knows).holds
    assert planted.ranked(knows).right == 0


def test_the_floor_is_where_the_interval_leaves_chance() -> None:
    assert [planted.Score(right, 30).holds for right in (9, 10, 11)] == [False, True, True]


def test_no_question_that_is_tested_is_learned_and_every_thing_is_in_as_many() -> None:
    learned = {each.turns[0].text for each in planted.questions(held_out=False)}
    assert len(learned) == 120
    assert not learned & KNOWN.keys()
    assert [[*KNOWN.values()].count(each) for each in planted.ANSWERS.values()] == [5] * 6


@pytest.mark.parametrize(
    ("say", "right"),
    [
        (lambda wanted: wanted.split()[-2], 30),
        (lambda wanted: "", 0),
        (lambda wanted: ONE, 5),
        (lambda wanted: "tell me a bit more about that .", 0),
    ],
    ids=["a keyword", "nothing", "one thing", "canned"],
)
def test_a_keyword_is_on_topic_and_what_says_one_thing_is_not(
    say: Callable[[str], str], right: int
) -> None:
    score = planted.on_topic([(say(wanted), wanted) for wanted in KNOWN.values()])
    assert (score.right, score.holds) == (right, right == 30)


def test_the_questions_in_japanese_are_as_many_with_as_many_answers() -> None:
    both = [planted.questions(held_out=held, japanese=True) for held in (False, True)]
    assert [len(each) for each in both] == [120, 30]
    assert not {each.turns[0].text for each in both[0]} & {each.turns[0].text for each in both[1]}
    pairs = [(each.turns[1].text, each.turns[1].text) for each in both[1]]
    assert planted.on_topic(pairs, planted.JAPANESE).right == 30


def test_a_writer_that_was_not_trained_fails_its_row() -> None:
    bot = planted.taught("lost_in_conversation", **{**planted.SUBWORDS, "epochs": 0})
    assert isinstance(bot, BatchBot)
    assert not planted.written(bot).holds
