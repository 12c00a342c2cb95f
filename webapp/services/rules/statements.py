"""The statements of a message and its reply, as SQL that is put together once; rows as models.

Django builds the SQL of a query anew each time, which took most of the time of a message. Values
are converted by the same fields as Django's own.

Apart because hardly anything else is asked so often that it is worth SQL of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from functools import cached_property, lru_cache
from typing import Any, Generic, NamedTuple, TypeVar, cast
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import ForeignKey, IntegerField, Model
from django.db.models.base import ModelState

from webapp.models import (
    Campaign,
    Conversation,
    Event,
    Participation,
    Persona,
    ReplyJob,
    Seat,
    System,
)
from webapp.services.rules import tally

M = TypeVar("M", bound=Model)
Row = Sequence[Any]
Conversion = tuple[int, Sequence[Callable[..., Any]], Any]
AS_IT_IS = (IntegerField, ForeignKey)
INSERTED = 100  # rows of one INSERT: SQLite takes 999 values


class Columns(Generic[M]):
    """Columns of a model in a SELECT: what is not among them is looked up where it is asked for.

    Without names they are all columns.
    """

    def __init__(self, model: type[M], alias: str, *names: str) -> None:
        self.model, self.alias = model, alias
        every = model._meta.concrete_fields
        self.fields = [each for each in every if not names or each.attname in names]
        self.names = [each.attname for each in self.fields]
        self._converters: dict[str, list[Conversion]] = {}

    @cached_property
    def sql(self) -> str:
        return ", ".join(f"{self.alias}.{each.column}" for each in self.fields)

    def values(self, row: Row, first: int, database: BaseDatabaseWrapper) -> dict[str, Any]:
        """Return the values of these columns, which begin at `first` in the row."""
        found = list(row[first : first + len(self.names)])
        for number, converters, column in self._converting(database):
            for convert in converters if found[number] is not None else ():
                found[number] = convert(found[number], column, database)
        return dict(zip(self.names, found, strict=True))

    def make(self, row: Row, first: int, database: BaseDatabaseWrapper) -> M:
        """Return an object of the model, as Django's own queries would, but without its signals."""
        made = self.model.__new__(self.model)
        made.__dict__.update(self.values(row, first, database))
        made._state = ModelState()
        made._state.adding, made._state.db = False, database.alias
        return made

    @cached_property
    def returned(self) -> str:
        """The columns as an UPDATE returns them."""
        return ", ".join(f'"{each.column}"' for each in self.fields)

    def renew(self, old: M, row: Row, database: BaseDatabaseWrapper) -> None:
        """Let an object that was read before have these values.

        What it refers to stays, where it is still the same.
        """
        old.__dict__.update(self.values(row, 0, database))
        for each in self.fields:
            cached = old._state.fields_cache.get(each.name)
            if cached is not None and cached.pk != getattr(old, each.attname):
                del old._state.fields_cache[each.name]
        old.__dict__.pop("_prefetched_objects_cache", None)

    def _converting(self, database: BaseDatabaseWrapper) -> list[Conversion]:
        """Return what Django converts on this database: the position of a value, and how."""
        if database.vendor not in self._converters:
            found: list[Conversion] = []
            for number, field in enumerate(self.fields):
                column = cast(Any, field).get_col(self.alias)
                converters = database.ops.get_db_converters(column)
                converters = [*converters, *column.get_db_converters(database)]
                found += [(number, converters, column)] if converters else []
            self._converters[database.vendor] = found
        return self._converters[database.vendor]


SEAT = Columns(
    Seat, "s", "id", "conversation_id", "side", "participation_id", "persona_id", "persona_form"
)
CONVERSATION = Columns(
    Conversation,
    "c",
    *("id", "campaign_id", "system_id", "state", "minimum", "maximum", "first_side"),
    *tally.COLUMNS,
)
CAMPAIGN = Columns(
    Campaign,
    "g",
    *("id", "slug", "protocol", "own_protocol_id", "changes", "plan_hash", "crisis_phrases"),
)
SYSTEM = Columns(System, "y", "id", "campaign_id", "name", "bot")
PERSONA = Columns(Persona, "a", "id", "sentences", "revised")
PERSON = Columns(Participation, "p", "state", "seen_at", "withdrawn_at")
JOINED: tuple[Columns[Any], ...] = (SEAT, CONVERSATION, CAMPAIGN, SYSTEM, PERSONA)
# A reply needs nearly all of these: the protocol's settings, limits of tokens, the pace.
WHOLE: tuple[Columns[Any], ...] = (
    Columns(Conversation, "c"),
    Columns(Campaign, "g"),
    Columns(System, "y"),
)
JOB = Columns(ReplyJob, "j")
WHOLE_PERSONA = Columns(Persona, Persona._meta.db_table)
# What an entry is written with; a number is on either database what it is in Python.
WRITTEN = [
    (each.attname, None if isinstance(each, AS_IT_IS) else each.get_db_prep_save)
    for each in Event._meta.concrete_fields
    if not each.primary_key
]


class Sender(NamedTuple):
    """What is asked of a person before they may write, and an entry that used a client id."""

    person: int
    event: int | None
    state: str
    seen_at: datetime
    withdrawn_at: datetime | None


def lock_seats(people: Collection[int], conversations: Collection[int]) -> list[Seat]:
    """Lock conversations; return these people's seats in them, in the order of locking.

    Seats of one conversation share its row, conversations of one campaign share that.
    """
    if not people or not conversations:  # an empty list is no SQL to PostgreSQL
        return []
    database = connections[DEFAULT_DB_ALIAS]
    sql = _locking(database.vendor, len(people), len(conversations))
    known: dict[tuple[int, int], Any] = {}
    rows = _rows(database, sql, [*people, *conversations])
    return [_seat(row, known, database) for row in rows]


def _seat(row: Row, known: dict[tuple[int, int], Any], database: BaseDatabaseWrapper) -> Seat:
    made, first = [], 0
    for number, columns in enumerate(JOINED):
        key = number, row[first]
        if key not in known:
            known[key] = None if row[first] is None else columns.make(row, first, database)
        made.append(known[key])
        first += len(columns.names)
    seat, conversation, campaign, system, persona = made
    conversation._state.fields_cache.update(campaign=campaign, system=system)
    seat._state.fields_cache.update(conversation=conversation, persona=persona)
    return cast(Seat, seat)


@lru_cache(maxsize=1024)
def _locking(vendor: str, people: int, conversations: int) -> str:
    tables = {each: each.model._meta.db_table for each in JOINED}
    return (
        f"SELECT {', '.join(each.sql for each in JOINED)} FROM {tables[SEAT]} s"  # noqa: S608
        f" JOIN {tables[CONVERSATION]} c ON c.id = s.conversation_id"
        f" JOIN {tables[CAMPAIGN]} g ON g.id = c.campaign_id"
        f" JOIN {tables[SYSTEM]} y ON y.id = c.system_id"
        f" LEFT JOIN {tables[PERSONA]} a ON a.id = s.persona_id"
        f" WHERE s.participation_id IN ({_marks(people)})"
        f" AND s.conversation_id IN ({_marks(conversations)})"
        " ORDER BY s.conversation_id, s.side"
        + (" FOR UPDATE OF c" if vendor == "postgresql" else "")
    )


def lock_conversations(pks: Collection[int]) -> dict[int, Conversation]:
    """Lock conversations in the order of their numbers; each with its campaign and its system."""
    if not pks:
        return {}
    database = connections[DEFAULT_DB_ALIAS]
    known: dict[tuple[int, int], Any] = {}
    rows = _rows(database, _locking_whole(database.vendor, len(pks)), sorted(pks))
    return {row[0]: _conversation(row, 0, known, database) for row in rows}


def _conversation(
    row: Row, first: int, known: dict[tuple[int, int], Any], database: BaseDatabaseWrapper
) -> Conversation:
    made = []
    for number, columns in enumerate(WHOLE):
        key = number, row[first]
        if key not in known:
            known[key] = columns.make(row, first, database)
        made.append(known[key])
        first += len(columns.names)
    conversation, campaign, system = made
    conversation._state.fields_cache.update(campaign=campaign, system=system)
    return cast(Conversation, conversation)


@lru_cache(maxsize=1024)
def _locking_whole(vendor: str, count: int) -> str:
    return (
        f"SELECT {', '.join(each.sql for each in WHOLE)} FROM {_whole()}"  # noqa: S608 (no values)
        f" WHERE c.id IN ({_marks(count)}) ORDER BY c.id"
        + (" FOR UPDATE OF c" if vendor == "postgresql" else "")
    )


def _whole() -> str:
    conversation, campaign, system = (each.model._meta.db_table for each in WHOLE)
    return (
        f"{conversation} c JOIN {campaign} g ON g.id = c.campaign_id"
        f" JOIN {system} y ON y.id = c.system_id"
    )


def held_jobs(owner: str) -> list[ReplyJob]:
    """Return the jobs of one claim, each with its conversation, and that with what it is of."""
    database = connections[DEFAULT_DB_ALIAS]
    known: dict[tuple[int, int], Any] = {}
    found = []
    for row in _rows(database, _of_owner(), [owner]):
        job = JOB.make(row, 0, database)
        conversation = _conversation(row, len(JOB.names), known, database)
        job._state.fields_cache["conversation"] = conversation
        found.append(job)
    return found


class CallsBefore(NamedTuple):
    """The highest number among a job's calls so far, and whether its participant withdrew."""

    last: int
    is_withdrawn: bool


def calls_before(jobs: Collection[int]) -> dict[int, CallsBefore]:
    """Return what is known of the calls of reply jobs, by the jobs' numbers."""
    if not jobs:
        return {}
    rows = _rows(connections[DEFAULT_DB_ALIAS], _before(len(jobs)), list(jobs))
    return {pk: CallsBefore(last, bool(gone)) for pk, last, gone in rows}


@lru_cache(maxsize=1024)
def _before(count: int) -> str:
    return (
        "SELECT j.id, coalesce((SELECT max(c.number) FROM webapp_replycall c"  # noqa: S608 (no values)
        " WHERE c.job_id = j.id), 0), EXISTS (SELECT 1 FROM webapp_seat s"
        " JOIN webapp_participation p ON p.id = s.participation_id WHERE"
        " s.conversation_id = j.conversation_id AND p.withdrawn_at IS NOT NULL)"
        f" FROM webapp_replyjob j WHERE j.id IN ({_marks(count)})"
    )


@lru_cache(maxsize=1)
def _of_owner() -> str:
    columns = ", ".join(each.sql for each in (JOB, *WHOLE))
    table = JOB.model._meta.db_table
    return (
        f"SELECT {columns} FROM {_whole()} JOIN {table} j"  # noqa: S608 (no values)
        " ON j.conversation_id = c.id WHERE j.owner = %s AND j.state = 'CLAIMED' ORDER BY j.id"
    )


def senders(seats: Collection[int], client_ids: Sequence[UUID]) -> list[Sender]:
    """Return of each seat's person what is asked, once for each entry that used one of the ids."""
    if not seats or not client_ids:
        return []
    database = connections[DEFAULT_DB_ALIAS]
    prepare = Event._meta.get_field("client_id").get_db_prep_value
    values = [*(prepare(each, database) for each in client_ids), *seats]
    return [
        Sender(row[0], row[1], **PERSON.values(row, 2, database))
        for row in _rows(database, _asking(len(client_ids), len(seats)), values)
    ]


@lru_cache(maxsize=1024)
def _asking(client_ids: int, seats: int) -> str:
    person, event = Participation._meta.db_table, Event._meta.db_table
    return (
        f"SELECT p.id, e.id, {PERSON.sql} FROM {Seat._meta.db_table} s"  # noqa: S608 (no values)
        f" JOIN {person} p ON p.id = s.participation_id"
        f" LEFT JOIN {event} e"
        f" ON e.conversation_id = s.conversation_id AND e.client_id IN ({_marks(client_ids)})"
        f" WHERE s.id IN ({_marks(seats)})"
    )


def insert_events(events: Sequence[Event]) -> None:
    """Insert entries and give each its number."""
    database = connections[DEFAULT_DB_ALIAS]
    for first in range(0, len(events), INSERTED):
        some = events[first : first + INSERTED]
        values = [
            prepare(value, database) if prepare else value
            for one in some
            for value, prepare in ((getattr(one, name), each) for name, each in WRITTEN)
        ]
        for one, (pk,) in zip(some, _rows(database, _inserting(len(some)), values), strict=True):
            one.pk = pk
            one._state.adding, one._state.db = False, database.alias


@lru_cache(maxsize=INSERTED)
def _inserting(count: int) -> str:
    names = ", ".join(name for name, _ in WRITTEN)
    rows = ", ".join([f"({_marks(len(WRITTEN))})"] * count)
    table = Event._meta.db_table
    return f"INSERT INTO {table} ({names}) VALUES {rows} RETURNING id"  # noqa: S608 (no values)


def take_persona(pk: int) -> Persona | None:
    """Count a persona as taken once more; None where another transaction is taking it."""
    database = connections[DEFAULT_DB_ALIAS]
    rows = _rows(database, _taking(database.vendor), [pk])
    return WHOLE_PERSONA.make(rows[0], 0, database) if rows else None


@lru_cache(maxsize=2)
def _taking(vendor: str) -> str:
    table = Persona._meta.db_table
    one = "id = %s"
    if vendor == "postgresql":
        locked = f"SELECT id FROM {table} WHERE id = %s FOR NO KEY UPDATE SKIP LOCKED"  # noqa: S608
        one = f"id = ANY(ARRAY({locked}))"
    return f"UPDATE {table} SET taken = taken + 1 WHERE {one} RETURNING {WHOLE_PERSONA.returned}"  # noqa: S608


def _rows(database: BaseDatabaseWrapper, sql: str, values: Sequence[Any]) -> list[Row]:
    with database.cursor() as cursor:
        cursor.execute(sql, values)
        return cast("list[Row]", cursor.fetchall())


def _marks(count: int) -> str:
    return ", ".join(["%s"] * count)
