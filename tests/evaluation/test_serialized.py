"""Protocols are data: JSON and back without loss, known by a hash, refused by name (G15)."""

from __future__ import annotations

import copy
import dataclasses
import json
import random
from typing import Any

import pytest

from evaluation import AnsweredExample, Image, Protocol, Rate, Words, YesNo, ours
from evaluation.frozen import as_planned
from evaluation.registry import get_kind, get_protocol, kind_names, protocol_names
from evaluation.serialized import (
    SCHEMA,
    InvalidProtocol,
    canonical,
    digest,
    from_json,
    question_from_json,
    question_to_json,
    to_json,
)
from evaluation.words import words_of

PROTOCOLS = [get_protocol(name) for name in protocol_names()]
# Of acute_eval with one question with one example, before examples had images.
WITHOUT_IMAGES = "80cf48687311b5bbae5789b30f855f9a70f7de693dd3f72ba3534dbc881ebc36"
every = pytest.mark.parametrize("protocol", PROTOCOLS, ids=protocol_names())


def provenance(protocol: Protocol) -> list[tuple[str, str, str, str, bool]]:
    return [
        (path, words.marked, words.tag, words.where, words.quoted)
        for path, words in words_of(protocol)
    ]


def with_question(question: Any) -> Protocol:
    """Return a protocol that asks one question where it can be asked."""
    compares = type(question).compares
    if compares == "together":
        rate = Rate(each=(), together=(question,), over="contexts", show="all")
    else:
        over: Any = "partner" if question.personas_beside() is not None else "contexts"
        rate = Rate(each=(question,), over=over, show="all" if compares else "one")
    return dataclasses.replace(PROTOCOLS[0], steps=(rate,), sources={})


def test_what_is_judged_is_read_in_the_words_of_before() -> None:
    """Speakers of whole conversations were called `conversations`, near `conversation`."""
    protocol = get_protocol("acute_eval")
    before = to_json(protocol)
    before["steps"] = [
        step | {"over": "conversations"} if "over" in step else step for step in before["steps"]
    ]
    assert to_json(protocol) != before
    assert from_json(before) == protocol
    assert as_planned(protocol, before) == protocol
    strange = before | {"steps": [step | {"over": "chats"} for step in before["steps"]]}
    with pytest.raises(InvalidProtocol, match="over is"):
        from_json(strange)


@every
def test_a_protocol_comes_back_equal_with_its_words_and_its_hash(protocol: Protocol) -> None:
    again = from_json(json.loads(json.dumps(to_json(protocol))))
    assert again == protocol
    assert provenance(again) == provenance(protocol)
    assert digest(again) == digest(protocol)
    assert {type(again.name), type(again.title)} == {str}


@pytest.mark.parametrize("kind", kind_names())
def test_every_kind_of_question_comes_back(kind: str) -> None:
    protocol = with_question(get_kind(kind).sample())
    assert from_json(json.loads(canonical(protocol))) == protocol


def test_the_better_end_of_a_question_is_part_of_the_plan_where_it_is_not_the_high_one() -> None:
    high = get_kind("likert").sample()
    low = dataclasses.replace(high, better="low")
    assert "better" not in question_to_json(high)
    assert question_to_json(low)["better"] == "low"
    assert question_from_json(question_to_json(low)) == low
    with pytest.raises(InvalidProtocol, match="better"):
        question_from_json(question_to_json(high) | {"better": "up"})


def test_an_image_within_an_example_is_part_of_what_is_known_and_none_leaves_no_trace() -> None:
    example = AnsweredExample(ours("Hi!"), ours("Yes"))
    plain = with_question(YesNo(name="nice", text=ours("Nice?"), examples=(example,)))
    assert to_json(plain)["steps"][0]["each"][0]["examples"] == [{"text": "Hi!", "answer": "Yes"}]
    assert digest(plain) == WITHOUT_IMAGES
    image = Image(sha256="0" * 64, alt=ours("A scale"), width=4, height=2)
    shown = AnsweredExample(ours("Hi!"), ours("Yes"), images=(image,))
    illustrated = with_question(YesNo(name="nice", text=ours("Nice?"), examples=(shown,)))
    assert from_json(json.loads(canonical(illustrated))) == illustrated
    assert illustrated.every_image == (image,)
    other = dataclasses.replace(shown, images=(dataclasses.replace(image, sha256="1" * 64),))
    changed = with_question(YesNo(name="nice", text=ours("Nice?"), examples=(other,)))
    assert len({digest(plain), digest(illustrated), digest(changed)}) == 3
    at = "rate.nice.examples.1.images.1.alt"
    in_german = illustrated.in_language("de", {at: "Eine Skala"})
    assert [str(each.alt) for each in in_german.every_image] == ["Eine Skala"]


def test_no_two_protocols_have_a_hash_in_common() -> None:
    assert len({digest(protocol) for protocol in PROTOCOLS}) == len(PROTOCOLS) > 10


def test_the_order_of_keys_does_not_change_the_hash_and_one_letter_does() -> None:
    value = to_json(PROTOCOLS[0])
    names = list(value)
    random.Random(1).shuffle(names)
    assert digest(from_json({name: value[name] for name in names})) == digest(PROTOCOLS[0])
    value["instructions"][0] += "."
    assert digest(from_json(value)) != digest(PROTOCOLS[0])


def test_provenance_is_part_of_what_is_known() -> None:
    asked = [
        YesNo(name="q", text=Words("Is it good?", tag=tag, where="section 1")) for tag in ("S", "R")
    ]
    assert len({digest(with_question(question)) for question in asked}) == 2


WRONG = [
    (("schema",), 2, f"schema is 2; this version of Parley reads {SCHEMA}"),
    (("schema",), "1", 'schema is "1"; this version'),
    (("colour",), "red", "colour is no field here; there are "),
    (("minutes",), "many", 'minutes is "many"; it must be a whole number'),
    (("minutes",), True, "minutes is true; it must be a whole number"),
    (("minutes",), None, "minutes is null; it must be a whole number"),
    (("instructions",), "Read.", 'instructions is "Read."; it must be a list'),
    (("instructions", 0), 7, "instructions.1 is 7; it must be a text"),
    (("instructions", 0), {"text": "Read.", "tag": "X"}, 'instructions.1.tag is "X"; it must'),
    (("instructions", 0), {"text": "Read.", "tag": ["S"]}, 'instructions.1.tag is ["S"]; it must'),
    (("instructions", 0), {"text": 3, "tag": "S"}, "instructions.1.text is 3; it must be a text"),
    (("instructions", 0), {"text": "a", "tag": "S", "where": 3}, "instructions.1.where is 3; it"),
    (("steps", 0, "step"), "dance", 'steps.1.step is "dance"; it must be one of attention, chat'),
    (("steps", 0, "over"), "all", 'steps.1.over is "all"; it must be one of "partner"'),
    (("steps", 0, "votes"), 2.5, "steps.1.votes is 2.5; it must be a whole number"),
    (("steps", 0, "messages"), [1], "steps.1.messages has 1 values; it must have 2"),
    (("steps", 0, "each", 0, "kind"), "dance", 'steps.1.each.1.kind is "dance"; it must be one'),
    (("steps", 0, "each", 0, "text"), [], "steps.1.each.1.text is []; it must be a text"),
    (("steps", 0, "each", 0, "size"), 3, "steps.1.each.1.size is no field here"),
    (("steps", 0, "show"), "one", "steps.1: question quality: a ranking can only be asked about"),
]


@pytest.mark.parametrize(("path", "value", "complaint"), WRONG)
def test_what_is_no_protocol_is_refused_by_its_field(
    path: tuple[Any, ...], value: object, complaint: str
) -> None:
    wrong = copy.deepcopy(to_json(get_protocol("reply_ranking")))
    part: Any = wrong
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = value
    with pytest.raises(InvalidProtocol) as refused:
        from_json(wrong)
    assert str(refused.value).startswith(complaint)


@pytest.mark.parametrize("name", ["name", "title", "steps"])
def test_what_is_missing_is_named(name: str) -> None:
    value = to_json(get_protocol("reply_ranking"))
    del value[name]
    with pytest.raises(InvalidProtocol, match=f"^{name} is missing"):
        from_json(value)


@pytest.mark.parametrize("value", [None, [], "protocol", 3])
def test_what_is_no_object_is_refused(value: object) -> None:
    with pytest.raises(InvalidProtocol, match="it must be an object in braces"):
        from_json(value)
