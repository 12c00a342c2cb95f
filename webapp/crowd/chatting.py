"""What a simulated person does in a conversation: talk, label, finish, or walk off."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from webapp.crowd import lines
from webapp.crowd.line import Line
from webapp.crowd.outbox import Frame, Item
from webapp.crowd.people import Person, Quality, agrees


class Chatting:
    """One conversation of one person."""

    def __init__(
        self, line: Line, person: Person, persona: Sequence[str], quality: Quality
    ) -> None:
        self.line, self.person, self.persona, self.quality = line, person, persona, quality
        self.lines = lines.talk(person, persona, line.chat)
        self.said = 0
        self.revision = line.chat * 1000
        self._chance = person.chance("chatting", line.chat)

    async def talk(self) -> bool:
        """Talk until the conversation is over; False if the person walked off."""
        while not self.line.over:
            status = self.line.status
            if self._walks_off():
                return False
            if not status or self.line.superseded:
                await self.line.news(1.0)
            elif status["failed"]:
                await self._no_answer(status)
            elif status["unlabelled"]:
                await self._label(status["unlabelled"][0])
            elif status["may_finish"] and self._wants_to_finish(status):
                await self._settled(self.line.put("finish"))
            elif status["turn"] == "you" and not status["must_finish"]:
                await self._say()
            else:
                await self.line.news(1.0)
        return True

    def _walks_off(self) -> bool:
        limit = self.person.drops_after
        return limit is not None and self.said >= limit and not self.line.outbox

    def _wants_to_finish(self, status: Frame) -> bool:
        return bool(status["must_finish"]) or self._chance.random() < 0.7

    async def _say(self) -> None:
        await asyncio.sleep(self.person.pause)
        text = next(self.lines)
        if self._chance.random() < self.person.careless:
            first = await self._settled(
                self.line.put("say", text=lines.careless(self.persona, text))
            )
            if first["type"] == "ack":
                self.said += 1
                return
        answer = await self._settled(self.line.put("say", text=text))
        self.said += answer["type"] == "ack"

    async def _label(self, seq: int) -> None:
        sensible = agrees(self.person, self.quality["sensible"], "sensible", self.line.chat, seq)
        await self._answer(seq, "sensible", sensible)
        if sensible:
            share = self.quality["specific"]
            specific = agrees(self.person, share, "specific", self.line.chat, seq)
            await self._answer(seq, "specific", specific)

    async def _answer(self, seq: int, question: str, yes: bool) -> None:
        self.revision += 1
        value = str(int(yes))
        item = self.line.put(
            "label", seq=seq, question=question, value=value, revision=self.revision
        )
        await self._settled(item)

    async def _no_answer(self, status: Frame) -> None:
        wish = "retry" if status.get("may_retry") else "give_up"
        await self._settled(self.line.put(wish))

    async def _settled(self, item: Item) -> Frame:
        """Wait for the answer, then for the status that follows it."""
        before = self.line.status
        answer = await item.answer
        for _ in range(10):
            if self.line.over or self.line.status is not before:
                break
            await self.line.news(0.3)
        return answer
