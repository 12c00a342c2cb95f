"""Labels that a person gives to their partner's messages while chatting (R20).

An answer is superseded by one of a higher revision, never edited; the highest wins even if it
arrives late. `revision` is one rising count of the rater's browser over all their labels.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from evaluation import InvalidAnswer, Question, Rate, Shown, Value
from webapp.models import Assignment, Candidate, Conversation, Event, Participation, Rating, Seat
from webapp.services.rating import items
from webapp.services.rules import quota, states
from webapp.services.rules.protocols import protocol_of


class LabelRefused(Exception):
    """An answer that is not taken; `notice` says why, `complaint` what would be right."""

    def __init__(self, notice: str, complaint: str = "") -> None:
        super().__init__(complaint or notice)
        self.notice = notice
        self.complaint = complaint


class LabelConflict(LabelRefused):
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

    A question that depends on another is taken only while the latest answer to that one opens it;
    where it does no longer, the dependent answer is superseded by what then follows.
    """
    rate = _live(event.conversation)
    definition = _question(rate, question)
    with transaction.atomic():
        Participation.objects.select_for_update(no_key=True).get(
            pk=person.pk
        )  # one label after another
        assignment, candidate = _open(person, event, rate)
        parsed = _parse(definition, value, candidate)
        first = _rows(assignment, candidate, question).filter(revision=revision).first()
        if first is not None:
            return _same(first, parsed)
        _check_gate(definition, assignment, candidate)
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
    rate = protocol_of(conversation.campaign).live
    if rate is None:
        return []
    return unlabeled_of_all({conversation.pk: rate}).get(conversation.pk, [])


def unlabeled_of_all(rates: Mapping[int, Rate]) -> dict[int, list[int]]:
    """Return the same for several conversations, given what each asks: four queries for all.

    Where labels are optional none is wanted.
    """
    rates = {pk: rate for pk, rate in rates.items() if not rate.optional}
    assignments: dict[int, Assignment] = {}
    for row in _live_assignments(rates):
        if row.item.conversation_id is not None:
            assignments.setdefault(row.item.conversation_id, row)
    latest = _latest(assignments)
    wanted = _to_label(assignments, rates)
    return {
        pk: [seq for seq in wanted[pk] if not _is_complete(rate, latest[pk, seq])]
        for pk, rate in rates.items()
    }


def finish(*, person: Participation, conversation: Conversation, now: datetime) -> None:
    """Close the live form once everything is labeled; the caller settles the participation."""
    if unlabeled(conversation):
        raise LabelRefused("unlabeled")
    for assignment in _assignments(conversation).filter(participation=person):
        rows = Assignment.objects.filter(pk=assignment.pk)
        if states.try_move(rows, "judge", done_at=now):
            quota.complete(assignment.item)


def _live(conversation: Conversation) -> Rate:
    rate = protocol_of(conversation.campaign).live
    if rate is None:
        raise LabelRefused("not_now")
    return rate


def _question(rate: Rate, name: str) -> Question:
    try:
        return rate.question(name)
    except KeyError:
        names = ", ".join(question.name for question in rate.each)
        raise LabelRefused("bad_frame", f"question: {name!r} is not one of {names}") from None


def _assignments(conversation: Conversation) -> QuerySet[Assignment]:
    return _live_assignments([conversation.pk])


def _live_assignments(conversations: Iterable[int]) -> QuerySet[Assignment]:
    return Assignment.objects.filter(
        item__conversation__in=list(conversations), item__key__endswith=":live"
    ).select_related("item")


def _latest(assignments: Mapping[int, Assignment]) -> dict[tuple[int, int], dict[str, Rating]]:
    """Return the valid answers by question, of each conversation and message."""
    latest: dict[tuple[int, int], dict[str, Rating]] = defaultdict(dict)
    rows = Rating.objects.filter(assignment__in=assignments.values())
    for row in rows.select_related("candidate", "assignment__item").order_by("revision"):
        pk = row.candidate.conversation_id
        latest[pk, row.candidate.seq or 0][row.question] = row
    return latest


def _to_label(
    assignments: Mapping[int, Assignment], rates: Mapping[int, Rate]
) -> dict[int, list[int]]:
    """Return the seqs of the partner's messages of each conversation, in order."""
    seats = Seat.objects.filter(conversation__in=assignments)
    sides = {(row.conversation_id, row.participation_id): row.side for row in seats}
    rows = Event.objects.filter(conversation__in=assignments, kind=Event.Kind.MESSAGE)
    wanted: dict[int, list[int]] = defaultdict(list)
    for pk, seq, side, in_reply_to in rows.order_by("conversation_id", "seq").values_list(
        "conversation_id", "seq", "side", "in_reply_to"
    ):
        is_own = side == sides[pk, assignments[pk].participation_id]
        if not is_own and (in_reply_to != 0 or rates[pk].label_opening):
            wanted[pk].append(seq)
    return wanted


def _is_complete(rate: Rate, answers: Mapping[str, Rating]) -> bool:
    """Tell whether every question has an answer; one written for the rater counts while locked."""
    for question in rate.each:
        rating = answers.get(question.name)
        if rating is None:
            return False
        if rating.follows and _opens(question, answers.get(_gate_of(question))):
            return False
    return True


def _open(person: Participation, event: Event, rate: Rate) -> tuple[Assignment, Candidate]:
    assignment = _assignments(event.conversation).filter(participation=person).first()
    if assignment is None or assignment.state != Assignment.State.RESERVED:
        raise LabelRefused("not_now")
    pk = event.conversation_id
    if event.seq not in _to_label({pk: assignment}, {pk: rate})[pk]:
        raise LabelRefused(
            "not_now", f"seq: {event.seq} is not a message of the partner's to label"
        )
    return assignment, items.candidate_for(event, assignment.item)


def _parse(question: Question, value: str, candidate: Candidate) -> Value:
    try:
        return question.parse(value, Shown((candidate.key,)))
    except InvalidAnswer as problem:
        raise LabelRefused("bad_frame", f"value: {value!r}; {problem}") from None


def _rows(assignment: Assignment, candidate: Candidate, question: str) -> QuerySet[Rating]:
    rows = Rating.objects.filter(assignment=assignment, candidate=candidate, question=question)
    return rows.order_by("-revision")


def _same(first: Rating, value: Value) -> Rating:
    if first.value != value:
        raise LabelConflict("changed_elsewhere", f"revision {first.revision} has another value")
    return first


def _check_gate(question: Question, assignment: Assignment, candidate: Candidate) -> None:
    if question.only_if is None:
        return
    if not _opens(question, _rows(assignment, candidate, _gate_of(question)).first()):
        raise LabelRefused("locked")


def _gate_of(question: Question) -> str:
    """Return the name of the question that opens this one, "" for none."""
    return question.only_if.question if question.only_if else ""


def _opens(question: Question, gate: Rating | None) -> bool:
    """Tell whether an answer opens a question; one that was not asked itself never does."""
    is_reached = gate is not None and not gate.follows
    return bool(question.only_if and gate and is_reached and question.only_if.opens(gate.value))


def _supersede(rate: Rate, gate: Rating, now: datetime) -> None:
    """Write what follows for the questions that `gate` locks, above whatever they have."""
    for question in rate.each:
        if _gate_of(question) == gate.question and not _opens(question, gate):
            last = _rows(gate.assignment, gate.candidate, question.name).first()
            following = Rating.objects.create(
                assignment=gate.assignment,
                candidate=gate.candidate,
                question=question.name,
                value=question.otherwise,
                revision=max(gate.revision, last.revision + 1 if last else 0),
                follows=True,
                made_at=now,
            )
            _supersede(rate, following, now)
