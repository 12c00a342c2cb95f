"""What participants send by forms: who they say they are, and their answers to a protocol.

A question is drawn by the template of its kind, `questions/<kind>.html`, from a `Field`.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass

from django import forms
from django.utils.translation import gettext as _

from evaluation import Likert, PersonaChoice, Question, YesNo
from webapp.services import identity
from webapp.services.judging import Judging

PLATFORMS: dict[str, str] = {"PROLIFIC_PID": "prolific", "workerId": "mturk", "id": "panel"}
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"  # how MTurk says that nobody has accepted the task yet


class Entry(forms.Form):
    """Who somebody says they are: the platform they come from, and their id there."""

    platform = forms.ChoiceField(
        choices=[(name, name) for name in (*PLATFORMS.values(), identity.VOLUNTEER)]
    )
    external_id = forms.CharField(max_length=128)


def claim(query: Mapping[str, str]) -> Entry:
    """Return the identity that the query of a start link claims; a volunteer gets a random one."""
    for parameter, platform in PLATFORMS.items():
        if value := query.get(parameter):
            return Entry({"platform": platform, "external_id": value})
    return Entry({"platform": identity.VOLUNTEER, "external_id": str(uuid.uuid4())})


def is_preview(query: Mapping[str, str]) -> bool:
    """Tell whether this is only a look at the task: a preview begins nothing."""
    return query.get("assignmentId") == PREVIEW


class BadBody(ValueError):
    """A JSON body that is not a draft."""


def draft(body: bytes) -> dict[str, str]:
    """Return the answers of an autosaved form, or raise `BadBody`."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise BadBody("not JSON") from None
    answers = found.get("answers") if isinstance(found, dict) else None
    if not isinstance(answers, dict) or not all(map(_is_storable, answers.values())):
        raise BadBody("answers: must map the names of fields to texts")
    return answers


def _is_storable(value: object) -> bool:
    if not isinstance(value, str) or "\0" in value:
        return False
    return not any("\ud800" <= letter <= "\udfff" for letter in value)


@dataclass(frozen=True, kw_only=True)
class Option:
    """One thing to choose; `lines` are sentences of a character."""

    value: str
    word: str
    key: str = ""  # the digit that chooses it
    lines: tuple[str, ...] = ()
    checked: bool = False


@dataclass(frozen=True, kw_only=True)
class Field:
    """One question about one candidate; `gate` names the field it waits for."""

    name: str
    kind: str
    number: int
    text: str
    help: str
    options: tuple[Option, ...]
    error: str = ""
    gate: str = ""

    @property
    def template(self) -> str:
        return f"questions/{self.kind}.html"

    @property
    def id(self) -> str:
        return self.name.replace(".", "-")


def fields(
    judging: Judging, raw: Mapping[str, str], problems: Mapping[str, str]
) -> tuple[Field, ...]:
    """Return the form's questions in order, with what was answered and what is wrong."""
    pairs = [(c, question) for c in judging.shown.candidates for question in judging.questions]
    return tuple(
        _field(judging, candidate, question, number, raw, problems)
        for number, (candidate, question) in enumerate(pairs, start=1)
    )


def _field(
    judging: Judging,
    candidate: str,
    question: Question,
    number: int,
    raw: Mapping[str, str],
    problems: Mapping[str, str],
) -> Field:
    name = f"{candidate}.{question.name}"
    return Field(
        name=name,
        kind=question.kind,
        number=number,
        text=question.text,
        help=question.help,
        options=_options(question, judging, raw.get(name, "")),
        error=problems.get(name, ""),
        gate=f"{candidate}.{question.only_if}" if question.only_if else "",
    )


def _options(question: Question, judging: Judging, answer: str) -> tuple[Option, ...]:
    if isinstance(question, PersonaChoice):
        keys = judging.shown.choices.get(question.name, ())
        return tuple(
            Option(
                value=key,
                word=_("Character %(number)d") % {"number": number},
                key=str(number),
                lines=judging.personas.get(key, ()),
                checked=key == answer,
            )
            for number, key in enumerate(keys, start=1)
        )
    if isinstance(question, Likert | YesNo):
        scale = isinstance(question, Likert)
        return tuple(
            Option(
                value=str(value),
                word=word,
                key=str(value) if scale else "",
                checked=str(value) == answer,
            )
            for value, word in question.options
        )
    raise TypeError(f"question {question.name}: no form for the kind {question.kind!r}")
