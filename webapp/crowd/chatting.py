"""A simulated person in a conversation: sends, labels, finishes, or walks off.

Apart because a conversation has its own rules beside the way through the pages.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from webapp.crowd import answers, lines
from webapp.crowd.line import ClientSocket
from webapp.crowd.outbox import Frame, OutboxItem
from webapp.crowd.page import PageQuestion
from webapp.crowd.people import Person, Quality

ADDS = 0.15  # the chance of a second message before the reply, where turns are free
LABELS = 0.6  # the chance of a label that can be left out


class Chatting:
    """One conversation of one person."""

    def __init__(
        self,
        line: ClientSocket,
        person: Person,
        persona: Sequence[str],
        quality: Quality,
        labels: Sequence[PageQuestion],
        *,
        optional: bool = False,
    ) -> None:
        self.line, self.person, self.persona, self.quality = line, person, persona, quality
        self.labels, self.optional = labels, optional
        self.looked_at: set[int] = set()  # messages that were labeled, or passed over
        self.lines = lines.messages(person, persona, line.chat)
        self.sent = 0
        self.revision = line.chat * 1000
        self._chance = person.chance("chatting", line.chat)

    async def chat(self) -> bool:
        """Chat until the conversation is over; False if the person walked off."""
        while not self.line.over:
            status = self.line.status
            if self._walks_off():
                return False
            if not status or self.line.superseded:
                await self.line.changed(1.0)
            elif status["failed"]:
                await self._no_answer(status)
            elif status["unlabeled"]:
                await self._label(status["unlabeled"][0])
            elif self.optional and (seqs := self._unseen()):
                await self._may_label(seqs[0])
            elif status["may_finish"] and self._wants_to_finish(status):
                await self._settled(self.line.put("finish"))
            elif not status["must_finish"] and self._may_send(status):
                await self._send()
            else:
                await self.line.changed(1.0)
        return True

    def _may_send(self, status: Frame) -> bool:
        """Tell whether to write: after the partner, or at times once more where that is allowed."""
        if status.get("free") and status["turn"] == "partner":
            shown = sum(message["side"] == "you" for message in self.line.messages())
            adds = self.person.chance("adds", self.line.chat, self.sent).random() < ADDS
            return adds and shown >= self.sent
        return status["turn"] == "you" and self._has_read()

    def _unseen(self) -> list[int]:
        """Return the partner's messages that were not looked at yet."""
        shown = (one["seq"] for one in self.line.messages() if one["side"] == "partner")
        return [seq for seq in shown if seq not in self.looked_at]

    async def _may_label(self, seq: int) -> None:
        self.looked_at.add(seq)
        if self._chance.random() < LABELS:
            await self._label(seq)

    def _has_read(self) -> bool:
        """Tell whether every message is shown: where the server is slow, a status is older."""
        sides = [message["side"] for message in self.line.messages()]
        return sides.count("you") >= self.sent and sides[-1:] != ["you"]

    def _walks_off(self) -> bool:
        limit = self.person.drops_after
        return limit is not None and self.sent >= limit and not self.line.outbox

    def _wants_to_finish(self, status: Frame) -> bool:
        return bool(status["must_finish"]) or self._chance.random() < 0.7

    async def _send(self) -> None:
        text = next(self.lines)
        await asyncio.sleep(self.person.writing(text))
        if self._chance.random() < self.person.careless:
            first = await self._settled(
                self.line.put("message", text=lines.careless(self.persona, text))
            )
            if first["type"] == "ack":
                self.sent += 1
                return
        answer = await self._settled(self.line.put("message", text=text))
        self.sent += answer["type"] == "ack"

    async def _label(self, seq: int) -> None:
        about = (self.line.chat, seq)
        for question, value in answers.replies(self.person, self.labels, self.quality, "", *about):
            await self._answer(seq, question, value)

    async def _answer(self, seq: int, question: str, value: str) -> None:
        self.revision += 1
        item = self.line.put(
            "label", seq=seq, question=question, value=value, revision=self.revision
        )
        await self._settled(item)

    async def _no_answer(self, status: Frame) -> None:
        wish = "retry" if status.get("may_retry") else "give_up"
        await self._settled(self.line.put(wish))

    async def _settled(self, item: OutboxItem) -> Frame:
        """Wait for the answer, then for the status that follows it."""
        before = self.line.status
        answer = await item.answer
        for _ in range(10):
            if self.line.over or self.line.status is not before:
                break
            await self.line.changed(0.3)
        return answer
