"""Messages of a conversation, counted on its row: per side, whose was the last, and when it came.

The log is the truth. `counted_seq` says up to which entry the counts hold: a program of an earlier
version, which appends and does not count, leaves it behind, and the log is then counted anew.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from django.db import connection, transaction
from django.db.models import QuerySet

from webapp.models import Conversation, Event

COLUMNS = {  # stored at once with each entry; the type that PostgreSQL has to be told
    "last_seq": "integer",
    "counted_seq": "integer",
    "messages_0": "integer",
    "messages_1": "integer",
    "last_message": "integer",
    "last_side": "smallint",
    "last_message_at": "timestamptz",
}
Counts = tuple[Any, ...]  # in the order of COLUMNS
CHUNK = 500  # conversations that are checked at once


def count(conversation: Conversation) -> int:
    """Return how many messages a conversation has."""
    return conversation.messages_0 + conversation.messages_1


def renew(conversations: Iterable[Conversation]) -> None:
    """Count the log again where another program has appended to it; one query, as a rule none."""
    behind = {each.pk: each for each in conversations if each.counted_seq != each.last_seq}
    if not behind:
        return
    for pk, counts in _counted(behind).items():
        _set(behind[pk], (behind[pk].last_seq, behind[pk].last_seq, *counts))


def add(conversation: Conversation, event: Event) -> None:
    """Count the entry that a conversation ends with now."""
    conversation.counted_seq = conversation.last_seq
    if event.kind != Event.Kind.MESSAGE:
        return
    conversation.messages_0 += event.side == 0
    conversation.messages_1 += event.side == 1
    conversation.last_message = event.seq
    conversation.last_side = event.side
    conversation.last_message_at = event.made_at


def copy(source: Conversation, target: Conversation) -> None:
    """Let a row that was read before have what the locked one has now."""
    _set(target, [getattr(source, name) for name in COLUMNS])


def store(conversations: Collection[Conversation]) -> None:
    """Store the counts of locked conversations, by one statement."""
    if not conversations:
        return
    sql = _storing(connection.vendor, len(conversations))
    with connection.cursor() as cursor:
        cursor.execute(sql, [value for each in conversations for value in _values(each)])


@lru_cache(maxsize=1024)
def _storing(vendor: str, count: int) -> str:
    value = "CAST(new.column{} AS {})" if vendor == "postgresql" else "new.column{}"
    changes = ", ".join(
        f"{name} = {value.format(number, kind)}"
        for number, (name, kind) in enumerate(COLUMNS.items(), start=2)
    )
    row = f"({', '.join(['%s'] * (len(COLUMNS) + 1))})"
    return (
        f"UPDATE {Conversation._meta.db_table} AS old SET {changes} "  # noqa: S608 (no values)
        f"FROM (VALUES {', '.join([row] * count)}) AS new WHERE old.id = new.column1"
    )


def faults(campaign: int | None = None) -> Iterator[str]:
    """Yield a sentence for each conversation, of one campaign or all, that is counted wrongly."""
    rows = Conversation.objects.all() if campaign is None else _of(campaign)
    keys = rows.order_by("pk").values_list("pk", flat=True)
    last = 0
    while chunk := list(keys.filter(pk__gt=last)[:CHUNK]):
        last = chunk[-1]
        for pk in _differences(Conversation.objects.filter(pk__in=chunk)):
            with transaction.atomic():  # nothing is appended meanwhile, as may have been above
                locked = Conversation.objects.select_for_update(of=("self",)).filter(pk=pk)
                yield from _differences(locked).get(pk, ())


def _of(campaign: int) -> QuerySet[Conversation]:
    return Conversation.objects.filter(campaign=campaign)


def _differences(conversations: QuerySet[Conversation]) -> dict[int, list[str]]:
    rows = {row.pk: row for row in conversations}
    seqs, logged = _seqs(rows), _counted(rows)
    found = {pk: list(_wrong(row, seqs.get(pk, []), logged[pk])) for pk, row in rows.items()}
    return {pk: wrong for pk, wrong in found.items() if wrong}


def _wrong(row: Conversation, seqs: Collection[int], logged: Counts) -> Iterator[str]:
    if list(seqs) != list(range(1, row.last_seq + 1)):
        yield f"conversation {row.pk}: last_seq is {row.last_seq}, the log has {_short(seqs)}"
    if row.counted_seq != row.last_seq:
        return  # it is counted anew before it is used
    for name, right in zip(list(COLUMNS)[2:], logged, strict=True):
        if (found := getattr(row, name)) != right:
            yield f"conversation {row.pk}: {name} is {found}, the log says {right}"


def _short(seqs: Collection[int]) -> str:
    return f"{len(seqs)} entries up to {max(seqs)}" if seqs else "no entries"


def _seqs(pks: Collection[int]) -> Mapping[int, list[int]]:
    found: dict[int, list[int]] = defaultdict(list)
    rows = Event.objects.filter(conversation__in=pks).order_by("conversation_id", "seq")
    for pk, seq in rows.values_list("conversation_id", "seq"):
        found[pk].append(seq)
    return found


def _counted(pks: Collection[int]) -> dict[int, Counts]:
    """Return what the log says: messages of either side; seq, side and time of the last one."""
    found: dict[int, Counts] = dict.fromkeys(pks, (0, 0, 0, None, None))
    rows = Event.objects.filter(conversation__in=pks, kind=Event.Kind.MESSAGE)
    for pk, seq, side, at in rows.order_by("conversation_id", "seq").values_list(
        "conversation_id", "seq", "side", "made_at"
    ):
        first, second = found[pk][:2]
        found[pk] = (first + (side == 0), second + (side == 1), seq, side, at)
    return found


def _set(conversation: Conversation, values: Iterable[Any]) -> None:
    for name, value in zip(COLUMNS, values, strict=True):
        setattr(conversation, name, value)


def _values(conversation: Conversation) -> list[Any]:
    *numbers, at = (getattr(conversation, name) for name in COLUMNS)
    return [conversation.pk, *numbers, connection.ops.adapt_datetimefield_value(at)]
