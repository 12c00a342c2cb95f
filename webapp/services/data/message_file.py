"""`messages.csv` as one stream: COPY on PostgreSQL, a cursor on SQLite, the same bytes from both.

Apart because COPY states in SQL what `tables.message_rows` and `csv_format` state in Python; the
tests compare the two on one database.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, Any, cast

from django.db import connection

from webapp.models import Campaign
from webapp.services.data import codebook, csv_format, tables

BLOCK = 1 << 16  # bytes written at once
PATIENCE = "30min"  # of the stream, which may be as slow as its reader; a statement has less
UTC = """to_char(e.made_at AT TIME ZONE 'UTC', CASE
    WHEN date_trunc('second', e.made_at) = e.made_at THEN 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"'
    ELSE 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"' END)"""


def write(
    stream: io.BufferedIOBase, campaigns: Iterable[Campaign], beside: Sequence[str] = ()
) -> int:
    """Write the messages of campaigns one below the other, and return how many there were.

    `beside` names columns of a study, which stand first: the campaign and its phase.
    """
    columns = list(dict.fromkeys((*beside, *codebook.MESSAGES)))
    _write_rows(stream, columns, ())
    count = 0
    for campaign in campaigns:
        shared = {"campaign": tables.name_of(campaign), "phase": campaign.phase}
        shared = {name: shared[name] for name in beside}
        if connection.vendor == "postgresql":
            count += _copy(stream, campaign, columns, shared)
        else:
            rows = tables.message_rows(campaign)
            cells = ([{**row, **shared}[name] for name in columns] for row in rows)
            count += _write_rows(stream, None, cells)
    return count


def _write_rows(
    stream: io.BufferedIOBase, columns: Sequence[str] | None, rows: Iterable[Sequence[Any]]
) -> int:
    text = io.TextIOWrapper(cast(IO[bytes], stream), "utf-8", newline="")
    try:
        return csv_format.write(text, columns, rows)
    finally:
        text.detach()


def _copy(
    stream: io.BufferedIOBase, campaign: Campaign, columns: Sequence[str], shared: Mapping[str, str]
) -> int:
    names = tables.system_names(campaign)
    statement = _statement(columns, shared)
    values = {
        **shared,
        "systems": list(names),
        "names": [csv_format.guarded(name) for name in names.values()],
        "campaign_id": campaign.pk,
        "purposes": list(tables.PURPOSES),
    }
    with connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL statement_timeout = '{PATIENCE}'")
        with cursor.cursor.copy(statement, values) as rows:
            return _pass_on(rows, stream)


def _pass_on(rows: Iterable[bytes | memoryview], stream: io.BufferedIOBase) -> int:
    """Write rows in blocks, each with the line end of RFC 4180; the server sends one at a time."""
    count, block = 0, bytearray()
    for row in rows:
        block += row[:-1]
        block += b"\r\n"
        count += 1
        if len(block) >= BLOCK:
            stream.write(block)
            block = bytearray()
    stream.write(block)
    return count


def _statement(columns: Sequence[str], shared: Iterable[str]) -> str:
    """Return the COPY whose rows are those of `tables.message_rows`.

    Pseudonyms and forms are words of ours, and names come guarded: none of them needs a guard.
    """
    cells = {
        "message": "e.id",
        "conversation": "e.conversation_id",
        "seq": "e.seq",
        "side": "e.side",
        "system": f"""CASE
            WHEN s.participation_id IS NOT NULL OR (c.purpose = 'IMPORTED' AND e.side = 0)
            THEN '{tables.HUMAN}'
            WHEN c.context <> '' AND e.in_reply_to IS NULL THEN NULL
            ELSE y.name END""",
        "user": "p.pseudonym",
        "persona": _text("a.key"),
        "persona_form": "CASE WHEN a.key <> '' THEN nullif(s.persona_form, '') END",
        "text": _text("e.content->>'text'"),
        "sent_at": UTC,
        "partner_of": "y.name",
        "excluded": _text("c.excluded"),
    } | {name: _text(f"%({name})s::text") for name in shared}
    # Every piece is a constant above, or the name of a column; values are parameters.
    return f"""
        COPY (
            SELECT {", ".join(cells[name] for name in columns)}
            FROM webapp_event e
            JOIN webapp_conversation c ON c.id = e.conversation_id
            JOIN unnest(%(systems)s::bigint[], %(names)s::text[]) AS y(id, name)
                ON y.id = c.system_id
            LEFT JOIN webapp_seat s ON s.conversation_id = c.id AND s.side = e.side
            LEFT JOIN webapp_participation p ON p.id = s.participation_id
            LEFT JOIN webapp_persona a ON a.id = s.persona_id
            WHERE e.kind = 'message' AND c.campaign_id = %(campaign_id)s
                AND c.purpose = ANY(%(purposes)s)
                AND NOT (e.content ? 'withdrawn' AND e.content->'withdrawn' <> 'false')
            ORDER BY e.conversation_id, e.seq
        ) TO STDOUT (FORMAT CSV)"""  # noqa: S608


def _text(value: str) -> str:
    """Return SQL for a text as `csv_format.guarded` has it; an empty one is NULL, so unquoted.

    The first letter is compared as a number, which takes half as long as comparing texts.
    """
    risky = ", ".join(str(ord(each)) for each in csv_format.RISKY)
    guarded = f"CASE WHEN ascii({value}) IN ({risky}) THEN '''' || ({value})"
    return f"{guarded} ELSE nullif({value}, '') END"
