"""One simulated person, from the start link to the code, by what the pages offer them."""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from webapp.crowd import answers
from webapp.crowd.chatting import Chatting
from webapp.crowd.ledger import Ledger
from webapp.crowd.line import ClientSocket
from webapp.crowd.page import BrowserPage, PageForm
from webapp.crowd.people import Person, Quality
from webapp.crowd.web import Gone, Web

Ask = Callable[[str], Awaitable[Mapping[str, Any]]]
REPLY = "r"  # how the key of a reply to a context begins
NEUTRAL: Quality = {"persona": 0.5, "sensible": 0.7, "specific": 0.5}


@dataclass(frozen=True)
class Visit:
    """Where the crowd goes, what its partners are worth, and how long one person stays at most."""

    bases: tuple[str, ...]
    slug: str
    planted: Mapping[str, Quality]
    seconds: float = 300.0
    patience: float = 90.0
    browsers: str = ""  # the folder of the cookies of those who come again; "" for nobody


class Left(Exception):
    """The person walked off."""


class Participant:
    """Acts as a careful person would, on any page."""

    def __init__(self, person: Person, visit: Visit, ledger: Ledger, ask: Ask) -> None:
        self.person, self.visit, self.ledger, self.ask = person, visit, ledger, ask
        self.path = f"/c/{visit.slug}/"
        kept = Path(visit.browsers) / f"{person.name}.json" if visit.browsers else None
        self.web = Web(visit.bases, person, patience=visit.patience, kept=kept)
        self.chats = 0
        self.rated = 0
        self.end: str | None = None

    async def live(self) -> None:
        """Take part, and record how it ended; a person gives up after a fixed time."""
        try:
            async with asyncio.timeout(self.visit.seconds):
                await self._join()
                while self.end is None:
                    await self._step()
        except Left:
            self._note("left")
        except TimeoutError:
            self._note("stuck", state=self.end, chats=self.chats, rated=self.rated)
        except Gone as problem:
            self._note("gone", why=str(problem))
        except Exception as problem:  # a fault of the client itself must be seen
            self._note("crashed", why=repr(problem), where=traceback.format_exc()[-800:])
        finally:
            await self.web.close()

    async def _join(self) -> None:
        entry = f"{self.path}?id={self.person.name}"
        page = await self.web.page(entry)
        form = page.form("/consent")
        if form is None:
            if not self.web.is_known(self.visit.slug):
                self._refused()
            return
        self._note("invoke", id="consent")
        await self.web.send(form, dict.fromkeys(form.ticks, "on"), path=entry)
        self._note("ok", id="consent")
        if not self.web.is_known(self.visit.slug):
            self._refused()

    def _refused(self) -> None:
        """The study took nobody in: it is full, or over."""
        self.end = "refused"
        self._note("end", state="refused")

    async def _step(self) -> None:
        status = await self._status()
        state = status["state"]
        await asyncio.sleep(self.person.pause)
        if state == "ADMISSION":
            await self._answer()
        elif state == "READY":
            if not await self._press("/start"):  # no place for the moment: the page waits for one
                await asyncio.sleep(1.0)
        elif state == "WAITING":
            await self._wait(status)
        elif state == "MATCHED":
            await self._press("/meet")
            await asyncio.sleep(0.5)
        elif state == "CHATTING":
            await self._chat()
        elif state == "RATING":
            await self._rate()
        elif state == "WRITING":
            await self._write()
        else:
            await self._ended(status)

    async def _status(self) -> Mapping[str, Any]:
        answer = await self.web.ask(
            "GET", f"{self.path}status", headers={"Accept": "application/json"}
        )
        if answer.status_code != 200:
            raise Gone(f"status: {answer.status_code}")
        found: Mapping[str, Any] = answer.json()
        return found

    async def _current_step(self) -> BrowserPage:
        return await self.web.page(f"{self.path}now")

    async def _press(self, ending: str) -> bool:
        form = (await self._current_step()).form(ending)
        if form is None:
            return False
        await self.web.send(form, {}, path=f"{self.path}now")
        return True

    async def _wait(self, status: Mapping[str, Any]) -> None:
        await asyncio.sleep(1.0)
        if "bot" in status["choices"]:
            await self._press("/bot")
        elif "give_up" in status["choices"]:
            await self._press("/give-up")

    async def _chat(self) -> None:
        page = await self._current_step()
        line = ClientSocket(self.web, self.ledger, self.person, self.path, self.chats)
        line.token, line.key = page.token, page.key
        persona = answers.persona(page)
        quality = self._quality(await self._truth())
        chatting = Chatting(
            line, self.person, persona, quality, page.labels, optional=page.labels_are_optional
        )
        running = asyncio.create_task(line.run())
        chats = asyncio.create_task(chatting.chat())
        try:
            await asyncio.wait({running, chats}, return_when=asyncio.FIRST_COMPLETED)
            if running.done():
                running.result()  # whatever broke it is ours to know
            stayed = await chats
        finally:
            for task in (running, chats):
                task.cancel()
            await asyncio.gather(running, chats, return_exceptions=True)
        self.chats += 1
        if not stayed:
            raise Left

    async def _rate(self) -> None:
        """Fill in one form after another, each from the page that the one before led to."""
        page = await self._current_step()
        while form := page.form("/rate"):
            page = await self._rate_one(form)
            await asyncio.sleep(self.person.pause)

    async def _rate_one(self, form: PageForm) -> BrowserPage:
        truth = await self._truth()
        shown = {key: self._quality(truth, key) for key in truth if key.startswith(REPLY)}
        await asyncio.sleep(self.person.answering * len(form.questions))
        filled = answers.fill(
            self.person,
            form,
            self._quality(truth),
            truth.get("persona") or truth.get("intended", ""),
            str(self.rated),
            shown=shown,
        )
        self._note("invoke", id=f"rate {self.rated}", answers=filled)
        sends = [self.web.send(form, filled, path=f"{self.path}now")]
        if self.person.chance("double", self.rated).random() < self.person.twice:
            sends.append(self.web.send(form, filled, path=f"{self.path}now"))
        page, *_ = await asyncio.gather(*sends)
        self._note("ok", id=f"rate {self.rated}")
        self.rated += 1
        return page

    async def _write(self) -> None:
        form = (await self._current_step()).form("/write")
        if form is None:
            return
        filled = {each.name: answers.written(self.person, each) for each in form.questions}
        self._note("invoke", id=f"write {self.rated}", texts=filled)
        await self.web.send(form, filled, path=f"{self.path}now")
        self._note("ok", id=f"write {self.rated}")
        self.rated += 1

    async def _answer(self) -> None:
        """Answer what is to be answered before the work."""
        form = (await self._current_step()).form("/answer")
        if form is None:
            return
        name = form.sent["try"]
        chances = self.visit.planted.get("admission", {})
        filled = answers.admission(self.person, form, await self._truth(), chances)
        self._note("invoke", id=name, answers=filled)
        sends = [self.web.send(form, filled, path=f"{self.path}now")]
        if self.person.chance("double", name).random() < self.person.twice:
            sends.append(self.web.send(form, filled, path=f"{self.path}now"))
        await asyncio.gather(*sends)
        self._note("ok", id=name)

    async def _truth(self) -> Mapping[str, str]:
        return await self.ask(self.person.name)

    def _quality(self, truth: Mapping[str, str], key: str = "system") -> Quality:
        return self.visit.planted.get(truth.get(key, ""), NEUTRAL)

    async def _ended(self, status: Mapping[str, Any]) -> None:
        page = await self._current_step()
        self.end = "ENDED"
        self._note(
            "end", state="ENDED", code=answers.code(page), seconds=round(time.monotonic(), 1)
        )

    def _note(self, what: str, **fields: Any) -> None:
        self.ledger.write(self.person.name, what, **fields)
