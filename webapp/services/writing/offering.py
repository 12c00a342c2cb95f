"""The form of a writer: drafts, and contributions that are stored once each (R19)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction

from evaluation import InvalidAnswer, InvalidAnswers, Write
from webapp.models import Assignment, CompletionCode, Contribution, Participation
from webapp.services.rating.labels import LabelRefused
from webapp.services.rating.submission import DRAFT_CHARACTERS
from webapp.services.rules import flags, next_round, payment, quota, states
from webapp.services.rules.protocols import shown_protocol
from webapp.services.writing import writing_items

PASSED = "passed"  # of a draft: how many of its texts were found right, one after another
State = Assignment.State


def write_of(person: Participation) -> Write:
    """Return what is written in the person's campaign."""
    write = shown_protocol(person.campaign).write
    if write is None:
        raise LabelRefused("not_now")
    return write


def current(person: Participation) -> Assignment | None:
    """Return the person's next assignment."""
    rows = Assignment.objects.filter(participation=person, state=State.RESERVED)
    return (
        rows.select_related("item__persona", "item__context", "item__conversation")
        .order_by("place")
        .first()
    )


def about(assignment: Assignment) -> str:
    """Return how the names of an assignment's fields begin."""
    return f"w{assignment.item_id}"


def names(assignment: Assignment, write: Write) -> tuple[str, ...]:
    """Return the names of an assignment's fields."""
    return write.names(about(assignment), writing_items.basis(assignment.item))


def passed(assignment: Assignment) -> int:
    """Return how many texts were found right, where they are asked for one after another."""
    return int(assignment.draft.get(PASSED, 0))


def save_draft(*, person: Participation, answers: Mapping[str, str], now: datetime) -> bool:
    """Keep unfinished texts of the current form; False where they belong to no open form."""
    with transaction.atomic():
        person = _locked(person)
        assignment = current(person)
        if assignment is None:
            return False
        known = names(assignment, write_of(person))
        if not set(answers) <= set(known[passed(assignment) :]):
            return False
        kept = {name: text[:DRAFT_CHARACTERS] for name, text in answers.items()}
        draft = _passed(assignment, known) | kept
        if draft != assignment.draft:
            Participation.objects.filter(pk=person.pk).update(drafted_at=now)
        return _keep(assignment, draft)


def submit(
    *, person: Participation, answers: Mapping[str, str], now: datetime
) -> CompletionCode | None:
    """Store what was written; the last form ends the participation with its code.

    None means that another text, or another form, follows. Any number of repeats give one result:
    the names of the fields tell which form is meant. Raises `evaluation.InvalidAnswers`, keyed by
    field.
    """
    with transaction.atomic():
        person = _locked(person)
        if person.state == Participation.State.ENDED:
            return payment.code_of(person)
        assignment = current(person)
        if _is_repeat(person, answers):
            return None
        if person.state != Participation.State.WRITING or assignment is None:
            raise LabelRefused("not_now")
        write = write_of(person)
        texts = _texts(assignment, write, answers)
        if texts is None:
            return None
        _store(assignment, write, texts, now)
        return None if current(person) else _finish(person, now)


def _locked(person: Participation) -> Participation:
    rows = Participation.objects.select_for_update(of=("self",), no_key=True)
    return rows.select_related("campaign").get(pk=person.pk)


def _is_repeat(person: Participation, answers: Mapping[str, str]) -> bool:
    """Tell whether these are the fields of a form that was stored before."""
    done = Assignment.objects.filter(participation=person, state=State.DONE)
    stored = {about(each) for each in done}
    return bool({name.partition(".")[0] for name in answers} & stored)


def _texts(
    assignment: Assignment, write: Write, answers: Mapping[str, str]
) -> tuple[str, ...] | None:
    """Return all texts of a form, None while some are still asked for one after another."""
    basis = writing_items.basis(assignment.item)
    if not write.one_by_one:
        return write.parse(answers, about(assignment), basis)
    known, number = names(assignment, write), passed(assignment)
    if set(answers) & set(known[:number]):
        return None  # it was sent before: the page shows what follows
    name = known[number]
    try:
        text = write.text(answers.get(name, ""), number, basis)
    except InvalidAnswer as problem:
        raise InvalidAnswers({name: problem.sentence}) from None
    kept = _passed(assignment, known) | {name: text, PASSED: str(number + 1)}
    if number + 1 == len(known):
        return tuple(kept[each] for each in known)
    _keep(assignment, kept)
    return None


def _passed(assignment: Assignment, known: tuple[str, ...]) -> dict[str, str]:
    """Return what a draft has of texts that were found right."""
    wanted = (PASSED, *known[: passed(assignment)])
    return {name: text for name, text in assignment.draft.items() if name in wanted}


def _keep(assignment: Assignment, draft: Mapping[str, str]) -> bool:
    rows = Assignment.objects.filter(pk=assignment.pk, state=State.RESERVED)
    return rows.update(draft=dict(draft)) == 1


def _store(assignment: Assignment, write: Write, texts: tuple[str, ...], now: datetime) -> None:
    rows = Assignment.objects.filter(pk=assignment.pk)
    if not states.try_move(rows, "judge", done_at=now, draft={}):
        return
    row = Contribution.objects.create(assignment=assignment, texts=list(texts), made_at=now)
    quota.complete(assignment.item)
    if write.review == "automatic":
        states.move(row, "accept", decided_at=now)


def _finish(person: Participation, now: datetime) -> CompletionCode | None:
    code = next_round.finish_round(person=person, outcome=Participation.Outcome.COMPLETED, now=now)
    flags.review(person=person, now=now)
    return code
