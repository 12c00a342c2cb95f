"""Questions are counted per 100 conversations, by first word and by mark."""

from analysis import get_metric
from tests.analysis.talks import talks

questions_asked = get_metric("questions_asked")


def test_by_hand() -> None:
    table = talks(
        [
            [("s", "What's up?"), ("s", "who knows"), ("s", "You like tea?")],
            [("s", "Whatever."), ("s", '"How are you?"'), ("s", "no")],
            [("s", "so what")],
            [("s", "fine")],
        ]
    )
    found = questions_asked(table).set_index("metric")
    assert found.loc["begins_with_question_word", "estimate"] == 75.0
    assert found.loc["has_question_mark", "estimate"] == 75.0
    assert set(found["n"]) == {4}


def test_several_in_one_conversation_exceed_a_hundred() -> None:
    found = questions_asked(talks([[("s", "Why?"), ("s", "When?")]])).set_index("metric")
    assert found.loc["has_question_mark", "estimate"] == 200.0


def test_a_conversation_in_which_a_side_is_silent_counts() -> None:
    found = questions_asked(
        talks([[("s", "Why?"), ("human", "so")], [("human", "hi")]]).assign(partner_of="s")
    )
    own = found[(found["question"] == "own messages") & (found["metric"] == "has_question_mark")]
    assert (own["estimate"].iloc[0], own["n"].iloc[0]) == (50.0, 2)
