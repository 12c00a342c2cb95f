"""The builder and the grammar: every field of a protocol can be set, or says here why not.

The fields are found from the dataclasses, so a new one that the builder lacks fails.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, ClassVar, get_args, get_origin, get_type_hints

import pytest

from evaluation import (
    Attention,
    Brief,
    Chat,
    Draw,
    FreeText,
    MaxWords,
    NoProfile5Gram,
    Onboarding,
    Protocol,
    Question,
    Quiz,
    Rate,
    Telling,
    Write,
    ours,
)
from evaluation.checks import MessageCheck
from evaluation.images import Image
from evaluation.registry import get_kind, get_protocol, kind_names
from evaluation.serialized import CHECKS, STEPS, digest
from evaluation.soundness import complaints
from tests.webapp.forms.test_protocol_form import refused, saved, typed_again
from webapp.forms.protocol_form import ACTIVITIES, ProtocolForm
from webapp.forms.protocol_parts import CHECK_LABELS
from webapp.forms.protocol_text import acted, typed, with_image
from webapp.services.campaign import own_protocols

KINDS = {get_kind(name) for name in kind_names()}
PREFIXES: dict[str, type] = {
    "": Protocol,
    "chat.": Chat,
    "chat.brief.": Brief,
    "chat.instead.": Telling,
    "live.": Rate,
    "rate.": Rate,
    "quiz.": Quiz,
    "onboarding.": Onboarding,
    "attention.": Attention,
    "write.": Write,
    "write.asks.": FreeText,
    "i1.": Image,
    **{f"chat.{name}.": kind for name, kind in CHECKS.items()},
}
BY_HAND = "read from the file that is uploaded"
BY_TIME = "made from the questions, by when each is asked"
BY_ACTIVITY = "made from what participants do"
NOT_SET = {  # class and field: the reason
    "Protocol.name": "made from the title; it is that of all versions",
    "Protocol.steps": "made from what participants do and the questions",
    "Protocol.sources": "kept where a value is as it was; a requester's values have no source",
    "Protocol.translations": "on a page of their own, Labels in another language",
    "Protocol.images": "cards of their own, by where each stands",
    "Question.images": "cards of their own, by where each stands",
    "AnsweredExample.images": "cards of their own, by where each stands",
    "WorkedExample.images": "cards of their own, by where each stands",
    "Image.sha256": BY_HAND,
    "Image.width": BY_HAND,
    "Image.height": BY_HAND,
    "Chat.tells_of_bots": "a setting of each campaign, where there are other words",
    "Chat.instead": "fields of its own; there is none while they are empty",
    "Chat.brief": "fields of its own; there is none while they are empty",
    "Chat.checks": "a box for each rule",
    "Chat.partner_checks": "a box for each rule",
    "Write.checks": "a box for each rule",
    "Write.asks": "fields of its own",
    "Rate.each": BY_TIME,
    "Rate.together": BY_TIME,
    "Rate.over": BY_ACTIVITY,
    "Rate.when": BY_TIME,
    "Screening.questions": BY_TIME,
    "Screening.passes": BY_TIME,
    "Attention.questions": BY_TIME,
    "Attention.passes": BY_TIME,
    "Quiz.questions": BY_TIME,
    "Quiz.answers": BY_TIME,
    "Gate.question": "typed as the field of the question that it opens",
    "Gate.values": "typed as the field of the question that it opens",
    "KnownAnswer.question": BY_TIME,
    "KnownAnswer.values": "typed as the answers that pass",
    "KnownAnswer.explanation": "typed beside the answers that pass",
    "Source.tag": "of a source's values, which a requester does not type",
    "Source.where": "of a source's values, which a requester does not type",
    "Draw.options": "typed as numbers between commas",
}


def parts_of(kind: Any, seen: set[type]) -> None:
    """Collect the dataclasses that a declared type can hold."""
    for inner in get_args(kind):
        parts_of(inner, seen)
    if kind is Question:
        for each in KINDS:
            parts_of(each, seen)
    if kind is MessageCheck:
        for each in CHECKS.values():
            parts_of(each, seen)
    if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)) or kind in seen:
        return
    seen.add(kind)
    for name in (field.name for field in dataclasses.fields(kind) if field.init):
        parts_of(get_type_hints(kind)[name], seen)


def forms() -> Iterator[ProtocolForm]:
    """Yield a form for each activity, with a question of each kind at each time, and an image."""
    base = own_protocols.blank()
    for activity in ACTIVITIES:
        raw = with_image(typed(base) | {"activity": activity, "chat.partner": "either"}, "0" * 64)
        for kind in kind_names():
            raw = acted(raw | {"add_kind": kind}, "add")
        for key, when in enumerate(("live", "quiz", "screening", "attention"), start=1):
            raw |= {f"q{key}.asked": when}
        yield ProtocolForm(base, raw)


def settable() -> set[str]:
    """Return class and field of everything that some form of the builder has a field for."""
    found = set()
    for form in forms():
        kinds = {f"q{card.key}.": card.kind for card in form._cards}
        for name in form.fields:
            prefix = name[: name.rfind(".") + 1]
            if kind := kinds.get(prefix) or PREFIXES.get(prefix):
                found.add(f"{_owner(kind, name.removeprefix(prefix))}")
    return found


def _owner(kind: type, field: str) -> str:
    """Return a field under the class that has it; of every question alike under `Question`."""
    names = {each.name for each in dataclasses.fields(Question)}
    is_common = issubclass(kind, Question) and field in names
    return f"{'Question' if is_common else kind.__name__}.{field}"


def in_lines(part: type, every: set[type]) -> bool:
    """Tell whether a dataclass is one line of a field, its values between bars."""
    hints = [
        h
        for each in every
        for n, h in get_type_hints(each).items()
        if get_origin(h) is not ClassVar
    ]
    return part not in STEPS.values() and any(
        get_origin(hint) is tuple and get_args(hint)[0] is part for hint in hints
    )


def test_the_builder_sets_every_field_of_the_grammar_or_says_why_not() -> None:
    every: set[type] = set()
    parts_of(Protocol, every)
    lines = {each for each in every if in_lines(each, every)} - {Image}
    assert {each.__name__ for each in lines} >= {"AnsweredExample", "ChoiceOption", "WorkedExample"}
    there = {
        _owner(part, field.name)
        for part in every
        for field in dataclasses.fields(part)
        if field.init and (part not in lines or f"{part.__name__}.{field.name}" in NOT_SET)
    }
    can = settable()
    assert there - can - NOT_SET.keys() == set(), "give it a field, or a reason in NOT_SET"
    assert NOT_SET.keys() - there == set(), "not in the grammar any more"
    assert NOT_SET.keys() & can == set(), "it can be set after all"


def test_every_rule_for_messages_has_a_label() -> None:
    assert CHECK_LABELS.keys() == CHECKS.keys()


def with_person() -> tuple[Protocol, dict[str, str]]:
    base = own_protocols.blank()
    raw = typed(base) | {"title": "Roles", "chat.partner": "either", "chat.pool": "test"}
    return base, typed_again(
        base, acted(raw | {"add_kind": "yes_no"}, "add") | {"q1.text": "Nice?"}
    )


def test_a_brief_and_rules_are_built_and_come_back_the_same() -> None:
    base, raw = with_person()
    raw |= {
        "chat.brief.yours": "You are this character",
        "chat.brief.theirs": "Your partner is this character:",
        "chat.brief.one_group": "true",
        "chat.brief.topics": "food\nHarbor Street | the sea",
        "chat.max_words": "true",
        "chat.max_words.limit": "12",
        "partner.no_profile_5gram": "true",
        "chat.idle": "600",
        "chat.conversations": "2",
        "rate.sides": "one",
        "chat.instead.told": "Your partner is another participant.",
    }
    made = saved(base, raw)
    assert made.chat is not None
    assert made.chat.brief == Brief(
        yours="You are this character",
        theirs="Your partner is this character:",
        one_group=True,
        topics=("food", "Harbor Street | the sea"),
    )
    assert made.chat.checks == (MaxWords(limit=12),)
    assert made.chat.partner_checks == (NoProfile5Gram(),)
    assert (made.chat.idle, made.chat.conversations) == (600, 2)
    assert made.chat.instead == Telling(told="Your partner is another participant.")
    assert made.after is not None
    assert made.after.sides == "one"
    assert digest(saved(made, typed(made))) == digest(made)
    less = {"chat.max_words": "", "chat.brief.yours": "", "chat.brief.theirs": ""}
    less |= {"chat.brief.one_group": "", "chat.brief.topics": "", "chat.idle": ""}
    bare = saved(made, typed(made) | less).chat
    assert bare is not None
    assert (bare.brief, bare.checks, bare.idle) == (None, (), 0)


@pytest.mark.parametrize(
    ("changes", "field", "complaint"),
    [
        ({"chat.brief.yours": "You are"}, "chat.brief.theirs", "must have 1 to 2000"),
        (
            {"chat.brief.yours": "You", "chat.brief.theirs": "They", "chat.pool": ""},
            "chat.pool",
            "a brief needs sheets",
        ),
        ({"chat.max_words": "true", "chat.max_words.limit": "0"}, "chat.max_words.limit", "“0”"),
        (
            {"chat.max_words": "true", "chat.min_words": "true", "chat.min_words.limit": "16"},
            "chat.min_words.limit",
            "above the maximum of words",
        ),
        ({"chat.idle": "29"}, "chat.idle", "from 30"),
        ({"chat.turns": "free"}, "chat.turns", "free turns need a bot"),
        (
            {"chat.partner": "person", "chat.conversations": "2"},
            "chat.conversations",
            "2 are set and the chat is with a person, of whom there is one system; write 1",
        ),
        (
            {"chat.partner": "person", "partner.max_words": "true"},
            "activity",
            "are for bots",
        ),
    ],
)
def test_rules_and_briefs_that_cannot_be_are_refused_at_their_field(
    changes: dict[str, str], field: str, complaint: str
) -> None:
    base, raw = with_person()
    assert complaint in refused(base, raw | changes)[field]


def test_several_conversations_with_one_bot_after_another_can_be() -> None:
    base, raw = with_person()
    chat = saved(base, raw | {"chat.partner": "either", "chat.conversations": "2"}).chat
    assert chat is not None
    assert chat.conversations == 2


def test_nobody_is_kept_to_one_system_where_each_page_shows_all() -> None:
    base = get_protocol("persona_likely")
    raw = typed(base) | {"rate.keep": "system"}
    assert "each page shows replies of all" in refused(base, raw)["rate.keep"]
    for fine in ({"rate.show": "pairs"}, {"rate.show": "one"}, {"rate.keep": "group"}):
        rate = saved(base, raw | fine).after
        assert rate is not None
        assert rate.keep == fine.get("rate.keep", "system")


@pytest.mark.parametrize(
    ("stored", "value"),
    [("1", 1), ("5", 5), ("0", None), ("6", None), ("nothing", None), ("", "")],
)
def test_what_stands_in_place_of_an_answer_can_be_analyzed(stored: str, value: object) -> None:
    """A number of the scale, or nothing: any other would keep the whole export from being read."""
    base = own_protocols.blank()
    raw = typed_again(base, acted(typed(base) | {"title": "Mood", "add_kind": "yes_no"}, "add"))
    raw = typed_again(base, acted(raw | {"add_kind": "likert"}, "add"))
    raw |= {"q1.name": "laughed", "q1.text": "Did you laugh?", "q2.text": "How much?"}
    raw |= {"q2.only_if": "laughed", "q2.only_if.values": "1", "q2.otherwise": stored}
    if value is None:
        assert (
            f"“{stored}” would be stored where it is not asked"
            in refused(base, raw)["q2.otherwise"]
        )
    else:
        rate = saved(base, raw).after
        assert rate is not None
        assert rate.each[1].otherwise == value


def test_writing_is_built_from_blank() -> None:
    base = own_protocols.blank()
    raw = typed_again(base, typed(base) | {"title": "Say it anew", "activity": "write"})
    raw |= {
        "write.makes": "revision",
        "write.asks.name": "revision",
        "write.asks.text": "Say it in other words",
        "write.no_nonstop_overlap": "true",
        "write.no_nonstop_overlap.stop_words": "the, a of",
        "write.examples": "I enjoy tea | I like tea | yes\nI like tea! | I like tea | no | a copy",
    }
    write = saved(base, raw).write
    assert write is not None
    assert write.asks.text == "Say it in other words"
    assert [getattr(check, "stop_words", ()) for check in write.checks] == [("the", "a", "of")]
    assert [(one.original, one.good, one.why) for one in write.examples] == [
        ("I like tea", True, ""),
        ("I like tea", False, "a copy"),
    ]
    found = refused(base, raw | {"write.asks.text": ""})
    assert "is empty" in found["write.asks.text"]
    assert "“maybe”" in refused(base, raw | {"write.examples": "a | b | maybe"})["write.examples"]


def test_two_rules_of_one_name_are_not_sound() -> None:
    blank = own_protocols.blank()
    assert blank.chat is not None
    chat = dataclasses.replace(blank.chat, checks=(MaxWords(3), MaxWords(4)), minimum=Draw((2,)))
    doubled = dataclasses.replace(blank, title="Twice", steps=(chat,), instructions=(ours("Go."),))
    assert [about for about, _complaint in complaints(doubled)] == ["chat.checks"]


@pytest.mark.parametrize("field", ["chat.idle", "chat.pace"])
def test_an_emptied_number_is_the_usual_one_again(field: str) -> None:
    base = get_protocol("convai2_wild")
    made = saved(base, typed(base) | {field: ""}).chat
    assert made is not None
    assert getattr(made, field.removeprefix("chat.")) == 0
