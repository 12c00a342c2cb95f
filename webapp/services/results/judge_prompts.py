"""Prompts of a judge model in the protocol's own words, and its answers read as people's are.

What can be answered, and what an answer means, each question says itself (`evaluation`): a judge
gets what a page shows, and what a form would refuse is refused here. Apart because it knows neither
files nor servers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from evaluation import Protocol, Question, Rate, Shown, Value
from evaluation.questions import letter
from evaluation.rating import InvalidAnswers
from webapp.services.results.judge_items import JudgeItem

Answers = dict[tuple[str, str], Value]  # by letter of a candidate, and question
UNASKED = ("free_text", "persona_choice")  # read by people only; needs personas that were drawn


class Unusable(ValueError):
    """An answer that no form would take; the text says why."""


def askable_of(rate: Rate) -> Rate | None:
    """Return the step with the questions that a judge model can be asked; None without any."""
    each = _askable(rate.each)
    names = {question.name for question in each}
    each = tuple(q for q in each if q.only_if is None or q.only_if.question in names)
    together = _askable(rate.together)
    return replace(rate, each=each, together=together) if each or together else None


def _askable(questions: Sequence[Question]) -> tuple[Question, ...]:
    return tuple(q for q in questions if q.kind not in UNASKED and not _has_images(q))


def _has_images(question: Question) -> bool:
    return bool(question.images) or any(each.images for each in question.examples)


def shown_in(item: JudgeItem, order: Sequence[int]) -> Shown:
    """Return the candidates by letter, in an order of their places."""
    letters = tuple(letter(index) for index in range(len(order)))
    intended = {
        name: item.candidates[index].intended for name, index in zip(letters, order, strict=True)
    }
    return Shown(letters, intended={name: each for name, each in intended.items() if each})


def fields(rate: Rate, shown: Shown) -> dict[str, tuple[str, Question]]:
    """Return the fields of an answer: what each is about, and its question."""
    alone = len(shown.candidates) == 1
    return {
        question.name if alone or about == shown.together else f"{about}.{question.name}": (
            about,
            question,
        )
        for about, question in rate.form_questions(shown)
    }


def rubric(protocol: Protocol, rate: Rate, shown: Shown) -> str:
    """Return the instructions: the protocol's words, its questions, and the form of an answer."""
    known = fields(rate, shown)
    return "\n\n".join(
        [
            "You are a rater in a study. Judge what you are shown by the words below, as a careful "
            "person would.",
            "\n".join(map(str, protocol.instructions)),
            *("\n".join(_question(name, *about, shown)) for name, about in known.items()),
            "Answer with one JSON object and nothing else, with these fields: "
            + ", ".join(map(json.dumps, known))
            + ".",
        ]
    )


def _question(name: str, about: str, question: Question, shown: Shown) -> Iterator[str]:
    of = f" (response {about})" if about in shown.candidates and len(shown.candidates) > 1 else ""
    yield f"Field {json.dumps(name)}{of}: {question.text} {question.help}".rstrip()
    for example in question.examples:
        why = f" ({example.why})" if example.why else ""
        yield f"Example: {example.text} -> {example.answer}{why}"
    field = question.form_field(shown)
    if field.options:
        options = (f"{o.value} ({o.word})" if o.word else o.value for o in field.options)
        yield "Answer with one of: " + "; ".join(options)
    else:
        yield f"Answer with a number: {question.offer()}"
    if question.only_if is not None:
        values = " or ".join(map(str, question.only_if.values))
        yield f"Leave it out unless the answer to {question.only_if.question!r} is {values}."


def page(item: JudgeItem, order: Sequence[int]) -> str:
    """Return what is judged, with what came before it."""
    parts = ["\n".join(item.before)] if item.before else []
    if len(order) == 1 and item.candidates[0].text:
        parts.append(f"To be judged:\n{item.candidates[0].text}")
    elif len(order) > 1:
        parts += [
            f"Response {letter(index)}:\n{item.candidates[number].text}"
            for index, number in enumerate(order)
        ]
    return "\n\n".join(parts)


def read(text: str, rate: Rate, shown: Shown) -> Answers:
    """Return the answers in a judge model's text. Raises Unusable with the reason."""
    known = fields(rate, shown)
    answered = _object(text)
    strange = answered.keys() - known.keys()
    if strange:
        raise Unusable(f"there is no field {min(strange)!r}")
    raw = {
        f"{about}.{question.name}": _raw(answered.get(name), question, shown)
        for name, (about, question) in known.items()
    }
    try:
        return rate.parse(raw, shown)
    except InvalidAnswers as error:
        raise Unusable(str(error)) from error


def _object(text: str) -> Mapping[str, Any]:
    begin, end = text.find("{"), text.rfind("}")
    try:
        found = json.loads(text[begin : end + 1])
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise Unusable("there is no JSON object")
    return found


def _raw(value: object, question: Question, shown: Shown) -> str:
    """Return a value as a form sends it; an option may be named by its word."""
    if value is None:
        return ""
    if isinstance(value, bool):
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = str(value).strip()
    words = {o.word.lower(): o.value for o in question.form_field(shown).options if o.word}
    return words.get(text.lower(), text)
