"""Conversations as they are in the database, one value each: nothing left out but secrets (R33).

What a person withdrew is blank in the rows themselves; here their name goes as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Model, Prefetch, QuerySet

from webapp.models import (
    AdmissionTry,
    Assignment,
    Campaign,
    Candidate,
    Conversation,
    Event,
    Flag,
    Item,
    Participation,
    Rating,
    ReplyCall,
    ReplyJob,
    Seat,
    TranscriptNote,
)
from webapp.services.data import query_rows, reply_records, tables
from webapp.services.rating import one_kind
from webapp.services.rules import rounds

CHUNK = 200  # conversations whose parts are in memory at once
CHUNK_OF_EVENTS = 5_000
Record = dict[str, Any]


class EventRow(NamedTuple):
    """One entry of a log as the query reads it, the conversation first."""

    conversation_id: int
    seq: int
    kind: str
    side: int | None
    client_id: UUID | None
    in_reply_to: int | None
    content: Any
    made_at: datetime


NO_LOG: tuple[int, Iterator[EventRow]] = (0, iter(()))


def conversations(campaign: Campaign) -> Iterator[Record]:
    """Yield every conversation of the study, in the order of their numbers."""
    names = tables.system_names(campaign)
    rows = (
        tables.conversations(campaign)
        .prefetch_related(
            _reading("seats", Seat.objects.select_related("participation", "persona")),
            _reading("jobs", ReplyJob.objects.order_by("in_reply_to")),
            _reading("jobs_read__calls", ReplyCall.objects.order_by("number")),
            _reading("flags", Flag.objects.select_related("participation").order_by("pk")),
            _reading("items", Item.objects.filter(campaign=campaign).order_by("pk")),
            *_of_items("items_read"),
            *_of_several(campaign),
        )
        .select_related("note")
    )
    logs = groupby(_event_rows(campaign), key=itemgetter(0))
    number, log = next(logs, NO_LOG)
    for row in rows.iterator(chunk_size=CHUNK):
        events = [_event(event) for event in log] if number == row.pk else []
        yield _conversation(row, names, events)
        if number == row.pk:
            number, log = next(logs, NO_LOG)


def _event_rows(campaign: Campaign) -> Iterator[EventRow]:
    """Yield the log of each conversation in turn: most rows of an export, so no model is made."""
    kept = {"conversation__campaign": campaign, "conversation__purpose__in": tables.PURPOSES}
    found = Event.objects.filter(**kept).order_by("conversation_id", "seq")
    return query_rows.rows(EventRow, found, chunk=CHUNK_OF_EVENTS)


def _of_several(campaign: Campaign) -> Iterator[Prefetch[Any]]:
    """Yield what is needed of items of several candidates, each of its own conversation."""
    replies = Candidate.objects.filter(item__campaign=campaign, item__conversation__isnull=True)
    yield _reading("candidates", replies.select_related("item").order_by("pk"))
    yield from _of_items("candidates_read__item")


def _of_items(path: str) -> Iterator[Prefetch[Any]]:
    """Yield the candidates and the answers of the items at a path."""
    assignments = Assignment.objects.select_related("participation").order_by("pk")
    yield _reading(f"{path}__candidates", Candidate.objects.order_by("pk"))
    yield _reading(f"{path}__assignments", assignments)
    yield _reading(f"{path}__assignments_read__ratings", Rating.objects.order_by("pk"))


def _reading(path: str, rows: QuerySet[Any]) -> Prefetch[Any]:
    """Read related rows into a list: `all()` would put a query together for each row."""
    return Prefetch(path, rows, to_attr=f"{path.rpartition('__')[2]}_read")


def _read(row: Model, related: str) -> list[Any]:
    found: list[Any] = row.__dict__[f"{related}_read"]
    return found


def participants(campaign: Campaign) -> Iterator[Record]:
    """Yield every participation, in the order of their numbers; who withdrew is absent."""
    names, arms = tables.system_names(campaign), one_kind.kinds_of(campaign)
    rows = campaign.participations.filter(withdrawn_at=None).order_by("pk")
    rows = rows.select_related("consent", "code").prefetch_related(
        _reading("flags", Flag.objects.order_by("pk")),
        _reading("seats", Seat.objects.select_related("conversation").order_by("pk")),
    )
    for row in rows.iterator(chunk_size=CHUNK):
        consent, code = getattr(row, "consent", None), getattr(row, "code", None)
        yield {
            "participant": row.pseudonym,
            "panel": campaign.panel,
            "system": _systems(row, names),
            "arm": ";".join(arms.get(row.pk, [])),
            "conversations": sum(seat.outcome in rounds.OVER for seat in _read(row, "seats")),
            "state": row.state,
            "outcome": row.outcome,
            "joined_at": _time(row.joined_at),
            "ended_at": _time(row.ended_at),
            "consent_sha256": consent.text_hash if consent else "",
            "language": consent.language if consent else "",
            "pay": str(code.amount) if code else "0",
            "promised": str(row.pay),
            "currency": row.currency,
            "quit_rule": row.quit_rule,
            "least_work": row.least_work,
            "excluded": row.excluded,
            "flags": ";".join(sorted({flag.kind for flag in _read(row, "flags")})),
        }


def admission(campaign: Campaign) -> Iterator[Record]:
    """Yield every answer before the work and to attention checks; who withdrew is absent."""
    rows = AdmissionTry.objects.filter(
        participation__campaign=campaign, participation__withdrawn_at=None
    )
    for row in rows.select_related("participation").order_by("pk").iterator():
        for question, value in row.answers.items():
            yield {
                "participant": row.participation.pseudonym,
                "step": row.step,
                "try": row.number,
                "question": question,
                "value": value,
                "right": int(question not in row.wrong),
                "passed": int(row.passed),
                "answered_at": _time(row.made_at),
            }


def _systems(row: Participation, names: dict[int, str]) -> str:
    over = [seat for seat in _read(row, "seats") if seat.outcome in rounds.OVER]
    met = [seat.conversation.system_id for seat in over]
    if row.outcome not in rounds.OVER or not over:
        met.append(row.system_id or 0)
    return ";".join(filter(None, (names.get(system, "") for system in met)))


def personas(campaign: Campaign) -> Iterator[Record]:
    """Yield the campaign's personas: seats, and the options of a persona choice, name their key."""
    for row in campaign.personas.order_by("key").iterator():
        yield {
            "persona": row.key,
            "split": row.split,
            "sentences": row.sentences,
            "revised": row.revised,
            "name": row.name,
            "group": row.group,
            "shared": row.shared,
        }


def _conversation(row: Conversation, names: dict[int, str], events: list[Record]) -> Record:
    return {
        "conversation": row.pk,
        "purpose": row.purpose,
        "context": row.context,
        "topic": row.topic,
        "system": names[row.system_id],
        "state": row.state,
        "ended_because": row.ended_because,
        "minimum": row.minimum,
        "maximum": row.maximum,
        "seed": row.seed,
        "first_side": row.first_side,
        "started_at": _time(row.started_at),
        "ended_at": _time(row.ended_at),
        "excluded": row.excluded,
        "seats": [_seat(seat) for seat in _read(row, "seats")],
        "events": events,
        "replies": [_reply(job) for job in _read(row, "jobs")],
        "intended": row.intended,
        "transcript": _transcript(getattr(row, "note", None)),
        "judged": [_item(item, names, row.pk) for item in _items(row)],
        "flags": [_flag(flag) for flag in _read(row, "flags")],
    }


def _transcript(note: TranscriptNote | None) -> Record | None:
    if note is None:
        return None
    return {
        "name": note.name,
        "account": note.account,
        "volunteer": note.volunteer,
        "began_at": _time(note.began_at),
        "ended_at": _time(note.ended_at),
        "reset": note.reset,
        "marks": note.marks,
    }


def _seat(seat: Seat) -> Record:
    person, persona = seat.participation, seat.persona
    return {
        "side": seat.side,
        "round": seat.round,
        "participant": _name(person),
        "withdrawn": person is not None and person.withdrawn_at is not None,
        "outcome": person.outcome if person else "",
        "excluded": person.excluded if person else "",
        "persona": persona
        and {
            "key": persona.key,
            "form": seat.persona_form,
            "sentences": list(seat.sentences),
        },
        "sees_persona": seat.sees_persona,
        "rates": seat.rates,
        "ready_at": _time(seat.ready_at),
    }


def _event(event: EventRow) -> Record:
    return {
        "seq": event.seq,
        "kind": event.kind,
        "side": event.side,
        "client_id": str(event.client_id) if event.client_id else None,
        "in_reply_to": event.in_reply_to,
        "content": event.content,
        "at": _time(event.made_at),
    }


def _reply(job: ReplyJob) -> Record:
    return {
        "in_reply_to": job.in_reply_to,
        "bot": job.bot,
        "state": job.state,
        "attempt": job.attempt,
        "queued_at": _time(job.queued_at),
        "answered_at": _time(job.answered_at),
        "text": job.text,
        "details": job.details,
        "calls": [reply_records.call(one, job) for one in _read(job, "calls")],
    }


def _items(row: Conversation) -> Iterator[Item]:
    yield from _read(row, "items")
    yield from (one.item for one in _read(row, "candidates") if one.item.conversation_id is None)


def _item(item: Item, names: dict[int, str], conversation: int) -> Record:
    """Return an item with the answers about this conversation; other replies have their own."""
    candidates = _read(item, "candidates")
    keys = {one.pk: one.key for one in candidates if one.conversation_id == conversation}
    return {
        "item": item.key,
        "wanted": item.target,
        "candidates": [
            {
                "key": one.key,
                "conversation": one.conversation_id,
                "system": names[one.system_id],
                "seq": one.seq,
                "side": one.side,
            }
            for one in candidates
        ],
        "assignments": [_assignment(one, keys) for one in _read(item, "assignments")],
    }


def _assignment(assignment: Assignment, keys: dict[int, str]) -> Record:
    return {
        "rater": _name(assignment.participation),
        "state": assignment.state,
        "place": assignment.place,
        "choices": assignment.choices,
        "shown": assignment.shown,
        "made_at": _time(assignment.made_at),
        "done_at": _time(assignment.done_at),
        "answers": [
            {
                "answer": str(rating.pk),
                "candidate": keys[rating.candidate_id],
                "question": rating.question,
                "value": rating.value,
                "revision": rating.revision,
                "follows": rating.follows,
                "at": _time(rating.made_at),
            }
            for rating in _read(assignment, "ratings")
            if rating.candidate_id in keys
        ],
    }


def _flag(flag: Flag) -> Record:
    return {
        "kind": flag.kind,
        "participant": _name(flag.participation),
        "detail": flag.detail,
        "made_at": _time(flag.made_at),
        "settled_at": _time(flag.settled_at),
    }


def _name(person: Participation | None) -> str | None:
    """Return a pseudonym; who withdrew has none."""
    return person.pseudonym if person is not None and person.withdrawn_at is None else None


def _time(at: datetime | None) -> str | None:
    return at.isoformat() if at else None
