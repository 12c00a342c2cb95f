"""States change by the transition tables alone, and every row of the tables is used (R2)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.factories import NOW, make_campaign
from tests.webapp.services.people import conversation_of, send_message, start
from webapp.models import Assignment, Campaign, Conversation, ReplyJob
from webapp.services.rating import items
from webapp.services.rules import states

ROOT = Path(__file__).parents[4]
WRITES = {"update", "aupdate", "bulk_update", "update_or_create", "aupdate_or_create", "save"}
Row = Conversation | Campaign | ReplyJob | Assignment
KINDS = (Conversation, Campaign, ReplyJob, Assignment)  # people's own are in test_steps
ROWS = [(kind, state) for kind in KINDS for state in kind.State.values]


def modules() -> list[Path]:
    """Return the modules that could write a state, wherever the table is."""
    home = next((ROOT / "webapp").rglob("states.py"))
    return [
        path
        for path in (ROOT / "webapp").rglob("*.py")
        if path != home and "migrations" not in path.parts
    ]


def writes_of_state(source: str) -> Iterator[int]:
    """Yield the line of each call that writes a column `state` past the tables."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr not in WRITES:
            continue
        given = [*node.args, *(each.value for each in node.keywords)]
        names = [each.arg for each in node.keywords]
        inner = (part for value in given for part in ast.walk(value))
        named = [part.value for part in inner if isinstance(part, ast.Constant)]
        if "state" in names or "state" in named:
            yield node.lineno


@pytest.mark.parametrize(
    "line",
    [
        "rows.update(state=J.DROPPED)",
        "rows.update(done_at=now, state='DONE')",
        "rows.update(**{'state': done})",
        "Row.objects.update_or_create(item=item, defaults={'state': reserved})",
        "Row.objects.bulk_update(rows, ['place', 'state'])",
        "row.save(update_fields=['state'])",
    ],
)
def test_a_write_past_the_tables_is_seen(line: str) -> None:
    assert list(writes_of_state(f"x = 1\n{line}\n")) == [2]


@pytest.mark.parametrize(
    "line",
    [
        "states.try_move(rows, 'drop', lease_until=None)",
        "rows.filter(state=J.QUEUED).update(lease_until=None)",
        "row.save(update_fields=['tab'])",
    ],
)
def test_other_writes_are_not_meant(line: str) -> None:
    assert list(writes_of_state(line)) == []


def test_only_the_tables_module_writes_a_state() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in modules()
        for line in writes_of_state(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_every_row_of_the_tables_is_used() -> None:
    named = {
        node.value
        for path in modules()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant)
    }
    unused = [
        event for table in states.TRANSITIONS.values() for event in table if event not in named
    ]
    assert unused == []


def row_of(kind: type[Row]) -> Any:
    if kind is Campaign:
        return make_campaign()
    person = start(make_campaign())
    send_message(person, "Do you like boats?")
    conversation = conversation_of(person)
    if kind is Assignment:
        return items.open_after(person=person, conversation=conversation, now=NOW)
    return conversation if kind is Conversation else ReplyJob.objects.get()


@pytest.mark.django_db
@pytest.mark.parametrize(("kind", "state"), ROWS)
def test_every_cell_moves_as_the_table_says_or_is_refused(kind: type[Row], state: str) -> None:
    pk = row_of(kind).pk
    assert states.TRANSITIONS[kind]
    for event, (origins, target) in states.TRANSITIONS[kind].items():
        kind._default_manager.filter(pk=pk).update(state=state)
        row: Any = kind._default_manager.get(pk=pk)
        if state in origins:
            assert states.move(row, event).state == target, event
            continue
        with pytest.raises(states.Illegal) as refusal:
            states.move(row, event)
        assert refusal.value.state == state, event
        row.refresh_from_db()
        assert row.state == state, event
