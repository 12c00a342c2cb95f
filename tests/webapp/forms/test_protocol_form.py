"""The builder's form: everything shipped comes through it unchanged; what is typed is kept."""

from __future__ import annotations

import pytest

from evaluation import Gate, Protocol
from evaluation.registry import get_kind, get_protocol, kind_names, protocol_names
from evaluation.serialized import digest
from evaluation.soundness import complaints
from webapp.forms.protocol_form import ProtocolForm
from webapp.forms.protocol_text import MOST_QUESTIONS, acted, keys_of, typed
from webapp.services.campaign import own_protocols

PROTOCOLS = [get_protocol(name) for name in protocol_names()]
every = pytest.mark.parametrize("protocol", PROTOCOLS, ids=protocol_names())


def saved(base: Protocol, raw: dict[str, str]) -> Protocol:
    form = ProtocolForm(base, raw, check=True)
    assert form.is_valid(), form.errors
    return form.protocol()


def refused(base: Protocol, raw: dict[str, str]) -> dict[str, str]:
    form = ProtocolForm(base, raw, check=True)
    assert not form.is_valid()
    assert form.typed() == {name: raw.get(name, "") for name in form.fields}
    return {name: str(found[0]) for name, found in form.errors.items()}


@every
def test_a_shipped_protocol_comes_through_the_form_with_its_hash(protocol: Protocol) -> None:
    assert digest(saved(protocol, typed(protocol))) == digest(protocol)


@every
def test_a_shipped_protocol_is_sound(protocol: Protocol) -> None:
    assert [*complaints(protocol)] == []


@pytest.mark.parametrize("kind", kind_names())
def test_every_kind_can_be_added_with_the_fields_of_its_class(kind: str) -> None:
    """What a new question begins with is whole but for its words."""
    base = own_protocols.blank()
    raw = typed(base) | {"title": "One question", "chat.pool": "test"}
    if get_kind(kind).compares:
        raw |= {"activity": "contexts", "rate.show": "pairs"}
        raw = typed_again(base, raw)
    assert kind in dict(ProtocolForm(base, raw).kinds())
    raw = typed_again(base, acted(raw | {"add_kind": kind}, "add"))
    assert set(refused(base, raw)) == {"q1.text"}
    rate = saved(base, raw | {"q1.text": "What do you say?"}).after
    assert rate is not None
    assert [question.kind for question in rate.questions] == [kind]


def typed_again(base: Protocol, raw: dict[str, str]) -> dict[str, str]:
    """Return what the form would send if it was shown and sent again."""
    form = ProtocolForm(base, raw)
    return form.typed() | dict(form.hidden())


@pytest.mark.parametrize("count", [MOST_QUESTIONS - 1, MOST_QUESTIONS])
def test_there_is_a_most_of_questions(count: int) -> None:
    base = own_protocols.blank()
    raw = typed(base)
    for _ in range(count):
        raw = acted(raw | {"add_kind": "yes_no"}, "add")
    assert len(keys_of(raw)) == count
    more = keys_of(acted(raw | {"add_kind": "yes_no"}, "add"))
    assert len(more) == MOST_QUESTIONS


@pytest.mark.parametrize(
    ("action", "order"),
    [
        ("up 1", "1 2 3"),
        ("up 3", "1 3 2"),
        ("down 1", "2 1 3"),
        ("down 3", "1 2 3"),
        ("delete 2", "1 3"),
        ("delete 9", "1 2 3"),
        ("nonsense", "1 2 3"),
    ],
)
def test_questions_move_and_go(action: str, order: str) -> None:
    raw = typed(own_protocols.blank())
    for _ in range(3):
        raw = acted(raw | {"add_kind": "yes_no"}, "add")
    assert acted(raw, action)["questions"] == order


def test_what_belongs_to_the_other_activity_is_kept_too() -> None:
    base = own_protocols.blank()
    raw = typed(base) | {"chat.told": "Somebody is there.", "activity": "contexts"}
    raw = typed_again(base, raw)
    raw = typed_again(base, raw | {"activity": "chat"})
    assert raw["chat.told"] == "Somebody is there."


def screened() -> tuple[Protocol, dict[str, str]]:
    """Return a blank protocol, and its form with a question of each sort before the work."""
    base = own_protocols.blank()
    raw = typed(base) | {"title": "Screened"}
    for _ in range(3):
        raw = acted(raw | {"add_kind": "yes_no"}, "add")
    for key, (name, when) in enumerate(
        [("watched", "screening"), ("enough", "quiz"), ("nice", "each")], start=1
    ):
        raw |= {f"q{key}.name": name, f"q{key}.text": f"Is it {name}?", f"q{key}.asked": when}
    return base, typed_again(base, raw)


def test_attention_checks_are_built_from_questions_with_right_answers() -> None:
    base, raw = screened()
    raw = typed_again(base, raw | {"q1.asked": "attention", "q2.asked": "each"})
    assert {"q1.right", "attention.every", "attention.misses", "attention.ends"} <= set(raw)
    assert not {"q1.explanation", "quiz.tries"} & set(ProtocolForm(base, raw).fields)
    more = {"attention.every": "2", "attention.misses": "3", "attention.ends": "true"}
    made = saved(base, raw | {"q1.right": "0"} | more)
    step = made.attention
    assert step is not None
    assert (step.passes, step.every, step.misses, step.ends) == (
        (Gate("watched", (0,)),),
        2,
        3,
        True,
    )
    assert [each.prefix for each in made.steps] == ["chat", "rate", "attention"]
    assert digest(saved(made, typed(made))) == digest(made)


def test_a_screening_and_a_quiz_are_built_from_questions_before_the_work() -> None:
    base, raw = screened()
    assert {"q1.right", "q2.right", "q2.explanation", "quiz.tries"} <= set(raw)
    raw |= {"q1.right": "1", "q2.right": "0, 1", "q2.explanation": "Ten are.", "quiz.tries": "3"}
    made = saved(base, raw)
    assert made.screening is not None
    assert [(gate.question, gate.values) for gate in made.screening.passes] == [("watched", (1,))]
    assert made.quiz is not None
    assert (made.quiz.tries, made.quiz.answers[0].values) == (3, (0, 1))
    assert made.quiz.explanation("enough") == "Ten are."
    assert made.after is not None
    assert [question.name for question in made.after.questions] == ["nice"]
    assert [step.prefix for step in made.steps] == ["screening", "quiz", "chat", "rate"]
    assert digest(saved(made, typed(made))) == digest(made)


@pytest.mark.parametrize(
    ("changes", "field", "complaint"),
    [
        ({"q1.right": "yes"}, "q1.right", "question watched: passes has 'yes', no answer to it"),
        ({"q2.right": ""}, "q2.right", "question enough: answers has no value"),
        ({"q1.right": ""}, "activity", "passes is empty; name a question"),
        ({"quiz.tries": "many"}, "quiz.tries", "“many” is not a whole number"),
        ({"quiz.tries": "11"}, "quiz.tries", "“11”"),
    ],
)
def test_answers_that_nobody_can_give_are_refused_at_their_field(
    changes: dict[str, str], field: str, complaint: str
) -> None:
    base, raw = screened()
    found = refused(base, raw | {"q1.right": "1", "q2.right": "0"} | changes)
    assert complaint in found[field]


def test_an_onboarding_is_there_where_a_number_of_items_is() -> None:
    base = get_protocol("coherency_pairs")
    raw = typed(base)
    assert raw["onboarding.items"] == ""
    raw |= {"onboarding.items": "2", "onboarding.share": "0.75", "onboarding.silently": ""}
    made = saved(base, raw)
    assert made.onboarding is not None
    assert (made.onboarding.items, made.onboarding.share) == (2, 0.75)
    assert not made.onboarding.silently
    assert digest(saved(made, typed(made))) == digest(made)


def test_examples_are_lines_of_what_is_judged_the_answer_and_why() -> None:
    base = get_protocol("meena_interactive")
    raw = typed(base)
    key = next(key for key in keys_of(raw) if raw[f"q{key}.name"] == "sensible")
    assert raw[f"q{key}.examples"] == ""
    lines = "Hi! | Yes | It fits a greeting.\nBlue. | No"
    made = saved(base, raw | {f"q{key}.examples": lines})
    assert made.live is not None
    examples = made.live.question("sensible").examples
    assert [(each.text, each.answer, each.why) for each in examples] == [
        ("Hi!", "Yes", "It fits a greeting."),
        ("Blue.", "No", ""),
    ]
    assert typed(made)[f"q{key}.examples"] == lines
    found = refused(base, raw | {f"q{key}.examples": "Hi!"})
    assert found[f"q{key}.examples"] == "“Hi!” has no answer; write it behind a |"
