"""Screening, quiz and onboarding: who may do the work, and what the grammar refuses."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from evaluation import (
    Attention,
    Choice,
    ChoiceOption,
    Gate,
    InvalidAnswers,
    InvalidSetting,
    KnownAnswer,
    Onboarding,
    Preference,
    Protocol,
    Quiz,
    Screening,
    YesNo,
    ours,
)
from evaluation.registry import get_protocol
from evaluation.serialized import InvalidProtocol, digest, from_json, to_json
from evaluation.soundness import complaints

WATCHED = YesNo(name="watched", text=ours("Have you watched it?"))
OFTEN = Choice(
    name="often",
    text=ours("How many episodes?"),
    options=tuple(ChoiceOption(value=n, word=ours(str(n))) for n in (1, 2, 3)),
    only_if=Gate("watched"),
    otherwise=0,
)
SCREENING = Screening(questions=(WATCHED, OFTEN), passes=(Gate("watched"), Gate("often", (2, 3))))
PARTNER = YesNo(name="partner", text=ours("Is your partner a program?"))
LENGTH = YesNo(name="length", text=ours("Is one message enough?"))
QUIZ = Quiz(
    questions=(PARTNER, LENGTH),
    answers=(
        KnownAnswer("partner", (0, 1)),
        KnownAnswer("length", (0,), ours("You need ten messages.")),
    ),
)

ATTENTION = Attention(
    questions=(PARTNER, LENGTH), passes=(Gate("partner"), Gate("length", (0,))), every=2
)


FOCUS = YesNo(name="focus", text=ours("This is an attention check: please choose No."))
ATTENTION_ONLY = Attention(questions=(FOCUS,), passes=(Gate("focus", (0,)),))


def with_steps(*steps: Any, name: str = "coherency_pairs", **changes: Any) -> Protocol:
    base = get_protocol(name)
    return dataclasses.replace(base, steps=(*steps, *base.steps), **changes)


@pytest.mark.parametrize(
    ("watched", "often", "wrong"),
    [("0", "", ["watched", "often"]), ("1", "1", ["often"]), ("1", "2", []), ("1", "3", [])],
)
def test_a_screening_lets_in_by_every_answer_it_names(
    watched: str, often: str, wrong: list[str]
) -> None:
    values = SCREENING.parse({"screening.watched": watched, "screening.often": often})
    assert SCREENING.wrong(values) == wrong


def test_what_is_missing_or_foreign_is_no_answer() -> None:
    with pytest.raises(InvalidAnswers) as refused:
        SCREENING.parse({"screening.watched": "1", "quiz.length": "0"})
    assert set(refused.value.problems) == {"screening.often", "quiz.length"}


def test_a_quiz_names_what_was_wrong_and_says_why() -> None:
    values = QUIZ.parse({"quiz.partner": "1", "quiz.length": "1"})
    assert QUIZ.wrong(values) == ["length"]
    assert QUIZ.explanation("length") == "You need ten messages."
    assert QUIZ.wrong({"partner": 0, "length": 0}) == []


@pytest.mark.parametrize(("right", "passes"), [(2, False), (3, True), (4, True)])
def test_an_onboarding_is_passed_from_the_share_on(right: int, passes: bool) -> None:
    assert Onboarding(items=4, share=0.75).passes(right, 4) == passes


@pytest.mark.parametrize(
    ("form", "name"),
    [(1, None), (2, "partner"), (3, None), (4, "length"), (5, None), (6, "partner")],
)
def test_attention_checks_take_turns_at_the_forms_that_have_one(
    form: int, name: str | None
) -> None:
    found = ATTENTION.question_in(form)
    assert (found.name if found else None) == name


def test_an_attention_check_knows_its_own_right_answer() -> None:
    assert ATTENTION.parse(LENGTH, {"attention.length": "0"}) == 0
    assert [ATTENTION.is_right(each, 0) for each in (PARTNER, LENGTH)] == [False, True]
    with pytest.raises(InvalidAnswers) as refused:
        ATTENTION.parse(LENGTH, {"attention.partner": "1"})
    assert set(refused.value.problems) == {"attention.length", "attention.partner"}


REFUSED: list[tuple[Any, str]] = [
    (lambda: Screening(questions=(), passes=()), "questions is empty"),
    (lambda: Screening(questions=(WATCHED,), passes=()), "passes is empty"),
    (lambda: Screening(questions=(WATCHED,), passes=(Gate("seen"),)), "passes names 'seen'"),
    (lambda: Screening(questions=(WATCHED,), passes=(Gate("watched", (2,)),)), "has 2, no answer"),
    (lambda: Screening(questions=(WATCHED,), passes=(Gate("watched", ()),)), "has no value"),
    (lambda: Quiz(questions=(PARTNER,), answers=()), "question partner: answers has 0 for it"),
    (
        lambda: Quiz(questions=(PARTNER,), answers=(KnownAnswer("partner", (1,)),) * 2),
        "question partner: answers has 2 for it",
    ),
    (
        lambda: Screening(questions=(Preference.sample(),), passes=(Gate("better", ("neither",)),)),
        "question better: a preference that asks about a partner or a reply",
    ),
    (lambda: Attention(questions=(), passes=()), "questions is empty"),
    (lambda: Attention(questions=(PARTNER,), passes=()), "question partner: passes has 0 for it"),
    (
        lambda: Attention(questions=(PARTNER,), passes=(Gate("partner", (0,)), Gate("partner"))),
        "question partner: passes has 2 for it",
    ),
    (
        lambda: Attention(questions=(WATCHED, OFTEN), passes=SCREENING.passes),
        "question often: only_if is watched; an attention check is asked by itself",
    ),
]


@pytest.mark.parametrize(("make", "complaint"), REFUSED)
def test_what_nobody_could_pass_is_refused(make: Any, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        make()


def test_all_four_come_back_from_json_with_their_words() -> None:
    protocol = with_steps(SCREENING, QUIZ, Onboarding(items=3, share=0.75), ATTENTION_ONLY)
    again = from_json(json.loads(json.dumps(to_json(protocol))))
    assert again == protocol
    assert digest(again) == digest(protocol)
    assert [*complaints(protocol)] == []
    names = [setting.name for setting in protocol.settings()]
    assert names[:7] == [
        "quiz.tries",
        "onboarding.items",
        "onboarding.share",
        "onboarding.silently",
        "attention.every",
        "attention.misses",
        "attention.ends",
    ]


def test_a_step_that_cannot_be_is_named_in_json() -> None:
    value = to_json(with_steps(SCREENING))
    value["steps"][0]["passes"][0]["values"] = [7]
    with pytest.raises(InvalidProtocol, match=r"steps\.1: question watched: passes has 7"):
        from_json(value)


def test_soundness_tells_what_cannot_be_together() -> None:
    found = dict(complaints(with_steps(SCREENING, SCREENING)))
    assert found["steps"] == "there are 2 of screening; there can be one"
    assert found["question watched"] == "name: 2 questions have it; give each its own"
    chat = with_steps(Onboarding(items=1, share=1.0), name="meena_interactive")
    assert "needs replies to contexts" in dict(complaints(chat))["onboarding.items"]
    writes = with_steps(ATTENTION_ONLY, name="personachat_personas")
    assert "has no form to stand in" in dict(complaints(writes))["attention"]
    long = dataclasses.replace(QUIZ.answers[1], explanation=ours("x" * 2001))
    quiz = dataclasses.replace(QUIZ, answers=(QUIZ.answers[0], long))
    assert "at most 2000" in dict(complaints(with_steps(quiz)))["question length"]


@pytest.mark.parametrize(("items", "batch", "fits"), [(4, 5, True), (5, 5, False), (6, 5, False)])
def test_known_answers_leave_something_of_the_batch(items: int, batch: int, fits: bool) -> None:
    protocol = with_steps(Onboarding(items=1, share=0.75))
    changes = {"onboarding.items": items, "rate.batch": batch}
    if fits:
        assert protocol.change(changes).onboarding == Onboarding(items=items, share=0.75)
        return
    with pytest.raises(InvalidSetting, match=f"“{items}” leaves nothing of the 5 items"):
        protocol.change(changes)
