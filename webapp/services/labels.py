"""Labels that a person gives to their partner's messages while chatting (R20).

An answer is superseded by one of a higher revision, never edited; the highest wins even if it
arrives late. `revision` is one rising count of the rater's browser over all their labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from evaluation import InvalidAnswer, Question, Rate, Shown, Value
from webapp.models import Assignment, Candidate, Conversation, Event, Participation, Rating
from webapp.services import events, items, quota
from webapp.services.plans import protocol_of


class Refused(Exception):
    """An answer that is not taken; `notice` says why, `complaint` what would be right."""

    def __init__(self, notice: str, complaint: str = "") -> None:
        super().__init__(complaint or notice)
        self.notice = notice
        self.complaint = complaint


class Conflict(Refused):
    """A revision that was used before with another value: nothing is written."""


def label(
    *,
    person: Participation,
    event: Event,
    question: str,
    value: str,
    revision: int,
    now: datetime,
) -> Rating:
    """Store a label of a partner's message; a repeat of a revision returns the first.

    A question that depends on another is taken only while the latest answer to that one is yes;
    where that one becomes no, the dependent answer is superseded by what then follows.
    """
    rate = _live(event.conversation)
    asked = _question(rate, question)
    with transaction.atomic():
        Participation.objects.select_for_update(no_key=True).get(
            pk=person.pk
        )  # one label after another
        assignment, candidate = _open(person, event, rate)
        parsed = _parse(asked, value, candidate)
        first = _rows(assignment, candidate, question).filter(revision=revision).first()
        if first is not None:
            return _same(first, parsed)
        _check_gate(asked, assignment, candidate)
        rating = Rating.objects.create(
            assignment=assignment,
            candidate=candidate,
            question=question,
            value=parsed,
            revision=revision,
            made_at=now,
        )
        if _rows(assignment, candidate, question).first() == rating:
            _supersede(rate, rating, now)
        return rating


def unlabeled(conversation: Conversation) -> list[int]:
    """Return the seqs of the partner's messages that still want a label, in order."""
    assignment = _assignments(conversation).first()
    if assignment is None:
        return []
    rate = _live(conversation)
    latest: dict[int, dict[str, Rating]] = {}
    for rating in assignment.ratings.select_related("candidate").order_by("revision"):
        latest.setdefault(rating.candidate.seq or 0, {})[rating.question] = rating
    wanted = _to_label(conversation, assignment.participation_id, rate)
    return [seq for seq in wanted if not _is_complete(rate, latest.get(seq, {}))]


def finish(*, person: Participation, conversation: Conversation, now: datetime) -> None:
    """Close the live form once everything is labeled; the caller settles the participation."""
    if unlabeled(conversation):
        raise Refused("unlabeled")
    reserved, done = Assignment.State.RESERVED, Assignment.State.DONE
    for assignment in _assignments(conversation).filter(participation=person):
        rows = Assignment.objects.filter(pk=assignment.pk, state=reserved)
        if rows.update(state=done, done_at=now):
            quota.complete(assignment.item)


def _live(conversation: Conversation) -> Rate:
    rate = protocol_of(conversation.campaign).live
    if rate is None:
        raise Refused("not_now")
    return rate


def _question(rate: Rate, name: str) -> Question:
    try:
        return rate.question(name)
    except KeyError:
        names = ", ".join(question.name for question in rate.each)
        raise Refused("bad_frame", f"question: {name!r} is not one of {names}") from None


def _assignments(conversation: Conversation) -> QuerySet[Assignment]:
    return Assignment.objects.filter(
        item__conversation=conversation, item__key__endswith=":live"
    ).select_related("item")


def _to_label(conversation: Conversation, rater: int, rate: Rate) -> list[int]:
    mine = conversation.seats.get(participation=rater).side
    messages = events.messages(conversation).exclude(side=mine)
    if not rate.label_opening:
        messages = messages.exclude(in_reply_to=0)
    return list(messages.values_list("seq", flat=True))


def _is_complete(rate: Rate, answers: Mapping[str, Rating]) -> bool:
    """Tell whether every question has an answer; one written for the rater counts while locked."""
    for question in rate.each:
        rating = answers.get(question.name)
        if rating is None:
            return False
        gate = answers.get(question.only_if) if question.only_if else None
        if gate is not None and gate.value == 1 and rating.follows:
            return False
    return True


def _open(person: Participation, event: Event, rate: Rate) -> tuple[Assignment, Candidate]:
    assignment = _assignments(event.conversation).filter(participation=person).first()
    if assignment is None or assignment.state != Assignment.State.RESERVED:
        raise Refused("not_now")
    if event.seq not in _to_label(event.conversation, person.pk, rate):
        raise Refused("not_now", f"seq: {event.seq} is not a message of the partner's to label")
    return assignment, items.candidate_for(event)


def _parse(question: Question, value: str, candidate: Candidate) -> Value:
    try:
        return question.parse(value, Shown((candidate.key,)))
    except InvalidAnswer as problem:
        raise Refused("bad_frame", f"value: {value!r}; {problem}") from None


def _rows(assignment: Assignment, candidate: Candidate, question: str) -> QuerySet[Rating]:
    rows = Rating.objects.filter(assignment=assignment, candidate=candidate, question=question)
    return rows.order_by("-revision")


def _same(first: Rating, value: Value) -> Rating:
    if first.value != value:
        raise Conflict("changed_elsewhere", f"revision {first.revision} has another value")
    return first


def _check_gate(question: Question, assignment: Assignment, candidate: Candidate) -> None:
    if question.only_if is None:
        return
    gate = _rows(assignment, candidate, question.only_if).first()
    if gate is None or gate.value != 1:
        raise Refused("locked")


def _supersede(rate: Rate, gate: Rating, now: datetime) -> None:
    """Write what follows for the questions that `gate` locks, above whatever they have."""
    if gate.value == 1:
        return
    for question in rate.each:
        if question.only_if == gate.question:
            last = _rows(gate.assignment, gate.candidate, question.name).first()
            Rating.objects.create(
                assignment=gate.assignment,
                candidate=gate.candidate,
                question=question.name,
                value=question.otherwise,
                revision=max(gate.revision, last.revision + 1 if last else 0),
                follows=True,
                made_at=now,
            )
