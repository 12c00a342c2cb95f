"""Text of the builder's form: what it holds for a protocol, and what its buttons make of it.

All that was typed travels in the form itself, so that adding, moving and deleting questions loses
nothing and needs no script.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from evaluation import (
    AnsweredExample,
    Image,
    Onboarding,
    Protocol,
    Question,
    Rate,
    Value,
    WorkedExample,
)
from evaluation.images import SHA256
from evaluation.registry import get_kind, kind_names
from evaluation.serialized import CHECKS
from webapp.forms.protocol_fields import lines_of, typed_part, types_of
from webapp.forms.protocol_parts import (
    BY_BOTS,
    BY_PARTICIPANTS,
    CHAT,
    EVERY_OF_RATE,
    OF_TEXTS,
    WRITE,
    BuilderPart,
    check_types,
    checks_of,
    parts,
    question_types,
    value_of,
)

MOST_QUESTIONS = 50
MOST_NUMBERS = 1000  # characters of a list of questions or images
Raw = Mapping[str, str]
BEFORE = ("screening", "quiz")  # when a question is asked before the work
WITH_RIGHT = (*BEFORE, "attention")  # when a question has right answers
KNOWN = ("right", "explanation")  # of such a question
GATE = ("only_if", "only_if.values", "otherwise")
# What stands in a part that the protocol does not have, beside the defaults.
FIRST: dict[str, dict[str, str]] = {
    "chat.": {"partner": "bot", "minimum": "10"},
    "write.": {"makes": "persona"},
    "write.asks.": {"name": "text"},
}
NO_ONBOARDING = Onboarding(items=1, share=0.75)


def typed(protocol: Protocol) -> dict[str, str]:
    """Return everything that the form holds for a protocol, as text."""
    chat, after = protocol.chat, protocol.after
    raw = {"activity": after.over if after and not chat else WRITE if protocol.write else CHAT}
    for part in parts(raw["activity"]):
        raw |= _under(part.prefix, _part_typed(part, protocol))
    for prefix in (BY_PARTICIPANTS, BY_BOTS, OF_TEXTS):
        raw |= _checks_typed(prefix, protocol)
    placed = [(image, "") for image in protocol.images]
    if protocol.write is not None:
        placed += _within(protocol.write.examples, raw, OF_TEXTS)
    questions = [*_placed_questions(protocol)]
    for key, (question, when) in enumerate(questions, start=1):
        about = _question_typed(question, when) | _known(protocol, question, when)
        raw |= _under(f"q{key}.", about)
        placed += _within(question.examples, raw, f"q{key}.")
        placed += [(image, f"q{key}") for image in question.images]
    raw |= images_typed(placed)
    return raw | {"questions": _numbers(range(1, len(questions) + 1))}


def images_typed(placed: Iterable[tuple[Image, str]], first: int = 1) -> dict[str, str]:
    """Return the text of images, each with where it stands.

    That is a question's number, the anchor of an example, or "" for the instructions.
    """
    raw: dict[str, str] = {}
    keys = []
    for key, (image, about) in enumerate(placed, start=first):
        values = {"sha256": image.sha256, "alt": image.alt, "about": about}
        raw |= _under(f"i{key}.", values)
        keys.append(key)
    return raw | {"images": _numbers(keys)}


def with_image(raw: Raw, sha256: str) -> dict[str, str]:
    """Return the form's text with one more image, which stands with the instructions at first."""
    keys = image_keys(raw)
    key = max(map(int, keys), default=0) + 1
    found = _under(f"i{key}.", {"sha256": sha256, "alt": "", "about": ""})
    return {**raw, **found, "images": _numbers([*keys, key])}


def keys_of(raw: Raw) -> list[str]:
    """Return the numbers of the form's questions, in the order of the page."""
    found = _keys(raw.get("questions", ""))
    return [key for key in found if raw.get(f"q{key}.kind") in kind_names()][:MOST_QUESTIONS]


def anchors(raw: Raw, prefix: str) -> dict[str, str]:
    """Return the lines of examples by what an image is tied to that stands within one.

    It is the line itself, so that an image follows its example when lines are moved.
    """
    counts = Counter[str]()
    found = {}
    for line in lines_of(raw.get(f"{prefix}examples", "").replace("\r\n", "\n")):
        counts[line] += 1
        found[f"{prefix}examples {counts[line]} {line}"] = line
    return found


def _within(
    examples: Iterable[AnsweredExample | WorkedExample], raw: Raw, prefix: str
) -> list[tuple[Image, str]]:
    """Return the images within examples, each with its example's anchor."""
    pairs = zip(examples, anchors(raw, prefix), strict=True)
    return [(image, anchor) for example, anchor in pairs for image in example.images]


def image_keys(raw: Raw) -> list[str]:
    """Return the numbers of the form's images, in the order of the page."""
    found = _keys(raw.get("images", ""))
    return [key for key in found if SHA256.fullmatch(raw.get(f"i{key}.sha256", ""))]


def acted(raw: Raw, action: str) -> dict[str, str]:
    """Return the form's text after a button: `add`, `delete 3`, `up 3`, `down 3` or `drop 2`."""
    keys = keys_of(raw)
    name, _space, key = action.partition(" ")
    changed = dict(raw)
    if name == "drop":
        changed["images"] = _numbers(each for each in image_keys(raw) if each != key)
    elif name == "add" and raw.get("add_kind") in kind_names() and len(keys) < MOST_QUESTIONS:
        key = str(max(map(int, keys), default=0) + 1)
        keys.append(key)
        changed |= _under(f"q{key}.", _fresh(raw["add_kind"], key, raw))
    elif key in keys:
        index = keys.index(key)
        keys.remove(key)
        if name != "delete":
            keys.insert(max(0, index + {"up": -1, "down": 1}.get(name, 0)), key)
    return changed | {"questions": _numbers(keys)}


def _part_typed(part: BuilderPart, protocol: Protocol) -> dict[str, str]:
    value = value_of(part, protocol)
    names = EVERY_OF_RATE if part.prefix == "rate." else part.names
    if value is None and part.prefix in ("rate.", "live."):
        value = Rate(each=())
    if part.prefix == "onboarding." and value is None:
        return typed_part(NO_ONBOARDING, part.names) | {"items": ""}
    if value is None:
        types = types_of(part.kind, part.names)
        usual = {n: each.typed(each.default) for n, each in types.items()}
        return usual | FIRST.get(part.prefix, {})
    return typed_part(value, names)


def _checks_typed(prefix: str, protocol: Protocol) -> dict[str, str]:
    """Return which checks there are, and the fields of all."""
    own = checks_of(prefix, protocol)
    raw = {f"{prefix}{name}": "true" if name in own else "" for name in CHECKS}
    for field, each in check_types(prefix, protocol).items():
        name = field.removeprefix(prefix).partition(".")[0]
        value = getattr(own[name], each.name) if name in own else each.default
        raw[field] = each.typed(value)
    return raw


def _placed_questions(protocol: Protocol) -> Iterable[tuple[Question, str]]:
    """Yield each question with when it is asked, in the order of the page."""
    for step in protocol.admissions:
        yield from ((question, step.prefix) for question in step.questions)
    for question in protocol.live.each if protocol.live else ():
        yield question, "live"
    if (after := protocol.after) is not None:
        yield from ((question, "each") for question in after.each)
        yield from ((question, "together") for question in after.together)
    for question in protocol.attention.questions if protocol.attention else ():
        yield question, "attention"


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


def _known(protocol: Protocol, question: Question, when: str) -> dict[str, str]:
    """Return the answers to a question that pass, where it has any."""
    values: tuple[Value, ...] = ()
    explanation = ""
    step = {"screening": protocol.screening, "attention": protocol.attention}.get(when)
    if step is not None:
        gates = step.passes
        values = next((gate.values for gate in gates if gate.question == question.name), ())
    if when == "quiz" and protocol.quiz:
        answers = {each.question: each for each in protocol.quiz.answers}
        values = answers[question.name].values
        explanation = answers[question.name].explanation
    return {"right": ", ".join(map(str, values)), "explanation": str(explanation)}


def _under(prefix: str, values: Raw) -> dict[str, str]:
    return {f"{prefix}{name}": value for name, value in values.items()}


def _keys(numbers: str) -> dict[str, None]:
    return dict.fromkeys(re.findall(r"[0-9]{1,6}", numbers[:MOST_NUMBERS]))


def _numbers(keys: Iterable[int | str]) -> str:
    return " ".join(map(str, keys))


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
