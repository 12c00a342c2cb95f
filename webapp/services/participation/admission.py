"""Admission of a person: a screening and a quiz, answered before there is any work.

What was answered is kept, also of who may not go on. No place is reserved yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from evaluation import Admission, Protocol, Quiz, Screening, Shown, form_of
from evaluation.words import typed
from webapp import notices
from webapp.models import AdmissionTry, Participation
from webapp.services.rating.form import RatingForm
from webapp.services.rules import payment, persona_stack, states
from webapp.services.rules.protocols import shown_protocol

P, Outcome = Participation.State, Participation.Outcome
TRY = "try"  # the field that names the try, so that a form sent twice is one try


def check_first(*, person: Participation, now: datetime) -> None:
    """Let a person who is ready answer the screening, where they have not; else do nothing."""
    screening = shown_protocol(person.campaign).screening
    if person.state == P.READY and screening and not _has_passed(person, screening):
        states.move(person, "check", state_at=now)


def check_quiz(*, person: Participation, now: datetime) -> bool:
    """Let a person who wants to start answer the quiz; False where there is none, or it is over."""
    if not _pending(person, shown_protocol(person.campaign)):
        return False
    states.move(person, "check", state_at=now, seen_at=now, notice="")
    return True


def pending(person: Participation) -> Admission | None:
    """Return the step that a person has to pass now, None where there is none."""
    return _pending(person, shown_protocol(person.campaign))


def _pending(person: Participation, protocol: Protocol) -> Admission | None:
    return next((step for step in protocol.admissions if not _has_passed(person, step)), None)


def _has_passed(person: Participation, step: Admission) -> bool:
    return _tries(person, step).filter(passed=True).exists()


def _tries(person: Participation, step: Admission) -> QuerySet[AdmissionTry]:
    return AdmissionTry.objects.filter(participation=person, step=step.prefix).order_by("number")


def try_name(person: Participation, step: Admission) -> str:
    """Return the name of the next try."""
    return f"{step.prefix}-{_tries(person, step).count() + 1}"


def answer(*, person: Participation, answers: Mapping[str, str], now: datetime) -> bool:
    """Store the answers to the step that is on; True where the work may begin now.

    A form that was sent before changes nothing. Raises `evaluation.InvalidAnswers` where an answer
    is missing, which is no try.
    """
    with transaction.atomic():
        rows = Participation.objects.select_for_update(of=("self",), no_key=True)
        person = rows.select_related("campaign").get(pk=person.pk)
        step = pending(person)
        if person.state != P.ADMISSION or step is None:
            return False
        if answers.get(TRY) != try_name(person, step):
            return False
        raw = {name: text for name, text in answers.items() if name != TRY}
        passed = _store(person, step, step.parse(raw), now)
        if passed:
            states.move(person, "admit", state_at=now, seen_at=now, notice="")
            persona_stack.hold(person)
        elif isinstance(step, Screening):
            payment.settle(person=person, outcome=Outcome.SCREENED_OUT, now=now)
        elif _tries(person, step).count() >= step.tries:
            payment.settle(person=person, outcome=Outcome.CHECK_FAILED, now=now)
        return passed and isinstance(step, Quiz)


def _store(
    person: Participation, step: Admission, values: Mapping[str, Any], now: datetime
) -> bool:
    wrong = step.wrong(values)
    closed = form_of(step).closed({(step.prefix, name): value for name, value in values.items()})
    AdmissionTry.objects.create(
        participation=person,
        step=step.prefix,
        number=_tries(person, step).count() + 1,
        answers={n: value for n, value in values.items() if (step.prefix, n) not in closed},
        wrong=wrong,
        passed=not wrong,
        made_at=now,
    )
    Participation.objects.filter(pk=person.pk).update(seen_at=now)
    return not wrong


def form_after(person: Participation, step: Admission) -> RatingForm:
    """Return the form of a step; after a try with what was answered."""
    last = _tries(person, step).last()
    answers = last.answers if last else {}
    draft = {f"{step.prefix}.{name}": str(value) for name, value in answers.items()}
    return form_with(step, draft)


def form_with(step: Admission, draft: Mapping[str, str]) -> RatingForm:
    """Return the form of a step, filled in with a draft."""
    return RatingForm(
        rate=form_of(step),
        shown=Shown((step.prefix,)),
        lines=(),
        about="",
        replies=(),
        of_context=False,
        personas={},
        draft=draft,
        number=1,
        total=1,
    )


def complaints(person: Participation, step: Admission) -> dict[str, str]:
    """Return the explanation of each answer that was wrong in the last try, by field."""
    last = _tries(person, step).last() if isinstance(step, Quiz) else None
    if last is None or not isinstance(step, Quiz):
        return {}
    wrong = notices.text("wrong_answer")
    explained = {name: step.explanation(name) for name in last.wrong}
    return {f"{step.prefix}.{name}": _words(text) or wrong for name, text in explained.items()}


def _words(text: str) -> str:
    """Return an explanation as words of the protocol, which a page marks with their language."""
    return typed(text) if type(text) is str and text else text


def tries_left(person: Participation, step: Admission) -> int | None:
    """Return how many tries a quiz leaves once one was wrong; None before that, and elsewhere."""
    used = _tries(person, step).count() if isinstance(step, Quiz) else 0
    return step.tries - used if isinstance(step, Quiz) and used else None
