"""Attention checks within the work: which form has one, what was answered, and who has failed.

The answers are kept beside those of a screening and a quiz; they are no ratings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from evaluation import Attention, Question, Value
from webapp.models import AdmissionTry, Assignment, CompletionCode, Participation
from webapp.services.rules import flags, payment, quota, states
from webapp.services.rules.protocols import shown_protocol

PREFIX = Attention.prefix
DONE = Assignment.State.DONE


@dataclass(frozen=True)
class AttentionCheck:
    """The check at the end of one form."""

    step: Attention
    question: Question

    @property
    def field(self) -> str:
        return f"{PREFIX}.{self.question.name}"

    def parse(self, raw: Mapping[str, str]) -> Value:
        """Return the answer. Raises `evaluation.InvalidAnswers`."""
        return self.step.parse(self.question, raw)


def check_for(person: Participation) -> AttentionCheck | None:
    """Return the attention check of the form that a person fills in now, None where it has none."""
    step = shown_protocol(person.campaign).attention
    if step is None:
        return None
    done = Assignment.objects.filter(participation=person, state=DONE)
    question = step.question_in(done.exclude(item__key__endswith=":live").count() + 1)
    return AttentionCheck(step, question) if question else None


def parted(answers: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the fields of a form without those of attention checks, and those."""
    checks = {name: text for name, text in answers.items() if name.startswith(f"{PREFIX}.")}
    return {name: text for name, text in answers.items() if name not in checks}, checks


def store(person: Participation, check: AttentionCheck, value: Value, now: datetime) -> bool:
    """Store an answer; True where with it the person has failed. Flags who has, once."""
    step, name = check.step, check.question.name
    earlier = AdmissionTry.objects.filter(participation=person, step=PREFIX)
    before, missed = earlier.count(), earlier.filter(passed=False).count()
    is_right = step.is_right(check.question, value)
    AdmissionTry.objects.create(
        participation=person,
        step=PREFIX,
        number=before + 1,
        answers={name: value},
        wrong=[] if is_right else [name],
        passed=is_right,
        made_at=now,
    )
    has_failed = not is_right and missed + 1 == step.misses
    if has_failed:
        detail = f"{missed + 1} of {before + 1} attention checks answered wrongly"
        flags.raise_flag(
            flags.ATTENTION, campaign=person.campaign, participation=person, detail=detail
        )
    return has_failed


def end(person: Participation, now: datetime) -> CompletionCode | None:
    """End the participation of who has failed: paid as announced, and others judge the items."""
    outcome = Participation.Outcome.CHECK_FAILED
    code = payment.settle(person=person, outcome=outcome, now=now)  # what is done is still theirs
    done = Assignment.objects.filter(participation=person, state=DONE, item__known=False)
    for assignment in done.select_related("item").order_by("item_id"):
        if states.try_move(Assignment.objects.filter(pk=assignment.pk), "set_aside"):
            quota.withdraw(assignment.item)
    flags.review(person=person, now=now)
    return code
