"""NL-P6: two labels of each response, two comparisons, one of them by what was intended (V2)."""

from __future__ import annotations

import pytest

from evaluation import InvalidAnswers, Preference, Rate, Shown, YesNo
from evaluation.registry import get_protocol

PROTOCOL = get_protocol("reply_quality")


def shown(first: str = "positive", second: str = "") -> Shown:
    return Shown(("a", "b"), intended={"a": first, "b": second})


def raw(**answers: str) -> dict[str, str]:
    """Return a filled form, with some answers changed; a blank one is left out."""
    usual = {
        "a.fluency": "1",
        "a.consistency": "1",
        "b.fluency": "1",
        "b.consistency": "0",
        "together.domain_awareness": "a",
        "together.sentiment_richness": "b",
    }
    changed = {name.replace("__", "."): value for name, value in answers.items()}
    return {name: value for name, value in (usual | changed).items() if value}


def parse(answers: dict[str, str], drawn: Shown) -> dict[tuple[str, str], object]:
    assert PROTOCOL.after is not None
    return dict(PROTOCOL.after.parse(answers, drawn))


def test_five_annotators_label_single_utterances_with_two_responses() -> None:
    after = PROTOCOL.after
    assert after is not None
    assert (after.show, after.messages, after.votes, after.batch) == ("pairs", (1, 1), 5, 300)


def test_an_influent_response_is_inconsistent_without_being_asked() -> None:
    found = parse(raw(a__fluency="0", a__consistency=""), shown())
    assert (found["a", "fluency"], found["a", "consistency"]) == (0, 0)
    with pytest.raises(InvalidAnswers) as refused:
        parse(raw(a__fluency="0", a__consistency="1"), shown())
    assert set(refused.value.problems) == {"a.consistency"}
    with pytest.raises(InvalidAnswers) as refused:
        parse(raw(a__consistency=""), shown())
    assert set(refused.value.problems) == {"a.consistency"}


def test_comparisons_have_one_winner_and_no_tie() -> None:
    found = parse(raw(), shown())
    for question in ("domain_awareness", "sentiment_richness"):
        assert {found["a", question], found["b", question]} == {"won", "lost"}
    for tie in ("neither", "equal", ""):
        with pytest.raises(InvalidAnswers) as refused:
            parse(raw(together__domain_awareness=tie), shown())
        assert set(refused.value.problems) == {"together.domain_awareness"}


@pytest.mark.parametrize(
    ("first", "second", "asked"),
    [
        ("positive", "", True),
        ("", "negative", True),
        ("positive", "negative", True),
        ("neutral", "", False),
        ("positive", "neutral", False),
        ("", "", False),
    ],
)
def test_sentiment_applies_to_positive_and_negative_intents_only(
    first: str, second: str, asked: bool
) -> None:
    after, drawn = PROTOCOL.after, shown(first, second)
    assert after is not None
    names = [f"{about}.{question.name}" for about, question in after.form_questions(drawn)]
    assert ("together.sentiment_richness" in names) is asked
    assert len(names) == 5 + asked
    assert after.questions_about(first, (first, second)) == 3 + asked
    if asked:
        assert ("a", "sentiment_richness") in parse(raw(), drawn)
    else:
        assert ("a", "sentiment_richness") not in parse(raw(together__sentiment_richness=""), drawn)
        with pytest.raises(InvalidAnswers, match="not on the form"):
            parse(raw(), drawn)


def test_a_question_about_each_reply_applies_to_those_it_is_for() -> None:
    rate = Rate(
        each=(YesNo(name="glad", text="Is it glad?", intended=("positive",)),),
        together=(Preference(name="better", text="Which is better?"),),
        over="contexts",
        show="pairs",
    )
    names = [(about, one.name) for about, one in rate.form_questions(shown("positive", "negative"))]
    assert names == [("a", "glad"), ("together", "better")]
    assert [rate.questions_about(own, ("positive", "negative")) for own in ("positive", "x")] == [
        2,
        1,
    ]


def test_only_replies_to_contexts_have_an_intent() -> None:
    question = YesNo(name="glad", text="Is it glad?", intended=("positive",))
    with pytest.raises(ValueError, match="question glad: intended is"):
        Rate(each=(question,))
