"""Gates: the answers of an earlier question that open another, and what is stored without them."""

from __future__ import annotations

from typing import Any

import pytest

from evaluation import Choice, Gate, InvalidAnswers, Likert, Rate, Shown, YesNo
from evaluation.frozen import as_planned
from evaluation.kinds.persona_choice import PersonaChoice
from evaluation.registry import get_protocol
from tests.evaluation.test_frozen import planned

MOOD = Choice.sample()  # sad, glad, neither
SCORE = Likert(name="score", text="How good?", points=("bad", "", "good"))
WHY = YesNo(
    name="why", text="Was it the tone?", only_if=Gate("mood", ("sad", "neither")), otherwise=0
)
DEEP = YesNo(name="deep", text="And the words?", only_if=Gate("why"), otherwise=0)
LOW = YesNo(name="low", text="Repair?", only_if=Gate("score", (1, 2)), otherwise=0)
RATE = Rate(each=(MOOD, WHY, DEEP, SCORE, LOW))
ONE = Shown(("a",))


def parse(**answers: str) -> dict[str, Any]:
    """Return the values that a form's answers mean, by question."""
    raw = {f"a.{name}": text for name, text in answers.items()}
    return {name: value for (_, name), value in RATE.parse(raw, ONE).items()}


@pytest.mark.parametrize(("mood", "asked"), [("sad", True), ("neither", True), ("glad", False)])
def test_any_of_its_values_opens_a_question_and_others_close_it(mood: str, asked: bool) -> None:
    if asked:
        assert parse(mood=mood, why="1", deep="1", score="3")["why"] == 1
        with pytest.raises(InvalidAnswers) as refused:
            parse(mood=mood, score="3")
        assert refused.value.problems == {"a.why": "Choose yes or no."}
    else:
        assert parse(mood=mood, score="3")["why"] == 0
        with pytest.raises(InvalidAnswers) as refused:
            parse(mood=mood, why="1", score="3")
        told = "is “Sad” or “Neither”."
        assert refused.value.problems["a.why"].endswith(told)


@pytest.mark.parametrize(("score", "asked"), [("1", True), ("2", True), ("3", False)])
def test_points_of_a_scale_open_a_question(score: str, asked: bool) -> None:
    raw = {"mood": "glad", "score": score}
    assert parse(**raw, low="1" if asked else "")["low"] == int(asked)
    values = RATE.parse(
        {f"a.{n}": v for n, v in (raw | {"low": "1" if asked else ""}).items()}, ONE
    )
    assert (("a", "low") in RATE.closed(values)) is not asked


def test_what_is_behind_a_closed_question_is_closed_though_its_value_would_open_it() -> None:
    first = YesNo(name="first", text="?")
    second = YesNo(name="second", text="?", only_if=Gate("first"), otherwise=1)  # opens the third
    third = YesNo(name="third", text="?", only_if=Gate("second"), otherwise=0)
    rate = Rate(each=(first, second, third))
    values = rate.parse({"a.first": "0"}, ONE)
    assert values == {("a", "first"): 0, ("a", "second"): 1, ("a", "third"): 0}
    assert rate.closed(values) == {("a", "second"), ("a", "third")}
    values = rate.parse({"a.first": "1", "a.second": "1", "a.third": "1"}, ONE)
    assert rate.closed(values) == set()


def test_each_candidate_has_its_own_gates() -> None:
    rate, both = Rate(each=(MOOD, WHY)), Shown(("a", "b"))
    values = rate.parse({"a.mood": "sad", "a.why": "1", "b.mood": "glad"}, both)
    assert rate.closed(values) == {("b", "why")}


@pytest.mark.parametrize(
    ("each", "told"),
    [
        ((WHY, MOOD), "question why: only_if names 'mood', no earlier question; earlier: none"),
        ((SCORE, WHY), "question why: only_if names 'mood', no earlier question; earlier: score"),
        (
            (MOOD, YesNo(name="x", text="?", only_if=Gate("x"), otherwise=0)),
            "names 'x', no earlier",
        ),
        ((MOOD, YesNo(name="x", text="?", only_if=Gate("mood"), otherwise=0)), "has 1, no answer"),
        (
            (MOOD, YesNo(name="x", text="?", only_if=Gate("mood", ("sad", "mad")), otherwise=0)),
            "has 'mad', no answer to mood",
        ),
        ((SCORE, YesNo(name="x", text="?", only_if=Gate("score", (0,)), otherwise=0)), "has 0, no"),
        ((SCORE, YesNo(name="x", text="?", only_if=Gate("score", (4,)), otherwise=0)), "has 4, no"),
        (
            (SCORE, YesNo(name="x", text="?", only_if=Gate("score", ()), otherwise=0)),
            "has no value",
        ),
        (
            (
                PersonaChoice(name="who", text="?"),
                YesNo(name="x", text="?", only_if=Gate("who", ("p1",)), otherwise=0),
            ),
            "has 'p1', no answer to who",
        ),
        ((MOOD, YesNo(name="x", text="?", only_if=Gate("mood", ("sad",)))), "`otherwise` must say"),
    ],
)
def test_a_gate_that_cannot_open_or_says_too_little_is_refused(each: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Rate(each=each)


@pytest.mark.parametrize("value", [1, 2, 3])
def test_every_point_of_a_scale_may_be_a_gate(value: int) -> None:
    Rate(each=(SCORE, YesNo(name="x", text="?", only_if=Gate("score", (value,)), otherwise=0)))


@pytest.mark.parametrize("name", ["meena_static", "meena_interactive", "meena_third_party"])
@pytest.mark.parametrize("former", [True, False])
def test_plans_of_either_form_are_read(name: str, former: bool) -> None:
    protocol = get_protocol(name)
    plan = planned(protocol)
    for step in plan["steps"]:
        for question in step.get("each", ()):
            if question["only_if"]:
                assert question["only_if"] == {"question": "sensible", "values": [1]}
                question["only_if"] = "sensible" if former else question["only_if"]
    assert as_planned(protocol, plan) == protocol


@pytest.mark.parametrize(
    ("today", "then", "wanted"),
    [
        (None, "sensible", Gate("sensible")),
        (Gate("sensible"), None, None),
        (Gate("sensible"), {"question": "sensible", "values": [0]}, Gate("sensible", (0,))),
        (Gate("sensible", (0,)), "sensible", Gate("sensible")),
    ],
)
def test_the_gate_of_a_plan_holds_whatever_the_file_says_since(
    today: Gate | None, then: Any, wanted: Gate | None
) -> None:
    first = YesNo(name="sensible", text="?")
    rate = Rate(each=(first, YesNo(name="specific", text="?", only_if=today, otherwise=0)))
    protocol = get_protocol("meena_static")
    changed = type(protocol)(**{**vars(protocol), "steps": (rate,)})
    plan = planned(changed)
    plan["steps"][0]["each"][1]["only_if"] = then
    read = as_planned(changed, plan)
    assert read.rates[0].each[1].only_if == wanted
