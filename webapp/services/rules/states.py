"""The transition tables; `move` and `try_move` are the only ways a state changes (R2).

Each move is one conditional UPDATE from an allowed state, so two callers cannot both succeed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

from django.db import connection, models
from django.db.models.expressions import RawSQL
from django.db.models.sql import UpdateQuery

from webapp.models import (
    Assignment,
    Campaign,
    Contribution,
    Conversation,
    Participation,
    ReplyJob,
)
from webapp.services.rules.statements import Columns

P, C, V, J = Participation.State, Conversation.State, Campaign.State, ReplyJob.State
A, T = Assignment.State, Contribution.State
Row = TypeVar("Row", Participation, Conversation, Campaign, ReplyJob, Assignment, Contribution)
ACTIVE = (P.ADMISSION, P.READY, P.WAITING, P.MATCHED, P.CHATTING, P.RATING, P.WRITING)

TRANSITIONS: dict[type[models.Model], dict[str, tuple[tuple[str, ...], str]]] = {
    Participation: {
        "check": ((P.READY,), P.ADMISSION),  # a screening or a quiz is to be answered
        "admit": ((P.ADMISSION,), P.READY),
        "chat": ((P.READY, P.WAITING), P.CHATTING),
        "wait": ((P.READY,), P.WAITING),
        "match": ((P.WAITING,), P.MATCHED),
        "meet": ((P.MATCHED,), P.CHATTING),
        "requeue": ((P.MATCHED, P.CHATTING), P.WAITING),  # the partner left before any work
        # they were away while a partner was there, or had not begun while others waited
        "miss": ((P.WAITING, P.MATCHED, P.CHATTING, P.RATING, P.WRITING), P.READY),
        "rate": ((P.READY, P.CHATTING), P.RATING),
        "write": ((P.READY,), P.WRITING),
        "next": ((P.CHATTING, P.RATING), P.READY),  # another round follows
        "complete": ((P.CHATTING, P.RATING, P.WRITING), P.ENDED),
        "end_between": ((P.READY, P.WAITING, P.MATCHED), P.ENDED),  # what was begun is over
        "fail": ((P.CHATTING, P.RATING, P.WRITING), P.ENDED),
        "stop": (ACTIVE, P.ENDED),
        "give_up": ((P.WAITING, P.MATCHED), P.ENDED),  # waited, nobody came
        "refuse": ((P.ADMISSION, P.READY, P.WAITING), P.ENDED),  # full before any work
        "screen_out": ((P.ADMISSION,), P.ENDED),
        "fail_check": ((P.ADMISSION, P.RATING), P.ENDED),
        "leave": (ACTIVE, P.ENDED),
        "return": ((P.ENDED,), P.READY),  # the link resumes who left
    },
    Conversation: {
        "meet": ((C.CHECKING,), C.OPEN),
        "finish": ((C.OPEN,), C.FINISHED),
        "abandon": ((C.CHECKING, C.OPEN), C.ABANDONED),
        "fail": ((C.OPEN,), C.FAILED),
    },
    Campaign: {
        "open": ((V.DRAFT,), V.OPEN),
        "pause": ((V.OPEN,), V.PAUSED),
        "resume": ((V.PAUSED,), V.OPEN),
        "stop": ((V.OPEN, V.PAUSED), V.STOPPED),
        "close": ((V.OPEN, V.PAUSED), V.CLOSED),
    },
    ReplyJob: {
        "claim": ((J.QUEUED, J.CLAIMED), J.CLAIMED),  # a claim whose lease ran out is free
        "answer": ((J.CLAIMED,), J.ANSWERED),
        "answer_at_once": ((J.CLAIMED,), J.DONE),
        "deliver": ((J.ANSWERED,), J.DONE),
        "put_back": ((J.CLAIMED,), J.QUEUED),
        "give_up": ((J.QUEUED, J.CLAIMED), J.FAILED),
        "drop": ((J.QUEUED, J.CLAIMED, J.ANSWERED), J.DROPPED),  # the conversation is over
        "withhold": ((J.DONE,), J.DROPPED),  # it was over when the answer was to be shown
        "retry": ((J.FAILED,), J.QUEUED),
    },
    Assignment: {
        "judge": ((A.RESERVED,), A.DONE),
        "release": ((A.RESERVED,), A.RELEASED),
        "reserve": ((A.RELEASED,), A.RESERVED),  # who gave it back has come back
        "set_aside": ((A.DONE,), A.RELEASED),  # judged by who failed the attention checks
    },
    Contribution: {
        "accept": ((T.OFFERED,), T.ACCEPTED),
        "refuse": ((T.OFFERED,), T.REFUSED),
    },
}


class Illegal(Exception):
    """The row is in a state from which this event is not allowed; says which."""

    def __init__(self, row: models.Model, event: str, state: str) -> None:
        super().__init__(f"{type(row).__name__} {row.pk} is {state}: cannot {event}")
        self.state = state


def in_words(state: str) -> str:
    """Return what pages call a state; what is none stays as it is."""
    return str(_words().get(state, state))


@cache
def _words() -> dict[str, Any]:
    fields = (kind._meta.get_field("state") for kind in TRANSITIONS)
    return {value: words for field in fields for value, words in getattr(field, "choices", ())}


def allowed(kind: type[models.Model], event: str) -> tuple[str, ...]:
    """Return the states from which this event is allowed."""
    return TRANSITIONS[kind][event][0]


def try_move(rows: models.QuerySet[Row], event: str, **fields: Any) -> int:
    """Move those of `rows` that may be moved by `event`, setting `fields` in the same UPDATE.

    Returns how many moved. What narrows `rows` narrows the UPDATE, such as a reply job's fence.
    """
    origins, target = TRANSITIONS[rows.model][event]
    return rows.filter(state__in=origins).update(state=target, **fields)


def move_first(rows: models.QuerySet[Row], event: str, **fields: Any) -> list[int]:
    """Move the first of ordered `rows` by one statement, and return the numbers of those moved.

    On PostgreSQL rows that another caller is moving are left to it: two callers neither wait for
    each other nor get the same row.
    """
    first, params = rows.values("pk").query.sql_with_params()
    if connection.vendor == "postgresql":
        # An array is made once; a subquery of IN may run again, and would then find other rows.
        lock = f'FOR UPDATE OF "{rows.model._meta.db_table}" SKIP LOCKED'
        among = f'"id" = ANY(ARRAY({first} {lock}))'
    else:
        among = f'"id" IN ({first})'
    which = RawSQL(among, params, output_field=models.BooleanField())  # noqa: S611 (Django's SQL)
    found = rows.model._default_manager.filter(which)
    return [number for (number,) in _moved(found, event, '"id"', fields)]


def move(row: Row, event: str, *, only_if: models.Q | None = None, **fields: Any) -> Row:
    """Move `row` by `event`, after which it holds what its row then has, or raise `Illegal`.

    One statement both moves and reads, so what it holds is as of the move. Rows that it refers to,
    such as its campaign, stay those that were looked up before.
    """
    columns = _columns(type(row))
    rows = type(row)._default_manager.filter(only_if or models.Q(), pk=row.pk)
    moved = _moved(rows, event, columns.returned, fields)
    if not moved:
        row.refresh_from_db()
        raise Illegal(row, event, row.state)
    for name, value in fields.items():
        if isinstance(value, models.Model):
            setattr(row, name, value)
    columns.renew(row, moved[0], connection)
    return row


def _moved(
    rows: models.QuerySet[Row], event: str, columns: str, fields: Mapping[str, Any]
) -> list[Sequence[Any]]:
    """Move `rows`, and return these columns of those that moved."""
    origins, target = TRANSITIONS[rows.model][event]
    found: Any = rows.filter(state__in=origins).query
    query = found.chain(UpdateQuery)
    query.add_update_values({"state": target, **fields})
    update, values = query.get_compiler(connection=connection).as_sql()
    with connection.cursor() as cursor:
        cursor.execute(f"{update} RETURNING {columns}", values)
        return list(cursor.fetchall())


@cache
def _columns(kind: type[Row]) -> Columns[Row]:
    return Columns(kind, kind._meta.db_table)
