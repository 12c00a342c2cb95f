"""A person's browser without a screen: cookies, forms, and patience with a server that fails."""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import httpx

from webapp.crowd.page import BrowserPage, PageForm, read
from webapp.crowd.people import Person

AGAIN = (429, 500, 502, 503, 504)
WAITS = (0.3, 0.6, 1, 2, 4)  # then 4 s each time, with jitter


class Gone(Exception):
    """No server answered for as long as a person would try."""


@cache
def _context() -> ssl.SSLContext:
    return ssl.create_default_context()  # costs 30 ms, so all share one


class Web:
    """One person's requests; they go to the next address when one does not answer.

    `kept` is the file of the cookies, which outlive the process; None keeps none.
    """

    def __init__(
        self, bases: Sequence[str], person: Person, *, patience: float, kept: Path | None = None
    ) -> None:
        self.bases = list(bases)
        self.person = person
        self.patience = patience
        self.troubles = 0
        self._chance = person.chance("web")
        self._at = self._chance.randrange(len(self.bases))
        self._client = httpx.AsyncClient(
            verify=_context(), timeout=10, follow_redirects=True, trust_env=False
        )
        self._kept = kept
        if kept is not None and kept.exists():
            for cookie in json.loads(kept.read_text(encoding="utf-8")):
                self._client.cookies.set(**cookie)

    @property
    def base(self) -> str:
        return self.bases[self._at]

    @property
    def cookie(self) -> str:
        return "; ".join(f"{each.name}={each.value}" for each in self._client.cookies.jar)

    def is_known(self, slug: str) -> bool:
        """Tell whether this browser has a participation's cookie, not the entry page's alone."""
        names = [each.name for each in self._client.cookies.jar]
        return any(name.endswith(f"-{slug}") and "-entry-" not in name for name in names)

    def turn(self) -> None:
        """Try the next address from now on."""
        self._at = (self._at + 1) % len(self.bases)

    async def close(self) -> None:
        if self._kept is not None:
            jar = self._client.cookies.jar
            names = ("name", "value", "domain", "path")
            cookies = [{name: getattr(each, name) for name in names} for each in jar]
            self._kept.parent.mkdir(parents=True, exist_ok=True)
            self._kept.write_text(json.dumps(cookies), encoding="utf-8")
        await self._client.aclose()

    async def wait(self, tries: int) -> None:
        """Wait before try number `tries` + 1."""
        pause = WAITS[min(tries, len(WAITS) - 1)]
        await asyncio.sleep(pause * self._chance.uniform(0.8, 1.2))

    async def page(self, path: str) -> BrowserPage:
        return read((await self.ask("GET", path)).text)

    async def send(self, form: PageForm, answers: Mapping[str, str], *, path: str) -> BrowserPage:
        """Send a form as it stands, with these answers, and return the page that follows."""
        target = form.action or path
        answer = await self.ask("POST", target, data={**form.sent, **answers})
        return read(answer.text)

    async def frames(self, path: str, token: str, tab: str, frame: Any = None) -> httpx.Response:
        headers = {"X-CSRFToken": token, "X-Tab": tab, "Accept": "application/json"}
        if frame is None:
            return await self._once("GET", path, headers=headers)
        return await self._once("POST", path, headers=headers, json=frame)

    async def ask(self, method: str, path: str, **how: Any) -> httpx.Response:
        """Request until an answer comes that means something."""
        start, tries = time.monotonic(), 0
        while True:
            try:
                answer = await self._once(method, path, **how)
                if answer.status_code not in AGAIN:
                    return answer
                why = f"{method} {path}: {answer.status_code}"
            except httpx.TransportError as problem:
                why = f"{method} {path}: {type(problem).__name__}"
            self.troubles += 1
            if time.monotonic() - start > self.patience:
                raise Gone(why)
            self.turn()
            await self.wait(tries)
            tries += 1

    async def _once(self, method: str, path: str, **how: Any) -> httpx.Response:
        return await self._client.request(method, self.base + path, **how)
