"""What the clients wrote down themselves, sorted by person and conversation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Record = Mapping[str, Any]
CHAT_RECORDS = ("invoke", "ok", "fail", "show", "changed", "contradicted")


@dataclass
class Client:
    """What one client did and saw, of one conversation or of none."""

    invoked: dict[str, Record] = field(default_factory=dict)
    settled: dict[str, list[Record]] = field(default_factory=lambda: defaultdict(list))
    shown: list[Record] = field(default_factory=list)
    changed: list[Record] = field(default_factory=list)
    contradicted: list[Record] = field(default_factory=list)


@dataclass
class Story:
    """One person's ledger."""

    chats: dict[int, Client] = field(default_factory=lambda: defaultdict(Client))
    ends: list[Record] = field(default_factory=list)
    forms: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    answers: dict[str, dict[str, str]] = field(default_factory=dict)  # of each form of ratings
    trouble: list[str] = field(default_factory=list)

    @property
    def walked_off(self) -> bool:
        return "left" in self.trouble

    def unknown(self) -> list[str]:
        """Return the writes of which the person never learned what became."""
        items = [name for c in self.chats.values() for name in c.invoked if not c.settled[name]]
        return items + [name for name, steps in self.forms.items() if "ok" not in steps]


def sort(records: Sequence[Record]) -> dict[str, Story]:
    """Sort the records of all ledgers by person."""
    found: dict[str, Story] = defaultdict(Story)
    for record in records:
        _add(found[record["person"]], record)
    return found


def _add(story: Story, record: Record) -> None:
    what = record["what"]
    if "chat" in record and what in CHAT_RECORDS:
        _add_to_chat(story.chats[record["chat"]], record)
    elif what in ("invoke", "ok"):
        story.forms[record["id"]].append(what)
        if record["id"].startswith("rate ") and "answers" in record:
            story.answers[record["id"]] = record["answers"]
    elif what == "end":
        story.ends.append(record)
    elif what in ("left", "stuck", "gone", "crashed", "trouble"):
        story.trouble.append(what)


def _add_to_chat(client: Client, record: Record) -> None:
    what = record["what"]
    if what == "invoke":
        client.invoked[record["id"]] = record
    elif what in ("ok", "fail"):
        client.settled[record["id"]].append(record)
    elif what == "show":
        client.shown.append(record["entry"])
    elif what == "changed":
        client.changed.append(record)
    else:
        client.contradicted.append(record)
