"""Text of the builder's form: what it holds for a protocol, and what its buttons make of it.

All that was typed travels in the form itself, so that adding, moving and deleting questions loses
nothing and needs no script.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

from evaluation import Onboarding, Protocol, Question, Rate, Value
from evaluation.registry import get_kind, kind_names
from webapp.forms.protocol_fields import FieldType, typed_part, types_of

# What participants do.
CHAT, CONTEXTS, MESSAGES, CONVERSATION = "chat", "contexts", "messages", "conversation"
SPEAKERS = "speakers"
WRITE = "write"
OF_PROTOCOL = ("title", "minutes", "source", "language", "instructions")
OF_CHAT = ("partner", "told", "first", "opening", "minimum", "maximum", "pool", "debrief")
OF_QUIZ = ("tries",)
OF_ONBOARDING = ("items", "share", "silently")
OF_RATE = ("show", "votes", "batch", "messages", "keep")
MOST_QUESTIONS = 50
Raw = Mapping[str, str]


BEFORE = ("screening", "quiz")  # when a question is asked before the work
KNOWN = ("right", "explanation")  # of such a question
GATE = ("only_if", "only_if.values", "otherwise")


def question_types(kind: type[Question], origin: Question | None) -> dict[str, FieldType]:
    found = types_of(kind if origin is None else origin)
    return {name: each for name, each in found.items() if name not in ("only_if", "otherwise")}


def _question_typed(question: Question, when: str) -> dict[str, str]:
    names = tuple(question_types(type(question), None))
    gate = question.only_if
    values = () if gate is None else gate.values
    otherwise = "" if question.otherwise is None else str(question.otherwise)
    return {
        "kind": question.kind,
        "origin": question.name,
        "asked": when,
        **typed_part(question, names),
        "only_if": gate.question if gate else "",
        "only_if.values": ", ".join(map(str, values)),
        "otherwise": otherwise,
    }


def typed(protocol: Protocol) -> dict[str, str]:
    """Return everything that the form holds for a protocol, as text."""
    raw = typed_part(protocol, OF_PROTOCOL)
    chat, after = protocol.chat, protocol.after
    raw["activity"] = after.over if after and not chat else WRITE if protocol.write else CHAT
    first = {"partner": "bot", "minimum": "10", "first": "participant"}
    raw |= _under("chat", typed_part(chat, OF_CHAT) if chat else first)
    raw |= _under("rate", typed_part(after or Rate(each=()), OF_RATE))
    raw |= _under("quiz", typed_part(protocol.quiz, OF_QUIZ) if protocol.quiz else {"tries": "2"})
    raw |= _under("onboarding", _onboarding(protocol.onboarding))
    listed = [(each, step.prefix) for step in protocol.admissions for each in step.questions]
    listed += [(question, "live") for rate in (protocol.live,) if rate for question in rate.each]
    if after:
        listed += [(question, "each") for question in after.each]
        listed += [(question, "together") for question in after.together]
    for key, (question, when) in enumerate(listed, start=1):
        raw |= _under(f"q{key}", _question_typed(question, when) | _known(protocol, question, when))
    return raw | {"questions": " ".join(str(key + 1) for key in range(len(listed)))}


def _onboarding(step: Onboarding | None) -> dict[str, str]:
    """Return the fields of an onboarding; where there is none, without a number of items."""
    first = step or Onboarding(items=1, share=0.75)
    return typed_part(first, OF_ONBOARDING) | ({} if step else {"items": ""})


def _known(protocol: Protocol, question: Question, when: str) -> dict[str, str]:
    """Return the answers to a question that pass, where it is asked before the work."""
    values: tuple[Value, ...] = ()
    explanation = ""
    if when == "screening" and protocol.screening:
        gates = protocol.screening.passes
        values = next((gate.values for gate in gates if gate.question == question.name), ())
    if when == "quiz" and protocol.quiz:
        answers = {each.question: each for each in protocol.quiz.answers}
        values = answers[question.name].values
        explanation = answers[question.name].explanation
    return {"right": ", ".join(map(str, values)), "explanation": str(explanation)}


def _under(prefix: str, values: Raw) -> dict[str, str]:
    return {f"{prefix}.{name}": value for name, value in values.items()}


def keys_of(raw: Raw) -> list[str]:
    """Return the numbers of the form's questions, in the order of the page."""
    found = dict.fromkeys(re.findall(r"[0-9]{1,6}", raw.get("questions", "")[:1000]))
    return [key for key in found if raw.get(f"q{key}.kind") in kind_names()][:MOST_QUESTIONS]


def acted(raw: Raw, action: str) -> dict[str, str]:
    """Return the form's text after a button: `add`, `delete 3`, `up 3` or `down 3`."""
    keys = keys_of(raw)
    name, _space, key = action.partition(" ")
    changed = dict(raw)
    if name == "add" and raw.get("add_kind") in kind_names() and len(keys) < MOST_QUESTIONS:
        key = str(max(map(int, keys), default=0) + 1)
        keys.append(key)
        changed |= _under(f"q{key}", _fresh(raw["add_kind"], key, raw))
    elif key in keys:
        index = keys.index(key)
        keys.remove(key)
        if name != "delete":
            keys.insert(max(0, index + {"up": -1, "down": 1}.get(name, 0)), key)
    return changed | {"questions": " ".join(keys)}


def _fresh(kind: str, key: str, raw: Raw) -> dict[str, str]:
    """Return a new question's text: its kind's sample, but for the words of the question."""
    sample = get_kind(kind).sample()
    needed = {
        name: each.typed(getattr(sample, name))
        if each.is_needed
        else each.typed(_default(type(sample), name))
        for name, each in question_types(type(sample), None).items()
    }
    when = "together" if sample.compares == "together" else "each"
    names = {raw.get(f"q{each}.name") for each in keys_of(raw)}
    free = (f"question_{n}" for n in range(int(key), 10_000))
    name = next(each for each in free if each not in names)
    return needed | {"kind": kind, "asked": when, "name": name, "text": "", "help": ""}


def _default(kind: type, name: str) -> Any:
    field = next(each for each in dataclasses.fields(kind) if each.name == name)
    return field.default if field.default is not dataclasses.MISSING else None
