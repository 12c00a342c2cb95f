"""Forms of participants: who they say they are, and their answers to a protocol.

A question is shown by the template of its kind, `questions/<kind>.html`, from a `QuestionField`.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django import forms

from evaluation import AnswerField, Attention, Question, Shown
from webapp.languages import localized
from webapp.services.rating.form import FormReply, RatingForm
from webapp.services.rules import identity
from webapp.services.writing.form import WritingForm

PLATFORMS: dict[str, str] = {"PROLIFIC_PID": "prolific", "workerId": "mturk", "id": "panel"}
INVITATION = "invitation"  # the parameter of a signed one
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"  # how MTurk says that nobody has accepted the task yet


class EntryForm(forms.Form):
    """The identity of a visitor: a signed invitation, else a claim, a platform and an id there."""

    platform = forms.ChoiceField(
        choices=[(name, name) for name in (*PLATFORMS.values(), identity.VOLUNTEER)], required=False
    )
    external_id = forms.CharField(max_length=128, required=False)
    invitation = forms.CharField(max_length=1000, required=False)

    def clean(self) -> dict[str, str]:
        """Refuse who says nothing about themselves."""
        found: dict[str, str] = super().clean() or self.cleaned_data
        if not found.get("invitation") and not (found.get("platform") and found.get("external_id")):
            raise forms.ValidationError("an invitation, or a platform and an id there")
        return found


class Agreement(EntryForm):
    """A consent: by whom, and to which pay, as the page showed it."""

    pay = forms.DecimalField(required=False, min_value=0, max_digits=7, decimal_places=2)


def claim(query: Mapping[str, str]) -> EntryForm:
    """Return the identity that the query of a start link gives; a volunteer gets a random one."""
    if signed := query.get(INVITATION):
        return EntryForm({"invitation": signed})
    for parameter, platform in PLATFORMS.items():
        if value := query.get(parameter):
            return EntryForm({"platform": platform, "external_id": value})
    return EntryForm({"platform": identity.VOLUNTEER, "external_id": str(uuid.uuid4())})


def is_preview(query: Mapping[str, str]) -> bool:
    """Tell whether this is only a look at the task: a preview begins nothing."""
    return query.get("assignmentId") == PREVIEW


class BadBody(ValueError):
    """A JSON body that is no draft of answers."""


def draft(body: bytes) -> dict[str, str]:
    """Return the answers of an autosaved form. Raises `BadBody`."""
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
class QuestionField:
    """One question about one candidate as its template shows it; `value` is the answer so far.

    gate: the field whose answer must be one of `gate_values` before this one is asked.
    number: its place in the form, 0 where several replies are shown, whose questions have none.
    letter: of the reply it is about, where several are shown.
    """

    name: str
    number: int
    question: Question
    answer: AnswerField
    value: str = ""
    error: str = ""
    gate: str = ""
    letter: str = ""
    original: str = ""  # the sentence that a text revises

    @property
    def about(self) -> str:
        return self.name.partition(".")[0]

    @property
    def gate_values(self) -> str:
        """The answers that open the question, as a list of JSON."""
        gate = self.question.only_if
        return json.dumps([str(value) for value in gate.values] if gate else [])

    @property
    def kind(self) -> str:
        return self.question.kind

    @property
    def template(self) -> str:
        return f"questions/{self.kind}.html"

    @property
    def id(self) -> str:
        return self.name.replace(".", "-")

    @property
    def help_id(self) -> str:
        """Where the help stands: once above all replies, where several are shown."""
        return f"help-{self.question.name}" if self.letter else f"{self.id}-help"


@dataclass(frozen=True, kw_only=True)
class QuestionBlock:
    """Questions that stand together: about one reply of several, or all others (`reply` None)."""

    reply: FormReply | None
    fields: tuple[QuestionField, ...]


def fields(
    form: RatingForm, raw: Mapping[str, str], problems: Mapping[str, str]
) -> tuple[QuestionField, ...]:
    """Return the form's questions in order, with what was answered and what is wrong."""
    letters = {reply.key: reply.letter for reply in form.replies}
    questions = form.rate.form_questions(form.shown)
    check = [(Attention.prefix, form.attention)] if form.attention else []
    return tuple(
        QuestionField(
            name=(name := f"{about}.{question.name}"),
            number=0 if form.replies else number,
            question=question,
            answer=question.form_field(form.shown, form.personas),
            value=raw.get(name, ""),
            error=localized(problems.get(name, "")),
            gate=f"{about}.{question.only_if.question}" if question.only_if else "",
            letter=letters.get(about, ""),
        )
        for number, (about, question) in enumerate([*questions, *check], start=1)
    )


def text_fields(
    form: WritingForm, raw: Mapping[str, str], problems: Mapping[str, str]
) -> tuple[QuestionField, ...]:
    """Return the texts that a writing form asks for, with what was typed and what is wrong."""
    question = form.question
    return tuple(
        QuestionField(
            name=each.name,
            number=0 if form.write.one_by_one else each.number,
            question=question,
            answer=question.form_field(Shown(())),
            value=raw.get(each.name, ""),
            error=localized(problems.get(each.name, "")),
            original=each.original,
        )
        for each in form.fields
    )


def once_each(form: RatingForm) -> tuple[QuestionField, ...]:
    """Return each question once: of several replies those about the first, and about all."""
    once = {form.shown.candidates[0], form.shown.together}
    return tuple(field for field in fields(form, {}, {}) if field.about in once)


def blocks(form: RatingForm, fields: Sequence[QuestionField]) -> tuple[QuestionBlock, ...]:
    """Return the fields as the page groups them."""
    of_replies = tuple(
        QuestionBlock(reply=reply, fields=tuple(one for one in fields if one.about == reply.key))
        for reply in form.replies
    )
    keys = {reply.key for reply in form.replies}
    others = tuple(one for one in fields if one.about not in keys)
    return (*of_replies, QuestionBlock(reply=None, fields=others)) if others else of_replies
