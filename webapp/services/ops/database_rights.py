"""Rights of a reply worker in PostgreSQL, under an account of its own: no more than it needs (S9).

A bot is code and text of others. Under this account a worker that was taken over reads no password,
second factor, session or panel id, and changes neither accounts, nor budgets, nor answers. Rights
are by table, or by column where a table has more than it needs. What a table of the next version
needs is granted after its migrations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from django.apps import apps
from django.db import connection, transaction

Columns = Sequence[str]  # none: all of them
ALL: Columns = ()
READ: Mapping[str, Columns] = {
    "Allowance": ALL,
    "Assignment": ALL,
    "AuditEntry": ALL,
    "Bonus": ALL,
    "Campaign": ALL,
    "Candidate": ALL,
    "CompletionCode": ALL,
    "Context": ALL,
    "Contribution": ALL,
    "Conversation": ALL,
    "Event": ALL,
    "Flag": ALL,
    "Heartbeat": ALL,
    "Item": ALL,
    "ModelServer": ALL,
    "Outage": ALL,
    "OwnProtocol": ALL,
    "Participation": ALL,
    "PayHold": ALL,
    "PayLedger": ALL,
    "Persona": ALL,
    "QuotaCell": ALL,
    "Rating": ALL,
    "Receipt": ALL,
    "ReplyCall": ALL,
    "ReplyJob": ALL,
    "Seat": ALL,
    "ServerKey": ALL,
    "ServiceCall": ("due_at",),
    "System": ALL,
}
ADD = (
    "Allowance",
    "AuditEntry",
    "CompletionCode",
    "Event",
    "Flag",
    "Heartbeat",
    "Outage",
    "PayHold",
    "PayLedger",
    "Receipt",
    "ReplyCall",
    "ReplyJob",
)
CHANGE: Mapping[str, Columns] = {
    "Allowance": ALL,
    "Assignment": ("state",),
    "Campaign": ("state", "tokens"),
    "Conversation": ALL,
    "Heartbeat": ALL,
    "Item": ("reserved", "completed"),
    "Outage": ALL,
    "Participation": ALL,
    "PayLedger": ("reserved", "spent", "held_at", "held_because"),
    "Persona": ("taken",),
    "QuotaCell": ("reserved", "completed"),
    "ReplyJob": ALL,
    "Seat": ALL,
    "ServiceCall": ("due_at",),
    "System": ("rehearsal", "rehearsal_note", "rehearsed_at", "version"),
}


class NotPossible(Exception):
    """There are no such accounts here, or this one must not be limited."""


def grant(account: str) -> int:
    """Give an account of the database a reply worker's rights, and take all others; count them.

    Raises `NotPossible`.
    """
    if connection.vendor != "postgresql":
        raise NotPossible("only PostgreSQL has accounts; SQLite is a file")
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT rolsuper FROM pg_roles WHERE rolname = %s", [account])
        found = cursor.fetchone()
        if found is None:
            raise NotPossible(f"there is no account {account!r}: create it first")
        cursor.execute("SELECT current_user")
        if found[0] or cursor.fetchone()[0] == account:
            raise NotPossible(f"{account!r} is a superuser, or owns the tables: nothing limits it")
        lines = list(statements(account))
        for line in lines:
            cursor.execute(line)
    return len(lines) - 1


def statements(account: str) -> Iterator[str]:
    """Yield what gives an account these rights, after all that it had were taken."""
    to = _name(account)
    yield f"REVOKE ALL ON ALL TABLES IN SCHEMA public FROM {to}"
    for model, columns in READ.items():
        yield f"GRANT SELECT{_of(model, columns)} ON {_table(model)} TO {to}"
    for model in ADD:
        yield f"GRANT INSERT ON {_table(model)} TO {to}"
    for model, columns in CHANGE.items():
        yield f"GRANT UPDATE{_of(model, columns)} ON {_table(model)} TO {to}"


def _name(name: str) -> str:
    quoted = name.replace('"', '""')
    return f'"{quoted}"'


def _table(model: str) -> str:
    return _name(apps.get_model("webapp", model)._meta.db_table)


def _of(model: str, columns: Columns) -> str:
    """Return columns as a statement lists them; one that is not there is a mistake of ours."""
    fields = (apps.get_model("webapp", model)._meta.get_field(each) for each in columns)
    names = ", ".join(_name(str(field.column)) for field in fields)
    return f" ({names})" if names else ""
