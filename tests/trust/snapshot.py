"""What the database holds of a campaign when all is over, and what the export says, as values."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from webapp.models import (
    Assignment,
    Campaign,
    CompletionCode,
    Event,
    Item,
    Participation,
    QuotaCell,
    Rating,
    ReplyJob,
    Seat,
)
from webapp.services.rules.protocols import protocol_of


@dataclass(frozen=True)
class Chat:
    """A conversation as one person's client should have seen it."""

    number: int
    side: int
    state: str
    minimum: int
    with_person: bool
    events: tuple[Event, ...]
    rates: bool = True  # of two people one may be done after the chat


@dataclass(frozen=True)
class Promised:
    """What a participation was promised at its consent."""

    pay: Decimal
    waiting_pay: Decimal
    quit_rule: str
    least_work: int
    screening_pay: Decimal = Decimal(0)


@dataclass(frozen=True)
class Someone:
    """One participation: how it ended, what it is paid, what it did."""

    name: str
    state: str
    outcome: str
    holds_slot: bool
    code: str
    code_kind: str
    code_amount: Decimal
    promised: Promised
    chats: tuple[Chat, ...]
    ratings: int
    open_seats: int
    open_assignments: int
    judged: int  # replies, of those that were given
    given: int
    has_chat: bool  # the campaign's protocol


@dataclass(frozen=True)
class Answer:
    """An answer that no later one has replaced; `seq` is that of a labeled message."""

    pk: int
    person: str
    conversation: int
    key: str
    seq: int | None
    question: str
    value: Any
    revision: int


@dataclass(frozen=True)
class Count:
    """A cell or an item, beside what its rows say."""

    name: str
    target: int
    reserved: int
    completed: int
    found: int


@dataclass(frozen=True)
class Snapshot:
    """The database at one moment."""

    people: Mapping[str, Someone]
    events: Mapping[int, tuple[Event, ...]]
    states: Mapping[int, str]
    owed: Mapping[int, int]  # jobs that are neither done, failed nor dropped
    failed: set[tuple[int, int]]
    counts: tuple[Count, ...]
    ratings: int
    answers: tuple[Answer, ...] = ()
    purposes: Mapping[int, str] = field(default_factory=dict)


def take(campaign: Campaign) -> Snapshot:
    """Read everything about a campaign."""
    events = _events(campaign)
    conversations = list(campaign.conversations.all())
    jobs = ReplyJob.objects.filter(conversation__campaign=campaign)
    settled = (ReplyJob.State.DONE, ReplyJob.State.FAILED, ReplyJob.State.DROPPED)
    owed: dict[int, int] = defaultdict(int)
    for job in jobs.exclude(state__in=settled):
        owed[job.conversation_id] += 1
    return Snapshot(
        people={each.name: each for each in _people(campaign, events)},
        events=events,
        states={each.pk: each.state for each in conversations},
        owed=owed,
        failed={(j.conversation_id, j.in_reply_to) for j in jobs.filter(state="FAILED")},
        counts=(*_cells(campaign), *_items(campaign)),
        ratings=Rating.objects.filter(assignment__item__campaign=campaign).count(),
        answers=_answers(campaign),
        purposes={each.pk: each.purpose for each in conversations},
    )


def of_events(campaign: Campaign) -> Snapshot:
    """Read what was said alone, where people have no ids by which clients are found again."""
    return Snapshot({}, _events(campaign), {}, {}, set(), (), 0)


def _answers(campaign: Campaign) -> tuple[Answer, ...]:
    """Return the answer of the highest revision to each question (R20); of who withdrew none."""
    rows = Rating.objects.filter(
        assignment__item__campaign=campaign, assignment__participation__withdrawn_at=None
    )
    latest: dict[tuple[Any, ...], Answer] = {}
    for row in rows.order_by("revision", "pk").values_list(
        "pk",
        "assignment__participation__external__value",
        "candidate__conversation",
        "candidate__key",
        "candidate__seq",
        "question",
        "value",
        "revision",
        "assignment",
    ):
        latest[row[8], row[2], row[3], row[5]] = Answer(*row[:8])
    return tuple(latest.values())


def _events(campaign: Campaign) -> dict[int, tuple[Event, ...]]:
    found: dict[int, list[Event]] = defaultdict(list)
    for event in Event.objects.filter(conversation__campaign=campaign).order_by("pk"):
        found[event.conversation_id].append(event)
    return {pk: tuple(sorted(each, key=lambda e: e.seq)) for pk, each in found.items()}


def _people(campaign: Campaign, events: Mapping[int, tuple[Event, ...]]) -> list[Someone]:
    rows = Participation.objects.filter(campaign=campaign).select_related("external", "campaign")
    codes = {code.participation_id: code for code in _codes(campaign)}
    seats: dict[int | None, list[Seat]] = defaultdict(list)
    for seat in Seat.objects.filter(conversation__campaign=campaign).order_by("pk"):
        seats[seat.participation_id].append(seat)
    return [_someone(row, codes.get(row.pk), seats[row.pk], events) for row in rows]


def _codes(campaign: Campaign) -> list[CompletionCode]:
    return list(CompletionCode.objects.filter(participation__campaign=campaign))


def _someone(
    row: Participation,
    code: CompletionCode | None,
    seats: list[Seat],
    events: Mapping[int, tuple[Event, ...]],
) -> Someone:
    assignments = Assignment.objects.filter(participation=row)
    return Someone(
        name=row.external.value,
        state=row.state,
        outcome=row.outcome,
        holds_slot=row.holds_slot,
        code=code.code if code else "",
        code_kind=code.kind if code else "",
        code_amount=code.amount if code else Decimal(0),
        promised=Promised(
            row.pay, row.waiting_pay, row.quit_rule, row.least_work, row.screening_pay
        ),
        chats=tuple(_chat(seat, events) for seat in seats if _was_met(seat)),
        ratings=Rating.objects.filter(assignment__participation=row).count(),
        open_seats=sum(seat.active for seat in seats),
        open_assignments=assignments.filter(state=Assignment.State.RESERVED).count(),
        judged=assignments.filter(state=Assignment.State.DONE).count(),
        given=assignments.count(),
        has_chat=protocol_of(row.campaign).chat is not None,
    )


def _was_met(seat: Seat) -> bool:
    """Tell whether the conversation began: a ready check that failed is none."""
    seats = list(seat.conversation.seats.all())
    asked = [each for each in seats if each.participation_id or each.checked_at]
    return all(each.ready_at for each in asked)


def _chat(seat: Seat, events: Mapping[int, tuple[Event, ...]]) -> Chat:
    conversation = seat.conversation
    with_person = all(each.participation_id for each in conversation.seats.all())
    found = events.get(conversation.pk, ())
    state, minimum = conversation.state, conversation.minimum
    return Chat(conversation.pk, seat.side, state, minimum, with_person, found, seat.rates)


def _cells(campaign: Campaign) -> list[Count]:
    found = []
    for cell in QuotaCell.objects.filter(system__campaign=campaign).select_related("system"):
        found.append(_count(f"cell {cell.system.name}", cell, _done(cell.system_id)))
    return found


def _done(system: int) -> int:
    """Count who completed: two people count as two once all their ratings are there, else not.

    Who was parted before any work and met another partner counts by that conversation alone.
    """
    done = Participation.objects.filter(system=system, outcome="COMPLETED")
    people = Seat.objects.filter(
        conversation__system=system, conversation__state="FINISHED", participation__isnull=False
    )
    lone = people.filter(rates=False, participation__in=done)
    rated = people.filter(rates=True, participation__in=done).values("conversation")
    missing = people.filter(rates=True).exclude(participation__in=done).values("conversation")
    halves = people.filter(rates=True, participation__in=done, conversation__in=missing)
    alone = lone.exclude(conversation__in=rated) | halves
    return done.count() - alone.values("participation").distinct().count()


def _items(campaign: Campaign) -> list[Count]:
    found = []
    for item in Item.objects.filter(campaign=campaign):
        done = item.assignments.filter(state=Assignment.State.DONE).count()
        found.append(_count(f"item {item.key}", item, done))
    return found


def _count(name: str, row: QuotaCell | Item, found: int) -> Count:
    return Count(name, row.target, row.reserved, row.completed, found)


@dataclass(frozen=True)
class Exported:
    """What a reader of the export gets; `values` by the number of the answer."""

    events: Mapping[int, list[dict[str, Any]]]
    values: Mapping[int, str]


def read_export(path: Path) -> Exported:
    """Read the conversations and all answers of an export."""
    with zipfile.ZipFile(path) as archive:
        lines = archive.read("conversations.jsonl").decode().splitlines()
        table = archive.read("ratings_all.csv").decode()
    conversations = [json.loads(line) for line in lines]
    events = {each["conversation"]: each["events"] for each in conversations}
    rows = csv.DictReader(io.StringIO(table))
    return Exported(events, {int(row["answer"]): row["value"] for row in rows})
