"""The form at the end: drafts, and one submission that is stored once (R19).

Stored is what was said, under names that keep their meaning, never how it was shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from django.db import transaction
from django.db.models import Prefetch, Q, QuerySet, prefetch_related_objects

from evaluation import InvalidAnswers, Rate, Shown, Value
from webapp.models import Assignment, Candidate, CompletionCode, Conversation, Participation, Rating
from webapp.services.rating import attention, onboarding
from webapp.services.rating.attention import AttentionCheck
from webapp.services.rating.labels import LabelRefused
from webapp.services.rules import flags, next_round, payment, quota, states
from webapp.services.rules.protocols import shown_protocol

Outcome, State = Participation.Outcome, Assignment.State
DRAFT_CHARACTERS = 2_000  # of one field
TOGETHER = "i"  # and the item's number: all its candidates, in the names of fields


def rate_of(person: Participation) -> Rate:
    """Return the questions asked at the end."""
    rate = shown_protocol(person.campaign).after
    if rate is None:
        raise LabelRefused("not_now")
    return rate


def current(person: Participation) -> Assignment | None:
    """Return the person's next assignment."""
    return _waiting(person).first()


def _waiting(person: Participation) -> QuerySet[Assignment]:
    """Return the person's forms that are still to be filled in, in order."""
    rows = Assignment.objects.filter(participation=person, state=State.RESERVED)
    rows = rows.exclude(item__key__endswith=":live")
    return rows.select_related("item__conversation", "item__context").order_by("place")


def shown_to(assignment: Assignment) -> Shown:
    """Return the candidates and choices drawn for this rater."""
    return shown_among(assignment, assignment.item.candidates.select_related("conversation"))


def shown_among(assignment: Assignment, candidates: Iterable[Candidate]) -> Shown:
    """Return what was drawn for this rater of an item's candidates."""
    intended = {each.key: each.conversation.intended for each in candidates}
    choices = {name: tuple(options) for name, options in assignment.choices.items()}
    return Shown(
        tuple(assignment.shown or intended),
        choices,
        together=f"{TOGETHER}{assignment.item_id}",
        intended=intended,
    )


def save_draft(*, person: Participation, answers: Mapping[str, str], now: datetime) -> bool:
    """Keep unfinished answers of the current form; False where they belong to no open form."""
    assignment = current(person)
    if assignment is None or not _fits(assignment, answers):
        return False
    draft = {name: text[:DRAFT_CHARACTERS] for name, text in answers.items()}
    rows = Assignment.objects.filter(pk=assignment.pk, state=State.RESERVED)
    if draft != assignment.draft:
        Participation.objects.filter(pk=person.pk).update(drafted_at=now)
    return rows.update(draft=draft) == 1


def submit(
    *, person: Participation, answers: Mapping[str, str], now: datetime
) -> CompletionCode | None:
    """Store the answers of the current form; the last form ends the participation with its code.

    None means that another item of the batch, or another conversation, follows. Any number of
    repeats, at once or later, give one result: the names of the fields tell which form is meant,
    and one conditional UPDATE who stores it. Raises `evaluation.InvalidAnswers`,
    keyed by field, when something is missing.
    """
    with transaction.atomic():
        person = quota.locked(person)
        if person.state == Participation.State.ENDED:
            return payment.code_of(person)
        waiting = list(_waiting(person)[:2])
        assignment = waiting[0] if waiting else None
        if person.state != Participation.State.RATING or assignment is None:
            if _is_repeat(person, answers):
                return None  # the next round has come meanwhile
            raise LabelRefused("not_now")
        shown = _looked_up(assignment, person)
        if not _is_of(answers, shown) and _is_repeat(person, answers):
            return None
        check = attention.check_for(person)
        values, checked = _parsed(person, answers, shown, check)
        _store(assignment, values, now)
        if assignment.item.known and onboarding.is_failed(person):
            return _end_onboarding(person, now)
        if check is not None and checked is not None:
            has_failed = attention.store(person, check, checked, now)
            if has_failed and check.step.ends:
                return attention.end(person, now)
        return None if waiting[1:] else _finish(person, assignment.item.conversation, now)


def _parsed(
    person: Participation, answers: Mapping[str, str], shown: Shown, check: AttentionCheck | None
) -> tuple[dict[tuple[str, str], Value], Value | None]:
    """Return the answers of a form, and that to its attention check, where it has one.

    Raises `InvalidAnswers` with what is missing of both.
    """
    own, checks = attention.parted(answers) if check else (answers, {})
    problems: dict[str, str] = {}
    values, checked = {}, None
    try:
        values = rate_of(person).parse(own, shown)
    except InvalidAnswers as refusal:
        problems |= refusal.problems
    try:
        checked = check.parse(checks) if check else None
    except InvalidAnswers as refusal:
        problems |= refusal.problems
    if problems:
        raise InvalidAnswers(problems)
    return values, checked


def _looked_up(assignment: Assignment, person: Participation) -> Shown:
    """Return what the rater was shown; what that is made of is looked up once for what follows."""
    assignment.participation = person
    rows = Candidate.objects.select_related("conversation")
    prefetch_related_objects([assignment], Prefetch("item__candidates", rows))
    return shown_among(assignment, assignment.item.candidates.all())


def _is_of(answers: Mapping[str, str], shown: Shown) -> bool:
    """Tell whether these fields are all of the form that is shown."""
    own, _checks = attention.parted(answers)
    return {name.split(".")[0] for name in own} <= {*shown.intended, shown.together}


def _end_onboarding(person: Participation, now: datetime) -> CompletionCode | None:
    """End the participation of who is below the share of known answers, by setting in silence."""
    step = shown_protocol(person.campaign).onboarding
    is_silent = step is not None and step.silently
    outcome = Outcome.ONBOARDING if is_silent else Outcome.CHECK_FAILED
    return payment.settle(person=person, outcome=outcome, now=now)


def _names(assignment: Assignment, rate: Rate) -> set[str]:
    return {f"{about}.{q.name}" for about, q in rate.form_questions(shown_to(assignment))}


def _fits(assignment: Assignment, answers: Mapping[str, str]) -> bool:
    check = attention.check_for(assignment.participation)
    names = _names(assignment, rate_of(assignment.participation))
    return set(answers) <= names | ({check.field} if check else set())


def _is_repeat(person: Participation, answers: Mapping[str, str]) -> bool:
    """Tell whether these are the fields of a form of the batch that was stored before.

    No two items of a person have candidates of the same key.
    """
    done = Assignment.objects.filter(participation=person, state=State.DONE)
    own, _checks = attention.parted(answers)
    keys = {name.split(".")[0] for name in own}
    if not keys:
        return False
    items = [key.removeprefix(TOGETHER) for key in keys if key.startswith(TOGETHER)]
    of_items = Q(item__in=[int(number) for number in items if number.isdecimal()])
    return done.filter(Q(item__candidates__key__in=keys) | of_items).exists()


def _store(assignment: Assignment, answers: Mapping[tuple[str, str], Value], now: datetime) -> None:
    rows = Assignment.objects.filter(pk=assignment.pk)
    if not states.try_move(rows, "judge", done_at=now, draft={}):
        return
    candidates = {candidate.key: candidate for candidate in assignment.item.candidates.all()}
    closed = rate_of(assignment.participation).closed(answers)
    Rating.objects.bulk_create(
        Rating(
            assignment=assignment,
            candidate=candidates[key],
            question=question,
            value=value,
            follows=(key, question) in closed,
        )
        for (key, question), value in answers.items()
    )
    quota.complete(assignment.item)


def _finish(
    person: Participation, conversation: Conversation | None, now: datetime
) -> CompletionCode | None:
    """End the round as its conversation ended; None where replies to contexts are judged."""
    left = conversation is not None and conversation.state == Conversation.State.ABANDONED
    outcome = Outcome.PARTNER_LEFT if left else Outcome.COMPLETED
    code = next_round.finish_round(person=person, outcome=outcome, now=now)
    if code is not None:
        flags.review(person=person, now=now)
    return code
