"""Outbox of one client: what the server has not answered is sent again until it has (R4, R6)."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from webapp.crowd.people import Person

Frame = dict[str, Any]
LONGEST = 30.0  # seconds between two tries


@dataclass
class OutboxItem:
    """A write that is kept until it is settled."""

    frame: Frame
    tries: int = 0
    due: float = 0.0
    answer: asyncio.Future[Frame] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )


class Outbox:
    """Keeps items; `note` writes into the ledger what becomes of them."""

    def __init__(self, person: Person, note: Callable[..., None], chat: int) -> None:
        self._person = person
        self._note = note
        self._items: dict[str, OutboxItem] = {}
        self._answers: dict[str, str] = {}  # the type of the last answer to each item
        self._chance = person.chance("outbox", chat)

    def __len__(self) -> int:
        return len(self._items)

    def items(self) -> list[OutboxItem]:
        return list(self._items.values())

    def put(self, kind: str, **fields: Any) -> OutboxItem:
        """Keep a new item under an id of its own."""
        item = OutboxItem({"type": kind, "id": str(uuid.uuid4()), **fields})
        self._items[item.frame["id"]] = item
        self._note("invoke", id=item.frame["id"], frame=item.frame)
        return item

    def due(self) -> list[Frame]:
        """Return the frames to be sent now, some of them twice on purpose."""
        now = time.monotonic()
        chosen: list[Frame] = []
        for item in self.items():
            if item.due > now:
                continue
            item.due = now + min(2.0**item.tries, LONGEST) * self._chance.uniform(0.8, 1.2)
            item.tries += 1
            twice = self._chance.random() < self._person.twice
            chosen += [item.frame] * (2 if twice else 1)
        return chosen

    def lost(self) -> None:
        """The line broke: nobody knows what became of what was sent; send it all again."""
        for name, item in self._items.items():
            if item.tries:
                self._note("unknown", id=name)
            item.due = 0.0

    def give_up(self, item: OutboxItem) -> None:
        """Settle an item of a conversation that is no more."""
        self.settle({"type": "refused", "id": item.frame["id"], "code": "gone"})

    def settle(self, frame: Frame) -> None:
        """Take the server's answer to an item."""
        item = self._items.pop(frame["id"], None)
        if item is None:
            self._settle_again(frame)
            return
        self._answers[frame["id"]] = frame["type"]
        item.answer.set_result(frame)
        if frame["type"] == "ack":
            self._note("ok", id=frame["id"], seq=frame.get("seq"), tries=item.tries)
        else:
            self._note("fail", id=frame["id"], code=frame["code"])

    def _settle_again(self, frame: Frame) -> None:
        """Take note of a second answer: a copy may be stored after another one came too early."""
        first = self._answers.get(frame["id"], frame["type"])
        if (first, frame["type"]) == ("refused", "ack"):
            self._answers[frame["id"]] = "ack"
            self._note("ok", id=frame["id"], seq=frame.get("seq"))
        elif first != frame["type"]:
            self._note("contradicted", id=frame["id"], answer=frame["type"])
